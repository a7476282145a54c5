"""What composites, recurrent layers and weights are to become, as the user chose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias, cast, get_args

from litefuse.errors import LitefuseError

__all__ = [
    "FORMS",
    "INTEGER_ACTIVATIONS",
    "QUANTIZATIONS",
    "RNN_FORMS",
    "CompositeForm",
    "CompositeForms",
    "Quantization",
    "RnnForm",
]

#: ``fuse``: what its fusion makes of it; ``builtin``: the same, if it is builtin ops; ``custom``: a custom op of its
#: name and attributes; ``keep``: the builtin STABLEHLO_COMPOSITE of its name and attributes, with its body as
#: decomposition; ``inline``: its body.
CompositeForm: TypeAlias = Literal["fuse", "builtin", "custom", "keep", "inline"]

FORMS: tuple[CompositeForm, ...] = get_args(CompositeForm)

#: What recurrent layers that nobody annotated become: ``auto``: the faster of the two; ``fused``: one op; ``loop``.
RnnForm: TypeAlias = Literal["auto", "fused", "loop"]

RNN_FORMS: tuple[RnnForm, ...] = get_args(RnnForm)

#: What weights become: ``dynamic``: int8, and LiteRT quantizes what they are multiplied with on each call; ``weights``:
#: int8, of which LiteRT makes float32 again; ``float16``, likewise; ``int8`` and ``int16``: int8, and all that is
#: computed is of int8 or int16, with ranges that samples tell.
Quantization: TypeAlias = Literal["dynamic", "weights", "float16", "int8", "int16"]

QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)

#: The forms that take samples, and the bits of what is computed.
INTEGER_ACTIVATIONS: dict[Quantization, int] = {"int8": 8, "int16": 16}


@dataclass(frozen=True)
class CompositeForms:
    """The form of each composite.

    Attributes:
        default: The form of those that are not named.
        by_name: The forms of others by name, or by a pattern such as ``lstm_*``; a name counts before
            patterns, and the first pattern that fits before others.
        better_inline: Patterns of those that are inlined if no form was chosen for them, and why.
    """

    default: CompositeForm = "fuse"
    by_name: Mapping[str, CompositeForm] = field(default_factory=dict[str, CompositeForm])
    better_inline: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, value: str | Mapping[str, str]) -> CompositeForms:
        """One form for all composites, or a form for each name.

        Raises:
            LitefuseError: There is no such form.
        """
        given = {"*": value} if isinstance(value, str) else dict(value)
        for name, form in given.items():
            if form not in FORMS:
                raise LitefuseError(
                    f"there is no form {form!r} of composites" + ("" if isinstance(value, str) else f" ({name!r})"),
                    hint=f"The forms are {', '.join(FORMS)}.",
                )
        forms = cast("dict[str, CompositeForm]", given)
        default: CompositeForm = forms.pop("*", "fuse")
        return cls(default, forms)

    def __getitem__(self, name: str) -> CompositeForm:
        if name in self.by_name:
            return self.by_name[name]
        fitting: list[CompositeForm] = [form for pattern, form in self.by_name.items() if fnmatchcase(name, pattern)]
        return fitting[0] if fitting else self.default

    def inlined_because(self, name: str) -> str | None:
        """Why the composite is inlined; None if it is not."""
        if self[name] == "inline":
            return "its form was chosen to be inline"
        if self.default != "fuse" or self.names(name):
            return None
        return next((why for pattern, why in self.better_inline.items() if fnmatchcase(name, pattern)), None)

    def names(self, name: str) -> bool:
        """Whether the form of this composite was chosen, by its name or a pattern."""
        return any(fnmatchcase(name, pattern) for pattern in self.by_name)

    def unused(self, names: set[str]) -> list[str]:
        """The names and patterns that fit none of these."""
        return [pattern for pattern in self.by_name if not any(fnmatchcase(name, pattern) for name in names)]
