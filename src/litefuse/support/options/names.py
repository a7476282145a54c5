"""Lists of names, as users give them, such as those of ops that are allowed as custom ops, and patterns of names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeVar, cast

from litefuse.errors import LitefuseError

_Name = TypeVar("_Name", bound=str)
#: Values by other names.
OTHER_VALUES = {"dynamic-range": "dynamic", "fp16": "float16", "int8x16": "int16", "qint8": "int8"}


def listed_names(value: Iterable[str] | None, argument: str = "it") -> tuple[str, ...] | None:
    """Returns names that a user gave; None if there are none.

    Args:
        value: The names.
        argument: The argument that they were given for.

    Raises:
        LitefuseError: It is one string, whose letters would be taken for names, or no names.
    """
    refuse_one_string(value, argument)
    if value is None:
        return None
    given = cast("object", value)
    names = list(cast("Iterable[object]", given)) if isinstance(given, Iterable) else [given]
    if not all(isinstance(name, str) for name in names):
        raise LitefuseError(f"{argument} takes a list of names, which are strings, not {value!r}")
    return tuple(cast("list[str]", names))


def all_names(value: str | Iterable[str], argument: str = "it") -> tuple[str, ...]:
    """Returns names that a user gave, which may be one."""
    return (value,) if isinstance(value, str) else listed_names(value, argument) or ()


def names_in(value: str | Iterable[str], argument: str = "it") -> tuple[str, ...]:
    """Returns names that a user gave in a list, or in a text with commas between them.

    Raises:
        LitefuseError: There are none.
    """
    if isinstance(value, str):
        value = [name.strip() for name in value.split(",") if name.strip()]
        if not value:
            raise LitefuseError(f"{argument} needs names")
    return listed_names(value, argument) or ()


def chosen_names(value: str | Iterable[str] | None, argument: str = "it") -> tuple[str, ...] | None:
    """Returns names as :func:`names_in` does; None for None."""
    return None if value is None else names_in(value, argument)


def refuse_one_string(value: object, argument: str) -> None:
    """Refuses a string where a list is expected.

    Args:
        value: The value.
        argument: The argument that it was given for.

    Raises:
        LitefuseError: It is a string.
    """
    if isinstance(value, str):
        raise LitefuseError(f"{argument} takes a list of names, not the string {value!r}", hint=f"Pass [{value!r}].")


def one_of(known: Sequence[_Name], value: object, argument: str) -> _Name:
    """Returns a value that a user chose among known ones.

    Raises:
        LitefuseError: It is none of them.
    """
    if value not in known:
        raise LitefuseError(f"{argument} is {value!r}", hint=choices_text(value, known))
    return cast("_Name", value)


def choices_text(value: Any, known: Iterable[object]) -> str:
    """Returns the values to choose from, and before them those that are like the one that a user gave."""
    texts = [*map(str, known)]
    return f"{closest([str(value)], texts)}Choose from {', '.join(texts)}."


def fits(name: str, *patterns: str) -> bool:
    """Whether a name is one of the patterns, or matches one, as ``lstm_1`` does ``lstm_*``; case matters."""
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def unused(patterns: Iterable[str], names: Collection[str]) -> list[str]:
    """Returns the patterns that none of the names fits."""
    return [pattern for pattern in patterns if not any(fits(name, pattern) for name in names)]


class OpNotInModelError(LitefuseError):
    """Ops were named that the model lacks; ``ops`` has their names."""

    def __init__(self, message: str, *, where: str = "", hint: str = "", ops: Iterable[str] = ()) -> None:
        super().__init__(message, where=where, hint=hint)
        self.ops = tuple(ops)


def check_allowed(allowed: Iterable[str], lacking: Collection[str], others: Collection[str]) -> None:
    """Rejects names of ops that the model lacks: otherwise nobody would notice a misspelled name.

    Args:
        allowed: The names.
        lacking: The model's ops that LiteRT lacks.
        others: All other ops of the model, which need not be allowed.

    Raises:
        OpNotInModelError: No such op in the model.
    """
    unknown = sorted({*allowed} - {*lacking, *others})
    if not unknown:
        return
    listed = ", ".join(sorted(lacking))
    raise OpNotInModelError(
        f"the model has no op {' or '.join(map(repr, unknown))} that could be allowed as a custom op "
        "(allow_custom_ops, --allow-custom-ops)",
        hint=closest(unknown, lacking, others) + f"Of the model's ops, LiteRT lacks {listed or 'none'}.",
        ops=unknown,
    )


def nearest(name: str, known: Iterable[str], likeness: float = 0.6, count: int = 1) -> list[str]:
    """Returns the known names that are most like one, whatever their capitals, for messages.

    Args:
        name: The name.
        known: The names.
        likeness: How alike they are at least, from 0 to 1.
        count: How many there are at most.
    """
    from difflib import get_close_matches  # for messages alone

    folded, name = {one.casefold(): one for one in sorted(known)}, name.casefold()
    matches = [OTHER_VALUES[name]] if name in OTHER_VALUES else get_close_matches(name, folded, count, likeness)
    return [folded[match] for match in matches if match in folded]


def closest(unknown: Iterable[str], lacking: Collection[str], others: Collection[str] = ()) -> str:
    """Returns a sentence with similar names, followed by a space; empty if there are none."""
    meant: dict[str, None] = {}
    for name in unknown:
        if name == "int4" and "dynamic" in lacking:
            python = "in Python, Quantization('dynamic', weight_bits=4)"
            models = 'in models.toml, quantize = {form = "dynamic", weight_bits = 4}'
            return f"Use --quantize dynamic --weight-bits 4 ({python}; {models}). "
        for among, likeness in ((lacking, 0.6), (others, 0.8)):
            if matches := nearest(name, among, likeness, 3):
                meant.update(dict.fromkeys(matches))
                break
    return f"Did you mean {' or '.join(meant)}? " if meant else ""
