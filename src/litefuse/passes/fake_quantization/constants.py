"""Constants of integer ops: weights with the steps that fake quantization gave them, biases, and other constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.ir.constants import stored
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.passes.fake_quantization.grid import NotCovered, Uniform, quantized_type, uniform_of

_MOVING: Mapping[str, Callable[..., npt.NDArray[Any]]] = {
    "tfl.reshape": np.reshape,
    "tfl.reverse_v2": np.flip,
    "tfl.transpose": np.transpose,
}
# The largest distance of a rounded constant from its step, relative to the constant: float32 has 24 bits.
_NEAR = 1e-5
_INT32 = np.iinfo(np.int32)


class _IntegerConstant(NamedTuple):
    """A constant with a step and a zero point for each element; all arrays have its shape.

    Attributes:
        integers: The integers, int64.
        scales: float64.
        zero_points: int64.
    """

    integers: npt.NDArray[np.int64]
    scales: npt.NDArray[np.float64]
    zero_points: npt.NDArray[np.int64]

    def moved(self, op: str, order: Sequence[int]) -> _IntegerConstant:
        """Returns the constant with its axes in another order or reversed, or in another shape."""
        move = _MOVING[op]
        return _IntegerConstant(move(self.integers, order), move(self.scales, order), move(self.zero_points, order))

    def uniform(self, axis: int | None, *, bits: int = 8) -> Uniform:
        """Returns the element type with a scale for each channel along an axis, or one for all if it is None.

        Raises:
            NotCovered: There are more scales or zero points than that.
        """
        others = tuple(index for index in range(self.integers.ndim) if index != axis)
        if not self.integers.size:
            raise NotCovered("a constant is empty")
        scales, zeros = self.scales.max(axis=others), self.zero_points.max(axis=others)
        if not np.array_equal(scales, self.scales.min(axis=others)) or not np.array_equal(
            zeros, self.zero_points.min(axis=others)
        ):
            raise NotCovered("the scales of a constant are not those of its output channels")
        points = tuple(int(zero) for zero in zeros.reshape(-1))
        return Uniform(tuple(float(scale) for scale in scales.reshape(-1)), points, axis, bits).simplified()


def float_constant(value: ir.Value) -> npt.NDArray[np.float32] | None:
    """Returns the numbers of a float32 constant, behind a pair as well; None for any other value."""
    paired = integer_constant(value)
    if paired is not None:
        return ((paired.integers - paired.zero_points) * paired.scales).astype(np.float32)
    elements = stored(value)
    if elements is None or not isinstance(elements.type.element_type, ir.F32Type):
        return None
    return np.array(elements, np.float32).reshape(elements.type.shape)


def integer_constant(value: ir.Value) -> _IntegerConstant | None:
    """Returns the integers of a constant with a pair, perhaps moved by other ops; None for other values."""
    moves: list[tuple[str, list[int]]] = []
    while (moved := producer(value, *_MOVING)) is not None:
        how = stored(moved.operands[1])
        if how is None:
            return None
        moves.append((moved.name, np.array(how).reshape(-1).tolist()))
        value = moved.operands[0]
    constant = _paired(value)
    for name, order in reversed(moves):
        constant = None if constant is None else constant.moved(name, order)
    return constant


def _paired(value: ir.Value) -> _IntegerConstant | None:
    """Returns the integers of a constant behind DEQUANTIZE."""
    dequantize = producer(value, "tfl.dequantize")
    if dequantize is None:
        return None
    integers = producer(dequantize.operands[0], "tfl.pseudo_qconst")
    if integers is not None:
        return _stored(integers)
    quantize = producer(dequantize.operands[0], "tfl.quantize")
    elements = None if quantize is None else stored(quantize.operands[0])
    if quantize is None or elements is None:
        return None
    uniform = uniform_of(quantize.results[0].type)
    if uniform is None or uniform.bits != 8:
        return None
    numbers = np.array(elements, np.float64).reshape(elements.type.shape)
    scales, zeros = _along(uniform.scales, uniform.axis, numbers), _along(uniform.zero_points, uniform.axis, numbers)
    integers = np.clip(np.rint(numbers / scales).astype(np.int64) + zeros, -128, 127)
    return _IntegerConstant(integers, scales, zeros)


def is_on_grid(quantize: ir.OpView | ir.Operation) -> bool | None:
    """Whether a QUANTIZE changes nothing but the form of a constant; None if it is of none."""
    elements = stored(quantize.operands[0])
    uniform = uniform_of(quantize.results[0].type)
    if elements is None or uniform is None:
        return None
    numbers = np.array(elements, np.float64).reshape(elements.type.shape)
    scales, zeros = _along(uniform.scales, uniform.axis, numbers), _along(uniform.zero_points, uniform.axis, numbers)
    multiples = numbers / scales
    far = np.abs(multiples - np.clip(np.rint(multiples), -128 - zeros, 127 - zeros))
    return bool((far <= _NEAR * np.maximum(1, np.abs(multiples))).all())


def _stored(op: ir.OpView | ir.Operation) -> _IntegerConstant | None:
    uniform, elements = uniform_of(op.results[0].type), op.attributes["value"]
    if uniform is None or not isinstance(elements, ir.DenseElementsAttr) or uniform.bits != 8:
        return None
    integers = np.array(elements, np.int64).reshape(elements.type.shape)
    return _IntegerConstant(
        integers, _along(uniform.scales, uniform.axis, integers), _along(uniform.zero_points, uniform.axis, integers)
    )


def _along(steps: Sequence[Any], axis: int | None, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    shape = [-1 if index == axis else 1 for index in range(numbers.ndim)]
    return np.broadcast_to(np.asarray(steps).reshape(shape), numbers.shape)


def quantized_bias(bias: npt.NDArray[np.float32], input_scale: float, weights: Uniform) -> tuple[Any, Uniform]:
    """Returns the int32 integers of a bias and their type: the scale is that of the input times that of the weights.

    Raises:
        NotCovered: It is too large for these steps.
    """
    scales = tuple(input_scale * scale for scale in weights.scales)
    uniform = Uniform(scales, (0,) * len(scales), None if weights.axis is None else 0, bits=32)
    integers = np.rint(bias.astype(np.float64) / np.array(scales))
    if not (np.isfinite(integers) & (integers >= _INT32.min) & (integers <= _INT32.max)).all():
        raise NotCovered("its bias is too large for int32 in steps of input and weights")
    return integers.astype(np.int32), uniform


def emitted(integers: npt.NDArray[Any], uniform: Uniform) -> ir.Value:
    """Emits a constant of quantized elements at the current insertion point and location."""
    dtype = np.int32 if uniform.bits == 32 else np.int8
    element = ir.IntegerType.get_signless(uniform.bits)
    # ascontiguousarray makes a vector of a scalar.
    contiguous = np.ascontiguousarray(integers, dtype).reshape(np.shape(integers))
    elements = ir.DenseElementsAttr.get(contiguous, type=element)
    kind = quantized_type(elements.type, uniform)
    return create_value("tfl.pseudo_qconst", kind, [], {"qtype": ir.TypeAttr.get(kind), "value": elements})
