"""The quantized forms of LiteRT's recurrent ops, with the scales of TensorFlow's quantizer (operator_property.cc).

The hybrid form has int8 weights, with inputs that LiteRT quantizes at each step; the integer form of LSTMs int8 input,
output and weights, and an int16 cell state (8x8_16).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.recurrent.inner_ranges import InnerRanges
from litefuse.conversion.quantization.recurrent.operands import (
    BIASES,
    CELL_STATE,
    INPUT,
    INPUT_WEIGHTS,
    NORMALIZATIONS,
    OPERANDS,
    OUTPUT_STATE,
    PEEPHOLES,
    PROJECTION,
    PROJECTION_BIAS,
    RECURRENT_WEIGHTS,
    LstmNumbers,
    cell_reads,
    is_copy,
)
from litefuse.litert.export.editor import GraphEditor, Scale

# The scale of what is zero everywhere.
_OF_ZERO = 1.0
# The fault `cell-state-of-other-ranges`: the kernel has tanh of states between these powers of two alone.
_LEAST_EXPONENT = 0
#: The largest absolute value of a cell state that LiteRT has a kernel for.
LARGEST_CELL = 64.0


def scale_of(least: float, largest: float, bits: int) -> Scale:
    """Returns the scale of a range: of int8 asymmetric, of int16 symmetric, as LiteRT's ops have them."""
    return symmetric(max(-least, largest), bits) if bits == 16 else asymmetric(least, largest)


def asymmetric(least: float, largest: float) -> Scale:
    """Returns the scale of int8 for a range, which is widened to contain zero."""
    least, largest = min(least, 0.0), max(largest, 0.0)
    if least == largest:
        return Scale(_OF_ZERO)
    step = float(np.float32((largest - least) / 255))
    return Scale(step, int(np.clip(round(-128 - least / step), -128, 127)))


def symmetric(largest: float, bits: int) -> Scale:
    """Returns the scale of integers around zero.

    Args:
        largest: The largest absolute value.
        bits: 8 or 16.
    """
    return Scale(float(np.float32(largest / (2 ** (bits - 1) - 1))) if largest else _OF_ZERO)


def cell_scale(largest: float) -> Scale:
    """Returns the scale of a cell state, int16 around zero: a power of two, by whose exponent LiteRT shifts.

    Args:
        largest: The largest absolute value, at most ``LARGEST_CELL``.
    """
    return Scale(2.0 ** (max(math.ceil(math.log2(largest)) if largest else 0, _LEAST_EXPONENT) - 15))


def quantized(value: npt.NDArray[np.float32], scale: Scale, dtype: type[Any]) -> npt.NDArray[Any]:
    """Returns a value as integers, those of weights between the negative and the positive largest."""
    limit = np.iinfo(dtype).max
    steps = np.rint(value.astype(np.float64) / scale.scale)
    return np.clip(steps, -limit, limit).astype(dtype)


def integers_of(values: npt.NDArray[Any], scale: Scale, dtype: str) -> npt.NDArray[Any]:
    """Returns the integers that QUANTIZE makes of real numbers; of NaN the zero point.

    XNNPACK multiplies with the inverse of the scale, in float32, and rounds halves to even.
    """
    limits, inverse = np.iinfo(dtype), np.reciprocal(np.array(scale.scale, np.float32))
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.rint(values.astype(np.float32) * inverse) + np.float32(scale.zero)
    # Kernels of symmetric int16 take no -32768.
    least = -limits.max if dtype == "int16" else limits.min
    return np.clip(np.nan_to_num(steps, nan=scale.zero), least, limits.max).astype(dtype)


# The first version that quantizes inputs with a zero point.
_VERSION = 3


def make_hybrid(graph: GraphEditor, op: Any, name: str) -> None:
    """Makes int8 of the matrices and peepholes of a float op; all else stays in floating point.

    Args:
        graph: The op's graph.
        op: The op, whose weights are constants.
        name: What its new tensors are named after.
    """
    for position in _matrices(graph, op):
        _replace(op, position, _int8(graph, op, position, name))
    op.builtinOptions.asymmetricQuantizeInputs = True
    graph.set_version(op, _VERSION)


