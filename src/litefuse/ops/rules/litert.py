"""LiteRT's own ops, which composites become before shapes are inferred."""

from __future__ import annotations

from litefuse.ops.combining import meet
from litefuse.ops.dims import Dim
from litefuse.ops.facts import Answer, Op, OpenShape, Rule, ShapeError, Undecided, normal_axis, text
from litefuse.ops.rules import creation, layout, slicing

__all__ = ["RULES"]

_SAME = (
    "abs cos elu exp gelu hard_swish l2_normalization leaky_relu log log_softmax logistic neg relu relu6 relu_n1_to_1 "
    "reverse_v2 round rsqrt sin softmax sqrt square tanh"
)


def _as_first(op: Op) -> Answer:
    return op.shape(0)


def _fully_connected(op: Op) -> Answer:
    """``[..., n]`` and weights ``[m, n]``."""
    if not op.attribute("keep_num_dims", False):
        raise Undecided("the dimensions are flattened")
    return (*op.shape(0)[:-1], op.ranked(1, 2)[0])


def _sequence(op: Op) -> Answer:
    """``[batch, time, n]``, or time first: another size of features."""
    return (*op.ranked(0, 3)[:2], None)


def _embedding_lookup(op: Op) -> Answer:
    return (*op.ranked(0, 1), *op.shape(1)[1:])


def _concatenation(op: Op) -> Answer:
    shapes = [op.shape(index) for index in range(len(op.operands))]
    axis = normal_axis(op.attribute("axis"), len(shapes[0]))
    total: Dim = 0
    result: OpenShape = None
    for shape in shapes:
        if len(shape) != len(shapes[0]):
            raise ShapeError(f"the shapes {' and '.join(map(text, shapes))} differ in rank")
        total = total + shape[axis]
        result = meet(result, (*shape[:axis], None, *shape[axis + 1 :]))
    assert result is not None
    return (*result[:axis], total, *result[axis + 1 :])


RULES: dict[str, Rule] = {
    **{f"tfl.{name}": _as_first for name in _SAME.split()},
    "tfl.concatenation": _concatenation,
    "tfl.embedding_lookup": _embedding_lookup,
    "tfl.expand_dims": layout.RULES["ExpandDims"],
    "tfl.fill": creation.RULES["Fill"],
    "tfl.fully_connected": _fully_connected,
    "tfl.reshape": layout.RULES["Reshape"],
    "tfl.shape": creation.RULES["Shape"],
    "tfl.slice": slicing.RULES["Slice"],
    "tfl.transpose": layout.RULES["Transpose"],
    "tfl.unidirectional_sequence_lstm": _sequence,
}
