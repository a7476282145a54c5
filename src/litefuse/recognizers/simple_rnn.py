"""SimpleRNN layers: loops whose state is the tanh of a sum."""

from __future__ import annotations

from litefuse.recognizers.layer import RecurrentLayer, weight
from litefuse.recognizers.loops import NotRecognized, StepLoop
from litefuse.recognizers.pattern import Mismatch, Pattern, Variable, match, matmul, tanh

__all__ = ["recognize_simple_rnn"]


def simple_rnn_cell(x: Pattern, h: Pattern, kernel: Pattern, recurrent: Pattern, bias: Pattern | None) -> Pattern:
    """A SimpleRNN.

    Definition: https://keras.io/api/layers/recurrent_layers/simple_rnn/, ``SimpleRNNCell.call``.
    """
    z = matmul(x, kernel) + matmul(h, recurrent)
    return tanh(z if bias is None else z + bias)


def recognize_simple_rnn(loop: StepLoop) -> RecurrentLayer:
    """The parts of a SimpleRNN layer.

    Raises:
        NotRecognized: It is none.
    """
    if [*loop.states.values()] != [loop.output]:
        raise NotRecognized("not recognised as a SimpleRNN: its output is not its only state")
    (h,) = loop.states
    closest: Mismatch | None = None
    for with_bias in (True, False):
        x = Variable("the step's input", loop.is_input)
        last_h = Variable("the last output", lambda value: value == loop.argument(h))
        weights = [weight(loop, 2), weight(loop, 2), *([weight(loop, 1)] if with_bias else [])]
        formula = simple_rnn_cell(x, last_h, weights[0], weights[1], weights[2] if with_bias else None)
        found = match([formula], [loop.output])
        if not isinstance(found, Mismatch):
            values = tuple(found[each] for each in weights)
            if len({*values}) < len(values):
                raise NotRecognized("not recognised as a SimpleRNN: its kernel is also its recurrent kernel")
            return RecurrentLayer("a SimpleRNN", "rnn_loop", loop, (h,), values)
        if closest is None or found.matched > closest.matched:
            closest = found
    raise NotRecognized(f"not recognised as a SimpleRNN: {closest}")
