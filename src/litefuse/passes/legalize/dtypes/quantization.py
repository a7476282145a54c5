"""Fake quantization: floats rounded to the values that quantized integers represent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.constants import stored
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.arrays.loops import around_axis
from litefuse.passes.legalize.arrays.numpy_formulas import Array
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor


@decomposition("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
# The engine ignores the number of bits or emits unsupported dtypes, and ignores narrow ranges; see the faults below.
@before_engine("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
class FakeQuantize(Decomposition):
    """Clamps to a range in which 0 is a step, and rounds to its steps; each channel may have its own.

    Faults ``quantized-to-few-bits``, ``quantized-to-many-bits``, ``quantized-bias``, ``quantized-to-a-narrow-range``.

    Definition: tensorflow/core/kernels/fake_quant_ops_functor.h.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        if op.name.endswith("PerChannel") or int(op.attributes.get("num_bits", 8)) != 8 or _may_be_bias(op):
            return True
        return bool(op.attributes.get("narrow_range", False)) and not _stays_narrow(op)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.require(0, "float32")
        low: Any
        high: Any
        if op.name == "FakeQuantWithMinMaxArgs":
            low, high = (np.float32(op.attributes.get(name, end)) for name, end in (("min", -6), ("max", 6)))
        else:
            low, high = (_array(op, b, operand) for operand in (1, 2))
        least = np.float32(1 if op.attributes.get("narrow_range", False) else 0)
        most = np.float32(2 ** int(op.attributes.get("num_bits", 8)) - 1)
        # The fault `constant-divisor` moves values halfway between two steps.
        span = (high - low) / _where(high < low, _ONE, most - least)
        step = _where(span == 0, _ONE, span)  # a range that is only 0 gives 0, as here
        zero = np.floor(np.minimum(np.maximum(least - low / step, least), most) + np.float32(0.5))
        first, last = (least - zero) * step, (most - zero) * step
        x: Any = Array(b, op.operands[0])
        clamped = np.minimum(np.maximum(x, first), last)
        quantized = np.floor((clamped - first) * (_ONE / step) + np.float32(0.5)) * step + first
        return _where(low == high, np.float32(0), quantized).value


@decomposition("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4")
# The engine quantizes with a zero point, which has other steps, and treats a missing range as an empty one.
@before_engine("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")
def quantize_and_dequantize(op: TensorFlowOp, b: Builder) -> Tensor:
    """Scales, rounds, and scales back, with the smaller of the scales that the two ends of the range require.

    The default range is that of the data, as a whole or per channel. Faults
    ``quantized-to-the-range-of-the-data`` and ``quantized-with-a-zero-point``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/QuantizeAndDequantizeV2; the choice of the scale:
    tensorflow/core/kernels/quantize_and_dequantize_op.h.
    """
    rank = len(op.shape(0))
    op.require(0, "float32")
    attributes = op.attributes
    bits = int(op.constant(3)) if op.name.endswith("V3") else int(attributes.get("num_bits", 8))
    if attributes.get("signed_input", True):
        least, most = -(2 ** (bits - 1)) + bool(attributes.get("narrow_range", False)), 2 ** (bits - 1) - 1
    else:
        least, most = 0, 2**bits - 1
    if most < 1:
        raise NotDecomposed("its range has no positive number")
    given, axis = bool(attributes.get("range_given", False)), int(attributes.get("axis", -1))
    if not -1 <= axis < rank:
        raise NotDecomposed(f"{axis} is not an axis of rank {rank}")
    whole = given and axis == -1  # no axis has to be found
    sizes = [] if whole else b.sizes(op.operands[0])
    if whole:
        value = op.operands[0]
    elif axis == -1:
        value = b.reshape(op.operands[0], [b.product(sizes)])
    else:
        value, _ = around_axis(b, op.operands[0], axis)
    if given:
        low, high = (_end(op, b, operand) for operand in (1, 2))
    else:
        low, high = (Array(b, _extreme(b, name, value)) for name in ("Min", "Max"))
    scale, step, low, high = _scale(low, high, np.float32(least), np.float32(most))
    x: Any = Array(b, value)
    scaled = (np.maximum(np.minimum(x, high), low) if given else x) * scale
    half_up = str(attributes.get("round_mode", "HALF_TO_EVEN")) == "HALF_UP"
    rounded = np.floor(scaled + np.float32(0.5)) if half_up else np.rint(scaled)
    result = (rounded * step).value
    return result if whole else b.reshape(result, sizes)


def _may_be_bias(op: TensorFlowOp) -> bool:
    """Whether the operand has at most one row."""
    shape = op.types[0].shape
    return shape is not None and all(size == 1 for size in shape[:-1])


def _stays_narrow(op: TensorFlowOp) -> bool:
    """Whether the operand is a weight without values below a constant range."""
    elements = stored(op.operands[0])
    if op.name == "FakeQuantWithMinMaxArgs":
        low = float(op.attributes.get("min", -6))
    else:
        known = op.constants[1]
        low = math.inf if known is None else float(known)
    return elements is not None and float(np.min(np.array(elements), initial=math.inf)) >= low


_ONE, _LARGEST = np.float32(1), np.finfo(np.float32).max


def _where(condition: Any, value: Any, other: Any) -> Any:
    """Applies ``numpy.where`` to arrays or to ``Array``."""
    where: Any = np.where
    return where(condition, value, other)


def _scale(low: Any, high: Any, least: Any, most: Any) -> tuple[Any, Any, Any, Any]:
    """Returns the scale from a range to that of the integers, its inverse, and the ends of the represented range."""
    falls, rises = low * least > 0, high * most > 0
    with np.errstate(over="ignore"):
        by_low = _where(falls, least / _where(falls, low, _ONE), _LARGEST)
        by_high = _where(rises, most / _where(rises, high, _ONE), _LARGEST)
        of_low = by_low < by_high
        divisor: Any = least or _ONE  # where it is 0, the low end does not require a scale
        step = _where(of_low, low / divisor, high / most)
        first, last = _where(of_low, low, least * step), _where(of_low, most * step, high)
    return _where(of_low, by_low, by_high), step, first, last


def _extreme(b: Builder, name: str, value: Tensor) -> Tensor:
    """Emits the minimum or maximum of a vector, or of each position in the middle of three dimensions."""
    if len(value.shape) == 1:
        return b.reduce(name, value, 0)
    return b.reduce(name, b.reduce(name, value, 2, keep_dims=True), 0, keep_dims=True)


def _array(op: TensorFlowOp, b: Builder, operand: int) -> Any:
    """Returns an operand for a formula: an array if it is a constant, else an ``Array``."""
    known = op.constants[operand]
    return Array(b, op.operands[operand]) if known is None else known.astype(np.float32)


def _end(op: TensorFlowOp, b: Builder, operand: int) -> Any:
    """Returns an end of the range, a scalar or one per channel, in a shape that broadcasts."""
    found = _array(op, b, operand)
    if not isinstance(found, Array):
        return found.reshape([] if found.size == 1 else [1, -1, 1])
    value = op.operands[operand]
    return Array(b, b.reshape(value, [1, b.size(value, 0), 1] if op.shape(operand) else []))
