"""Forms that the user chooses for composites, recurrent layers and weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import Literal, TypeAlias, cast, get_args

from litefuse.errors import LitefuseError
from litefuse.support.options.names import fits, names_in, unused
from litefuse.support.records import Record

#: The form of a composite: ``fuse``: the result of its fusion; ``builtin``: the same, but only builtin ops; ``custom``:
#: a custom op with its name and attributes; ``keep``: the builtin STABLEHLO_COMPOSITE with its name and attributes, and
#: its body as decomposition; ``generate``: the same, with a kernel that is generated from the body; ``inline``: its
#: body.
CompositeForm: TypeAlias = Literal["fuse", "builtin", "custom", "keep", "generate", "inline"]

FORMS: tuple[CompositeForm, ...] = get_args(CompositeForm)

#: What becomes of dtypes: ``narrow``: float64 becomes float32; ``widen``: float16 and bfloat16 become float32.
Dtypes: TypeAlias = Literal["keep", "narrow", "widen"]

DTYPES: tuple[Dtypes, ...] = get_args(Dtypes)

#: The form of recurrent layers without annotation: ``auto``: the faster of the two; ``fused``: one op; ``loop``.
RnnForm: TypeAlias = Literal["auto", "fused", "loop"]

RNN_FORMS: tuple[RnnForm, ...] = get_args(RnnForm)

#: The form of weights: ``dynamic``: int8, and LiteRT quantizes the activations on each call; ``weights``: int8, which
#: LiteRT dequantizes to float32; ``float16``, likewise; ``int8`` and ``int16``: int8, with activations of int8 or
#: int16, whose ranges are calibrated with samples; ``qat``: int8 with the ranges of the model's fake-quantization
#: nodes; ``recipe``: what a recipe of the user's says; ``auto``: int4, int8, float16 or float32 for each layer, as the
#: outputs can bear.
QuantizationForm: TypeAlias = Literal["dynamic", "weights", "float16", "int8", "int16", "qat", "auto", "recipe"]

#: The forms that are chosen by their names.
QUANTIZATIONS: tuple[QuantizationForm, ...] = tuple(form for form in get_args(QuantizationForm) if form != "recipe")

#: The forms that take samples, and the bits of activations.
INTEGER_ACTIVATIONS: dict[QuantizationForm, int] = {"int8": 8, "int16": 16}

#: The forms whose activations are integers.
INTEGER_FORMS: tuple[QuantizationForm, ...] = (*INTEGER_ACTIVATIONS, "qat")


class CompositeForms(Record):
    """The forms of composites.

    Attributes:
        default: The form of composites that are not named.
        by_name: The forms of others by name, or by a pattern such as ``lstm_*``; a name takes precedence over
            patterns, and the first matching pattern over others.
        better_inline: Patterns of composites that are inlined if no form was chosen for them, and why.
        faster: Whether composites whose bodies are faster are inlined if no form was chosen for them.
    """

    default: CompositeForm = "fuse"
    by_name: Mapping[str, CompositeForm] = field(default_factory=dict[str, CompositeForm])
    better_inline: Mapping[str, str] = field(default_factory=dict[str, str])
    faster: bool = False

    @classmethod
    def of(
        cls, value: CompositeForm | Mapping[str, CompositeForm] | CompositeForms, argument: str = "it"
    ) -> CompositeForms:
        """Makes the forms from one form for all composites, or a form for each name.

        Raises:
            LitefuseError: No such form.
        """
        if isinstance(value, CompositeForms):
            return value
        if not isinstance(cast("object", value), str | Mapping):
            raise LitefuseError(f"{argument} is a form, or a mapping from names to forms, not {value!r}")
        given = {"*": value} if isinstance(value, str) else dict(value)
        for name, form in given.items():
            if form not in FORMS:
                raise LitefuseError(
                    f"unknown form {form!r} of {argument}" + ("" if isinstance(value, str) else f" ({name!r})"),
                    hint=f"The forms are {', '.join(FORMS)}.",
                )
        forms = cast("dict[str, CompositeForm]", given)
        default: CompositeForm = forms.pop("*", "fuse")
        return cls(default, forms)

    def __getitem__(self, name: str) -> CompositeForm:
        if name in self.by_name:
            return self.by_name[name]
        fitting: list[CompositeForm] = [form for pattern, form in self.by_name.items() if fits(name, pattern)]
        return fitting[0] if fitting else self.default

    def inlined_because(self, name: str) -> str | None:
        """Returns why the composite is inlined; None if it is not."""
        if self[name] == "inline":
            return "its form was chosen to be inline"
        if self.is_chosen(name):
            return None
        return next((why for pattern, why in self.better_inline.items() if fits(name, pattern)), None)

    def is_chosen(self, name: str) -> bool:
        """Whether a form was chosen for this composite, or for all."""
        return self.default != "fuse" or self.names(name)

    def names(self, name: str) -> bool:
        """Whether a form was chosen for this composite, by its name or a pattern."""
        return fits(name, *self.by_name)

    @property
    def generates(self) -> bool:
        """Whether kernels are to be generated for some composites."""
        return "generate" in (self.default, *self.by_name.values())


#: Among the names of composites that have to be fused: that these have to be compared with their bodies, too.
REQUIRE_CHECKED = "checked"


class RequiredComposites(Record):
    """The composites that have to be fused.

    Attributes:
        patterns: Their names, and patterns of names; ``*`` for all.
        checked: Whether they have to be compared with their bodies, too.
    """

    patterns: tuple[str, ...] = ()
    checked: bool = False

    @classmethod
    def of(cls, value: bool | str | Collection[str] | RequiredComposites, argument: str = "it") -> RequiredComposites:
        """Makes it of True, for all, or of names and patterns, among which may be ``checked``.

        Raises:
            LitefuseError: It is another string, or no list of names.
        """
        if isinstance(value, RequiredComposites):
            return value
        if isinstance(value, bool) or value == "all":
            return cls(("*",) if value else ())
        names = names_in(value, argument)
        patterns = tuple(sorted({*names} - {REQUIRE_CHECKED}))
        checked = REQUIRE_CHECKED in names
        return cls(patterns or (("*",) if checked else ()), checked)

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def __contains__(self, name: str) -> bool:
        return fits(name, *self.patterns)

    def of_names(self, names: Collection[str], *, among: bool) -> RequiredComposites:
        """Returns those of the patterns that fit some of these names, or none of them; ``*`` fits none.

        Args:
            names: The names.
            among: Whether they are to fit some.
        """
        others = {"*", *unused(self.patterns, names)}
        return replace(self, patterns=tuple(pattern for pattern in self.patterns if (pattern not in others) is among))
