"""LSTM layers without an annotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, fusion
from litefuse.fusions.layer_arguments import argument_problem, only_last, random_arguments
from litefuse.fusions.lstm_arguments import gate_letters, gate_order, layer_arguments

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir

__all__ = ["LstmLoop"]

_OP = "UNIDIRECTIONAL_SEQUENCE_LSTM"
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
            given = [attributes[key] for key in ("activation", "recurrent_activation") if key in attributes]
            return f"{_OP} does not have its activations ({', '.join(map(str, given))})"
        unknown = attributes.keys() - {"activation", "gates", *_SIGNS, *_NUMBERS}
        if unknown:
            return f"its attributes {', '.join(sorted(unknown))} are unknown"
        if attributes.get("outputs_first") and (attributes.get("joint_kernel") or attributes.get("matrix_per_gate")):
            return "its kernels have a row for each output, and are joint or of one gate"
        letters = gate_letters(attributes)
        if sorted(gate_order(attributes)) != sorted(letters):
            return f"its gates are {attributes['gates']!r}, and not {letters!r} in any order"
        return argument_problem(composite, layer_arguments(composite), _OP)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.fusions.lstm import lstm_layer
        from litefuse.fusions.lstm_weights import layer_weights

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

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        # Without tanh, states grow from step to step.
        scale = 1.0 if "activation" in composite.attributes else _CELL_SCALE
        return random_arguments(composite, layer_arguments(composite), size, random, {"the initial c": scale})
