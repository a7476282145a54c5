"""LiteRT's builtin ops, which replace composites before shape inference.

Most of them correspond to TensorFlow ops and use their rules, with operands and attributes converted to TensorFlow's
form if necessary. Sources: the operators of https://www.tensorflow.org/mlir/tfl_ops and the shapes that the runtime's
kernels compute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from litefuse.ir.ops.dims import Dim, product
from litefuse.ir.ops.facts import Answer, Op, Rule, Tensor, array_of
from litefuse.ir.ops.rules import creation, elementwise, layout, matrices, reductions, slicing, windows

_TENSORFLOW: Mapping[str, Rule] = {
    **creation.RULES,
    **elementwise.RULES,
    **layout.RULES,
    **matrices.RULES,
    **reductions.RULES,
    **slicing.RULES,
    **windows.RULES,
}

# Ops with the same operands and attributes, by TensorFlow's name. LiteRT's is the same in snake case, or as below.
_SAME = (
    "Abs Add ArgMax ArgMin BitwiseXor BroadcastTo Cast Ceil Cos Cumsum DepthToSpace Div Elu Equal Exp ExpandDims Fill "
    "Floor FloorDiv FloorMod GatherNd Greater GreaterEqual LeakyRelu Less LessEqual Log LogSoftmax LogicalAnd "
    "LogicalNot LogicalOr Maximum Mean Minimum MirrorPad Mul Neg NotEqual OneHot Pack Pad Pow Rank Relu Relu6 Reshape "
    "ResizeBilinear ResizeNearestNeighbor ReverseV2 RightShift Round Rsqrt SelectV2 Shape Sign Sin Slice Softmax "
    "SpaceToDepth Split SplitV Sqrt Square SquaredDifference Squeeze StridedSlice Sub Sum Tanh Tile Transpose Unpack "
    "ZerosLike"
)
_RENAMED = {
    "batch_matmul": "BatchMatMulV2",
    "dynamic_update_slice": "XlaDynamicUpdateSlice",
    "logistic": "Sigmoid",
    "padv2": "PadV2",
    "reduce_all": "All",
    "reduce_any": "Any",
    "reduce_max": "Max",
    "reduce_min": "Min",
    "reduce_prod": "Prod",
    "topk_v2": "TopKV2",
}
_AS_FIRST = "dequantize gelu hard_swish l2_normalization quantize relu_0_to_1 relu_n1_to_1"


def _snake_case(name: str) -> str:
    """Returns LiteRT's spelling of a name, such as ``select_v2`` for ``SelectV2``."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).removeprefix("_")


def _as(name: str, translate: Callable[[Op], Op] = lambda op: op) -> Rule:
    """Applies a TensorFlow op's rule to the op that ``translate`` returns for LiteRT's."""
    rule = _TENSORFLOW[name]
    return lambda op: rule(translate(op)._replace(name=name))


def _with_axis(op: Op) -> Op:
    """Converts the axis from an attribute to the last operand."""
    axis = op.attribute("axis")
    return op._replace(operands=[*op.operands, Tensor("i32", (), array_of([axis], []))])


def _spatial(op: Op, name: str, default: int) -> list[int]:
    """Returns attributes of rows and columns as TensorFlow's list of four; ``{}`` in the name is ``h`` or ``w``."""
    return [1, *(op.attribute(name.format(axis), default) for axis in "hw"), 1]


def _sliding(op: Op) -> dict[str, Any]:
    """Returns TensorFlow's attributes of a sliding window."""
    return {
        "padding": op.attribute("padding"),
        "strides": _spatial(op, "stride_{}", 1),
        "dilations": _spatial(op, "dilation_{}_factor", 1),
    }


def _convolution(op: Op, order: Sequence[int]) -> Op:
    """Converts filters to ``[rows, columns, channels, outputs]``, which are the dimensions ``order`` of LiteRT's."""
    value, filters, *bias = op.operands
    if filters.shape is not None:
        shape = op.ranked(1, len(order))
        filters = filters._replace(shape=tuple(shape[axis] for axis in order))
    return op._replace(operands=[value, filters, *bias], attributes=_sliding(op))


def _conv_2d(op: Op) -> Op:
    """Converts filters from ``[outputs, rows, columns, channels]``."""
    return _convolution(op, (1, 2, 3, 0))


def _depthwise_conv_2d(op: Op) -> Op:
    """Converts filters from ``[1, rows, columns, outputs]``: groups of one channel each."""
    return _convolution(op, (1, 2, 0, 3))


def _pool_2d(op: Op) -> Op:
    sizes = [op.attribute("filter_height"), op.attribute("filter_width")]
    return op._replace(attributes={**_sliding(op), "ksize": [1, *sizes, 1]})


def _fully_connected(op: Op) -> Answer:
    """Takes ``[..., n]`` and weights ``[m, n]``; without ``keep_num_dims``, the leading dimensions are flattened."""
    shape = op.shape(0)
    outputs, inputs = op.ranked(1, 2)
    if op.attribute("keep_num_dims", False):
        return (*shape[:-1], outputs)
    rows: Dim = shape[0] if len(shape) == 2 else product(shape) // inputs
    return (rows, outputs)


def _sequence(op: Op) -> Answer:
    """Has the shape of the inputs ``[batch, time, n]``, or time-major, with another number of features."""
    return (*op.ranked(0, 3)[:2], None)


RULES: dict[str, Rule] = {
    **{f"tfl.{_snake_case(name)}": _as(name) for name in _SAME.split()},
    **{f"tfl.{own}": _as(name) for own, name in _RENAMED.items()},
    **{f"tfl.{name}": lambda op: op.shape(0) for name in _AS_FIRST.split()},
    "tfl.atan2": _as("AddN"),  # neither broadcasts
    "tfl.average_pool_2d": _as("AvgPool", _pool_2d),
    "tfl.concatenation": _as("ConcatV2", _with_axis),
    "tfl.conv_2d": _as("Conv2D", _conv_2d),
    "tfl.depthwise_conv_2d": _as("Conv2D", _depthwise_conv_2d),
    "tfl.embedding_lookup": lambda op: (*op.ranked(0, 1), *op.shape(1)[1:]),
    "tfl.fully_connected": _fully_connected,
    "tfl.gather": _as("GatherV2", _with_axis),
    "tfl.max_pool_2d": _as("MaxPool", _pool_2d),
    "tfl.prelu": _as("Mul"),  # with a slope for each channel, or element
    "tfl.unidirectional_sequence_lstm": _sequence,
}
