"""Recipes: what each op gets, in the JSON form of litert-quantizer.

An entry names ops by a regular expression, which is searched for in the names of their results (each followed by a
semicolon), and by their kind. Of the entries that fit an op and that it supports, the last one counts; but entries of
the same expression count where its first one stands, so that an expression that must come later is written otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from litefuse.support.options.forms import INTEGER_ACTIVATIONS, Quantization
from litefuse.support.options.quantization import MIN_WEIGHT_ELEMENTS, QuantizationOptions, QuantizedIo, types_of_io

__all__ = ["ModelFacts", "Recipe", "mixed_recipe", "named", "recipe_of"]

Recipe: TypeAlias = list[dict[str, Any]]
"""The entries, each with the keys ``regex``, ``operation``, ``algorithm_key`` and ``op_config``."""

_ALL = "*"
_MIN_MAX = "min_max_uniform_quantize"
_FLOAT_CASTING = "float_casting"
_NO_QUANTIZE = "no_quantize"
# Its rotations are ops that any LiteRT has; those of HADAMARD_ROTATION are custom ops.
_ROTATED = "DECOMPOSED_HADAMARD_ROTATION"
_BOUNDARIES = ("INPUT", "OUTPUT")
# The ops whose weights litert-quantizer puts into blocks, or rotates.
_ROW_WISE = ("FULLY_CONNECTED", "EMBEDDING_LOOKUP")


@dataclass(frozen=True)
class ModelFacts:
    """Facts about a model that a recipe depends on. Ops are named by their first results.

    Attributes:
        products_of_constants: The products with a constant first factor.
        returned: The ops with constants that are outputs of the model, too.
        widths: How many weights a row has, of the ops whose weights may be put into blocks or rotated.
        real: The ops whose activations cannot be integers.
    """

    products_of_constants: Collection[str] = ()
    returned: Collection[str] = ()
    widths: Mapping[str, int] = field(default_factory=dict[str, int])
    real: Collection[str] = ()


def recipe_of(
    form: Quantization, options: QuantizationOptions, facts: ModelFacts, *, quantized_io: QuantizedIo
) -> Recipe:
    """Returns the recipe of a form.

    Args:
        form: The form of weights and activations.
        options: What users choose beyond it.
        facts: What a recipe must know of the model.
        quantized_io: The types of inputs and outputs, for the forms with integer activations.
    """
    if form == "recipe":
        recipe = [dict(entry) for entry in options.recipe] + _left(facts.real)
    elif form in INTEGER_ACTIVATIONS:
        recipe = _integers(INTEGER_ACTIVATIONS[form], options, facts)
    else:
        recipe = _weights_alone(form, options, facts)
    recipe += [_entry(f"(?:{pattern})", _ALL) for pattern in options.keep_float]
    recipe += [_entry("(?:^)", operation) for operation in options.keep_float_ops]
    if form in INTEGER_ACTIVATIONS:  # what stays in floating point are ops: inputs and outputs are what was asked for
        recipe += _boundaries(INTEGER_ACTIVATIONS[form], quantized_io)
        recipe += [_entry(f"(?:^){named(facts.real)}", boundary) for boundary in _BOUNDARIES if facts.real]
    return recipe


def named(results: Collection[str]) -> str:
    """Returns the regular expression of ops whose first result is one of these tensors."""
    return f"^(?:{'|'.join(map(re.escape, sorted(results)))});"


def _weights_alone(form: Quantization, options: QuantizationOptions, facts: ModelFacts) -> Recipe:
    if form == "float16":
        casting = _entry(".*", _ALL, _weights(16, dtype="FLOAT"), algorithm=_FLOAT_CASTING)
        return [casting, *_left(facts.returned)]
    make = _dynamic if form == "dynamic" else _weights
    smallest = options.min_weight_elements
    if smallest is None:
        smallest = MIN_WEIGHT_ELEMENTS if form == "dynamic" else 0

    def config(bits: int, granularity: str) -> dict[str, Any]:
        return {**make(bits, granularity=granularity), "min_weight_elements": smallest}

    bits = options.weight_bits
    whole = "TENSORWISE" if options.granularity == "tensor" else "CHANNELWISE"
    # Without a kernel for less than 8 bits, the first entry counts.
    recipe = [_entry(".*", _ALL, config(8, whole)), _entry("^", _ALL, config(bits, whole))]
    if form == "dynamic" and whole == "TENSORWISE":
        # LiteRT reads a scale for each channel, and computes with what is behind the only one.
        recipe.append(_entry("^", "DEPTHWISE_CONV_2D", config(8, "CHANNELWISE")))
    by_rows = f"BLOCKWISE_{options.block_size}" if options.block_size else whole
    if by_rows != whole or options.rotation:
        algorithm = _ROTATED if options.rotation else _MIN_MAX
        recipe += [_entry("(?:)", op, config(bits, by_rows), algorithm=algorithm) for op in _ROW_WISE]
        step = options.block_size or 2
        if others := {result for result, width in facts.widths.items() if width % step}:
            recipe.append(_entry(named(others), _ALL, config(bits, whole)))
    # Where weights are dequantized for the op, an output would be so, too, which litert-quantizer fails at.
    return recipe + _left(facts.products_of_constants if form == "dynamic" else facts.returned)


def _integers(bits: int, options: QuantizationOptions, facts: ModelFacts) -> Recipe:
    granularity = "TENSORWISE" if options.granularity == "tensor" else "CHANNELWISE"
    rows = "TENSORWISE" if options.lookups_of_one_scale else granularity
    # LiteRT reads a scale for each channel of DEPTHWISE_CONV_2D.
    real = {_ALL: granularity, "DEPTHWISE_CONV_2D": "CHANNELWISE", "EMBEDDING_LOOKUP": rows}

    def in_float(pattern: str) -> Recipe:
        return [
            _entry(pattern, op, {**_dynamic(8, granularity=each), "min_weight_elements": MIN_WEIGHT_ELEMENTS})
            for op, each in real.items()
        ]

    recipe = [
        *in_float(".*"),
        _entry("^", _ALL, _static(bits, granularity=granularity)),
        # LiteRT reads only the scale of the first channel.
        _entry("^", "BATCH_MATMUL", _static(bits, granularity="TENSORWISE")),
    ]
    if options.weight_bits != 8:
        recipe.append(_entry("(?:)", _ALL, _static(bits, weight_bits=options.weight_bits, granularity=granularity)))
    if facts.products_of_constants:  # a first factor has one scale, of 8 bits, as activations there
        constants = named(facts.products_of_constants)
        recipe.append(_entry(constants, "FULLY_CONNECTED", _static(bits, granularity="TENSORWISE")))
    if facts.real:
        recipe += _left(facts.real)
        # LiteRT supports integer weights as the second factor.
        others = set(facts.real).difference(facts.products_of_constants)
        recipe += in_float(f"(?:){named(others)}") if others else []
    return recipe


def _boundaries(bits: int, quantized_io: QuantizedIo) -> Recipe:
    """Returns the entries of inputs and outputs."""
    boundaries: Recipe = []
    for boundary, of_integers in zip(_BOUNDARIES, types_of_io(quantized_io), strict=True):
        config = _static(bits) if of_integers else None
        if config is not None and of_integers == "uint8":
            config["activation_tensor_config"] |= {"dtype": "UINT"}
        boundaries.append(_entry("(?:(?:))", boundary, config))
    return boundaries


def mixed_recipe(forms: Mapping[str, str]) -> Recipe:
    """Returns the recipe that gives each op's weights a form of its own.

    Args:
        forms: ``int4``, ``int8``, ``float16`` or ``float32`` (left as they are) by the name of the op's result.
    """
    entries = {
        "int4": (_dynamic(4), _MIN_MAX),
        "int8": (_dynamic(8), _MIN_MAX),
        "float16": (_weights(16, dtype="FLOAT"), _FLOAT_CASTING),
    }
    return [
        _entry(named(results), _ALL, config, algorithm=algorithm)
        for form, (config, algorithm) in entries.items()
        if (results := [result for result, each in forms.items() if each == form])
    ]


def _left(results: Collection[str]) -> Recipe:
    return [_entry(named(results), _ALL)] if results else []


def _entry(
    regex: str, operation: str, config: dict[str, Any] | None = None, *, algorithm: str = _MIN_MAX
) -> dict[str, Any]:
    """Makes an entry; without a configuration, its ops are left as they are."""
    if config is None:
        return {"regex": regex, "operation": operation, "algorithm_key": _NO_QUANTIZE}
    return {"regex": regex, "operation": operation, "algorithm_key": algorithm, "op_config": config}


def _weights(bits: int, *, granularity: str = "CHANNELWISE", dtype: str = "INT") -> dict[str, Any]:
    """Weights that LiteRT makes float32 of before it computes."""
    weights = _tensor(bits, granularity=granularity, dtype=dtype)
    return {"weight_tensor_config": weights, "compute_precision": "FLOAT", "explicit_dequantize": True}


def _dynamic(bits: int, *, granularity: str = "CHANNELWISE") -> dict[str, Any]:
    """Weights that LiteRT multiplies with activations that it quantizes in each call."""
    weights = _tensor(bits, granularity=granularity)
    return {"weight_tensor_config": weights, "compute_precision": "INTEGER", "explicit_dequantize": False}


def _static(bits: int, *, weight_bits: int = 8, granularity: str = "CHANNELWISE") -> dict[str, Any]:
    """Activations of calibrated ranges: those of int8 have a zero point, those of int16 none, as LiteRT's kernels."""
    activations = _tensor(bits, granularity="TENSORWISE", symmetric=bits != 8)
    return {**_dynamic(weight_bits, granularity=granularity), "activation_tensor_config": activations}


def _tensor(bits: int, *, granularity: str, symmetric: bool = True, dtype: str = "INT") -> dict[str, Any]:
    return {"num_bits": bits, "symmetric": symmetric, "granularity": granularity, "dtype": dtype}
