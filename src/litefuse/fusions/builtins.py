"""LiteRT's builtin ops, as conversion code builds them: operands, attributes with their defaults, result dtypes.

Their table is in ``litefuse.fusions.builtin_ops``; the result shapes are those of ``litefuse.ir.ops.rules.litert``.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from litefuse.errors import FusionError
from litefuse.fusions.builtin_ops import (
    CHOICES,
    FIXED,
    FLOATS,
    GROUPS,
    LACKING,
    OPERANDS,
    OPS,
    OTHER_NAMES,
    SIZES,
    UNAVAILABLE,
)
from litefuse.ir.attributes import int32_attribute, mlir_attribute
from litefuse.ir.mlir import ir
from litefuse.ir.types import TensorType, element_type_of
from litefuse.support.options.names import nearest

REQUIRED: Any = inspect.Parameter.empty
"""In place of a default: the attribute must be given."""
DERIVED: Any = None
"""In place of a default: the attribute follows from the operands."""


class Operand(NamedTuple):
    """An operand of a builtin op; its marks are explained beside the table.

    Attributes:
        name: Its name.
        alike: Whether it is marked ``~``.
        integers: The dtype that integers get: int32 if it is marked ``#`` or ``!``, int64 if ``@``; else empty.
        constant: Whether it is marked ``!``.
        optional: Whether it is marked ``?``.
        variadic: Whether it is marked ``*``.
        state: Whether it is marked ``&``.
    """

    name: str
    alike: bool
    integers: str
    constant: bool
    optional: bool
    variadic: bool
    state: bool


class Builtin(NamedTuple):
    """A builtin op.

    Attributes:
        name: LiteRT's name.
        operands: Its operands, in order.
        defaults: Its attributes with their default values, ``REQUIRED`` or ``DERIVED``. Lists hold int64, a float is a
            float32, an int an int32.
        results: The dtypes of its results, as in the table.
        about: A line that says what it computes.
    """

    name: str
    operands: Sequence[Operand]
    defaults: Mapping[str, Any]
    results: Sequence[str]
    about: str

    @property
    def signature(self) -> inspect.Signature:
        parameters: list[inspect.Parameter] = []
        kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
        for index, operand in enumerate(self.operands):
            if operand.optional and not all(later.optional for later in self.operands[index:]):
                kind = inspect.Parameter.KEYWORD_ONLY  # one without a default follows
            own = inspect.Parameter.VAR_POSITIONAL if operand.variadic else kind
            parameters.append(inspect.Parameter(operand.name, own, default=None if operand.optional else REQUIRED))
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters += [inspect.Parameter(name, kind, default=default) for name, default in self.defaults.items()]
        return inspect.Signature(parameters)

    def placed(self, given: Sequence[Any], named: Mapping[str, Any]) -> list[tuple[Operand, Any]]:
        """Returns each operand with what is given for it, None where it is left out.

        Args:
            given: What is given by position.
            named: What is given by name.

        Raises:
            FusionError: There are too few, too many or unknown ones.
        """
        if unknown := named.keys() - {operand.name for operand in self.operands if not operand.variadic}:
            raise FusionError(f"{self.name} has no attributes {sorted(unknown)}; it has {sorted(self.defaults)}")
        if self.operands and self.operands[0].variadic:
            values = cast(
                "Sequence[Any]", given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else given
            )
            placed = [(self.operands[0], value) for value in values]
        else:
            names = (operand.name for operand in self.operands)
            by_name: dict[str, Any] = {**dict(zip(names, given, strict=False)), **named}
            placed = [(operand, by_name.get(operand.name)) for operand in self.operands]
            if len(by_name) != len(given) + len(named):
                placed = []
        if not placed and (self.operands or given):
            named_too = f" and {', '.join(sorted(named))}" if named else ""
            hint = "Attributes go by name." if self.defaults and len(given) > len(self.operands) else ""
            raise FusionError(f"{self.name}{self.signature} does not take {len(given)} operands{named_too}", hint=hint)
        for operand, value in placed:
            if value is None and not operand.optional:
                raise FusionError(f"{self.name}{self.signature} is called without {operand.name}")
        return placed

    def options(self, operands: Sequence[TensorType], given: Mapping[str, Any]) -> dict[str, Any]:
        """Returns all attributes.

        Args:
            operands: The operands' types.
            given: Those that are given.

        Raises:
            ValueError: A required one is missing, or one has another type or value than it may.
        """
        options = {**self.defaults, **{name: _plain(value) for name, value in given.items()}}
        for name, value in options.items():
            default, choices = self.defaults[name], CHOICES.get(name, ())
            if value is REQUIRED:
                raise ValueError(f"{name} must be given")
            if name in FLOATS:
                options[name] = [*map(float, cast("list[float]", value))] if isinstance(value, list) else float(value)
                continue
            if value is DERIVED and default is DERIVED:
                options[name] = _derived(self.name, operands, options)
            elif choices and (value not in choices or not value):
                raise ValueError(f"{name} is {value!r}, not {' or '.join(filter(None, choices))}")
            elif isinstance(default, float) and type(value) is int:
                options[name] = float(value)
            elif default not in (REQUIRED, DERIVED) and type(value) is not type(default):
                raise ValueError(f"{name} is {value!r}, not of type {type(default).__name__}")
        return {**options, **FIXED.get(self.name, {})}

    def elements(self, operands: Sequence[TensorType], options: Mapping[str, Any]) -> list[ir.Type]:
        """Returns the element types of the results.

        Args:
            operands: The operands' types.
            options: All attributes.

        Raises:
            ValueError: They do not follow.
        """
        known = {
            **{operand.name: kind.dtype for operand, kind in zip(self.operands, operands, strict=False)},
            **options,
        }
        dtypes: list[str] = []
        for result in self.results:
            count, _, part = result.rpartition("*")
            if part == "real":
                dtypes.append("float64" if operands[0].dtype == "complex128" else "float32")
            elif part == "quantized":
                dtypes.append(_quantized(options))
            elif part != "none":
                dtypes += [known.get(part, part)] * (options[count] if count else 1)
        # MLIR's types, such as quantized ones, are their own names.
        return [ir.Type.parse(name) if name.startswith("!") else element_type_of(name) for name in dtypes]

    def attributes(self, options: Mapping[str, Any], types: Sequence[ir.Type]) -> dict[str, ir.Attribute]:
        """Returns the attributes of an op of the engine's dialect.

        Args:
            options: All attributes.
            types: The types of the results, which the others determine.
        """
        held = {name: _attribute(name, value) for name, value in options.items() if name not in _OF_THE_TYPES}
        return {"qtype": ir.TypeAttr.get(types[0])} if self.name == "QUANTIZE" else held

    def encoded(self, options: Mapping[str, Any]) -> bytes:
        """Returns the options of an op that the engine's dialect lacks, see ``model_tables.STAND_IN``."""
        import json  # few fusions have such an op

        numbers = {name: CHOICES[name].index(value) if name in CHOICES else value for name, value in options.items()}
        states = [index for index, operand in enumerate(self.operands) if operand.state]
        return json.dumps({"table": LACKING[self.name], "options": numbers, "states": states}).encode()

    @property
    def documentation(self) -> str:
        """The docstring of its builder."""
        lines = [f"Emits {self.name}. {self.about}"]
        flags = {"constant": "Constant", "optional": "May be None", "state": "A state, as ``Builder.state`` makes one"}
        for flag, text in flags.items():
            names = ", ".join(operand.name for operand in self.operands if getattr(operand, flag))
            lines += [f"{text}: {names}."] if names else []
        for attribute in self.defaults:
            if attribute in CHOICES:
                lines.append(f"{attribute}: {', '.join(filter(None, CHOICES[attribute]))}.")
        return "\n\n".join(lines)


