"""LiteRT's LSTM ops and their weights, also those of recognized layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.fusions.layer_arguments import gate_letters, gate_order, layer_arguments

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir


@dataclass(frozen=True)
class Gates:
    """One operand for each gate.

    Attributes:
        input: The input gate's; None if that gate is 1 minus the forget gate.
        forget: The forget gate's.
        cell: The new cell value's.
        output: The output gate's.
    """

    input: ir.Value | None
    forget: ir.Value
    cell: ir.Value
    output: ir.Value

    def operands(self, b: Builder) -> list[ir.Value]:
        """Returns the four operands in LiteRT's order."""
        return [b.no_value() if self.input is None else self.input, self.forget, self.cell, self.output]


@dataclass(frozen=True)
class LstmWeights:
    """The weights of one LSTM with u cells and n recurrent outputs; n is u without a projection.

    Attributes:
        kernel: ``[u, inputs]`` each.
        recurrent: ``[u, n]`` each; ``[u]`` if each cell only gets its own output.
        bias: ``[u]`` each.
        layer_norm: ``[u]`` each, the scales of the normalized sums of each gate; None without normalization.
        projection: ``[n, u]``, or None.
        peepholes: ``[u]`` each, the factors of the cell state for the input, forget and output gate; None for no
            peepholes, and in place of a missing input gate.
    """

    kernel: Gates
    recurrent: Gates
    bias: Gates
    layer_norm: Gates | None = None
    projection: ir.Value | None = None
    peepholes: Sequence[ir.Value | None] | None = None


def split_gates(b: Builder, value: ir.Value, order: str, axis: int = 0) -> Gates:
    """Splits concatenated weights of gates.

    Args:
        b: The builder.
        value: A matrix or vector whose size along ``axis`` is a multiple of the number of gates.
        order: The gates' first letters, as in ``ifco``; without ``i``, it has no input gate.
        axis: The axis of the concatenation; along 1, the parts are transposed.
    """
    shape = _sizes(value)
    size = shape[axis] // len(order)
    parts: dict[str, ir.Value] = {}
    for index, gate in enumerate(order):
        begin, count = [0] * len(shape), list(shape)
        begin[axis], count[axis] = index * size, size
        part = b.slice(value, begin, count)
        parts[gate] = b.transpose(part, (1, 0)) if axis == 1 else part
    return Gates(parts.get("i"), parts["f"], parts["c"], parts["o"])


def lstm(
    b: Builder, x: ir.Value, weights: LstmWeights, h: ir.Value, c: ir.Value, *, cell_clip: float = 0.0
) -> ir.Value:
    """Emits LSTM: one step.

    Args:
        b: The builder.
        x: ``[batch, inputs]`` float32.
        weights: The weights.
        h: The previous output ``[batch, n]``, a state (``Builder.state``).
        c: The cell state ``[batch, u]``, a state.
        cell_clip: The cell state's largest absolute value; 0 for no limit.

    Returns:
        The output ``[batch, n]``.
    """
    return b.builtin("LSTM", *_operands(b, x, weights, h, c), cell_clip=cell_clip)[0]


def unidirectional_sequence_lstm(
    b: Builder,
    x: ir.Value,
    weights: LstmWeights,
    h: ir.Value,
    c: ir.Value,
    *,
    time_major: bool = False,
    cell_clip: float = 0.0,
    projection_clip: float = 0.0,
    activation: str = "TANH",
) -> ir.Value:
    """Emits UNIDIRECTIONAL_SEQUENCE_LSTM: an LSTM over all steps.

    Args:
        b: The builder.
        x: ``[batch, time, inputs]`` float32, or ``[time, batch, inputs]``.
        weights: The weights.
        h: The output before the first step ``[batch, n]``, a state (``Builder.state``).
        c: The cell state before it ``[batch, u]``, a state.
        time_major: Whether the inputs are time-major.
        cell_clip: The cell state's largest absolute value; 0 for no limit.
        projection_clip: The projection's largest absolute value; 0 for no limit.
        activation: LiteRT's name of the activation of new cell values and of the cell state.

    Returns:
        The outputs of all steps, laid out as ``x``.
    """
    return b.builtin(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        *_operands(b, x, weights, h, c),
        fused_activation_function=activation,
        cell_clip=cell_clip,
        proj_clip=projection_clip,
        time_major=time_major,
        diagonal_recurrent_tensors=len(_sizes(weights.recurrent.forget)) == 1,
    )[0]


