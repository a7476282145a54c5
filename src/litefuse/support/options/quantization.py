"""The options of quantization."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, cast, get_args

from litefuse.errors import LitefuseError
from litefuse.support.files.readable import check_file, os_errors
from litefuse.support.options.declared import Options, documented, option
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, QUANTIZATIONS, QuantizationForm
from litefuse.support.options.names import all_names

WeightBits: TypeAlias = Literal[8, 4]
WEIGHT_BITS: tuple[WeightBits, ...] = get_args(WeightBits)

#: What shares a scale: the weights of an output channel, all of a tensor, or so many in a row.
Granularity: TypeAlias = Literal["channel", "tensor", "block:32", "block:64", "block:128", "block:256"]
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)

#: ``hadamard``: weights are multiplied with a Hadamard matrix before they are rounded, and activations likewise, which
#: spreads outliers.
Rotation: TypeAlias = Literal["hadamard"]

#: The types of inputs or outputs: float32 (False), the form's own integers (True), int8, or uint8.
IntegerType: TypeAlias = bool | Literal["int8", "uint8"]

#: Those of inputs and outputs, or a pair of both.
QuantizedIo: TypeAlias = IntegerType | str | tuple[IntegerType, IntegerType]

#: A recipe of litert-quantizer: the path of a JSON file, or its entries.
RecipeEntries: TypeAlias = str | os.PathLike[str] | Iterable[Mapping[str, Any]]

RepresentativeDataset: TypeAlias = str | os.PathLike[str] | Iterable[Any] | Callable[[], Iterable[Any]]
"""The path of an ``.npz`` archive or of a folder of images, ``FILE.py:FUNCTION`` for a function in a file, which runs
in a process of its own, or samples, or a function that returns samples, such as a generator function.

