"""LSTM layers that nobody annotated."""

from __future__ import annotations

from collections.abc import Sequence
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
_GATES = ("input", "forget", "cell", "output")
# The attributes that say how the weights are given, and the attributes that each of them allows.
_FORMS = {
    "joint_kernel": ("forget_bias", "peepholes", "projection"),
    "matrix_per_gate": (),
    "outputs_first": (),
}

# Initial states are drawn from a wide range, where a limit of the cell state would show.
_CELL_SCALE = 20.0


@fusion("lstm_loop")
class LstmLoop(Fusion):
    """A layer that was recognised as an LSTM becomes the builtin UNIDIRECTIONAL_SEQUENCE_LSTM.

    ``litefuse.recognizers`` makes the function, which is ``f(inputs [time, batch, n], h [batch, u], c [batch, u],
    kernel [n, 4 u], recurrent_kernel [u, 4 u], biases [4 u]: none, one or two) -> (outputs [time or 1, batch, u],
    h [batch, u], c [batch, u])``, all float32, the gates in the order input, forget, cell, output. Its attributes are
    ``activation`` (``relu`` or ``relu6``; tanh if there is none) and one of these:

    - ``outputs_first``, as in PyTorch: the kernels are ``[4 u, n]`` and ``[4 u, u]``.
    - ``matrix_per_gate``, as in Flax: there are four kernels ``[n, u]``, four recurrent kernels ``[u, u]``, and four
      biases ``[u]`` or none.
    - ``joint_kernel``, as in TensorFlow 1: there is one kernel ``[n + m, 4 u]`` for inputs and outputs, and a bias or
      none, the gates in the order input, cell, forget, output. Then ``forget_bias`` is added to the forget gate; with
      ``peepholes``, those of the input, forget and output gate follow, ``[u]`` each; with ``projection`` its matrix
      ``[u, m]``, which makes m outputs of u cells.
    """

    def verify(self, composite: Composite) -> str | None:
        attributes = composite.attributes
        if attributes.get("activation", "tanh") not in _ACTIVATIONS or "recurrent_activation" in attributes:
            given = [attributes[key] for key in ("activation", "recurrent_activation") if key in attributes]
            return f"{_OP} does not have its activations ({', '.join(map(str, given))})"
        form = next((name for name in _FORMS if attributes.get(name)), None)
        known = {"activation", *([form, *_FORMS[form]] if form else _FORMS)}
        if attributes.keys() - known:
            return f"its attributes {', '.join(sorted(attributes.keys() - known))} are unknown"
        return argument_problem(composite, _arguments(composite), _OP)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.fusions.lstm import lstm_layer

        inputs, h, c = composite.args[:3]
        if composite.attributes.get("joint_kernel"):
            weights = _joint_weights(composite, b)
        elif composite.attributes.get("matrix_per_gate"):
            weights = _gate_weights(composite, b)
        else:
            weights = _plain_weights(composite, b)
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
    if composite.attributes.get("matrix_per_gate") or composite.attributes.get("outputs_first"):
        return size(composite, 4, 1)
    if composite.attributes.get("joint_kernel"):
        return size(composite, 3, 1) // 4
    return size(composite, 4, 0)


def _arguments(composite: Composite) -> list[Argument]:
    attributes, units = composite.attributes, _units(composite)
    if attributes.get("joint_kernel"):
        return _joint_arguments(composite, units)
    if attributes.get("matrix_per_gate"):
        inputs = size(composite, 3, 0)
        shapes = {"kernel": (inputs, units), "recurrent kernel": (units, units), "bias": (units,)}
        weights = [Argument(f"the {gate} gate's {name}", shape) for name, shape in shapes.items() for gate in _GATES]
        least = 2 * len(_GATES)
        return [*_given(inputs, units, units), *(weights[:least] if len(composite.args) == 3 + least else weights)]
    rows_are_outputs = bool(attributes.get("outputs_first"))
    inputs = size(composite, 3, 1 if rows_are_outputs else 0)
    kernels = [Argument("the kernel", (inputs, 4 * units)), Argument("the recurrent kernel", (units, 4 * units))]
    if rows_are_outputs:
        kernels = [Argument(each.name, each.shape[::-1]) for each in kernels]
    biases = [Argument(name, (4 * units,)) for name in ("the bias", "the second bias")]
    return [*_given(inputs, units, units), *kernels, *biases[: max(len(composite.args) - 5, 0)]]


def _joint_arguments(composite: Composite, units: int) -> list[Argument]:
    attributes = composite.attributes
    outputs = size(composite, len(composite.args) - 1, 1) if attributes.get("projection") else units
    inputs = size(composite, 3, 0) - outputs
    kernel, bias = Argument("the kernel", (inputs + outputs, 4 * units)), Argument("the bias", (4 * units,))
    others: list[Argument] = []
    if attributes.get("peepholes"):
        others += [Argument(f"the peephole of the {gate} gate", (units,)) for gate in ("input", "forget", "output")]
    if attributes.get("projection"):
        others.append(Argument("the projection", (units, outputs)))
    given = [*_given(inputs, outputs, units), kernel, *others]
    return given if len(composite.args) == len(given) else [*given[:4], bias, *others]


def _given(inputs: int, outputs: int, units: int) -> list[Argument]:
    return [
        Argument("inputs", (None, None, inputs), is_weight=False),
        Argument("the initial h", (None, outputs), is_weight=False),
        Argument("the initial c", (None, units), is_weight=False),
    ]


def _gate_weights(composite: Composite, b: Builder) -> LstmWeights:
    from litefuse.fusions.lstm import Gates, LstmWeights

    weights = composite.args[3:]
    matrices = [b.transpose(matrix, (1, 0)) for matrix in weights[:8]]
    biases = weights[8:] or [b.constant(np.zeros(_units(composite), np.float32))] * 4
    return LstmWeights(Gates(*matrices[:4]), Gates(*matrices[4:]), Gates(*biases))


def _plain_weights(composite: Composite, b: Builder) -> LstmWeights:
    from litefuse.fusions.lstm import LstmWeights, keras_weights, split_gates

    kernel, recurrent, *biases = composite.args[3:]
    bias = biases[0] if biases else b.constant(np.zeros(4 * _units(composite), np.float32))
    for other in biases[1:]:
        bias = b.add(bias, other)
    if composite.attributes.get("outputs_first"):
        gates = [split_gates(b, each, "ifco") for each in (kernel, recurrent, bias)]
        return LstmWeights(gates[0], gates[1], gates[2])
    return keras_weights(b, kernel, recurrent, bias)


def _joint_weights(composite: Composite, b: Builder) -> LstmWeights:
    from litefuse.fusions.lstm import Gates, LstmWeights, split_gates

    given = {each.name: value for each, value in zip(_arguments(composite), composite.args, strict=True)}
    order = "icfo"
    units = _units(composite)
    kernel, projection = given["the kernel"], given.get("the projection")
    outputs = size(composite, 1, 1) if projection is None else size(composite, len(composite.args) - 1, 1)
    outputs = outputs or units
    inputs = size(composite, 3, 0) - outputs
    of_inputs = b.slice(kernel, [0, 0], [inputs, 4 * units])
    of_outputs = b.slice(kernel, [inputs, 0], [outputs, 4 * units])
    bias = split_gates(b, given.get("the bias") or b.constant(np.zeros(4 * units, np.float32)), order)
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
