"""Cells whose output is a function of a sum."""

from __future__ import annotations

from collections.abc import Iterator

from litefuse.fusions.recognizers.pattern import Function, Variable, concat, matmul
from litefuse.fusions.recognizers.recurrent.cells import Activations, Cell, matrix, vector

__all__ = ["simple_rnn_cells"]


def simple_rnn_cells() -> Iterator[Cell]:
    """Yields the SimpleRNNs of Keras, Flax, Haiku and PyTorch, and the BasicRNNCell of TensorFlow 1.

    Definitions: https://keras.io/api/layers/recurrent_layers/simple_rnn/, ``SimpleRNNCell.call``; ``BasicRNNCell`` in
    https://github.com/keras-team/tf-keras/blob/master/tf_keras/layers/rnn/legacy_cells.py.
    """
    for biases in (1, 0, 2):
        yield _cell(biases)
    for biases in (1, 0):
        yield _cell(biases, joint_kernel=True)
    for biases in (1, 0, 2):
        yield _cell(biases, outputs_first=True)


def _cell(biases: int, *, joint_kernel: bool = False, outputs_first: bool = False) -> Cell:
    x, h = Variable("the step's input"), Variable("the last output")
    kernel, recurrent = matrix("a kernel"), matrix("a kernel")
    activation = Function("the activation")
    if joint_kernel:
        z = matmul(concat([x, h]), kernel)
    else:
        z = matmul(x, kernel, transpose_b=outputs_first) + matmul(h, recurrent, transpose_b=outputs_first)
    added = [vector("a bias") for _ in range(biases)]
    return Cell(
        kind="SimpleRNN",
        composite="rnn_loop",
        op="UNIDIRECTIONAL_SEQUENCE_RNN",
        x=x,
        states=(h,),
        weights=(kernel, *([] if joint_kernel else [recurrent]), *added),
        results=(activation(sum(added, z)),),
        attributes={"joint_kernel": True} if joint_kernel else {"outputs_first": True} if outputs_first else {},
        activations={"activation": Activations(activation, {"Tanh": "tanh", "Relu": "relu", "Relu6": "relu6"})},
    )
