"""Recurrent layers without an annotation: LSTM and SimpleRNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.fusions.fusion import Fusion, Inputs, fusion
from litefuse.fusions.layer_arguments import (
    Argument,
    argument_problem,
    gate_letters,
    gate_order,
    layer_arguments,
    only_last,
    random_arguments,
    size,
)

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir

_LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"
_ACTIVATIONS = {"tanh": "TANH", "relu": "RELU", "relu6": "RELU6"}
# The boolean attributes, which are true or missing, and the numeric ones.
_SIGNS = ("coupled_gates", "h_first", "joint_kernel", "matrix_per_gate", "outputs_first", "peepholes", "projection")
_NUMBERS = ("cell_clip", "forget_bias", "projection_clip")

# Initial states are drawn from a wide range, so that a clipped cell state would show.
_CELL_SCALE = 20.0


@fusion("lstm_loop")
class LstmLoop(Fusion):
    """A layer that was recognized as an LSTM becomes the builtin UNIDIRECTIONAL_SEQUENCE_LSTM.

    ``fusions.recognizers`` creates the function, which is ``f(inputs [time, batch, n], h [batch, m], c [batch, u],
    kernel [n, 4 u], recurrent_kernel [m, 4 u], biases [4 u]: none, one or two) -> (outputs [time or 1, batch, m],
    h [batch, m], c [batch, u])``, all float32. Its attributes:

    - ``activation`` is ``relu`` or ``relu6``; tanh if missing.
    - ``gates`` is the order of the gates in the weights, by the first letters of input, forget, cell and output:
        ``ifco`` if missing, with a joint kernel ``icfo``.
    - With ``joint_kernel``, as in TensorFlow 1, there is one kernel ``[n + m, 4 u]`` for inputs and outputs; with
      ``h_first``, its rows for the outputs come first.
    - With ``outputs_first``, as in PyTorch, the kernels are ``[4 u, n]`` and ``[4 u, m]``.
    - With ``matrix_per_gate``, as in Flax, there are four of each of these kernels, one for each gate, and four biases
      or none.
    - With ``coupled_gates``, the input gate is 1 minus the forget gate: there are 3 gates, so 3 instead of 4 above.
    - With ``peepholes``, those of the input, forget and output gate follow, ``[u]`` each.
    - With ``projection``, the last argument is its matrix ``[u, m]``; else m is u.
    - ``forget_bias`` is added to the forget gate; ``cell_clip`` and ``projection_clip`` limit the absolute values of
      the cell state and the output. None of the three applies if missing.
    """

    def verify(self, composite: Composite) -> str | None:
        attributes = composite.attributes
        if attributes.get("activation", "tanh") not in _ACTIVATIONS or "recurrent_activation" in attributes:
            activations = [attributes[key] for key in ("activation", "recurrent_activation") if key in attributes]
            return f"{_LSTM} does not have its activations ({', '.join(map(str, activations))})"
        unknown = attributes.keys() - {"activation", "gates", *_SIGNS, *_NUMBERS}
        if unknown:
            return f"its attributes {', '.join(sorted(unknown))} are unknown"
        if attributes.get("outputs_first") and (attributes.get("joint_kernel") or attributes.get("matrix_per_gate")):
            return "its kernels have a row for each output, and are joint or of one gate"
        letters = gate_letters(attributes)
        if sorted(gate_order(attributes)) != sorted(letters):
            return f"its gates are {attributes['gates']!r}, and not {letters!r} in any order"
        return argument_problem(composite, layer_arguments(composite), _LSTM)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.fusions.lstm import layer_weights, lstm_layer

        inputs, h, c = composite.args[:3]
        attributes = composite.attributes
        return lstm_layer(
            b,
            inputs,
            layer_weights(composite, b),
            h,
            c,
            time_major=True,
            only_last=only_last(composite),
            cell_clip=attributes.get("cell_clip", 0.0),
            projection_clip=attributes.get("projection_clip", 0.0),
            activation=_ACTIVATIONS[attributes.get("activation", "tanh")],
        )

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        # Without tanh, states grow from step to step.
        scale = 1.0 if "activation" in composite.attributes else _CELL_SCALE
        return random_arguments(composite, layer_arguments(composite), size, random, {"the initial c": scale})


_RNN = "UNIDIRECTIONAL_SEQUENCE_RNN"
_BIASES = ("the bias", "the second bias")


@fusion("rnn_loop")
class RnnLoop(Fusion):
    """A layer that was recognized as a SimpleRNN becomes the builtin UNIDIRECTIONAL_SEQUENCE_RNN.

    ``fusions.recognizers`` creates the function, which is ``f(inputs [time, batch, n], h [batch, u], kernel [n, u],
    recurrent_kernel [u, u], bias [u] or none) -> (outputs [time or 1, batch, u], h [batch, u])``, all float32. Its
    attributes are ``activation`` (``relu`` or ``relu6``; tanh if missing), ``joint_kernel`` for one kernel
    ``[n + u, u]``, as in TensorFlow 1, and ``outputs_first`` for kernels ``[u, n]`` and ``[u, u]``, as in PyTorch.
    Without a joint kernel, there may be two biases.
    """

    def verify(self, composite: Composite) -> str | None:
        attributes = composite.attributes
        if attributes.get("activation", "tanh") not in _ACTIVATIONS:
            return f"{_RNN} does not have its activation ({attributes['activation']})"
        unknown = attributes.keys() - {"activation", "joint_kernel", "outputs_first"}
        if unknown:
            return f"its attributes {', '.join(sorted(unknown))} are unknown"
        return argument_problem(composite, _arguments(composite), _RNN)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        by_name = {argument.name: value for argument, value in zip(_arguments(composite), composite.args, strict=True)}
        inputs, h = composite.args[:2]
        units = _units(composite)
        kernel, recurrent = by_name["the kernel"], by_name.get("the recurrent kernel")
        if recurrent is None:
            features = size(composite, 2, 0) - units
            recurrent = b.slice(kernel, [features, 0], [units, units])
            kernel = b.slice(kernel, [0, 0], [features, units])
        if not composite.attributes.get("outputs_first"):
            kernel, recurrent = b.transpose(kernel, (1, 0)), b.transpose(recurrent, (1, 0))
        biases = [by_name[name] for name in _BIASES if name in by_name]
        bias = biases[0] if biases else b.constant(np.zeros(units, np.float32))
        for other in biases[1:]:
            bias = b.add(bias, other)
        activation = _ACTIVATIONS[composite.attributes.get("activation", "tanh")]
        operands = [inputs, kernel, recurrent, bias, h]
        (outputs,) = b.builtin(_RNN, *operands, fused_activation_function=activation, time_major=True)
        last = b.last(outputs, 0)
        return b.last(outputs, 0, keep=True) if only_last(composite) else outputs, last

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        return random_arguments(composite, _arguments(composite), size, random, {})


def _units(composite: Composite) -> int:
    """Returns the number of outputs."""
    return size(composite, 2, 0 if composite.attributes.get("outputs_first") else 1)


def _arguments(composite: Composite) -> list[Argument]:
    rows_are_outputs = bool(composite.attributes.get("outputs_first"))
    units, features = _units(composite), size(composite, 2, 1 if rows_are_outputs else 0)
    joint = bool(composite.attributes.get("joint_kernel"))
    weights = [Argument("the kernel", (units, features) if rows_are_outputs else (features, units))]
    weights += [] if joint else [Argument("the recurrent kernel", (units, units))]
    biases = max(len(composite.args) - 2 - len(weights), 0)
    weights += [Argument(name, (units,)) for name in (_BIASES[:1] if joint else _BIASES)[:biases]]
    return [
        Argument("inputs", (None, None, features - units if joint else features), is_weight=False),
        Argument("the initial h", (None, units), is_weight=False),
        *weights,
    ]
