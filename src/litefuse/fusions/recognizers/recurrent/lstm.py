"""LSTM cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from operator import add

from litefuse.fusions.layer_arguments import GATE_NAMES, usual_gates
from litefuse.fusions.recognizers.matching import Match
from litefuse.fusions.recognizers.pattern import (
    Function,
    Pattern,
    Place,
    Variable,
    concat,
    matmul,
    one_of,
    op,
    placed_parts,
    transposed,
)
from litefuse.fusions.recognizers.recurrent.cells import Activations, Cell, matrix, number, vector
from litefuse.ir.defining_ops import constant_number


def lstm_cells() -> Iterator[Cell]:
    """Yields the LSTMs of Keras, Flax, Haiku, Equinox, PyTorch and TensorFlow 1, and handwritten ones.

    The gates may be in any order; there may be one kernel or two, of all gates or of each, and no bias, one or two;
    there may be a forget bias, peepholes, a projection, limits of the cell state and of the projection, and an input
    gate that is 1 minus the forget gate.

    Definitions: https://keras.io/api/layers/recurrent_layers/lstm/, ``LSTMCell.call``; ``LSTMCell`` and
    ``OptimizedLSTMCell`` in https://github.com/google/flax/blob/main/flax/linen/recurrent.py; ``LSTM`` in
    https://github.com/google-deepmind/dm-haiku/blob/main/haiku/_src/recurrent.py; ``LSTMCell`` in
    https://github.com/patrick-kidger/equinox/blob/main/equinox/nn/_rnn.py;
    https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html; ``BasicLSTMCell`` and ``LSTMCell`` in
    https://github.com/keras-team/tf-keras/blob/master/tf_keras/layers/rnn/legacy_cells.py. With peepholes: Gers and
    Schmidhuber, Recurrent nets that time and count, 2000; with coupled gates: Greff et al., LSTM: a search space
    odyssey, 2017.
    """
    for coupled in (False, True):
        yield _Lstm(coupled).all_gates_at_once()
        yield _Lstm(coupled).gate_by_gate()
        yield _Lstm(coupled).matrix_per_gate()
    yield _Lstm().split_products()
    yield _Lstm().columns()


class _Lstm:
    """The common parts of all ways to write an LSTM; if ``coupled``, the input gate is 1 minus the forget gate."""

    def __init__(self, coupled: bool = False) -> None:
        self.letters = "fco" if coupled else "ifco"
        self.x = Variable("the step's input")
        self.h = Variable("the last output")
        self.c = Variable("the last cell state")
        self.activation = Function("the activation")
        self.gate = Function("the gates' activation")
        self.kernel, self.recurrent = matrix("a kernel"), matrix("a kernel")
        self.biases = [vector("the bias"), vector("a bias")]
        self.forget_bias = number("the forget gate's bias")
        self.peepholes = {
            letter: vector(f"the peephole of the {GATE_NAMES[letter]} gate") for letter in self.letters if letter != "c"
        }
        self.projection = matrix("the projection")
        self.cell_clip, self.projection_clip = _Limit("the cell state"), _Limit("the projection")
        self.joined = concat([self.x, self.h])
        self.joined_h_first = concat([self.h, self.x])
        self.places = {letter: Place(f"the {GATE_NAMES[letter]} gate") for letter in self.letters}

    def all_gates_at_once(self) -> Cell:
        """One product of all gates' weights, or one each for input and output."""
        rows = [matmul(value, weight, transpose_b=True) for value, weight in self._factors()]
        bases: list[list[Pattern]] = [
            [matmul(value, weight) for value, weight in self._factors()],
            rows,
            [matmul(self.joined, self.kernel)],
            [matmul(self.joined_h_first, self.kernel)],
        ]
        return self._cell_of(one_of(*self._biased(bases)), {"outputs_first": [rows[0]]})

    def columns(self) -> Cell:
        """As in Equinox: rows of weights for each output, like PyTorch's, multiplied with columns."""
        of_x, of_h = (matmul(weight, value, transpose_b=True) for value, weight in self._factors())
        return self._cell_of(one_of(*self._biased([[transposed(of_x + of_h)]])), {"outputs_first": [of_x]})

    def gate_by_gate(self) -> Cell:
        """One product for each gate's part of the weights: ``implementation=1``, which dropout implies."""
        bias = self.biases[0]
        kernels, recurrents, biases = (self._taken_apart(weight) for weight in (self.kernel, self.recurrent, bias))
        sums = {g: [[matmul(self.x, kernels[g]), matmul(self.h, recurrents[g])]] for g in self.letters}
        return self._cell([self.kernel, self.recurrent, bias], sums, biases)

    def split_products(self) -> Cell:
        """As in Flax: each product is split separately."""
        bias, product = self.biases[0], matmul(self.h, self.recurrent)
        of_x = self._taken_apart(matmul(self.x, self.kernel))
        of_h = self._taken_apart(one_of(product, product + bias))
        return self._cell([self.kernel, self.recurrent, bias], {g: [[of_x[g], of_h[g]]] for g in self.letters})

    def matrix_per_gate(self) -> Cell:
        """As in Flax: each gate has its own weights."""
        kernels, recurrents, biases = (
            {g: make(f"the {GATE_NAMES[g]} gate's {name}") for g in self.letters}
            for make, name in ((matrix, "kernel"), (matrix, "recurrent kernel"), (vector, "bias"))
        )
        sums: dict[str, list[list[Pattern]]] = {
            g: [
                [matmul(self.x, kernels[g]), matmul(self.h, recurrents[g])],
                [matmul(self.joined, kernels[g])],
                [matmul(self.joined_h_first, kernels[g])],
            ]
            for g in self.letters
        }
        weights = [gate for of_gates in (kernels, recurrents, biases) for gate in of_gates.values()]
        cell = self._cell(weights, sums, biases)
        together = [*cell.together, [*recurrents.values()]]
        return replace(cell, attributes={**cell.attributes, "matrix_per_gate": True}, together=together, gates={})

    def _factors(self) -> list[tuple[Pattern, Pattern]]:
        return [(self.x, self.kernel), (self.h, self.recurrent)]

    def _biased(self, bases: Sequence[Sequence[Pattern]]) -> list[Pattern]:
        """Returns the sums with no, one or two biases."""
        return [_sum([*base, *self.biases[:count]]) for base in bases for count in range(3)]

    def _taken_apart(self, whole: Pattern) -> dict[str, Pattern]:
        return dict(zip(self.letters, placed_parts(whole, [*self.places.values()]), strict=True))

    def _cell_of(self, z: Pattern, signs: Mapping[str, Sequence[Pattern]]) -> Cell:
        """Returns the cell whose gates are functions of the parts of one value."""
        sums = {letter: [[part]] for letter, part in self._taken_apart(z).items()}
        return self._cell([self.kernel, self.recurrent, *self.biases], sums, {}, signs)

    def _cell(
        self,
        weights: Sequence[Variable],
        sums: Mapping[str, Sequence[Sequence[Pattern]]],
        biases: Mapping[str, Pattern] | None = None,
        signs: Mapping[str, Sequence[Pattern]] | None = None,
    ) -> Cell:
        """Returns the cell whose gates are functions of sums, with optional peepholes, biases and a forget bias.

        ``sums`` has several ways to write the terms of each gate, by its letter; ``biases`` those that are added
        separately.
        """
        own = biases or {}

        def gate(letter: str, state: Pattern) -> Pattern:
            more = [own[letter]] if letter in own else []
            more += [self.peepholes[letter] * state] if letter in self.peepholes else []
            more += [self.forget_bias] if letter == "f" else []
            chosen = [some for count in range(len(more) + 1) for some in combinations(more, count)]
            return one_of(*(_sum([*terms, *some]) for terms in sums[letter] for some in chosen))

        forget = self.gate(gate("f", self.c))
        update = self.gate(gate("i", self.c)) if "i" in self.letters else 1 - forget
        new = forget * self.c + update * self.activation(gate("c", self.c))
        c = one_of(new, *self.cell_clip.of(new))
        h = self.gate(gate("o", c)) * self.activation(c)
        projected = matmul(h, self.projection)
        return Cell(
            kind="LSTM",
            composite="lstm_loop",
            op="UNIDIRECTIONAL_SEQUENCE_LSTM",
            x=self.x,
            states=(self.h, self.c),
            weights=(*weights, *self.peepholes.values(), self.projection),
            results=(one_of(h, projected, *self.projection_clip.of(projected)), c),
            attributes={} if "i" in self.letters else {"coupled_gates": True},
            numbers={
                "forget_bias": self.forget_bias,
                "cell_clip": self.cell_clip.high,
                "projection_clip": self.projection_clip.high,
            },
            activations={
                "activation": Activations(self.activation, {"Tanh": "tanh", "Relu": "relu", "Relu6": "relu6"}),
                "recurrent_activation": Activations(self.gate, {"Sigmoid": "sigmoid"}),
            },
            signs={
                "joint_kernel": [self.joined, self.joined_h_first],
                "h_first": [self.joined_h_first],
                "peepholes": [self.peepholes["f"]],
                "projection": [self.projection],
                **(signs or {}),
            },
            together=[[*self.peepholes.values()], [*own.values()]],
            gates=self.places,
            usual_gates=lambda attributes: usual_gates(attributes, self.letters),
            is_consistent=self._is_consistent,
        )

    def _is_consistent(self, found: Match) -> bool:
        both = self.joined in found.values and self.joined_h_first in found.values
        return not both and self.cell_clip.is_symmetric(found) and self.projection_clip.is_symmetric(found)


class _Limit:
    """The limit of a value's magnitude: a number, and its negative."""

    def __init__(self, of: str) -> None:
        self.high, self.low = number(f"the limit of {of}"), number(f"the negative limit of {of}")

    def of(self, value: Pattern) -> list[Pattern]:
        """Returns the value within the limits, in the ways in which that is written."""
        return [
            op("Maximum", op("Minimum", value, self.high), self.low),
            op("Minimum", op("Maximum", value, self.low), self.high),
            op("ClipByValue", value, self.low, self.high),
        ]

    def is_symmetric(self, found: Match) -> bool:
        """Whether the limits, if there are any, are a positive number and its negative."""
        if self.high not in found.values:
            return True
        high, low = constant_number(found[self.high]), constant_number(found[self.low])
        return high is not None and low is not None and high == -low and high > 0


def _sum(terms: Sequence[Pattern]) -> Pattern:
    return reduce(add, terms)
