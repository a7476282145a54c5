"""GRU cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from litefuse.recognizers.cells import Activations, Cell, matrix, vector
from litefuse.recognizers.pattern import Function, Part, Pattern, Variable, concat, matmul, parts, rows

__all__ = ["gru_cells"]


def gru_cells() -> Iterator[Cell]:
    """The GRUs of Keras and of TensorFlow 1; LiteRT has no op for any of them.

    Definitions: https://keras.io/api/layers/recurrent_layers/gru/, ``GRUCell.call``; ``GRUCell`` in
    https://github.com/keras-team/tf-keras/blob/master/tf_keras/layers/rnn/legacy_cells.py.
    """
    for with_bias, gate_by_gate in product((True, False), (False, True)):
        yield _reset_after(with_bias, gate_by_gate)
        yield _reset_before(with_bias, gate_by_gate)
    yield _joint_kernel()


class _Gru:
    """What all ways to write a GRU have in common."""

    def __init__(self) -> None:
        self.x, self.h = Variable("the step's input"), Variable("the last output")
        self.kernel, self.recurrent = matrix("the kernel"), matrix("the recurrent kernel")
        self.activation, self.gate = Function("the activation"), Function("the gates' activation")

    def new_h(self, z: Pattern, candidate: Pattern) -> Pattern:
        """``z`` is the update gate."""
        return z * self.h + (1 - z) * candidate

    def cell(self, weights: Sequence[Variable], result: Pattern, *, reset_after: bool, joint_kernel: bool) -> Cell:
        return Cell(
            kind="GRU",
            composite="gru_loop",
            op=None,
            x=self.x,
            states=(self.h,),
            weights=tuple(weights),
            results=(result,),
            attributes={"reset_after": reset_after, **({"joint_kernel": True} if joint_kernel else {})},
            activations={
                "activation": Activations(self.activation, {"Tanh": "tanh"}),
                "recurrent_activation": Activations(self.gate, {"Sigmoid": "sigmoid"}),
            },
        )


def _projections(value: Pattern, kernel: Pattern, bias: Pattern | None, gate_by_gate: bool) -> list[Pattern]:
    """The products of a value and each gate's part of a kernel, with the bias, if there is one."""
    if gate_by_gate:
        products = [matmul(value, part) for part in parts(kernel, 3)]
        biases = parts(bias, 3) if bias is not None else []
        return [one + b for one, b in zip(products, biases, strict=True)] if biases else products
    whole = matmul(value, kernel)
    return parts(whole if bias is None else whole + bias, 3)


def _reset_after(with_bias: bool, gate_by_gate: bool) -> Cell:
    the = _Gru()
    bias = matrix("the biases")
    of_x, of_h = rows(bias, 2) if with_bias else (None, None)
    x_z, x_r, x_h = _projections(the.x, the.kernel, of_x, gate_by_gate)
    h_z, h_r, h_h = _projections(the.h, the.recurrent, of_h, gate_by_gate)
    candidate = the.activation(x_h + the.gate(x_r + h_r) * h_h)
    weights = [the.kernel, the.recurrent, *([bias] if with_bias else [])]
    return the.cell(weights, the.new_h(the.gate(x_z + h_z), candidate), reset_after=True, joint_kernel=False)


def _reset_before(with_bias: bool, gate_by_gate: bool) -> Cell:
    the = _Gru()
    bias = vector("the bias")
    x_z, x_r, x_h = _projections(the.x, the.kernel, bias if with_bias else None, gate_by_gate)
    if gate_by_gate:
        h_z, h_r = (matmul(the.h, part) for part in parts(the.recurrent, 3)[:2])
    else:
        h_z, h_r = parts(matmul(the.h, Part(the.recurrent, 0, 2, 3)), 2)
    reset = the.gate(x_r + h_r) * the.h
    candidate = the.activation(x_h + matmul(reset, parts(the.recurrent, 3)[2]))
    weights = [the.kernel, the.recurrent, *([bias] if with_bias else [])]
    return the.cell(weights, the.new_h(the.gate(x_z + h_z), candidate), reset_after=False, joint_kernel=False)


def _joint_kernel() -> Cell:
    """TensorFlow 1: a kernel for both gates and one for the candidate, each for input and output together."""
    the = _Gru()
    bias, candidate_bias = vector("the gates' bias"), vector("the candidate's bias")
    r, z = parts(the.gate(matmul(concat([the.x, the.h]), the.kernel) + bias), 2)
    candidate = the.activation(matmul(concat([the.x, r * the.h]), the.recurrent) + candidate_bias)
    weights = [the.kernel, bias, the.recurrent, candidate_bias]
    return the.cell(weights, the.new_h(z, candidate), reset_after=False, joint_kernel=True)
