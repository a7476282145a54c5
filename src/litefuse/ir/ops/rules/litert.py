"""LiteRT's builtin ops, which replace composites before shape inference.

Most of them correspond to TensorFlow ops and use their rules, with operands and attributes converted to TensorFlow's
form if necessary. Sources: the operators of https://www.tensorflow.org/mlir/tfl_ops and the shapes that the runtime's
kernels compute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from litefuse.ir.ops.dims import Dim, product
from litefuse.ir.ops.facts import Answer, Op, PartialDims, Rule, ShapeError, Tensor, array_of, meet
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
    "Abs Add AddN ArgMax ArgMin Bitcast BitwiseXor BroadcastArgs BroadcastTo Bucketize Cast Ceil ComplexAbs Cos "
    "Cumsum DepthToSpace Div Elu Equal Exp ExpandDims Fill Floor FloorDiv FloorMod GatherNd Greater GreaterEqual "
    "Imag LeakyRelu Less LessEqual Log LogSoftmax LogicalAnd LogicalNot LogicalOr MatrixDiag MatrixSetDiag Maximum "
    "Mean Minimum MirrorPad Mul Multinomial Neg NotEqual OneHot Pack Pad Pow RandomStandardNormal RandomUniform "
    "Range Rank Real Relu Relu6 Reshape ResizeBilinear ResizeNearestNeighbor ReverseSequence ReverseV2 RightShift "
    "Round Rsqrt ScatterNd SegmentSum Select SelectV2 Shape Sign Sin Slice Softmax SpaceToDepth SparseToDense Split "
    "SplitV Sqrt Square SquaredDifference Squeeze StridedSlice Sub Sum Tanh Tile Transpose Unique Unpack "
    "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum Where ZerosLike"
)
_RENAMED = {
    "batch_matmul": "BatchMatMulV2",
    "batch_to_space_nd": "BatchToSpaceND",
    "dynamic_update_slice": "XlaDynamicUpdateSlice",
    "logistic": "Sigmoid",
    "local_response_normalization": "LRN",
    "padv2": "PadV2",
    "reduce_all": "All",
    "reduce_any": "Any",
    "reduce_max": "Max",
    "reduce_min": "Min",
    "reduce_prod": "Prod",
    "rfft2d": "RFFT2D",
    "space_to_batch_nd": "SpaceToBatchND",
    "topk_v2": "TopKV2",
}
_AS_FIRST = "dequantize fake_quant gelu hard_swish l2_normalization quantize relu_0_to_1 relu_n1_to_1"


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


def _conv_3d(op: Op) -> Op:
    strides, dilations = ([1, *(op.attribute(name.format(axis), 1) for axis in "dhw"), 1] for name in _OF_AXIS)
    attributes = {"padding": op.attribute("padding"), "strides": strides, "dilations": dilations}
    return op._replace(attributes=attributes)


def _recurrent(weights: int | None = None, *states: int) -> Rule:
    """Has the shape of the inputs ``[batch, n]`` or ``[batch, time, n]`` with the features of states, or of weights."""

    def rule(op: Op) -> Answer:
        leading = op.shape(0)[:-1]
        features = [op.ranked(state, 2)[1] for state in states] if weights is None else [op.ranked(weights, 2)[0]]
        shapes: list[PartialDims] = [(*leading, size) for size in features]
        return shapes if len(shapes) > 1 else shapes[0]

    return rule


def _reduce_window(op: Op) -> Answer:
    shape = op.shape(0)
    windows, strides, dilations = (op.numbers(index) for index in (2, 3, 4))
    spans = [(window - 1) * dilation + 1 for window, dilation in zip(windows, dilations, strict=True)]
    return tuple((size - span) // stride + 1 for size, span, stride in zip(shape, spans, strides, strict=True))


def _sparse_lookup(op: Op) -> Answer:
    """Has a row for each index of the dense shape but the last."""
    shape = layout.stated_shape(op, 2)
    return None if shape is None else (*shape[:-1], *op.shape(4)[1:])


def _conv_transpose(op: Op, outputs: int) -> Answer:
    """Has the stated shape, the batch of the third operand, and as many channels as that size of the filters."""
    batch, *others = op.shape(2)
    filters = op.ranked(1, len(others) + 1)
    return meet(layout.stated_shape(op, 0), (batch, *[None] * (len(others) - 1), filters[outputs]))


def _projection(op: Op) -> Answer:
    functions, bits = op.ranked(0, 2)
    return (functions * bits,) if op.attribute("type") == "DENSE" else (functions,)


def _dilate(op: Op) -> Answer:
    return tuple((size - 1) * factor + 1 for size, factor in zip(op.shape(0), op.numbers(1), strict=True))


def _read_variable(op: Op) -> Answer:
    shape: list[int | None] = op.attribute("shape")
    if None in shape:
        raise ShapeError("the sizes of a variable must be known: the runtime takes open ones for 1")
    return tuple(shape)


def _svdf(op: Op) -> Answer:
    return (op.ranked(0, 2)[0], op.ranked(1, 2)[0] // op.attribute("rank"))


_OF_AXIS = ("stride_{}", "dilation_{}_factor")

RULES: dict[str, Rule] = {
    **{f"tfl.{_snake_case(name)}": _as(name) for name in _SAME.split()},
    **{f"tfl.{own}": _as(name) for own, name in _RENAMED.items()},
    **{f"tfl.{name}": lambda op: op.shape(0) for name in _AS_FIRST.split()},
    **dict.fromkeys(("tfl.assign_variable", "tfl.hashtable_import"), lambda _: []),
    **dict.fromkeys(("tfl.hashtable", "tfl.var_handle"), lambda _: ()),
    **dict.fromkeys(("tfl.average_pool_2d", "tfl.l2_pool_2d"), _as("AvgPool", _pool_2d)),
    **dict.fromkeys(("tfl.lstm", "tfl.unidirectional_sequence_lstm"), _recurrent(None, 18)),
    **dict.fromkeys(("tfl.rnn", "tfl.unidirectional_sequence_rnn"), _recurrent(1)),
    "tfl.atan2": _as("AddN"),  # neither broadcasts
    "tfl.bidirectional_sequence_lstm": _recurrent(None, 35, 37),
    "tfl.bidirectional_sequence_rnn": _recurrent(None, 4, 8),
    "tfl.concatenation": _as("ConcatV2", _with_axis),
    "tfl.conv_2d": _as("Conv2D", _conv_2d),
    "tfl.conv_3d": _as("Conv3D", _conv_3d),
    "tfl.conv_3d_transpose": lambda op: _conv_transpose(op, 3),
    "tfl.depthwise_conv_2d": _as("Conv2D", _depthwise_conv_2d),
    "tfl.dilate": _dilate,
    "tfl.embedding_lookup": lambda op: (*op.ranked(0, 1), *op.shape(1)[1:]),
    "tfl.embedding_lookup_sparse": _sparse_lookup,
    "tfl.fully_connected": _fully_connected,
    "tfl.gather": _as("GatherV2", _with_axis),
    "tfl.hashtable_find": lambda op: op.shape(1),
    "tfl.hashtable_lookup": lambda op: [(*op.ranked(0, 1), *op.shape(2)[1:]), op.ranked(0, 1)],
    "tfl.hashtable_size": lambda _: (1,),
    "tfl.lsh_projection": _projection,
    "tfl.max_pool_2d": _as("MaxPool", _pool_2d),
    "tfl.non_max_suppression_v4": lambda op: [(op.size(2),), ()],
    "tfl.non_max_suppression_v5": lambda op: [(op.size(2),), (op.size(2),), ()],
    "tfl.prelu": _as("Mul"),  # with a slope for each channel, or element
    "tfl.read_variable": _read_variable,
    "tfl.reduce_window": _reduce_window,
    "tfl.skip_gram": lambda _: (None,),
    "tfl.svdf": _svdf,
    "tfl.transpose_conv": lambda op: _conv_transpose(op, 0),
}
