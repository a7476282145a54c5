"""Cells whose output is a function of a sum."""

from __future__ import annotations

from collections.abc import Iterator

from litefuse.recognizers.cells import Activations, Cell, matrix, vector
from litefuse.recognizers.pattern import Function, Variable, concat, matmul

__all__ = ["simple_rnn_cells"]


def simple_rnn_cells() -> Iterator[Cell]:
    """The SimpleRNN of Keras and the BasicRNNCell of TensorFlow 1.

    Definitions: https://keras.io/api/layers/recurrent_layers/simple_rnn/, ``SimpleRNNCell.call``; ``BasicRNNCell`` in
    https://github.com/keras-team/tf-keras/blob/master/tf_keras/layers/rnn/legacy_cells.py.
    """
    for with_bias in (True, False):
        for joint_kernel in (False, True):
            yield _cell(with_bias, joint_kernel)


def _cell(with_bias: bool, joint_kernel: bool) -> Cell:
    x, h = Variable("the step's input"), Variable("the last output")
    kernel, recurrent, bias = matrix("a kernel"), matrix("a kernel"), vector("the bias")
    activation = Function("the activation")
    z = matmul(concat([x, h]), kernel) if joint_kernel else matmul(x, kernel) + matmul(h, recurrent)
    return Cell(
        kind="SimpleRNN",
        composite="rnn_loop",
        op="UNIDIRECTIONAL_SEQUENCE_RNN",
        x=x,
        states=(h,),
        weights=(kernel, *([] if joint_kernel else [recurrent]), *([bias] if with_bias else [])),
        results=(activation(z + bias if with_bias else z),),
        attributes={"joint_kernel": True} if joint_kernel else {},
        activations={"activation": Activations(activation, {"Tanh": "tanh", "Relu": "relu", "Relu6": "relu6"})},
    )
