"""Recipes: what each op gets, in the JSON form of litert-quantizer.

An entry names ops by a regular expression, which is searched for in the names of their results (each followed by a
semicolon), and by their kind. Of the entries that fit an op and that it supports, the last one counts; but entries of
the same expression count where its first one stands, so that an expression that must come later is written otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, TypeAlias

from litefuse.options.forms import INTEGER_ACTIVATIONS, Quantization

__all__ = ["Recipe", "integer_recipe", "named", "weight_recipe"]

Recipe: TypeAlias = list[dict[str, Any]]
"""The entries, each with the keys ``regex``, ``operation``, ``algorithm_key`` and ``op_config``."""

_ALL = "*"
_MIN_MAX = "min_max_uniform_quantize"
_FLOAT_CASTING = "float_casting"
_NO_QUANTIZE = "no_quantize"


def weight_recipe(form: Quantization, products_of_constants: Collection[str]) -> Recipe:
    """Returns the recipe of a form that needs no samples.

    Args:
        form: The form of the weights.
        products_of_constants: The results of products with a constant first factor: LiteRT supports integer weights as
            the second one alone.
    """
    if form == "float16":
        return [_entry(".*", _ALL, _weights(16, dtype="FLOAT"), algorithm=_FLOAT_CASTING)]
    if form == "weights":
        return [_entry(".*", _ALL, _weights(8))]
    return [_entry(".*", _ALL, _dynamic(8)), *_left(products_of_constants)]


def integer_recipe(form: Quantization, real: Collection[str], *, quantized_io: bool) -> Recipe:
    """Returns the recipe of a form with integer activations.

    Args:
        form: The form of activations.
        real: The results that stay in floating point: there, only weights become integers.
        quantized_io: Whether the inputs and outputs are quantized too.
    """
    bits = INTEGER_ACTIVATIONS[form]
    recipe = [
        _entry(".*", _ALL, _dynamic(8)),
        _entry("^", _ALL, _static(bits)),
        # LiteRT reads only the scale of the first channel.
        _entry("^", "BATCH_MATMUL", _static(bits, granularity="TENSORWISE")),
    ]
    if not quantized_io:
        recipe += [_entry("^", boundary) for boundary in ("INPUT", "OUTPUT")]
    if real:
        recipe += [*_left(real), _entry(f"(?:){named(real)}", _ALL, _dynamic(8))]
    return recipe


def named(results: Collection[str]) -> str:
    """Returns the regular expression of ops whose first result is one of these tensors."""
    return f"^(?:{'|'.join(map(re.escape, sorted(results)))});"


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


def _static(bits: int, *, granularity: str = "CHANNELWISE") -> dict[str, Any]:
    """Activations of calibrated ranges: those of int8 have a zero point, those of int16 none, as LiteRT's kernels."""
    activations = _tensor(bits, granularity="TENSORWISE", symmetric=bits != 8)
    return {**_dynamic(8, granularity=granularity), "activation_tensor_config": activations}


def _tensor(bits: int, *, granularity: str, symmetric: bool = True, dtype: str = "INT") -> dict[str, Any]:
    return {"num_bits": bits, "symmetric": symmetric, "granularity": granularity, "dtype": dtype}