def store_smaller(graph: GraphEditor, op: Any, name: str, *, half: bool, least: int = 0) -> None:
    """Stores the matrices and peepholes of a float op as int8 or float16, of which DEQUANTIZE makes float32.

    Args:
        graph: The op's graph.
        op: The op, whose weights are constants.
        name: What its new tensors are named after.
        half: Whether they become float16.
        least: The smallest number of weights that are stored so.
    """
    for position in _matrices(graph, op):
        value = graph.constant(op.inputs[position])
        assert value is not None
        if value.size < least or (half and np.abs(value).max(initial=0) > np.finfo(np.float16).max):
            continue
        stored = (
            graph.add_constant(f"{name}/{_operand(op, position)}", value.astype(np.float16))
            if half
            else _int8(graph, op, position, name)
        )
        real = graph.add_tensor(f"{graph.name(stored)}_dequantized", value.shape, "float32")
        graph.add_op(op, "DEQUANTIZE", [stored], [real])
        _replace(op, position, real)


def _matrices(graph: GraphEditor, op: Any) -> list[int]:
    """Returns the positions of the weights that LiteRT takes in other types, too, and that the op has."""
    positions = (
        [1, 2] if len(op.inputs) < len(OPERANDS) else [*INPUT_WEIGHTS, *RECURRENT_WEIGHTS, *PEEPHOLES, PROJECTION]
    )
    return [position for position in positions if graph.constant(op.inputs[position]) is not None]


def _operand(op: Any, position: int) -> str:
    return OPERANDS[position] if len(op.inputs) >= len(OPERANDS) else ("kernel", "recurrent")[position - 1]


def _int8(graph: GraphEditor, op: Any, position: int, name: str) -> int:
    value = graph.constant(op.inputs[position])
    assert value is not None
    scale = symmetric(float(np.abs(value).max(initial=0)), 8)
    return graph.add_constant(f"{name}/{_operand(op, position)}", quantized(value, scale, np.int8), scale)


def _replace(op: Any, position: int, operand: int) -> None:
    op.inputs = [operand if place == position else int(input_) for place, input_ in enumerate(op.inputs)]


# The unit of biases that are added to a normalized gate, relative to the scale of its weights.
_NORMALIZED_BIAS = 2.0**-10
# The unit of a gate's sum without normalization.
_GATE = 2.0**-12
# Biases and their sums with products are int32.
_LARGEST_BIAS = 2.0**30
# The first version of ops with int16.
_INT16_VERSIONS = {"CONCATENATION": 3, "SLICE": 4}
# The ops that write initial values, and their versions for int8 and int16.
_INTEGER_VERSIONS = {"BROADCAST_TO": 3, "FILL": 3}


def make_integers(
    graph: GraphEditor,
    op: Any,
    name: str,
    inner: InnerRanges,
    input_range: tuple[float, float],
    output_range: tuple[float, float],
) -> None:
    """Rewrites a float op to the integer form; its result is dequantized for the ops that take it::

        %y = lstm(%x, ..., %h, %c)   -->   %y8 = lstm(quantize(%x), ..., quantize(%h), quantize(%c))
                                           %y = dequantize(%y8)

    The states are written by an op in each call, as in floating point.

    Args:
        graph: The op's graph.
        op: The op, of which ``reason_for_float`` knows no reason.
        name: What its new tensors are named after.
        inner: The ranges of what is inside.
        input_range: The range of its input, if that is not quantized yet.
        output_range: That of its output, likewise.
    """
    numbers = LstmNumbers.of(graph, op)
    x = _integer_input(graph, op, input_range)
    least, largest = (min(output_range[0], inner.initial[0]), max(output_range[1], inner.initial[1]))
    output = _integer_output(graph, op, (least, largest))
    input_scale, output_scale, of_cell = graph.scale(x), graph.scale(output), cell_scale(inner.cell)
    assert input_scale is not None
    assert output_scale is not None
    # Without a zero point: the fault `projected-zero-point`.
    hidden = symmetric(max(map(abs, inner.hidden)), 8) if numbers.projected else output_scale
    inputs = [int(input_) for input_ in op.inputs]
    inputs[INPUT] = x
    for position, (value, scale) in constants_of(numbers, input_scale, hidden).items():
        inputs[position] = graph.add_constant(f"{name}/{OPERANDS[position]}", value, scale)
    inputs[OUTPUT_STATE] = _state(graph, op, OUTPUT_STATE, f"{name}/h", output_scale)
    inputs[CELL_STATE] = _state(graph, op, CELL_STATE, f"{name}/c", of_cell)
    _read_cell_state(graph, op, inputs[CELL_STATE], of_cell)
    op.inputs, op.outputs = inputs, [output]
    op.intermediates = _intermediates(graph, name, inner, hidden, normalized=numbers.normalized)


