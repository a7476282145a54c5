"""The form that values have in JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from os import PathLike, fspath
from typing import Any, cast


def json_form(value: Any) -> Any:
    """Converts a value to dictionaries, lists and scalars that strict JSON has.

    Data classes and named tuples become dictionaries of their fields, other tuples and sets lists, and paths strings.
    NaN and infinities, which JSON does not have, become None. Anything else becomes its text.
    """
    if value is None or isinstance(value, bool | int | str):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_form(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): json_form(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, tuple) and hasattr(cast("Any", value), "_asdict"):
        return json_form(cast("Any", value)._asdict())
    if isinstance(value, AbstractSet):
        return sorted(map(json_form, cast("AbstractSet[Any]", value)), key=str)
    if isinstance(value, list | tuple):
        return [json_form(item) for item in cast("list[Any]", value)]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, PathLike):
        return json_form(fspath(cast("PathLike[str]", value)))
    if hasattr(value, "tolist"):  # numpy's arrays and scalars
        return json_form(cast("Any", value).tolist())
    return str(value)


def _key(key: Any) -> str:
    form = json_form(key)
    return form if isinstance(form, str) else str(form)
