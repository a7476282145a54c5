"""Frozen data classes whose methods are not compiled.

``dataclass(frozen=True)`` writes the text of six methods for each class and compiles it, which takes half a
millisecond; a conversion makes dozens of such classes, and few objects of most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[_T], _T]:  # noqa: D103
        return lambda kind: kind


_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record:
    """Makes frozen data classes of its subclasses, for all that :mod:`dataclasses` has.

    Two are equal if they are of one class and all their fields are equal.
    """

    if TYPE_CHECKING:  # libraries that read the types of fields would take it for one
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, *values: Any, **named: Any) -> None:
        own = {kind.name: kind for kind in fields(self)}
        positional = [name for name in own if not own[name].kw_only]
        given = dict(zip(positional, values, strict=False))
        if unknown := named.keys() - own.keys():
            names = " or ".join(map(repr, sorted(unknown)))
            raise TypeError(f"{type(self).__name__} has no {names}; it has {', '.join(own)}")
        if len(values) > len(given) or given.keys() & named.keys():
            taken = f"{[*own]}, {positional} by position"
            raise TypeError(f"{type(self).__name__} takes {taken}, not {len(values)} values and {[*named]}")
        given |= named
        for name, kind in own.items():
            if name not in given:
                if kind.default is MISSING and kind.default_factory is MISSING:
                    raise TypeError(f"{type(self).__name__} lacks the argument {name!r}")
                given[name] = kind.default if kind.default_factory is MISSING else kind.default_factory()
        vars(self).update(given)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Checks the fields, or replaces them in ``vars``."""

    def __repr__(self) -> str:
        shown = (f"{kind.name}={getattr(self, kind.name)!r}" for kind in fields(self) if kind.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, kind.name) for kind in fields(self) if kind.compare)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")
