"""LSTM layers of Keras 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, Inputs, fusion
from litefuse.fusions.layer_arguments import loop_is_faster

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.types import TensorType

__all__ = ["KerasLstm"]

# name and rank
_ARGUMENTS = (
    ("inputs", 3),
    ("the initial h", 2),
    ("the initial c", 2),
    ("the kernel", 2),
    ("the recurrent kernel", 2),
    ("the bias", 1),
)
_RESULTS = (("the last output", 2), ("outputs", 3), ("the last h", 2), ("the last c", 2), ("runtime", 0))

# Initial states are drawn from a wide range, so that a clipped cell state would show.
_STATE_SCALE = 20.0


@fusion("lstm_*", "indy_lstm_*")
class KerasLstm(Fusion):
    """The LSTM layer of Keras 2 becomes the builtin UNIDIRECTIONAL_SEQUENCE_LSTM.

    Keras itself annotates the function (``api_implements``), which is
    ``f(inputs [batch, time, n], h [batch, u], c [batch, u], kernel [n, 4 u], recurrent_kernel [u, 4 u], bias [4 u]) ->
    (last_output [batch, u], outputs [batch, time or 1, u], h [batch, u], c [batch, u], runtime [])``, all float32, the
    gates in the order input, forget, cell, output. With the attribute ``time_major``, inputs and outputs are;
    with ``go_backwards``, the steps are processed from the last to the first. In an IndyLSTM (``indy_lstm_``) each cell
    only gets its own output: the recurrent kernel is ``[u, 4]``.
    The last result is not used: in it, Keras records which of its implementations ran.
    Definition: https://github.com/keras-team/tf-keras/blob/master/tf_keras/layers/rnn/lstm.py, ``standard_lstm``.
    """

    open_results = (4,)

    def verify(self, composite: Composite) -> str | None:
        return _interface_problem(composite) or _shape_problem(
            composite.arg_types, composite.attributes["time_major"], 1 if _is_diagonal(composite) else None
        )

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.fusions.lstm import Gates, LstmWeights, lstm_layer, split_gates

        inputs, h, c, kernel, recurrent, bias = composite.args
        time_major = composite.attributes["time_major"]
        time = 0 if time_major else 1
        recurrent_gates = split_gates(b, recurrent, "ifco", axis=1)
        if _is_diagonal(composite):
            units = _known(composite.arg_types[4])[0]
            flat = [b.reshape(part, [units]) for part in recurrent_gates.operands(b)]
            recurrent_gates = Gates(*flat)
        weights = LstmWeights(split_gates(b, kernel, "ifco", axis=1), recurrent_gates, split_gates(b, bias, "ifco"))
        if composite.attributes.get("go_backwards"):
            inputs = b.reverse(inputs, time)
        outputs, last, last_cell = lstm_layer(
            b, inputs, weights, h, c, time_major=time_major, only_last=_only_last(composite, time)
        )
        return last, outputs, last, last_cell, b.constant(np.array(1, np.float32))

    def faster_inlined(self, composite: Composite) -> str | None:
        inputs, (units, _) = composite.arg_types[0].sizes, _known(composite.arg_types[4])
        batch, steps = inputs[:2][::-1] if composite.attributes["time_major"] else inputs[:2]
        if _is_diagonal(composite) or not loop_is_faster("lstm_loop", units, steps, batch):
            return None
        count = "an unknown number of" if steps is None else steps
        return f"an LSTM of {units} units over {count} steps: the loop is faster than the fused op"

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        return _random_layer_inputs(composite.arg_types, size, random, time_major=composite.attributes["time_major"])


def _random_layer_inputs(
    kinds: Sequence[TensorType], size: int, random: np.random.Generator, *, time_major: bool
) -> list[npt.NDArray[Any]]:
    """Draws inputs, h, c, kernel, recurrent kernel and optional bias so that they exercise all parts of the layer.

    Args:
        kinds: Their types.
        size: The size of unknown dimensions.
        random: The source of the values.
        time_major: Whether the inputs are time-major.
    """
    inputs, h, c, kernel, recurrent, *bias = (kind.sizes for kind in kinds)
    batch = inputs[1 if time_major else 0] or h[0] or c[0] or size
    steps = inputs[0 if time_major else 1] or size
    features, units = kernel[0] or 0, recurrent[0] or 0

    def normal(shape: Sequence[int | None], scale: float) -> npt.NDArray[Any]:
        return random.normal(0, scale, [extent or 0 for extent in shape]).astype(np.float32)

    # Scaled by the number of weights, so that the gates do not saturate.
    return [
        normal([steps, batch, features] if time_major else [batch, steps, features], 1),
        normal([batch, units], _STATE_SCALE / 10),
        normal([batch, units], _STATE_SCALE),
        normal(kernel, 1 / max(1, features) ** 0.5),
        normal(recurrent, 1 / max(1, units) ** 0.5),
        *(normal(shape, 1) for shape in bias),
    ]


def _is_diagonal(composite: Composite) -> bool:
    return composite.name.startswith("indy_")


def _only_last(composite: Composite, time: int) -> bool:
    """Whether the function's outputs are the last output only: the layer does not return sequences."""
    outputs = composite.result_tensor_types[1].sizes
    return outputs[time] == 1 and composite.arg_types[0].sizes[time] != 1


