"""Whether the operands of an op fit each other, whatever the sizes are that are not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from litefuse.ir.ops.dims import Dim, Formula, product
from litefuse.ir.ops.facts import MALFORMED, Dims, Op, ShapeError, Undecided
from litefuse.ir.ops.rules.elementwise import BROADCASTING

# Ops of one operand, or whose other operands say nothing of sizes.
_ANY_SIZES = (
    "Abs All Any ArgMax ArgMin Assert Cast Ceil Cos Cumsum Elu Erf Exp ExpandDims Fill Floor GatherV2 Identity IsNan "
    "LeakyRelu Log LogSoftmax LogicalNot Max Mean Min Neg OneHot OnesLike Pad PadV2 Prod Range Rank Relu Relu6 "
    "ReverseV2 Round Rsqrt Shape Sigmoid Sign Sin Size Softmax Softplus Sqrt Square StopGradient StridedSlice Sum Tanh "
    "Tile Transpose Where ZerosLike"
)
_ANY = frozenset(_ANY_SIZES.split())
# Ops of images, sequences and their filters: only the number of these may be unknown.
_BATCHED = frozenset({"AvgPool", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "MaxPool"})


def always_fits(op: Op) -> bool:
    """Whether no sizes that agree with what is known of the operands contradict each other; False if that is not known.

    Known sizes do not contradict each other: an inference would have said so.
    """
    shapes = [operand.shape for operand in op.operands]
    if op.name in _ANY:
        # Elements of GATHER's batch dimensions belong together.
        return not op.attributes.get("batch_dims", 0) or _are_known(op)
    try:
        rule = _RULES.get(op.name)
        if rule is not None and all(shape is not None for shape in shapes):
            return rule(op)
    except (Undecided, ShapeError, *MALFORMED):
        return False
    return _are_known(op)


def _are_known(op: Op) -> bool:
    """Whether all sizes are known, those of the results too: they may be given by elements of operands."""
    shapes = [tensor.shape for tensor in (*op.operands, *op.results)]
    return all(shape is not None and not any(isinstance(size, Formula) for size in shape) for shape in shapes)


def _broadcast(shapes: Sequence[Dims]) -> bool:
    rank = max(map(len, shapes))
    for back in range(1, rank + 1):
        sizes = {shape[-back] for shape in shapes if len(shape) >= back} - {1}
        if len(sizes) > 1:
            return False
    return True


def _operands_broadcast(op: Op) -> bool:
    return _broadcast([op.shape(index) for index in range(len(op.operands))])


def _are_equal(op: Op) -> bool:
    return all(one == other for one, other in pairwise(op.shape(index) for index in range(len(op.operands))))


def _fills_result(op: Op) -> bool:
    """``Reshape``: there are as many elements as before."""
    after = op.results[0].shape
    return after is not None and product(op.shape(0)) == product(after)


def _fills_broadcast(op: Op) -> bool:
    after = op.results[0].shape
    return after is not None and _broadcast([op.shape(0), after])


def _fits_channels(op: Op) -> bool:
    """``BiasAdd``: the bias has an element for each channel."""
    (size,) = op.ranked(1, 1)
    return op.shape(0)[1 if op.attribute("data_format", "NHWC") == "NCHW" else -1] == size


def _joins(op: Op) -> bool:
    """``ConcatV2``: the sizes differ in one dimension alone."""
    count = len(op.operands) - 1
    rank = len(op.shape(0))
    axis = op.axis(count, rank)
    others = {op.shape(index)[:axis] + op.shape(index)[axis + 1 :] for index in range(count)}
    return len(others) == 1


def _multiplies(op: Op) -> bool:
    """``MatMul`` and its kin: columns of one are rows of the other."""
    flags = ("transpose_a", "transpose_b") if op.name == "MatMul" else ("adj_x", "adj_y")
    a, b = op.shape(0), op.shape(1)
    inner = a[-2] if op.attribute(flags[0], False) else a[-1], b[-1] if op.attribute(flags[1], False) else b[-2]
    return inner[0] == inner[1] and _broadcast([a[:-2], b[:-2]])


def _fits_parts(op: Op) -> bool:
    """``Split`` and its kin: the size of the dimension is known."""
    position, axis = {"Split": (1, 0), "SplitV": (0, 2), "Unpack": (0, -1)}[op.name]
    shape = op.shape(position)
    number = op.attribute("axis", 0) if axis < 0 else op.axis(axis, len(shape))
    return not isinstance(shape[number], Formula)


def _squeezes(op: Op) -> bool:
    shape = op.shape(0)
    given: list[int] = op.attribute("squeeze_dims", None) or op.attribute("axis", None) or []
    return bool(given) and all(shape[axis] == 1 for axis in given)


def _is_within(op: Op) -> bool:
    """``Slice``: each dimension is taken from its beginning, and as a whole or to its end."""
    begins, sizes = op.vector(1), op.vector(2)
    return all(
        begin == 0 and size in (-1, whole) for begin, size, whole in zip(begins, sizes, op.shape(0), strict=True)
    )


def _finds_elements(op: Op) -> bool:
    """``GatherNd``: an index has no more numbers than there are dimensions."""
    depth = op.shape(1)[-1]
    return isinstance(depth, int) and depth <= len(op.shape(0))


def _contracts(op: Op) -> bool:
    """``Einsum``: a label stands for one size."""
    equation: str = op.attribute("equation")
    labels = equation.replace(" ", "").split("->")[0].split(",")
    sizes: dict[str, Dim] = {}
    for index, names in enumerate(labels):
        shape = op.shape(index)
        if len(names) != len(shape) or any(
            sizes.setdefault(*pair) != pair[1] for pair in zip(names, shape, strict=True)
        ):
            return False
    return True


def _is_batch(op: Op) -> bool:
    if op.name in {"AvgPool", "MaxPool"} and op.attribute("padding") == "SAME":
        return True  # a window is cut off at the edge
    sizes = [*op.shape(0)[1:], *(size for index in range(1, len(op.operands)) for size in op.shape(index))]
    return not any(isinstance(size, Formula) for size in sizes)


_RULES: dict[str, Callable[[Op], bool]] = {
    **dict.fromkeys(BROADCASTING, _operands_broadcast),
    **dict.fromkeys(_BATCHED, _is_batch),
    **dict.fromkeys(("AddN", "Pack", "Select"), _are_equal),
    **dict.fromkeys(("Split", "SplitV", "Unpack"), _fits_parts),
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "MatMul"), _multiplies),
    "BiasAdd": _fits_channels,
    "BroadcastTo": _fills_broadcast,
    "ConcatV2": _joins,
    "Einsum": _contracts,
    "GatherNd": _finds_elements,
    "Reshape": _fills_result,
    "Slice": _is_within,
    "Squeeze": _squeezes,
}