A sample is a mapping from the names of a signature's inputs to arrays, an array or a list of one array (for a signature
with one input), or a pair of a signature's key and one of these. Tensors of TensorFlow, JAX and PyTorch are arrays,
too.
"""

Preprocess: TypeAlias = str | os.PathLike[str] | Callable[[Any], Any]
"""A function that makes a sample of an image, or ``FILE.py:FUNCTION``; see ``quantization.images``."""

#: The smallest weights that ``dynamic`` makes integers, as in TensorFlow's converter.
MIN_WEIGHT_ELEMENTS = 1024


_TYPES: Mapping[Any, IntegerType] = {
    **dict[Any, IntegerType](integer=True, int8="int8", uint8="uint8", float32=False),
    **{known: known for known in (True, False)},
}


def types_of_io(value: QuantizedIo, argument: str = "it") -> tuple[IntegerType, IntegerType]:
    """Returns the types of inputs and those of outputs, which a text names as the command line does.

    Raises:
        LitefuseError: No such type.
    """
    types: Any = value.split(",") if isinstance(value, str) else value if isinstance(value, tuple) else (value,)
    if not 1 <= len(types) <= 2 or not all(isinstance(kind, (bool, str)) and kind in _TYPES for kind in types):
        raise LitefuseError(
            f"{argument} is {value!r}",
            hint="It is False or 'float32', True or 'integer', 'int8', 'uint8'; or two, for inputs and outputs.",
        )
    return _TYPES[types[0]], _TYPES[types[-1]]


_FORM = "Quantization"


@documented
class Quantization(Options):
    """How a model is quantized, with litert-quantizer."""

    OF_WEIGHTS: ClassVar = ("weight_bits", "granularity", "rotate", "min_weight_elements")

    form: QuantizationForm | None = option(
        default=None,
        help="Shrink the weights: int8 for products in int8 (dynamic) or float32 (weights), or float16; or compute in "
        "integers: int8 or int16 with {samples}, qat (int8) with the ranges that the model's fake-quantization nodes "
        "learned; or use the smallest weight type per layer that stays within {max_error} (auto, which requires that), "
        "or with {io} or {require_integer} int8 activations, and int16 where they need it.",
        kw_only=False,
        flag="--quantize",
        choices=QUANTIZATIONS,
    )
    samples: RepresentativeDataset | None = option(
        default=None,
        help="Inputs like those that the model will get, for int8, int16 and auto: an .npz file with an array for each "
        "input, whose first axis counts samples or rows; a folder of images; or a function that returns or yields "
        "samples, as FILE.py:FUNCTION.",
        python="Or the samples themselves, or a function: each is a mapping from names of inputs to arrays, the array "
        "of the only input, or a pair of a signature's key and one of these.",
        metavar="FILE.npz|FOLDER|FILE.py:FUNCTION",
        path="read",
    )
    preprocess: Preprocess | None = option(
        default=None,
        help="The function that turns each image of the folder, a PIL.Image.Image, into an input of the model. "
        "Otherwise: RGB, resized, with values 0 to 255 if the model scales them or takes integers, else 0 to 1.",
        metavar="FILE.py:FUNCTION",
        group=_FORM,
        path="read",
    )
    io: tuple[IntegerType, IntegerType] = option(
        default=False,
        converter=types_of_io,
        help="With int8, int16, qat and auto, also make inputs and outputs integers: integer (the form's own type; "
        "int8 with auto), int8 or, with int8 and auto, uint8; or two types, for inputs and outputs, one of which may "
        "be float32.",
        python="True is integer, False is float32.",
        flag="--quantized-io",
        metavar="TYPE[,TYPE]",
        group=_FORM,
    )
    require_integer: bool = option(
        default=False,
        help="With int8, int16, qat and auto, fail if an op does not compute in integers, and list such ops.",
        group=_FORM,
    )
    measure_layers: bool = option(
        default=False, help="Also measure the difference in every tensor of the model.", group=_FORM
    )
    weight_bits: WeightBits = option(
        default=8,
        help="4 for int4 weights where LiteRT has kernels: fully connected layers, convolutions, embeddings.",
        group=_FORM,
        choices=WEIGHT_BITS,
    )
    granularity: Granularity = option(
        default="channel",
        help="Weights that share a scale: those of an output channel, a tensor, or a block of a row (int4, dynamic).",
        group=_FORM,
        choices=GRANULARITIES,
    )
    rotate: Rotation | None = option(
        default=None,
        help="Rotate the weights of fully connected layers and embeddings by a Hadamard matrix before rounding "
        "(dynamic, weights).",
        group=_FORM,
        choices=("hadamard",),
    )
    min_weight_elements: int | None = option(
        default=None,
        help="Do not quantize weights with fewer elements.",
        group=_FORM,
        metavar="N",
        least=0,
        otherwise="1024 with dynamic, 0 with weights",
    )
    keep_float: tuple[str, ...] = option(
        default=(),
        converter=all_names,
        help="Keep in float the ops whose output name matches one of these regular expressions.",
        group=_FORM,
        metavar="REGEX",
        is_repeated=True,
    )
    keep_float_ops: tuple[str, ...] = option(
        default=(),
        converter=all_names,
        help="Keep all ops of these kinds in float, such as SOFTMAX.",
        group=_FORM,
        flag="--keep-float-op",
        metavar="OP",
        is_repeated=True,
    )
    recipe: RecipeEntries | None = option(
        default=None,
        help="A litert-quantizer recipe, which says how to quantize each op; replaces {form}.",
        group=_FORM,
        metavar="FILE.json",
        path="read",
    )
    max_error: float | None = option(
        default=None,
        help="Fail if an output changes by more than this, relative to its largest element.",
        group=_FORM,
        metavar="E",
        least=0,
    )

    @classmethod
    def of(
        cls, value: QuantizationForm | Quantization | Mapping[str, Any] | None, argument: str = "it"
    ) -> Quantization:
        """Makes it of what a user gave: an object, a mapping, or the form."""
        return cls._of(value, argument)

    @property
    def scheme(self) -> QuantizationForm | None:
        """The form, of which a recipe is one; None if nothing is quantized."""
        if self.recipe is not None:
            return "recipe"
        return "int8" if self.has_mixed_activations else self.form

    @property
    def has_mixed_activations(self) -> bool:
        """Whether layers have activations of int16 where the outputs need them, and of int8 elsewhere."""
        return self.form == "auto" and (self.require_integer or self.has_integer_ends)

    @property
    def allowed_error(self) -> float:
        """The largest relative difference of outputs that passes; infinite without any."""
        return math.inf if self.max_error is None else self.max_error

    @property
    def has_integer_ends(self) -> bool:
        """Whether inputs or outputs are integers."""
        return any(self.io)

    @property
    def entries(self) -> tuple[Mapping[str, Any], ...]:
        """The entries of the recipe; none without a recipe."""
        return () if self.recipe is None else recipe_entries(self.recipe)

    @property
    def block_size(self) -> int:
        """How many weights in a row share a scale; 0 if they are not in blocks."""
        kind, _, size = self.granularity.partition(":")
        return int(size) if kind == "block" else 0

    def text(self) -> str:
        """Returns what differs from the form's own choices, for reports; empty if nothing does."""
        choices = [f"int{self.weight_bits} where LiteRT has kernels for it"] if self.weight_bits != 8 else []
        if self.block_size:
            choices.append(f"a scale for each {self.block_size}")
        elif self.granularity != "channel":
            choices.append("a scale for each tensor")
        if self.rotate:
            choices.append("rotated")
        return ", ".join(choices)


def check_combination(chosen: Quantization) -> None:
    """Checks that litert-quantizer and LiteRT have a combination of options.

    Raises:
        LitefuseError: No kernel for what was chosen, or no form; the message says why.
    """
    for pattern in chosen.keep_float:
        check_pattern(pattern, "keep_float")
    if (form := chosen.scheme) is not None:
        if refused := _refused(form, chosen):
            raise LitefuseError(f"the quantization {form!r} does not support this: {refused}")
    elif _changed(chosen, *chosen.OF_WEIGHTS, "keep_float", "keep_float_ops"):
        raise LitefuseError(
            "quantization options were given, but no form of quantization",
            hint="Pass a form as well (on the command line, --quantize), or a recipe (--recipe).",
        )