def _known(kind: TensorType) -> tuple[int, ...]:
    """Returns a shape that was verified to be known."""
    return tuple(size or 0 for size in kind.sizes)


def _interface_problem(composite: Composite) -> str | None:
    arguments, results, attributes = composite.arg_types, composite.result_tensor_types, composite.attributes
    names = ", ".join(name for name, _ in _ARGUMENTS)
    if len(arguments) == len(_ARGUMENTS) + 1:
        return (
            f"it has 7 arguments: a mask or the sequences' lengths ({arguments[6]}) after {names}; "
            "UNIDIRECTIONAL_SEQUENCE_LSTM takes all steps"
        )
    if len(arguments) != len(_ARGUMENTS):
        return f"it has {len(arguments)} arguments, not 6 ({names})"
    if len(results) != len(_RESULTS):
        return f"it has {len(results)} results, not 5 ({', '.join(name for name, _ in _RESULTS)})"
    if not isinstance(attributes.get("time_major"), bool):
        return f"it needs the function attribute time_major (a bool); it has {dict(attributes)}"
    if not isinstance(attributes.get("go_backwards", False), bool):
        return f"its function attribute go_backwards is {attributes['go_backwards']!r}, not a bool"
    for (name, rank), kind in zip((*_ARGUMENTS, *_RESULTS), (*arguments, *results), strict=True):
        if kind.dtype != "float32" or kind.rank != rank:
            return f"{name} is {kind}; UNIDIRECTIONAL_SEQUENCE_LSTM takes and gives float32, here of rank {rank}"
    return None


def _shape_problem(arguments: Sequence[TensorType], time_major: bool, recurrent_units: int | None) -> str | None:
    inputs, h, c, kernel, recurrent, bias = (kind.sizes for kind in arguments)
    for (name, _), kind in zip(_ARGUMENTS[3:], arguments[3:], strict=True):
        if None in kind.sizes:
            return f"{name} is {kind}; the weights' sizes must be known"
    units = recurrent[0]
    assert units is not None
    columns = 4 * (recurrent_units or units)
    expected = (
        (arguments[3], (None, 4 * units), _ARGUMENTS[3][0]),
        (arguments[4], (units, columns), _ARGUMENTS[4][0]),
        (arguments[5], (4 * units,), _ARGUMENTS[5][0]),
        (arguments[1], (None, units), _ARGUMENTS[1][0]),
        (arguments[2], (None, units), _ARGUMENTS[2][0]),
        (arguments[0], (None, None, kernel[0]), _ARGUMENTS[0][0]),
    )
    for kind, shape, name in expected:
        if any(None not in pair and pair[0] != pair[1] for pair in zip(kind.sizes, shape, strict=True)):
            return f"{name} is {kind}, which does not fit a layer of {units} units: {_table(arguments)}"
    batches = {inputs[1 if time_major else 0], h[0], c[0]} - {None}
    if len(batches) > 1:
        return f"the batch is of several sizes: {_table(arguments)}"
    if 0 in (*kernel, *recurrent, *bias):
        return f"it has no units or no features: {_table(arguments)}"
    return None


def _table(arguments: Sequence[TensorType]) -> str:
    return ", ".join(f"{name} {kind}" for (name, _), kind in zip(_ARGUMENTS, arguments, strict=False))
