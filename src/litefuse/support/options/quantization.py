"""Options of quantization besides its form."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from litefuse.errors import LitefuseError
from litefuse.support.files.readable import check_file, os_errors
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, QuantizationForm

if TYPE_CHECKING:
    from litefuse.support.options.conversion import Quantization

WeightBits: TypeAlias = Literal[8, 4]
WEIGHT_BITS: tuple[WeightBits, ...] = get_args(WeightBits)

#: What shares a scale: the weights of an output channel, all of a tensor, or so many in a row.
Granularity: TypeAlias = Literal["channel", "tensor", "block:32", "block:64", "block:128", "block:256"]
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)

#: ``hadamard``: weights are multiplied with a Hadamard matrix before they are rounded, and activations likewise, which
#: spreads outliers.
Rotation: TypeAlias = Literal["hadamard"]

#: The types of inputs or outputs: float32 (False), the form's own integers (True), or uint8.
IntegerType: TypeAlias = bool | Literal["uint8"]

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


_TYPES: Mapping[Any, IntegerType] = {"integer": True, "uint8": "uint8", "float32": False, True: True, False: False}


def types_of_io(value: QuantizedIo, argument: str = "it") -> tuple[IntegerType, IntegerType]:
    """Returns the types of inputs and those of outputs, which a text names as the command line does.

    Raises:
        LitefuseError: No such type.
    """
    types: Any = value.split(",") if isinstance(value, str) else value if isinstance(value, tuple) else (value,)
    if not 1 <= len(types) <= 2 or not all(isinstance(kind, (bool, str)) and kind in _TYPES for kind in types):
        raise LitefuseError(
            f"{argument} is {value!r}",
            hint="It is False or 'float32', True or 'integer', or 'uint8'; or two of these, for inputs and outputs.",
        )
    return _TYPES[types[0]], _TYPES[types[-1]]


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
    elif _changed(chosen, *_OF_WEIGHTS, "keep_float", "keep_float_ops"):
        raise LitefuseError(
            "quantization options were given, but no form of quantization",
            hint="Pass a form as well (on the command line, --quantize), or a recipe (--recipe).",
        )


_OF_WEIGHTS = ("weight_bits", "granularity", "rotate", "min_weight_elements")


def _changed(chosen: Quantization, *names: str) -> list[str]:
    """Returns those of some options that are not their defaults."""
    return [name for name in names if getattr(chosen, name) != getattr(type(chosen)(), name)]


def _refused(form: QuantizationForm, options: Quantization) -> str:
    """Returns why this combination is not supported; empty if it is."""
    chosen = _changed(options, *_OF_WEIGHTS)
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