# Attributes that only determine the result types; the ops do not store them.
_OF_THE_TYPES = frozenset({"dtype", "idx_out_type", "out_type", "output_type", "scale", "shape", "to", "zero_point"})
# Attributes of types of the dialect.
_ENUMERATIONS = {"mode": "mirror_pad_attr", "kernel_type": "lstm_kernel_type_attr"}


def _attribute(name: str, value: Any) -> ir.Attribute:
    if name in _ENUMERATIONS:
        return ir.Attribute.parse(f"#tfl<{_ENUMERATIONS[name]} {value}>")
    if name in {"key_dtype", "value_dtype"}:
        return ir.TypeAttr.get(element_type_of(value))
    return mlir_attribute(value) if name in {"seed", "seed2"} else int32_attribute(value)


def _plain(value: Any) -> Any:
    """Returns numbers and arrays of numpy, and tuples, as Python's numbers and lists."""
    if isinstance(value, (np.ndarray, np.generic)):
        return cast("Any", value).tolist()
    return [*cast("tuple[Any, ...]", value)] if isinstance(value, tuple) else value


def _derived(name: str, operands: Sequence[TensorType], options: Mapping[str, Any]) -> int:
    """Returns the number of parts that an op joins or makes; raises a ValueError if it is not known."""
    if name == "PACK":
        return len(operands)
    sizes, axis = (operands[1].sizes, 0) if name == "SPLIT_V" else (operands[0].sizes, int(options["axis"]))
    size = sizes[axis]
    if size is None:
        raise ValueError("the number of its results is not known")
    return size


