"""LSTM layers: loops whose step is that of an LSTM."""

from __future__ import annotations

from litefuse.recognizers.layer import RecurrentLayer, weight
from litefuse.recognizers.loops import NotRecognized, StepLoop
from litefuse.recognizers.pattern import Mismatch, Pattern, Variable, match, matmul, parts, sigmoid, tanh

__all__ = ["recognize_lstm"]


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


def recognize_lstm(loop: StepLoop) -> RecurrentLayer:
    """The parts of an LSTM layer.

    Raises:
        NotRecognized: It is none.
    """
    outputs = [p for p, value in loop.states.items() if value == loop.output]
    if len(loop.states) != 2 or len(outputs) != 1:
        raise NotRecognized("not recognised as an LSTM: its output is not one of two states")
    (h,) = outputs
    (c,) = loop.states.keys() - {h}

    closest: Mismatch | None = None
    for formula in (lstm_cell, lstm_cell_gate_by_gate):
        for with_bias in (True, False):
            x = Variable("the step's input", loop.is_input)
            last_h = Variable("the last output", lambda value: value == loop.argument(h))
            last_c = Variable("the last cell state", lambda value: value == loop.argument(c))
            weights = [weight(loop, 2), weight(loop, 2), *([weight(loop, 1)] if with_bias else [])]
            result = formula(x, last_h, last_c, weights[0], weights[1], weights[2] if with_bias else None)
            found = match(result, [loop.states[h], loop.states[c]])
            if not isinstance(found, Mismatch):
                values = tuple(found[each] for each in weights)
                if len({*values}) < len(values):
                    raise NotRecognized("not recognised as an LSTM: its kernel is also its recurrent kernel")
                return RecurrentLayer("an LSTM", "lstm_loop", loop, (h, c), values)
            if closest is None or found.matched > closest.matched:
                closest = found
    raise NotRecognized(f"not recognised as an LSTM: {closest}")
