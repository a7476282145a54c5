"""LSTM cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from litefuse.recognizers.cells import Activations, Cell, matrix, number, vector
from litefuse.recognizers.pattern import Function, Pattern, Variable, concat, matmul, parts, transposed

__all__ = ["lstm_cells"]


def lstm_cells() -> Iterator[Cell]:
    """The LSTMs of Keras, of Flax, of Haiku, of Equinox, with PyTorch's weights, and of TensorFlow 1.

    Definitions: https://keras.io/api/layers/recurrent_layers/lstm/, ``LSTMCell.call``; ``LSTMCell`` and
    ``OptimizedLSTMCell`` in https://github.com/google/flax/blob/main/flax/linen/recurrent.py; ``LSTM`` in
    https://github.com/google-deepmind/dm-haiku/blob/main/haiku/_src/recurrent.py; ``LSTMCell`` in
    https://github.com/patrick-kidger/equinox/blob/main/equinox/nn/_rnn.py;
    https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html; ``BasicLSTMCell`` and ``LSTMCell`` in
    https://github.com/keras-team/tf-keras/blob/master/tf_keras/layers/rnn/legacy_cells.py.
    """
    for with_bias in (True, False):
        yield _all_gates_at_once(int(with_bias))
        yield _gate_by_gate(with_bias)
        yield _split_products(with_bias)
        yield _matrix_per_gate(with_bias)
    yield _all_gates_at_once(2)
    for biases in (0, 1, 2):
        yield _all_gates_at_once(biases, outputs_first=True)
        yield _all_gates_at_once(biases, outputs_first=True, turned=True)
    for peepholes in (False, True):
        for projection in (False, True):
            yield _joint_kernel(peepholes, projection)
    yield _joint_kernel(peepholes=False, projection=False, with_bias=False)


class _Lstm:
    """What all ways to write an LSTM have in common."""

    def __init__(self) -> None:
        self.x = Variable("the step's input")
        self.h = Variable("the last output")
        self.c = Variable("the last cell state")
        self.activation = Function("the activation")
        self.gate = Function("the gates' activation")
        self.kernel, self.recurrent, self.bias = matrix("a kernel"), matrix("a kernel"), vector("the bias")

    def new_c(self, i: Pattern, f: Pattern, g: Pattern) -> Pattern:
        return self.gate(f) * self.c + self.gate(i) * self.activation(g)

    def new_h(self, o: Pattern, c: Pattern) -> Pattern:
        return self.gate(o) * self.activation(c)

    def cell(self, weights: Sequence[Variable], h: Pattern, c: Pattern) -> Cell:
        return Cell(
            kind="LSTM",
            composite="lstm_loop",
            op="UNIDIRECTIONAL_SEQUENCE_LSTM",
            x=self.x,
            states=(self.h, self.c),
            weights=tuple(weights),
            results=(h, c),
            activations={
                "activation": Activations(self.activation, {"Tanh": "tanh", "Relu": "relu", "Relu6": "relu6"}),
                "recurrent_activation": Activations(self.gate, {"Sigmoid": "sigmoid"}),
            },
        )


def _all_gates_at_once(biases: int, *, outputs_first: bool = False, turned: bool = False) -> Cell:
    """PyTorch has a row of weights for each output, and two biases; Equinox multiplies the rows with columns."""
    the = _Lstm()
    if turned:
        products = matmul(the.kernel, the.x, transpose_b=True) + matmul(the.recurrent, the.h, transpose_b=True)
        z = transposed(products)
    else:
        z = matmul(the.x, the.kernel, transpose_b=outputs_first) + matmul(
            the.h, the.recurrent, transpose_b=outputs_first
        )
    added = [the.bias, vector("a bias")][:biases]
    i, f, g, o = parts(sum(added, z), 4)
    c = the.new_c(i, f, g)
    cell = the.cell([the.kernel, the.recurrent, *added], the.new_h(o, c), c)
    return replace(cell, attributes={"outputs_first": True}) if outputs_first else cell


def _gate_by_gate(with_bias: bool) -> Cell:
    """A matrix for each gate: ``implementation=1``, which dropout brings about."""
    the = _Lstm()
    kernels, recurrents = parts(the.kernel, 4), parts(the.recurrent, 4)
    z = [
        matmul(the.x, kernel) + matmul(the.h, recurrent) for kernel, recurrent in zip(kernels, recurrents, strict=True)
    ]
    if with_bias:
        z = [each + bias for each, bias in zip(z, parts(the.bias, 4), strict=True)]
    i, f, g, o = z
    c = the.new_c(i, f, g)
    return the.cell([the.kernel, the.recurrent, *([the.bias] if with_bias else [])], the.new_h(o, c), c)


def _split_products(with_bias: bool) -> Cell:
    """Flax: each product is split by itself."""
    the = _Lstm()
    of_h = matmul(the.h, the.recurrent)
    both = zip(parts(of_h + the.bias if with_bias else of_h, 4), parts(matmul(the.x, the.kernel), 4), strict=True)
    i, f, g, o = (one + other for one, other in both)
    c = the.new_c(i, f, g)
    return the.cell([the.kernel, the.recurrent, *([the.bias] if with_bias else [])], the.new_h(o, c), c)


def _matrix_per_gate(with_bias: bool) -> Cell:
    """Flax: each gate has weights of its own."""
    the = _Lstm()
    kernels, recurrents, biases = (
        [make(f"the {gate} gate's {name}") for gate in ("input", "forget", "cell", "output")]
        for make, name in ((matrix, "kernel"), (matrix, "recurrent kernel"), (vector, "bias"))
    )
    z = [matmul(the.x, one) + matmul(the.h, other) for one, other in zip(kernels, recurrents, strict=True)]
    if with_bias:
        z = [each + bias for each, bias in zip(z, biases, strict=True)]
    i, f, g, o = z
    c = the.new_c(i, f, g)
    cell = the.cell([*kernels, *recurrents, *(biases if with_bias else [])], the.new_h(o, c), c)
    return replace(cell, attributes={"matrix_per_gate": True})


def _joint_kernel(peepholes: bool, projection: bool, *, with_bias: bool = True) -> Cell:
    """TensorFlow 1 and Haiku: one kernel for input and output; other gates first; a number added to the forget gate."""
    the = _Lstm()
    forget_bias = number("the forget gate's bias")
    biases = [the.bias] if with_bias else []
    seen = [vector(f"the peephole of the {gate} gate") for gate in ("input", "forget", "output")] if peepholes else []
    into_output = [matrix("the projection")] if projection else []
    i, g, f, o = parts(sum(biases, matmul(concat([the.x, the.h]), the.kernel)), 4)
    f = f + forget_bias
    if seen:
        i, f = i + seen[0] * the.c, f + seen[1] * the.c
    c = the.new_c(i, f, g)
    h = the.new_h(o + seen[2] * c if seen else o, c)
    chosen = {"peepholes": peepholes, "projection": projection}
    return replace(
        the.cell([the.kernel, *biases, *seen, *into_output], matmul(h, into_output[0]) if into_output else h, c),
        attributes={"joint_kernel": True, **{name: True for name, value in chosen.items() if value}},
        numbers={"forget_bias": forget_bias},
    )