def _quantized(options: Mapping[str, Any]) -> str:
    """Returns MLIR's name of a quantized type; raises a ValueError if scale or zero point are out of range."""
    dtype, scale, zero = options["dtype"], options["scale"], options["zero_point"]
    if dtype not in {"int8", "uint8", "int16"}:
        raise ValueError(f"dtype is {dtype!r}, not int8, uint8 or int16")
    limits = np.iinfo(dtype)
    if not (scale > 0 and limits.min <= zero <= limits.max):
        raise ValueError(f"the scale must be positive, and the zero point from {limits.min} to {limits.max}")
    return f"!quant.uniform<{'u' if dtype == 'uint8' else 'i'}{limits.bits}:f32, {scale:.17e}:{zero}>"


_ENTRY = re.compile(
    r"(?P<name>\w+)\((?P<operands>[^;)]*)(;(?P<attributes>[^)]*))?\)( -> (?P<results>[^:]+))?: (?P<about>.+)"
)


def _expanded(text: str, groups: Mapping[str, str]) -> list[str]:
    """Splits a text into words, of which some are groups of others."""
    return [part for word in text.split() for part in (_expanded(groups[word], groups) if word in groups else [word])]


def _read(entry: str) -> Builtin:
    match = _ENTRY.fullmatch(" ".join(entry.split()))
    assert match is not None, entry
    words = _expanded(match["operands"], OPERANDS)
    operands: list[Operand] = []
    for word in words:
        name = word.rstrip("~#@!?*&")
        integers = "int64" if "@" in word else "int32" if {"#", "!"} & {*word} else ""
        operands.append(Operand(name, "~" in word, integers, *(mark in word for mark in "!?*&")))
    defaults: dict[str, Any] = {}
    for word in _expanded(match["attributes"] or "", GROUPS):
        name, given, default = word.partition("=")
        defaults[name] = (DERIVED if default == "DERIVED" else ast.literal_eval(default)) if given else REQUIRED
    results = (match["results"] or operands[0].name).split()
    return Builtin(match["name"], operands, defaults, results, match["about"].replace(", sizes.", f", {SIZES}."))


BUILTINS: Mapping[str, Builtin] = {known.name: known for known in map(_read, re.split(r"\n(?! )", OPS.strip()))}
"""The ops by LiteRT's name."""


def unavailable(name: str) -> str:
    """Returns why an op of this name cannot be built, and what to do instead."""
    if name in UNAVAILABLE:
        return f"builtin() does not build {name}: {UNAVAILABLE[name]}"
    close = nearest(name, BUILTINS)
    meant = f"; did you mean {close[0]!r}?" if close else ", which op() builds with result types"
    return f"builtin() does not know {name!r}{meant}"


def lacking(name: str, methods: Iterable[str]) -> str:
    """Returns why the builder, which has these methods and one for each builtin op, has none of this name."""
    close = [OTHER_NAMES[name]] if name in OTHER_NAMES else nearest(name, (*map(str.lower, BUILTINS), *methods))
    meant = f"; did you mean b.{close[0]}?" if close else ", and LiteRT no such op that it can build"
    meant = f": {unavailable(name.upper())}" if name.upper() in UNAVAILABLE else meant
    return f"the builder has no {name!r}{meant}"
