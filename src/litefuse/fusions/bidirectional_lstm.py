"""Bidirectional LSTM layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.fusions.fusion import Fusion, Inputs, fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.ops.dims import Shape
    from litefuse.ir.types import TensorType

__all__ = ["BidirectionalLstm"]

_WEIGHTS = ("kernel", "recurrent kernel", "bias")
_DIRECTIONS = ("forward", "backward")


@fusion("bidirectional_sequence_lstm")
class BidirectionalLstm(Fusion):
    """An LSTM layer in both directions becomes the builtin BIDIRECTIONAL_SEQUENCE_LSTM.

    ``f(inputs [batch, time, n], forward kernel [n, 4 u], forward recurrent kernel [u, 4 u], forward bias [4 u],
    backward kernel [n, 4 u], backward recurrent kernel [u, 4 u], backward bias [4 u]) -> [batch, time, 2 u]`` or two
    results ``[batch, time, u]``, all float32, the gates in the order input, forget, cell, output, as in Keras. The
    backward LSTM processes the steps from the last to the first; its outputs are in the order of the inputs. States
    start at zero, unless four more arguments give the initial h and c of the forward and of the backward LSTM, each
    ``[batch, u]``. With the attribute ``time_major`` (a bool, false if missing), inputs and outputs are time-major.
    """

    def verify(self, composite: Composite) -> str | None:
        arguments, results = composite.arg_types, composite.result_tensor_types
        if len(arguments) not in {7, 11}:
            return (
                f"it has {len(arguments)} arguments, not 7 (inputs and the {', '.join(_WEIGHTS)} of each direction) "
                "or 11 (with the initial h and c of each direction)"
            )
        if len(results) not in {1, 2}:
            return f"it has {len(results)} results, not 1 (both directions' outputs concatenated) or 2"
        unknown = sorted(set(composite.attributes) - {"time_major"})
        if unknown:
            return f"it has the attribute {', '.join(unknown)}; known is time_major"
        if not isinstance(composite.attributes.get("time_major", False), bool):
            return f"the attribute time_major is {composite.attributes['time_major']!r}, not a bool"
        ranks = (3, *(2, 2, 1) * 2, *(2,) * (len(arguments) - 7))
        for name, kind, rank in zip(_names(), arguments, ranks, strict=False):
            if kind.dtype != "float32" or kind.rank != rank:
                return f"{name} is {kind}; BIDIRECTIONAL_SEQUENCE_LSTM takes float32, here of rank {rank}"
        return _size_problem(arguments, _is_time_major(composite)) or _result_problem(arguments, results)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        from litefuse.fusions.lstm import bidirectional_sequence_lstm, keras_weights

        x = composite.args[0]
        time_major = _is_time_major(composite)
        directions = [
            keras_weights(b, kernel, recurrent, bias)
            for kernel, recurrent, bias in (composite.args[1:4], composite.args[4:7])
        ]
        initial = list(composite.args[7:]) or [
            b.zeros(x, 1 if time_major else 0, [_units(composite.arg_types)]) for _ in range(4)
        ]
        states = [b.state(value) for value in initial]
        outputs = bidirectional_sequence_lstm(b, x, directions[0], directions[1], states, time_major=time_major)
        return outputs if len(composite.result_types) == 2 else [b.concatenation(outputs, 2)]

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        time_major = _is_time_major(composite)
        inputs, *others = (kind.sizes for kind in composite.arg_types)
        batches = [inputs[1 if time_major else 0], *(shape[0] for shape in others[6:])]
        batch = next((known for known in batches if known), size)
        steps = inputs[0 if time_major else 1] or size
        features = others[0][0] or 0
        shapes = [
            (steps, batch, features) if time_major else (batch, steps, features),
            *others[:6],
            *((batch, shape[1]) for shape in others[6:]),
        ]
        # Scaled by the number of weights, so that the gates do not saturate.
        weights = [max(1, shape[0] or 0) ** -0.5 if len(shape) == 2 else 1.0 for shape in others[:6]]
        scales = [1.0, *weights, *[10.0] * 4]
        return [
            random.normal(0, scale, [extent or 0 for extent in shape]).astype(np.float32)
            for shape, scale in zip(shapes, scales, strict=False)
        ]


def _names() -> list[str]:
    weights = [f"the {direction} {name}" for direction in _DIRECTIONS for name in _WEIGHTS]
    return ["inputs", *weights, *(f"the {direction} initial {state}" for direction in _DIRECTIONS for state in "hc")]


def _is_time_major(composite: Composite) -> bool:
    return bool(composite.attributes.get("time_major", False))


def _units(arguments: Sequence[TensorType]) -> int:
    """Returns the units per direction, from the forward recurrent kernel, whose size was verified to be known."""
    return arguments[2].sizes[0] or 0


def _size_problem(arguments: Sequence[TensorType], time_major: bool) -> str | None:
    names = _names()
    for name, kind in zip(names[1:7], arguments[1:7], strict=True):
        if None in kind.sizes or 0 in kind.sizes:
            return f"{name} is {kind}; the weights' sizes must be known, and none is 0"
    units, backward_units = (arguments[index].sizes[0] for index in (2, 5))
    if units != backward_units:
        return (
            f"the forward LSTM has {units} units and the backward LSTM {backward_units}; "
            "BIDIRECTIONAL_SEQUENCE_LSTM takes as many in both"
        )
    inputs = arguments[0].sizes
    columns = 4 * _units(arguments)
    weights = [(arguments[1].sizes[0], columns), (units, columns), (columns,)]
    expected: list[Shape] = [(None, None, weights[0][0]), *weights, *weights, *[(None, units)] * 4]
    for name, kind, shape in zip(names, arguments, expected, strict=False):
        if any(None not in pair and pair[0] != pair[1] for pair in zip(kind.sizes, shape, strict=True)):
            return f"{name} is {kind}, which does not fit the others: " + ", ".join(map(str, arguments))
    batches = {inputs[1 if time_major else 0], *(kind.sizes[0] for kind in arguments[7:])} - {None}
    if len(batches) > 1:
        return "the batch is of several sizes: " + ", ".join(map(str, arguments))
    return None


def _result_problem(arguments: Sequence[TensorType], results: Sequence[TensorType]) -> str | None:
    size = _units(arguments) * (3 - len(results))
    for index, kind in enumerate(results):
        if kind.dtype != "float32" or kind.rank not in {3, None} or (kind.rank and kind.sizes[-1] not in {size, None}):
            return f"result {index} is {kind}; its last dimension is of {size} units, the rank 3, the dtype float32"
    return None
