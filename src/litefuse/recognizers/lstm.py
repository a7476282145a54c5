"""LSTM layers: loops whose step is that of an LSTM."""

from __future__ import annotations

from dataclasses import dataclass

from litefuse.engine.mlir import ir
from litefuse.recognizers.loops import NotRecognized, StepLoop
from litefuse.recognizers.pattern import Mismatch, Pattern, Variable, match, matmul, parts, sigmoid, tanh

__all__ = ["LstmLoop", "recognize_lstm"]


def lstm_cell(
    x: Pattern, h: Pattern, c: Pattern, kernel: Pattern, recurrent: Pattern, bias: Pattern | None
) -> tuple[Pattern, Pattern]:
    """An LSTM as Keras computes it: all gates at once.

    Definition: https://keras.io/api/layers/recurrent_layers/lstm/, ``LSTMCell.call`` with the default activations.
    """
    z = matmul(x, kernel) + matmul(h, recurrent)
    i, f, g, o = parts(z if bias is None else z + bias, 4)
    return _update(i, f, g, o, c)


def lstm_cell_gate_by_gate(
    x: Pattern, h: Pattern, c: Pattern, kernel: Pattern, recurrent: Pattern, bias: Pattern | None
) -> tuple[Pattern, Pattern]:
    """The same with a matrix for each gate: ``implementation=1``, which dropout brings about."""
    z = [matmul(x, k) + matmul(h, r) for k, r in zip(parts(kernel, 4), parts(recurrent, 4), strict=True)]
    i, f, g, o = z if bias is None else (each + b for each, b in zip(z, parts(bias, 4), strict=True))
    return _update(i, f, g, o, c)


def _update(i: Pattern, f: Pattern, g: Pattern, o: Pattern, c: Pattern) -> tuple[Pattern, Pattern]:
    new_c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(new_c), new_c


@dataclass(frozen=True)
class LstmLoop:
    """A loop that is an LSTM layer.

    Attributes:
        loop: The loop.
        h: The position of the output among the loop variables.
        c: The position of the cell state.
        weights: The kernel, the recurrent kernel and, if there is one, the bias: values in the loop's body, each a
            constant or a variable that the loop keeps.
    """

    loop: StepLoop
    h: int
    c: int
    weights: tuple[ir.Value, ...]


def recognize_lstm(loop: StepLoop) -> LstmLoop:
    """The parts of an LSTM layer.

    Raises:
        NotRecognized: It is none.
    """
    if len(loop.states) != 2:
        raise NotRecognized(f"an LSTM has 2 states, it has {len(loop.states)}")
    (h,) = [p for p, value in loop.states.items() if value == loop.output] or [None]
    if h is None:
        raise NotRecognized("its output is not one of its states")
    (c,) = loop.states.keys() - {h}

    def is_weight(rank: int) -> Variable:
        name = {1: "the bias", 2: "a kernel"}[rank]
        return Variable(name, lambda value: loop.stays(value) and _is_float32(value, rank))

    closest: Mismatch | None = None
    for formula in (lstm_cell, lstm_cell_gate_by_gate):
        for with_bias in (True, False):
            x = Variable("the step's input", loop.is_input)
            last_h = Variable("the last output", lambda value: value == loop.argument(h))
            last_c = Variable("the last cell state", lambda value: value == loop.argument(c))
            weights = [is_weight(2), is_weight(2), *([is_weight(1)] if with_bias else [])]
            result = formula(x, last_h, last_c, weights[0], weights[1], weights[2] if with_bias else None)
            found = match(result, [loop.states[h], loop.states[c]])
            if not isinstance(found, Mismatch):
                values = tuple(found[weight] for weight in weights)
                if len({*values}) < len(values):
                    raise NotRecognized("its kernel is also its recurrent kernel")
                return LstmLoop(loop, h, c, values)
            if closest is None or found.matched > closest.matched:
                closest = found
    raise NotRecognized(str(closest))


def _is_float32(value: ir.Value, rank: int) -> bool:
    kind = ir.ShapedType(value.type)
    return kind.has_rank and kind.rank == rank and kind.has_static_shape and str(kind.element_type) == "f32"