def keras_weights(b: Builder, kernel: ir.Value, recurrent: ir.Value, bias: ir.Value) -> LstmWeights:
    """Returns the weights of a Keras LSTM layer, whose gates are concatenated: input, forget, cell, output.

    Args:
        b: The builder.
        kernel: ``[inputs, 4 u]``.
        recurrent: ``[u, 4 n]``.
        bias: ``[4 u]``.
    """
    return LstmWeights(
        split_gates(b, kernel, "ifco", axis=1), split_gates(b, recurrent, "ifco", axis=1), split_gates(b, bias, "ifco")
    )


def lstm_layer(
    b: Builder,
    x: ir.Value,
    weights: LstmWeights,
    h: ir.Value,
    c: ir.Value,
    *,
    time_major: bool = False,
    only_last: bool = False,
    cell_clip: float = 0.0,
    projection_clip: float = 0.0,
    activation: str = "TANH",
) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Emits an LSTM layer that starts every call with the same states: UNIDIRECTIONAL_SEQUENCE_LSTM and last states.

    Args:
        b: The builder.
        x: ``[batch, time, inputs]`` float32, or ``[time, batch, inputs]``.
        weights: The weights.
        h: The output before the first step ``[batch, n]``.
        c: The cell state before it ``[batch, u]``.
        time_major: Whether the inputs are time-major.
        only_last: Whether the outputs are those of the last step only, with time of size 1.
        cell_clip: As in ``unidirectional_sequence_lstm``.
        projection_clip: As there.
        activation: As in ``unidirectional_sequence_lstm``.

    Returns:
        The outputs, laid out as ``x``; the last output ``[batch, n]``; the last cell state ``[batch, u]``.
    """
    time = 0 if time_major else 1
    cell = b.state(c)
    limits = {"cell_clip": cell_clip, "projection_clip": projection_clip}
    outputs = unidirectional_sequence_lstm(
        b, x, weights, b.state(h), cell, time_major=time_major, activation=activation, **limits
    )
    last = b.last(outputs, time)
    if only_last:
        outputs = b.last(outputs, time, keep=True)
    return outputs, last, _last_cell_state(b, last, cell)


def _last_cell_state(b: Builder, last_output: ir.Value, c: ir.Value) -> ir.Value:
    """Emits ops that read the cell state after the last step.

    The op writes it into the memory of its state operand ``c``. So this reads that memory together with the op's output
    ``[batch, n]``, to ensure that no runtime reads before the op has written.
    """
    outputs = _sizes(last_output)[1]
    return b.slice(b.concatenation([last_output, c], 1), [0, outputs], [-1, -1])


def bidirectional_sequence_lstm(
    b: Builder,
    x: ir.Value,
    forward: LstmWeights,
    backward: LstmWeights,
    states: Sequence[ir.Value],
    *,
    time_major: bool = False,
) -> tuple[ir.Value, ir.Value]:
    """Emits BIDIRECTIONAL_SEQUENCE_LSTM: one LSTM over all steps, and one over all steps from the last to the first.

    Because of the fault ``bidirectional-lstm-without-peepholes`` it gets zero peephole weights and identity
    projections, which change nothing. The op's own concatenation of the two (``merge_outputs``) is not used: fault
    ``merged-directions``.

    Args:
        b: The builder.
        x: ``[batch, time, inputs]`` float32, or ``[time, batch, inputs]``.
        forward: The weights of the first; a projection and layer normalization are not supported.
        backward: The weights of the second.
        states: Output and cell state of the first and the second, each a state (``Builder.state``).
        time_major: Whether the inputs are time-major.

    Returns:
        The outputs of both at all steps, laid out as ``x``, each at the step that it belongs to.
    """
    operands: list[ir.Value | None] = [x]
    for weights in (forward, backward):
        units = _sizes(weights.recurrent.forget)[0]
        zeros = b.constant(np.zeros(units, np.float32))
        projection = [b.constant(np.eye(units, dtype=np.float32)), zeros]
        operands += [*_weight_operands(b, replace(weights, peepholes=[zeros] * 3)), *projection]
    first, second = b.builtin("BIDIRECTIONAL_SEQUENCE_LSTM", *operands, *states, time_major=time_major)
    return first, second


def _operands(b: Builder, x: ir.Value, weights: LstmWeights, h: ir.Value, c: ir.Value) -> list[ir.Value | None]:
    normalization = [] if weights.layer_norm is None else weights.layer_norm.operands(b)
    return [x, *_weight_operands(b, weights), weights.projection, None, h, c, *normalization]


def _weight_operands(b: Builder, weights: LstmWeights) -> list[ir.Value | None]:
    peepholes = weights.peepholes or [None] * 3
    return [*weights.kernel.operands(b), *weights.recurrent.operands(b), *peepholes, *weights.bias.operands(b)]


def layer_weights(composite: Composite, b: Builder) -> LstmWeights:
    """Returns the weights of an ``lstm_loop``."""
    attributes = composite.attributes
    arguments = layer_arguments(composite)
    by_name = {argument.name: value for argument, value in zip(arguments, composite.args, strict=True)}
    outputs, units = arguments[1].shape[1], arguments[2].shape[1]
    assert outputs is not None
    assert units is not None
    kernels = [value for name, value in by_name.items() if name.endswith("kernel") and "recurrent" not in name]
    recurrents = [value for name, value in by_name.items() if name.endswith("recurrent kernel")]
    if attributes.get("joint_kernel"):
        kernels, recurrents = _halves(kernels, outputs, bool(attributes.get("h_first")), b)
    kernel, recurrent = _gates(kernels, attributes, b), _gates(recurrents, attributes, b)
    bias = _bias([value for name, value in by_name.items() if name.endswith("bias")], units, attributes, b)
    if "forget_bias" in attributes:
        added = b.constant(np.full(units, attributes["forget_bias"], np.float32))
        bias = Gates(bias.input, b.add(bias.forget, added), bias.cell, bias.output)
    names = [f"the peephole of the {gate} gate" for gate in ("input", "forget", "output")]
    projection = by_name.get("the projection")
    return LstmWeights(
        kernel,
        recurrent,
        bias,
        projection=None if projection is None else b.transpose(projection, (1, 0)),
        peepholes=[by_name.get(name) for name in names] if attributes.get("peepholes") else None,
    )


def _halves(
    kernels: Sequence[ir.Value], outputs: int, h_first: bool, b: Builder
) -> tuple[list[ir.Value], list[ir.Value]]:
    """Splits joint kernels into the rows for the inputs and those for the outputs."""
    of_inputs: list[ir.Value] = []
    of_outputs: list[ir.Value] = []
    for kernel in kernels:
        rows, columns = _sizes(kernel)
        inputs = rows - outputs
        of_inputs.append(b.slice(kernel, [outputs if h_first else 0, 0], [inputs, columns]))
        of_outputs.append(b.slice(kernel, [0 if h_first else inputs, 0], [outputs, columns]))
    return of_inputs, of_outputs


def _gates(kernels: Sequence[ir.Value], attributes: Mapping[str, Any], b: Builder) -> Gates:
    """Returns kernels as the op needs them: one per gate, with a row for each output."""
    if not attributes.get("matrix_per_gate"):
        return split_gates(b, kernels[0], gate_order(attributes), axis=0 if attributes.get("outputs_first") else 1)
    of = dict(zip(gate_letters(attributes), (b.transpose(kernel, (1, 0)) for kernel in kernels), strict=True))
    return Gates(of.get("i"), of["f"], of["c"], of["o"])


def _bias(biases: Sequence[ir.Value], units: int, attributes: Mapping[str, Any], b: Builder) -> Gates:
    letters = gate_letters(attributes)
    if not attributes.get("matrix_per_gate"):
        bias = biases[0] if biases else b.constant(np.zeros(len(letters) * units, np.float32))
        for other in biases[1:]:
            bias = b.add(bias, other)
        return split_gates(b, bias, gate_order(attributes))
    of = dict(zip(letters, biases or [b.constant(np.zeros(units, np.float32))] * len(letters), strict=True))
    return Gates(of.get("i"), of["f"], of["c"], of["o"])


def _sizes(value: ir.Value) -> list[int]:
    from litefuse.ir.mlir import ir  # plug-ins import this module beside TensorFlow, where the engine cannot be loaded

    return list(ir.ShapedType(value.type).shape)
