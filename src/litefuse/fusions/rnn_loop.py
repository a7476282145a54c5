"""SimpleRNN layers without an annotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, fusion
from litefuse.fusions.layer_arguments import Argument, argument_problem, only_last, random_arguments, size

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir

__all__ = ["RnnLoop"]

_OP = "UNIDIRECTIONAL_SEQUENCE_RNN"
_ACTIVATIONS = {"tanh": "TANH", "relu": "RELU", "relu6": "RELU6"}
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
            return f"{_OP} does not have its activation ({attributes['activation']})"
        unknown = attributes.keys() - {"activation", "joint_kernel", "outputs_first"}
        if unknown:
            return f"its attributes {', '.join(sorted(unknown))} are unknown"
        return argument_problem(composite, _arguments(composite), _OP)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.ir.mlir import ir

        given = {argument.name: value for argument, value in zip(_arguments(composite), composite.args, strict=True)}
        inputs, h = composite.args[:2]
        units = _units(composite)
        kernel, recurrent = given["the kernel"], given.get("the recurrent kernel")
        if recurrent is None:
            features = size(composite, 2, 0) - units
            recurrent = b.slice(kernel, [features, 0], [units, units])
            kernel = b.slice(kernel, [0, 0], [features, units])
        if not composite.attributes.get("outputs_first"):
            kernel, recurrent = b.transpose(kernel, (1, 0)), b.transpose(recurrent, (1, 0))
        biases = [given[name] for name in _BIASES if name in given]
        bias = biases[0] if biases else b.constant(np.zeros(units, np.float32))
        for other in biases[1:]:
            bias = b.add(bias, other)
        kind = ir.ShapedType(inputs.type)
        activation = _ACTIVATIONS[composite.attributes.get("activation", "tanh")]
        (outputs,) = b.op(
            "tfl.unidirectional_sequence_rnn",
            [inputs, kernel, recurrent, bias, b.state(h)],
            [ir.RankedTensorType.get([*kind.shape[:2], units], kind.element_type)],
            {"time_major": ir.BoolAttr.get(True), "fused_activation_function": ir.StringAttr.get(activation)},
        )
        last = b.last(outputs, 0)
        return b.last(outputs, 0, keep=True) if only_last(composite) else outputs, last

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
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
