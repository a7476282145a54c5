"""LSTM layers that nobody annotated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, fusion
from litefuse.fusions.layer_arguments import Argument, argument_problem, only_last, random_arguments, size

if TYPE_CHECKING:
    from litefuse.engine.mlir import ir
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.fusions.lstm import LstmWeights

__all__ = ["LstmLoop"]

_OP = "UNIDIRECTIONAL_SEQUENCE_LSTM"
_ACTIVATIONS = {"tanh": "TANH", "relu": "RELU", "relu6": "RELU6"}
_OF_JOINT_KERNELS = ("forget_bias", "joint_kernel", "peepholes", "projection")

# Initial states are drawn from a wide range, where a limit of the cell state would show.
_CELL_SCALE = 20.0


@fusion("lstm_loop")
class LstmLoop(Fusion):
    """A layer that was recognised as an LSTM becomes the builtin UNIDIRECTIONAL_SEQUENCE_LSTM.

    ``litefuse.recognizers`` makes the function, which is ``f(inputs [time, batch, n], h [batch, u], c [batch, u],
    kernel [n, 4 u], recurrent_kernel [u, 4 u], bias [4 u] or none) -> (outputs [time or 1, batch, u], h [batch, u],
    c [batch, u])``, all float32, the gates in the order input, forget, cell, output. Its attributes are ``activation``
    (``relu`` or ``relu6``; tanh if there is none) and those of TensorFlow 1's cells: with ``joint_kernel``, there is
    one kernel ``[n + m, 4 u]`` for inputs and outputs, and a bias, the gates in the order input, cell, forget, output;
    ``forget_bias`` is added to the forget gate; with ``peepholes``, those of the input, forget and output gate follow,
    ``[u]`` each; with ``projection`` its matrix ``[u, m]``, which makes m outputs of u cells.
    """

    def verify(self, composite: Composite) -> str | None:
        attributes = composite.attributes
        if attributes.get("activation", "tanh") not in _ACTIVATIONS or "recurrent_activation" in attributes:
            given = [attributes[key] for key in ("activation", "recurrent_activation") if key in attributes]
            return f"{_OP} does not have its activations ({', '.join(map(str, given))})"
        known = {"activation", *(_OF_JOINT_KERNELS if attributes.get("joint_kernel") else ())}
        if attributes.keys() - known:
            return f"its attributes {', '.join(sorted(attributes.keys() - known))} are unknown"
        return argument_problem(composite, _arguments(composite), _OP)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.fusions.lstm import keras_weights, lstm_layer

        given = {each.name: value for each, value in zip(_arguments(composite), composite.args, strict=True)}
        inputs, h, c = composite.args[:3]
        if composite.attributes.get("joint_kernel"):
            weights = _joint_weights(composite, given, b)
        else:
            bias = given.get("the bias") or b.constant(np.zeros(4 * _units(composite), np.float32))
            weights = keras_weights(b, given["the kernel"], given["the recurrent kernel"], bias)
        activation = _ACTIVATIONS[composite.attributes.get("activation", "tanh")]
        last = only_last(composite)
        return lstm_layer(b, inputs, weights, h, c, time_major=True, only_last=last, activation=activation)

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        # Without tanh, states grow from step to step.
        scale = 1.0 if "activation" in composite.attributes else _CELL_SCALE
        return random_arguments(composite, _arguments(composite), size, random, {"the initial c": scale})


def _units(composite: Composite) -> int:
    """The number of cells."""
    return size(composite, 4, 0) // (4 if composite.attributes.get("joint_kernel") else 1)


def _arguments(composite: Composite) -> list[Argument]:
    attributes, units = composite.attributes, _units(composite)
    outputs = size(composite, len(composite.args) - 1, 1) if attributes.get("projection") else units
    inputs, bias = size(composite, 3, 0), Argument("the bias", (4 * units,))
    joint: list[Argument] = []
    if attributes.get("joint_kernel"):
        inputs -= outputs
        joint = [Argument("the kernel", (inputs + outputs, 4 * units)), bias]
        if attributes.get("peepholes"):
            joint += [Argument(f"the peephole of the {gate} gate", (units,)) for gate in ("input", "forget", "output")]
        if attributes.get("projection"):
            joint.append(Argument("the projection", (units, outputs)))
    own = [Argument("the kernel", (inputs, 4 * units)), Argument("the recurrent kernel", (units, 4 * units))]
    own += [bias] if len(composite.args) != 5 else []
    return [
        Argument("inputs", (None, None, inputs), is_weight=False),
        Argument("the initial h", (None, outputs), is_weight=False),
        Argument("the initial c", (None, units), is_weight=False),
        *(joint or own),
    ]


def _joint_weights(composite: Composite, given: Mapping[str, ir.Value], b: Builder) -> LstmWeights:
    from litefuse.fusions.lstm import Gates, LstmWeights, split_gates

    order = "icfo"
    units = _units(composite)
    kernel, projection = given["the kernel"], given.get("the projection")
    outputs = size(composite, 1, 1) if projection is None else size(composite, len(composite.args) - 1, 1)
    outputs = outputs or units
    inputs = size(composite, 3, 0) - outputs
    of_inputs = b.slice(kernel, [0, 0], [inputs, 4 * units])
    of_outputs = b.slice(kernel, [inputs, 0], [outputs, 4 * units])
    bias = split_gates(b, given["the bias"], order)
    forget_bias = np.full(units, composite.attributes.get("forget_bias", 0.0), np.float32)
    forget = b.add(bias.forget, b.constant(forget_bias))
    peepholes = [given[name] for name in given if name.startswith("the peephole")]
    return LstmWeights(
        split_gates(b, of_inputs, order, axis=1),
        split_gates(b, of_outputs, order, axis=1),
        Gates(bias.input, forget, bias.cell, bias.output),
        projection=None if projection is None else b.transpose(projection, (1, 0)),
        peepholes=peepholes or None,
    )
