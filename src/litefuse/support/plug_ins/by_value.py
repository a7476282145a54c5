"""Pickling by value, for definitions in scripts, notebooks and plug-in files, which other processes cannot import."""

from __future__ import annotations

import io
import types
from collections import ChainMap
from typing import Any, ClassVar

import cloudpickle


def pickle_by_value(value: object) -> bytes:
    """Pickles like ``cloudpickle.dumps``, but keeps the file names of code, for error messages."""
    file = io.BytesIO()
    _Pickler(file).dump(value)
    return file.getvalue()


_TABLE: Any = cloudpickle.Pickler.dispatch_table  # pyright: ignore[reportUnknownMemberType]


def _reduce_code(code: types.CodeType) -> tuple[Any, tuple[Any, ...]]:
    make, arguments = _TABLE[types.CodeType](code)
    # cloudpickle 3.1.3 replaces the file's name by this.
    return make, tuple(code.co_filename if argument == "<dynamic-code>" else argument for argument in arguments)


class _Pickler(cloudpickle.Pickler):
    dispatch_table: ClassVar[Any] = ChainMap[Any, Any]({types.CodeType: _reduce_code}, _TABLE)