def constants_of(numbers: LstmNumbers, x: Scale, hidden: Scale) -> dict[int, tuple[npt.NDArray[Any], Scale]]:
    """Returns the integers of all weights by position."""
    values = numbers.constants
    scales: dict[int, Scale] = {}
    for position, value in values.items():
        largest = float(np.abs(value).max(initial=0))
        if position in {*INPUT_WEIGHTS, *RECURRENT_WEIGHTS, PROJECTION}:
            scales[position] = symmetric(largest, 8)
        elif position in {*PEEPHOLES, *NORMALIZATIONS}:
            scales[position] = symmetric(largest, 16)
    for gate, position in enumerate(BIASES):
        if position not in values:
            continue
        weights = (NORMALIZATIONS if numbers.normalized else INPUT_WEIGHTS)[gate]
        unit = _NORMALIZED_BIAS if numbers.normalized else x.scale
        # Where the weights are small, their scale must not be smaller than the biases need.
        least = float(np.abs(values[position]).max(initial=0)) / _LARGEST_BIAS / unit
        if not values[weights].any():
            least = max(least, _GATE / unit)
            scales[weights] = Scale(least)
        elif scales[weights].scale < least:
            scales[weights] = Scale(least)
        scales[position] = Scale(float(np.float32(scales[weights].scale * unit)))
    if PROJECTION_BIAS in values:
        scales[PROJECTION_BIAS] = Scale(float(np.float32(scales[PROJECTION].scale * hidden.scale)))
    dtypes = {**dict.fromkeys([*PEEPHOLES, *NORMALIZATIONS], np.int16)}
    dtypes |= dict.fromkeys([*BIASES, PROJECTION_BIAS], np.int32)
    return {
        position: (quantized(values[position], scale, dtypes.get(position, np.int8)), scale)
        for position, scale in scales.items()
    }


def _integer_input(graph: GraphEditor, op: Any, ends: tuple[float, float]) -> int:
    x = int(op.inputs[INPUT])
    source = integer_source(graph, x)
    if graph.is_type(source, "int8") and graph.scale(source) is not None:
        return source
    for earlier in graph.before(op):
        if x in earlier.inputs and graph.kind(earlier) == "QUANTIZE" and graph.is_type(earlier.outputs[0], "int8"):
            return int(earlier.outputs[0])
    result = graph.add_tensor(f"{graph.name(x)}_int8", graph.shape(x), "int8", asymmetric(*ends))
    graph.add_op(op, "QUANTIZE", [x], [result])
    return result


def _integer_output(graph: GraphEditor, op: Any, ends: tuple[float, float]) -> int:
    """Returns the tensor for the integers of the op's result: that of a QUANTIZE after it, or a new one."""
    result = int(op.outputs[0])
    following = [
        consumer
        for consumer in graph.consumers(result)
        if graph.kind(consumer) == "QUANTIZE"
        and graph.is_type(consumer.outputs[0], "int8")
        and _holds(graph.scale(consumer.outputs[0]), ends)
    ]
    if following:
        taken = int(following[0].outputs[0])
        graph.remove_op(following[0])
    else:
        taken = graph.add_tensor("", graph.shape(result), "int8", asymmetric(*ends))
    if not graph.is_output(taken) and not graph.is_output(result):  # the outputs of signatures keep their names
        name = graph.tensor(result).name
        graph.tensor(taken).name, graph.tensor(result).name = name, name + b"_dequantized"
    elif not graph.is_output(taken):
        graph.tensor(taken).name = graph.tensor(result).name + b"_int8"
    graph.add_op(graph.after(op), "DEQUANTIZE", [taken], [result])
    return taken


def _holds(scale: Scale | None, ends: tuple[float, float]) -> bool:
    """Whether int8 of a scale holds a range, apart from rounding."""
    if scale is None:
        return False
    least, largest = (scale.scale * (limit - scale.zero) for limit in (-128, 127))
    return least - scale.scale <= ends[0] and ends[1] <= largest + scale.scale


def integer_source(graph: GraphEditor, index: int) -> int:
    """Returns the integers that a tensor is dequantized from; itself if it is not."""
    producer = graph.producer(index)
    return int(producer.inputs[0]) if producer is not None and graph.kind(producer) == "DEQUANTIZE" else index