def _changed(chosen: Quantization, *names: str) -> list[str]:
    """Returns those of some options that are not their defaults."""
    return [name for name in names if getattr(chosen, name) != getattr(type(chosen)(), name)]


def _refused(form: QuantizationForm, options: Quantization) -> str:
    """Returns why this combination is not supported; empty if it is."""
    chosen = _changed(options, *options.OF_WEIGHTS)
    if form == "recipe" and chosen:
        return f"the recipe says it all, {chosen[0]} included"
    if form == "float16" and chosen:
        return f"float16 numbers have no scales, so {chosen[0]} has no effect"
    if form in {"auto", "qat"} and chosen:
        chooses = "what accuracy costs" if form == "auto" else "the ranges of its nodes"
        return f"it takes the type of weights from {chooses}, so {chosen[0]} has no effect"
    if form == "qat" and (options.keep_float or options.keep_float_ops):
        return "what has no fake-quantization nodes stays in floating point: leave them out there"
    if options.block_size and form != "dynamic":
        return f"litert-quantizer has weights in blocks only for 'dynamic', not for {form!r}"
    if options.block_size and options.weight_bits != 4:
        return "LiteRT has products with int4 weights in blocks, and none with int8 ones: weight_bits=4 goes with it"
    if form in INTEGER_ACTIVATIONS and options.rotate:
        return "rotated weights take float32 activations, which are rotated in each call"
    if form in INTEGER_ACTIVATIONS and options.min_weight_elements is not None:
        return "LiteRT has no op of integer activations and float32 weights: name the ops to keep with keep_float"
    return ""


def check_pattern(pattern: object, where: str) -> None:
    """Raises a ``LitefuseError`` if this is not a regular expression."""
    try:
        re.compile(cast("str", pattern))
    except (re.error, TypeError) as error:
        raise LitefuseError(f"{pattern!r} is not a regular expression: {error}", where=where) from None


def recipe_entries(recipe: RecipeEntries) -> tuple[Mapping[str, Any], ...]:
    """Returns the entries of a recipe, or of its file on this machine; checked.

    Raises:
        LitefuseError: The file cannot be read, or an entry lacks a key or has another.
    """
    where, given = "recipe", cast("object", recipe)
    if isinstance(recipe, str | os.PathLike):
        path = Path(os.fspath(recipe))
        where = str(path)
        check_file(path)
        try:
            with os_errors("the recipe cannot be read", path):
                given = json.loads(path.read_text("utf-8"))
        except (ValueError, RecursionError) as error:
            raise LitefuseError(f"the recipe is not valid JSON: {error}", where=where) from error
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise LitefuseError(f"a recipe is a list of entries, not a {type(cast('object', given)).__name__}", where=where)
    entries = tuple(cast("Iterable[Any]", given))
    if not entries:
        raise LitefuseError("the recipe has no entries", where=where)
    for number, entry in enumerate(entries, 1):
        _check_keys(entry, f"{where}, entry {number}")
    return entries


_KEYS = frozenset({"regex", "operation", "algorithm_key", "op_config"})


def _check_keys(entry: object, where: str) -> None:
    if not isinstance(entry, Mapping):
        raise LitefuseError(f"an entry is an object, not a {type(entry).__name__}", where=where)
    given = cast("Mapping[Any, Any]", entry)
    keys: Collection[Any] = given.keys()
    needed = _KEYS if given.get("algorithm_key") != "no_quantize" else _KEYS - {"op_config"}
    if wrong := sorted(map(str, [*(needed - keys), *(keys - _KEYS)])):
        lacks = [key for key in wrong if key in needed]
        reason = f"it lacks {', '.join(lacks)}" if lacks else f"unknown keys: {', '.join(wrong)}"
        raise LitefuseError(reason, where=where, hint=f"An entry has the keys {', '.join(sorted(_KEYS))}.")
    check_pattern(given["regex"], where)
    config = given.get("op_config", {})
    if not isinstance(config, Mapping):
        raise LitefuseError(f"op_config is an object, not {config!r}", where=where)
    for name, value in cast("Mapping[Any, Any]", config).items():
        if not str(name).endswith("_tensor_config") or value is None:
            continue
        if not isinstance(value, Mapping):
            raise LitefuseError(f"{name} is an object, not {value!r}", where=where)
        bits = cast("Mapping[Any, Any]", value).get("num_bits", 8)
        if isinstance(bits, bool) or not isinstance(bits, int) or not 0 < bits <= _MOST_BITS:
            raise LitefuseError(f"num_bits of {name} is a number from 1 to {_MOST_BITS}, not {bits!r}", where=where)


_MOST_BITS = 32
