"""GRU cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from litefuse.fusions.recognizers.pattern import (
    Function,
    Part,
    Pattern,
    Place,
    PlacedPart,
    Variable,
    concat,
    matmul,
    one_of,
    placed_parts,
    rows,
)
from litefuse.fusions.recognizers.recurrent.cells import Activations, Cell, matrix, vector

# The gates by their letters, in the order in which Keras has them.
_GATES = {"z": "the update gate", "r": "the reset gate", "h": "the candidate"}


def gru_cells() -> Iterator[Cell]:
    """Yields the GRUs of Keras, TensorFlow 1, Flax and PyTorch, and handwritten ones; LiteRT has no op for them.

    The gates may be in any order; there may be kernels of all gates, of both gates and of the candidate, or of each;
    the reset gate is applied before or after the product; the update gate is the share of the last output or, as in the
    first paper on it, of the candidate.

    Definitions: https://keras.io/api/layers/recurrent_layers/gru/, ``GRUCell.call``; ``GRUCell`` in
    https://github.com/keras-team/tf-keras/blob/master/tf_keras/layers/rnn/legacy_cells.py; ``GRUCell`` in
    https://github.com/google/flax/blob/main/flax/linen/recurrent.py;
    https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html; Cho et al., Learning phrase representations using
    RNN encoder-decoder, 2014.
    """
    for outputs_first in (False, True):
        yield _Gru().reset_after(outputs_first)
    yield _Gru().reset_after_gate_by_gate()
    yield _Gru().reset_before()
    yield _Gru().reset_before_gate_by_gate()
    for reset_after in (False, True):
        yield _Gru().candidate_apart(reset_after)
        yield _Gru().matrix_per_gate(reset_after)
    for h_first in (False, True):
        yield _Gru().joint_kernel(h_first)
        yield _Gru().joint_matrix_per_gate(h_first)


class _Gru:
    """The common parts of all ways to write a GRU."""

    def __init__(self) -> None:
        self.x, self.h = Variable("the step's input"), Variable("the last output")
        self.kernel, self.recurrent = matrix("the kernel"), matrix("the recurrent kernel")
        self.biases, self.bias = matrix("the biases"), vector("the bias")
        self.bias_of_h = vector("the recurrent bias")
        self.activation, self.gate = Function("the activation"), Function("the gates' activation")
        self.places = {letter: Place(name) for letter, name in _GATES.items()}

    def reset_after(self, outputs_first: bool) -> Cell:
        """One product of the input and one of the last output, each with all gates' weights."""
        of_x, of_h = (
            matmul(value, weight, transpose_b=outputs_first)
            for value, weight in ((self.x, self.kernel), (self.h, self.recurrent))
        )
        both = rows(self.biases, 2)
        x = self._taken_apart(one_of(of_x, of_x + self.bias, of_x + both[0]))
        h = self._taken_apart(one_of(of_h, of_h + self.bias_of_h, of_h + both[1]))
        candidate = self.activation(x["h"] + self.gate(x["r"] + h["r"]) * h["h"])
        return self._cell(
            [self.kernel, self.recurrent, self.biases, self.bias, self.bias_of_h],
            self.gate(x["z"] + h["z"]),
            candidate,
            {"reset_after": True, **({"outputs_first": True} if outputs_first else {})},
            signs={"input_bias": [self.bias], "recurrent_bias": [self.bias_of_h]},
            together=[both],
            gates=self.places,
        )

    def reset_after_gate_by_gate(self) -> Cell:
        """One product for each gate's part of the weights."""
        biases, of_h = map(self._taken_apart, rows(self.biases, 2))
        return self._by_gate(
            [self.kernel, self.recurrent, self.biases],
            self._taken_apart(self.kernel),
            self._taken_apart(self.recurrent),
            biases,
            of_h,
            {"reset_after": True},
            together=[[*biases.values(), *of_h.values()]],
            gates=self.places,
        )

    def reset_before(self) -> Cell:
        """One product of the input with all gates' weights, and of the last output with both gates'."""
        of_x = matmul(self.x, self.kernel)
        x = self._taken_apart(one_of(of_x, of_x + self.bias))
        of_h = matmul(self.h, Part(self.recurrent, 0, 2, 3))
        h_z, h_r = (PlacedPart(of_h, self.places[letter], 2) for letter in "zr")
        reset = self.gate(x["r"] + h_r) * self.h
        candidate = self.activation(x["h"] + matmul(reset, PlacedPart(self.recurrent, self.places["h"], 3)))
        return self._cell(
            [self.kernel, self.recurrent, self.bias],
            self.gate(x["z"] + h_z),
            candidate,
            {"reset_after": False},
            gates=self.places,
        )

    def reset_before_gate_by_gate(self) -> Cell:
        """One product for each gate's part of the weights."""
        kernels, recurrents, biases = map(self._taken_apart, (self.kernel, self.recurrent, self.bias))
        return self._by_gate(
            [self.kernel, self.recurrent, self.bias],
            kernels,
            recurrents,
            biases,
            {},
            {"reset_after": False},
            together=[[*biases.values()]],
            gates=self.places,
        )

    def matrix_per_gate(self, reset_after: bool) -> Cell:
        """As in Flax and most papers: each gate has its own weights."""
        kernels, recurrents = self._of_each(matrix, "kernel"), self._of_each(matrix, "recurrent kernel")
        biases = self._of_each(vector, "bias")
        of_h = self._of_each(vector, "recurrent bias") if reset_after else {}
        weights = [gate for of_gates in (kernels, recurrents, biases, of_h) for gate in of_gates.values()]
        return self._by_gate(
            weights,
            kernels,
            recurrents,
            biases,
            of_h,
            {"reset_after": reset_after, "matrix_per_gate": True},
            signs={"recurrent_bias": [of_h["z"]], "candidate_recurrent_bias": [of_h["h"]]} if of_h else {},
            together=[[*biases.values()], [of_h[letter] for letter in "zr" if of_h]],
        )

    def joint_matrix_per_gate(self, h_first: bool) -> Cell:
        """Each gate has a kernel for input and output together."""
        kernels, biases = self._of_each(matrix, "kernel"), self._of_each(vector, "bias")

        def of(letter: str, state: Pattern) -> Pattern:
            made = matmul(self._joined(state, h_first), kernels[letter])
            return one_of(made, made + biases[letter])

        candidate = self.activation(of("h", self.gate(of("r", self.h)) * self.h))
        return self._cell(
            [*kernels.values(), *biases.values()],
            self.gate(of("z", self.h)),
            candidate,
            {"reset_after": False, "matrix_per_gate": True, **_joint(h_first)},
            together=[[*biases.values()]],
        )

    def joint_kernel(self, h_first: bool) -> Cell:
        """As in TensorFlow 1: a kernel for both gates and one for the candidate, each for input and output together."""
        candidate_bias = vector("the candidate's bias")
        of_gates = matmul(self._joined(self.h, h_first), self.kernel)
        z, r = self._both_gates(one_of(of_gates, of_gates + self.bias))
        of_candidate = matmul(self._joined(r * self.h, h_first), self.recurrent)
        return self._cell(
            [self.kernel, self.bias, self.recurrent, candidate_bias],
            z,
            self.activation(one_of(of_candidate, of_candidate + candidate_bias)),
            {"reset_after": False, **_joint(h_first)},
            together=[[self.bias, candidate_bias]],
            gates={letter: self.places[letter] for letter in "zr"},
            usual_gates="rz",
        )

    def candidate_apart(self, reset_after: bool) -> Cell:
        """Kernels for both gates, and separate ones for the candidate."""
        kernel, recurrent = matrix("the candidate's kernel"), matrix("the candidate's recurrent kernel")
        bias, bias_of_h = vector("the candidate's bias"), vector("the candidate's recurrent bias")
        gates_of_x, gates_of_h = matmul(self.x, self.kernel), matmul(self.h, self.recurrent)
        whole = self._both_gates(_with_some([gates_of_x, gates_of_h], [[], [self.bias]]))
        biased = one_of(gates_of_x, gates_of_x + self.bias)
        z, r = (
            one_of(
                gate,
                self.gate(PlacedPart(biased, self.places[letter], 2) + PlacedPart(gates_of_h, self.places[letter], 2)),
            )
            for letter, gate in zip("zr", whole, strict=True)
        )
        of_x = matmul(self.x, kernel)
        if reset_after:
            of_h = matmul(self.h, recurrent)
            terms = [of_x, r * one_of(of_h, of_h + bias_of_h)]
        else:
            terms = [of_x, matmul(r * self.h, recurrent)]
        return self._cell(
            [self.kernel, self.recurrent, self.bias, kernel, recurrent, bias, *([bias_of_h] if reset_after else [])],
            z,
            self.activation(_with_some(terms, [[], [bias]])),
            {"reset_after": reset_after, "candidate_apart": True},
            signs={"candidate_recurrent_bias": [bias_of_h]} if reset_after else {},
            together=[[self.bias, bias]],
            gates={letter: self.places[letter] for letter in "zr"},
            usual_gates="zr",
        )

    def _joined(self, state: Pattern, h_first: bool) -> Pattern:
        return concat([state, self.x] if h_first else [self.x, state])

    def _taken_apart(self, whole: Pattern) -> dict[str, Pattern]:
        return dict(zip(_GATES, placed_parts(whole, [*self.places.values()]), strict=True))

    def _of_each(self, make: Any, name: str) -> dict[str, Variable]:
        return {letter: make(f"{gate}'s {name}") for letter, gate in _GATES.items()}

    def _both_gates(self, total: Pattern) -> list[Pattern]:
        """Returns the update and the reset gate: parts of a function of a sum, or that function of its parts."""
        whole = self.gate(total)
        return [
            one_of(PlacedPart(whole, self.places[letter], 2), self.gate(PlacedPart(total, self.places[letter], 2)))
            for letter in "zr"
        ]

    def _by_gate(
        self,
        weights: Sequence[Variable],
        kernels: Mapping[str, Pattern],
        recurrents: Mapping[str, Pattern],
        biases: Mapping[str, Pattern],
        biases_of_h: Mapping[str, Pattern],
        attributes: Mapping[str, Any],
        **options: Any,
    ) -> Cell:
        """Returns the cell with products of each gate's weights; it may lack all biases, or the last output's."""

        def gate(letter: str) -> Pattern:
            terms = [matmul(self.x, kernels[letter]), matmul(self.h, recurrents[letter])]
            added = [of_gates[letter] for of_gates in (biases, biases_of_h) if of_gates]
            return self.gate(_with_some(terms, [added[:count] for count in range(len(added) + 1)]))

        r = gate("r")
        if attributes["reset_after"]:
            of_h = matmul(self.h, recurrents["h"])
            reset = r * one_of(of_h, of_h + biases_of_h["h"])
        else:
            reset = matmul(r * self.h, recurrents["h"])
        terms = [matmul(self.x, kernels["h"]), reset]
        return self._cell(
            weights, gate("z"), self.activation(_with_some(terms, [[], [biases["h"]]])), attributes, **options
        )

    def _cell(
        self,
        weights: Sequence[Variable],
        z: Pattern,
        candidate: Pattern,
        attributes: Mapping[str, Any],
        *,
        signs: Mapping[str, Sequence[Pattern]] | None = None,
        together: Sequence[Sequence[Pattern]] = (),
        gates: Mapping[str, Place] | None = None,
        usual_gates: str = "zrh",
    ) -> Cell:
        """Returns the cell of an update gate ``z`` and a candidate, whose sum is written in any of the usual ways."""
        h = self.h
        swapped = [z * candidate + (1 - z) * h, h + z * (candidate - h), z * candidate + (h - z * h)]
        return Cell(
            kind="GRU",
            composite="gru_loop",
            op=None,
            x=self.x,
            states=(h,),
            weights=tuple(weights),
            results=(
                one_of(
                    z * h + (1 - z) * candidate,
                    candidate + z * (h - candidate),
                    z * h + (candidate - z * candidate),
                    *swapped,
                ),
            ),
            attributes=attributes,
            activations={
                "activation": Activations(self.activation, {"Tanh": "tanh"}),
                "recurrent_activation": Activations(self.gate, {"Sigmoid": "sigmoid"}),
            },
            signs={"updates_candidate": swapped, **(signs or {})},
            together=together,
            gates=gates or {},
            usual_gates=lambda _: usual_gates,
        )


def _joint(h_first: bool) -> dict[str, bool]:
    return {"joint_kernel": True, **({"h_first": True} if h_first else {})}


def _with_some(terms: Sequence[Pattern], choices: Sequence[Sequence[Pattern]]) -> Pattern:
    """Returns the sum of the terms and any one of several choices of further terms."""
    return one_of(*(reduce(add, [*terms, *some]) for some in choices))