def _state(graph: GraphEditor, op: Any, position: int, name: str, scale: Scale) -> int:
    """Adds the integer state, and the op that writes its initial value in each call."""
    old = int(op.inputs[position])
    producer = graph.producer(old)
    shape = shape_of_state(graph, old, producer)
    dtype = "int8" if position == OUTPUT_STATE else "int16"
    state = graph.add_tensor(name, shape, dtype, scale, variable=True)
    if producer is None:  # it keeps its value between calls
        return state
    graph.tensor(old).isVariable = False
    kind = graph.kind(producer)
    if -1 in shape and kind in _INTEGER_VERSIONS:
        _write_open_state(graph, op, producer, state, dtype)
        return state
    source = old
    value = graph.constant(producer.inputs[1]) if kind == "FILL" else None
    if value is not None and not value.any():
        # QUANTIZE of a constant is computed in each call, also on microcontrollers, whose FILL lacks int16; Vela
        # makes constants of it, which the NPU reads at the first step.
        source = graph.zeros(shape)
    elif kind == "BROADCAST_TO" and graph.shape(producer.inputs[0]) == shape:
        source = integer_source(graph, int(producer.inputs[0]))
    graph.add_op(op, "QUANTIZE", [source], [state])
    return state


def _write_open_state(graph: GraphEditor, op: Any, producer: Any, state: int, dtype: str) -> None:
    """Adds the op that writes the initial value of a state of dynamic size.

    It is of the same kind as that of the state in floating point, which allocates its result itself in each call. The
    result of QUANTIZE would keep the memory of the first batch: the fault ``state-of-the-first-batch``.
    """
    is_fill = graph.kind(producer) == "FILL"
    value, dims = producer.inputs[::-1] if is_fill else producer.inputs
    integers = graph.add_tensor(f"{graph.name(state)}/initial", graph.shape(value), dtype, graph.scale(state))
    graph.add_op(op, "QUANTIZE", [integer_source(graph, int(value))], [integers])
    operands = [dims, integers] if is_fill else [integers, dims]
    written = graph.add_op(op, "FILL" if is_fill else "BROADCAST_TO", operands, [state])
    graph.set_version(written, _INTEGER_VERSIONS[graph.kind(written)])


def shape_of_state(graph: GraphEditor, state: int, producer: Any | None) -> tuple[int, ...]:
    """Returns the shape of a state; that of a FILL may be known although its type does not say so."""
    shape = graph.shape(state)
    dims = None if producer is None or graph.kind(producer) != "FILL" else producer.inputs[0]
    known = graph.constant(dims, np.int32) if dims is not None and graph.is_type(dims, "int32") else None
    return shape if known is None else tuple(map(int, known))


def _read_cell_state(graph: GraphEditor, op: Any, state: int, scale: Scale) -> None:
    """Reads the last cell state as int16, where the float one is read: concatenated to the last output, and sliced."""
    old = int(op.inputs[CELL_STATE])
    for joined in [*cell_reads(graph, op)]:
        parts: list[int] = []
        for part in map(int, joined.inputs):
            producer = graph.producer(part)
            copied = int(producer.inputs[0]) if producer is not None and is_copy(graph, producer) else part
            if old in {part, copied}:
                parts.append(state)
                continue
            parts.append(graph.add_tensor(f"{graph.name(part)}_int16", graph.shape(part), "int16", scale))
            graph.add_op(joined, "QUANTIZE", [integer_source(graph, part)], [parts[-1]])
        before = int(joined.outputs[0])
        after = graph.add_tensor(f"{graph.name(before)}_int16", graph.shape(before), "int16", scale)
        joined.inputs, joined.outputs = parts, [after]
        graph.set_version(joined, _INT16_VERSIONS["CONCATENATION"])
        for taken in graph.consumers(before):
            graph.replace_input(taken, before, after)
            result = int(taken.outputs[0])
            part = graph.add_tensor(f"{graph.name(result)}_int16", graph.shape(result), "int16", scale)
            taken.outputs = [part]
            graph.set_version(taken, _INT16_VERSIONS.get(graph.kind(taken), 1))
            graph.add_op(graph.after(taken), "DEQUANTIZE", [part], [result])


def _intermediates(graph: GraphEditor, name: str, inner: InnerRanges, hidden: Scale, *, normalized: bool) -> list[int]:
    """Adds the tensors without data that carry the scales of what is inside."""
    if normalized:
        gates: Iterable[int] = [
            graph.add_tensor(f"{name}/gate_{index}", [0], "int16", symmetric(largest, 16))
            for index, largest in enumerate(inner.gates)
        ]
    else:
        gates = [graph.add_tensor(f"{name}/gate", [0], "float32")] * 4
    return [*gates, graph.add_tensor(f"{name}/hidden", [0], "int8", hidden)]
