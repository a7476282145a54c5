"""Ops that litert-quantizer leaves in floating point, as others that it makes integers of.

The results are the same for all finite numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from litefuse.ir.constants import pseudo_constant, stored
from litefuse.ir.litert_ops import arithmetic, integers
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped, resized

__all__ = ["QUANTIZABLE_OPS"]

# The window of MAX_POOL_2D that Vela takes: its height, and all of its elements.
_MAX_HEIGHT, _MAX_WINDOW = 256, 1 << 16


def _leaky_relu(op: ir.OpView) -> ir.Value | None:
    """Returns ``max(x, alpha * x)``, for an alpha above 0 and up to 1: 0 times infinity would be no number."""
    alpha = ir.FloatAttr(op.attributes["alpha"]).value
    if not _is_float(op) or not 0 < alpha <= 1:
        return None
    return _maximum(op.operands[0], _times(op.operands[0], alpha), op.results[0].type)


def _prelu(op: ir.OpView) -> ir.Value | None:
    """Returns ``max(x, alpha * x)`` where each alpha is such, else ``relu(x) + alpha * (x - relu(x))``."""
    value, alpha = op.operands
    elements = stored(alpha)
    if not _is_float(op):
        return None
    if elements is not None and all(0 < each <= 1 for each in np.array(elements).ravel().tolist()):
        return _maximum(value, arithmetic("tfl.mul", value, alpha, value.type), value.type)
    positive = create_value("tfl.relu", value.type, [value])
    negative = arithmetic("tfl.sub", value, positive, value.type)
    return arithmetic("tfl.add", positive, arithmetic("tfl.mul", negative, alpha, value.type), value.type)


def _negative(op: ir.OpView) -> ir.Value | None:
    return _times(op.operands[0], -1.0) if _is_float(op) else None


def _minimum(op: ir.OpView) -> ir.Value | None:
    """Returns ``-max(-x, -y)``."""
    if not _is_float(op):
        return None
    one, other = (_opposite(operand) for operand in op.operands)
    return _times(_maximum(one, other, op.results[0].type), -1.0)


def _opposite(value: ir.Value) -> ir.Value:
    elements = stored(value)
    if elements is None:
        return _times(value, -1.0)
    array = -np.array(elements, np.float32).reshape(elements.type.shape)
    return pseudo_constant(ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=value.type))


def _reduce_max(op: ir.OpView) -> ir.Value | None:
    """Returns the maximum of a window of all places, of images and series in batches."""
    value, axes = op.operands
    found = integers(axes)
    if not _is_float(op) or found is None or not is_fixed(value, op.results[0]):
        return None
    shape = [*ir.RankedTensorType(value.type).shape]
    places = sorted(axis % len(shape) for axis in found)
    if places == [1] and len(shape) == 3:
        shape = [shape[0], shape[1], 1, shape[2]]
    elif places != [1, 2] or len(shape) != 4:
        return None
    batch, height, width, channels = shape
    if height > _MAX_HEIGHT or height * width > _MAX_WINDOW:
        return None
    window = {"filter_height": height, "filter_width": width, "stride_h": 1, "stride_w": 1, "padding": "VALID"}
    attributes = {**window, "fused_activation_function": "NONE"}
    kind = resized(value.type, [batch, 1, 1, channels])
    pooled = create_value("tfl.max_pool_2d", kind, [reshaped(value, shape)], attributes)
    return reshaped(pooled, ir.RankedTensorType(op.results[0].type).shape)


def _is_float(op: ir.OpView) -> bool:
    return isinstance(ir.ShapedType(op.results[0].type).element_type, ir.F32Type)


def _times(value: ir.Value, factor: float) -> ir.Value:
    scalar = pseudo_constant(ir.DenseElementsAttr.get(np.array(factor, np.float32)))
    return arithmetic("tfl.mul", value, scalar, value.type)


def _maximum(one: ir.Value, other: ir.Value, kind: ir.Type) -> ir.Value:
    return create_value("tfl.maximum", kind, [one, other])


#: By the names of ops in MLIR, what LiteRT calls the op, and how it is written as others.
QUANTIZABLE_OPS: Mapping[str, tuple[str, Callable[[ir.OpView], ir.Value | None]]] = MappingProxyType(
    {
        "tfl.leaky_relu": ("LEAKY_RELU", _leaky_relu),
        "tfl.minimum": ("MINIMUM", _minimum),
        "tfl.neg": ("NEG", _negative),
        "tfl.prelu": ("PRELU", _prelu),
        "tfl.reduce_max": ("REDUCE_MAX", _reduce_max),
    }
)
