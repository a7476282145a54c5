"""The result types of LiteRT's builtin ops, and the attributes that they have by default.

Source: the operators of https://www.tensorflow.org/mlir/tfl_ops and the kernels' shapes in the runtime.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import FusionError
from litefuse.ir.types import TensorType

__all__ = ["BUILTINS", "Builtin", "Operand"]

Shape: TypeAlias = "tuple[int | None, ...]"


@dataclass(frozen=True)
class Operand:
    """What is known of an operand.

    Attributes:
        kind: Its dtype and shape, of known rank.
        value: Its value, where it is a constant.
    """

    kind: TensorType
    value: npt.NDArray[Any] | None = None

    @property
    def shape(self) -> Shape:
        """The shape."""
        return self.kind.shape or ()

    @property
    def dtype(self) -> str:
        """The dtype."""
        return self.kind.dtype

    def ints(self, what: str) -> list[int]:
        """The value, of an operand that must be a constant of integers.

        Raises:
            FusionError: It is none.
        """
        if self.value is None:
            raise FusionError(f"{what} must be a constant: the result's shape follows from it")
        return [int(each) for each in self.value.reshape(-1)]


Rule: TypeAlias = "Callable[[Sequence[Operand], Mapping[str, Any]], list[TensorType]]"


@dataclass(frozen=True)
class Builtin:
    """How one op is built.

    Attributes:
        rule: The types of its results.
        defaults: Its attributes with their default values; a list is of int64, a float is a float32, an int an int32.
        alike: Whether its operands are of one dtype.
    """

    rule: Rule
    defaults: Mapping[str, Any]
    alike: bool = False


def _same(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    return [operands[0].kind]


def _broadcast(*shapes: Shape) -> Shape:
    rank = max(map(len, shapes))
    result: list[int | None] = []
    for sizes in zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True):
        known = {size for size in sizes if size not in {1, None}}
        if len(known) > 1:
            raise FusionError(f"shapes {', '.join(str(list(shape)) for shape in shapes)} do not broadcast")
        result.append(known.pop() if known else None if None in sizes else 1)
    return tuple(result)


def _elementwise(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    return [TensorType(operands[0].dtype, _broadcast(*(each.shape for each in operands)))]


def _comparison(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    return [TensorType("bool", _broadcast(*(each.shape for each in operands)))]


def _select(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    return [TensorType(operands[1].dtype, _broadcast(*(each.shape for each in operands)))]


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise FusionError(f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def _reduction(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    shape = operands[0].shape
    axes = {_axis(axis, len(shape)) for axis in operands[1].ints("axes")}
    kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
    if not attributes["keep_dims"]:
        kept = [size for axis, size in enumerate(shape) if axis not in axes]
    return [TensorType(operands[0].dtype, tuple(kept))]


def _arg_extreme(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    shape = list(operands[0].shape)
    del shape[_axis(operands[1].ints("the axis")[0], len(shape))]
    return [TensorType(attributes["output_type"], tuple(shape))]


def _top_k(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    shape = (*operands[0].shape[:-1], operands[1].ints("k")[0])
    return [TensorType(operands[0].dtype, shape), TensorType("int32", shape)]


def _batch_matmul(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    a, b = operands
    rows = a.shape[-1 if attributes["adj_x"] else -2]
    columns = b.shape[-2 if attributes["adj_y"] else -1]
    return [TensorType(a.dtype, (*_broadcast(a.shape[:-2], b.shape[:-2]), rows, columns))]


def _fully_connected(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    x, weights = operands[:2]
    outputs = weights.shape[0]
    if attributes["keep_num_dims"]:
        return [TensorType(x.dtype, (*x.shape[:-1], outputs))]
    known = [size for size in x.shape if size is not None]
    rows = x.shape[0] if len(x.shape) == 2 else None
    if len(known) == len(x.shape):
        rows = math.prod(known) // (weights.shape[1] or 1)
    return [TensorType(x.dtype, (rows, outputs))]


def _windows(size: int | None, extent: int | None, stride: int, dilation: int, padding: str) -> int | None:
    if size is None or extent is None:
        return None
    covered = size if padding == "SAME" else size - (extent - 1) * dilation
    return max(-(-covered // stride), 0)


def _image(shape: Shape, extents: Sequence[int | None], attributes: Mapping[str, Any]) -> list[int | None]:
    return [
        _windows(
            size,
            extent,
            attributes[f"stride_{axis}"],
            attributes.get(f"dilation_{axis}_factor", 1),
            attributes["padding"],
        )
        for size, extent, axis in zip(shape[1:3], extents, "hw", strict=True)
    ]


def _conv_2d(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    x, filters = operands[:2]
    sizes = _image(x.shape, filters.shape[1:3], attributes)
    return [TensorType(x.dtype, (x.shape[0], *sizes, filters.shape[0]))]


def _depthwise_conv_2d(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    x, filters = operands[:2]
    sizes = _image(x.shape, filters.shape[1:3], attributes)
    return [TensorType(x.dtype, (x.shape[0], *sizes, filters.shape[3]))]


def _pool_2d(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    (x,) = operands
    sizes = _image(x.shape, (attributes["filter_height"], attributes["filter_width"]), attributes)
    return [TensorType(x.dtype, (x.shape[0], *sizes, x.shape[3]))]


def _reshape(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    sizes = operands[1].ints("the new shape")
    known = [size for size in operands[0].shape if size is not None]
    rest = math.prod(size for size in sizes if size >= 0)
    open_size = None if len(known) < len(operands[0].shape) or not rest else math.prod(known) // rest
    return [TensorType(operands[0].dtype, tuple(open_size if size < 0 else size for size in sizes))]


def _transpose(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    shape = operands[0].shape
    return [TensorType(operands[0].dtype, tuple(shape[axis] for axis in operands[1].ints("the permutation")))]


def _slice(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    begins, sizes = operands[1].ints("begin"), operands[2].ints("size")
    shape = [
        count if count >= 0 else None if whole is None else whole - begin
        for whole, begin, count in zip(operands[0].shape, begins, sizes, strict=True)
    ]
    return [TensorType(operands[0].dtype, tuple(shape))]


def _concatenation(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    shapes = [each.shape for each in operands]
    axis = _axis(attributes["axis"], len(shapes[0]))
    along = [shape[axis] for shape in shapes]
    result = [next((size for size in sizes if size is not None), None) for sizes in zip(*shapes, strict=True)]
    result[axis] = None if None in along else sum(cast("list[int]", along))
    return [TensorType(operands[0].dtype, tuple(result))]


def _pack(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    shape = list(operands[0].shape)
    shape.insert(_axis(attributes["axis"], len(shape) + 1), len(operands))
    return [TensorType(operands[0].dtype, tuple(shape))]


def _unpack(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    shape = list(operands[0].shape)
    del shape[_axis(attributes["axis"], len(shape))]
    return [TensorType(operands[0].dtype, tuple(shape))] * attributes["num"]


def _split(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    shape = list(operands[1].shape)
    axis = _axis(operands[0].ints("the axis")[0], len(shape))
    size = shape[axis]
    shape[axis] = None if size is None else size // attributes["num_splits"]
    return [TensorType(operands[1].dtype, tuple(shape))] * attributes["num_splits"]


def _split_v(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    shape = operands[0].shape
    axis = _axis(operands[2].ints("the axis")[0], len(shape))
    sizes = operands[1].ints("the sizes")
    if len(sizes) != attributes["num_splits"]:
        raise FusionError(f"{len(sizes)} sizes for {attributes['num_splits']} parts")
    return [TensorType(operands[0].dtype, (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes]


def _gather(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    values, indices = operands
    axis, batch = _axis(attributes["axis"], len(values.shape)), attributes["batch_dims"]
    shape = (*values.shape[:axis], *indices.shape[batch:], *values.shape[axis + 1 :])
    return [TensorType(values.dtype, shape)]


def _gather_nd(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    values, indices = operands
    depth = indices.shape[-1]
    if depth is None:
        raise FusionError(f"the indices are {indices.kind}: their last size must be known")
    return [TensorType(values.dtype, (*indices.shape[:-1], *values.shape[depth:]))]


def _expand_dims(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    shape = list(operands[0].shape)
    shape.insert(_axis(operands[1].ints("the axis")[0], len(shape) + 1), 1)
    return [TensorType(operands[0].dtype, tuple(shape))]


def _squeeze(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    shape = operands[0].shape
    axes = {_axis(axis, len(shape)) for axis in attributes["squeeze_dims"]}
    if not axes and None in shape:
        raise FusionError(f"squeeze_dims must be given for {operands[0].kind}")
    axes = axes or {axis for axis, size in enumerate(shape) if size == 1}
    return [TensorType(operands[0].dtype, tuple(size for axis, size in enumerate(shape) if axis not in axes))]


def _pad(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    amounts = np.array(operands[1].ints("the paddings")).reshape(-1, 2)
    sizes = [
        None if size is None else size + int(before + after)
        for size, (before, after) in zip(operands[0].shape, amounts, strict=True)
    ]
    return [TensorType(operands[0].dtype, tuple(sizes))]


def _tile(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    counts = operands[1].ints("the multiples")
    sizes = [None if size is None else size * count for size, count in zip(operands[0].shape, counts, strict=True)]
    return [TensorType(operands[0].dtype, tuple(sizes))]


def _broadcast_to(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    return [TensorType(operands[0].dtype, tuple(operands[1].ints("the new shape")))]


def _shape(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    return [TensorType(attributes["out_type"], (len(operands[0].shape),))]


def _rank(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    del operands
    return [TensorType("int32", ())]


def _cast(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    return [TensorType(attributes["to"], operands[0].shape)]


def _fill(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    sizes = operands[0].value
    (rank,) = operands[0].shape
    if sizes is None and rank is None:
        raise FusionError(f"the sizes are {operands[0].kind}: how many there are must be known")
    shape = (None,) * (rank or 0) if sizes is None else tuple(int(size) for size in sizes)
    return [TensorType(operands[1].dtype, shape)]


def _one_hot(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    indices, depth, on, _ = operands
    shape = list(indices.shape)
    size = None if depth.value is None else depth.ints("depth")[0]
    shape.insert(_axis(attributes["axis"], len(shape) + 1), size)
    return [TensorType(on.dtype, tuple(shape))]


def _blocks(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    batch, rows, columns, depth = operands[0].shape
    block = attributes["block_size"]
    sizes = (*(None if size is None else size // block for size in (rows, columns)), depth and depth * block**2)
    return [TensorType(operands[0].dtype, (batch, *sizes))]


def _unblocks(operands: Sequence[Operand], attributes: Mapping[str, Any]) -> list[TensorType]:
    batch, rows, columns, depth = operands[0].shape
    block = attributes["block_size"]
    sizes = (*(None if size is None else size * block for size in (rows, columns)), depth and depth // block**2)
    return [TensorType(operands[0].dtype, (batch, *sizes))]


def _resize(operands: Sequence[Operand], _: Mapping[str, Any]) -> list[TensorType]:
    batch, _rows, _columns, depth = operands[0].shape
    return [TensorType(operands[0].dtype, (batch, *operands[1].ints("the size"), depth))]


_ACTIVATION = {"fused_activation_function": "NONE"}
_KEEP = {"keep_dims": False}
_STRIDES = {"padding": "SAME", "stride_h": 1, "stride_w": 1, **_ACTIVATION}
_DILATIONS = {"dilation_h_factor": 1, "dilation_w_factor": 1}
_RESIZE = {"align_corners": False, "half_pixel_centers": False}

#: The ops by LiteRT's name.
BUILTINS: Mapping[str, Builtin] = {
    **dict.fromkeys(
        (
            *("ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "HARD_SWISH", "LOG", "LOGICAL_NOT", "LOGISTIC"),
            *("LOG_SOFTMAX", "NEG", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "REVERSE_V2", "ROUND"),
            *("RSQRT", "SIGN", "SIN", "SQRT", "SQUARE", "TANH", "ZEROS_LIKE", "DYNAMIC_UPDATE_SLICE"),
        ),
        Builtin(_same, {}),
    ),
    "ATAN2": Builtin(_same, {}, alike=True),
    "CUMSUM": Builtin(_same, {"exclusive": False, "reverse": False}),
    "GELU": Builtin(_same, {"approximate": False}),
    "L2_NORMALIZATION": Builtin(_same, _ACTIVATION),
    "LEAKY_RELU": Builtin(_same, {"alpha": 0.2}),
    "SOFTMAX": Builtin(_same, {"beta": 1.0}),
    **dict.fromkeys(("ADD", "DIV", "MUL", "SUB"), Builtin(_elementwise, _ACTIVATION, alike=True)),
    **dict.fromkeys(
        (
            *("BITWISE_XOR", "FLOOR_DIV", "FLOOR_MOD", "LOGICAL_AND", "LOGICAL_OR", "MAXIMUM", "MINIMUM"),
            *("POW", "PRELU", "RIGHT_SHIFT", "SQUARED_DIFFERENCE"),
        ),
        Builtin(_elementwise, {}, alike=True),
    ),
    **dict.fromkeys(
        ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"), Builtin(_comparison, {}, alike=True)
    ),
    "SELECT_V2": Builtin(_select, {}),
    **dict.fromkeys(
        ("MEAN", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"),
        Builtin(_reduction, _KEEP),
    ),
    **dict.fromkeys(("ARG_MAX", "ARG_MIN"), Builtin(_arg_extreme, {"output_type": "int32"})),
    "TOPK_V2": Builtin(_top_k, {}),
    "BATCH_MATMUL": Builtin(_batch_matmul, {"adj_x": False, "adj_y": False}),
    "FULLY_CONNECTED": Builtin(_fully_connected, {**_ACTIVATION, "weights_format": "DEFAULT", "keep_num_dims": False}),
    "CONV_2D": Builtin(_conv_2d, {**_STRIDES, **_DILATIONS}),
    "DEPTHWISE_CONV_2D": Builtin(_depthwise_conv_2d, {**_STRIDES, **_DILATIONS, "depth_multiplier": 1}),
    **dict.fromkeys(
        ("AVERAGE_POOL_2D", "MAX_POOL_2D"), Builtin(_pool_2d, {**_STRIDES, "filter_height": 1, "filter_width": 1})
    ),
    "RESHAPE": Builtin(_reshape, {}),
    "TRANSPOSE": Builtin(_transpose, {}),
    "SLICE": Builtin(_slice, {}),
    "CONCATENATION": Builtin(_concatenation, {"axis": 0, **_ACTIVATION}),
    "PACK": Builtin(_pack, {"axis": 0}),
    "UNPACK": Builtin(_unpack, {"axis": 0, "num": 1}),
    "SPLIT": Builtin(_split, {"num_splits": 1}),
    "SPLIT_V": Builtin(_split_v, {"num_splits": 1}),
    "GATHER": Builtin(_gather, {"axis": 0, "batch_dims": 0}),
    "GATHER_ND": Builtin(_gather_nd, {}),
    "EXPAND_DIMS": Builtin(_expand_dims, {}),
    "SQUEEZE": Builtin(_squeeze, {"squeeze_dims": []}),
    **dict.fromkeys(("PAD", "PADV2"), Builtin(_pad, {})),
    "MIRROR_PAD": Builtin(_pad, {"mode": "REFLECT"}),
    "TILE": Builtin(_tile, {}),
    "BROADCAST_TO": Builtin(_broadcast_to, {}),
    "SHAPE": Builtin(_shape, {"out_type": "int32"}),
    "RANK": Builtin(_rank, {}),
    "CAST": Builtin(_cast, {"to": "float32"}),
    "FILL": Builtin(_fill, {}),
    "ONE_HOT": Builtin(_one_hot, {"axis": -1}),
    "SPACE_TO_DEPTH": Builtin(_blocks, {"block_size": 1}),
    "DEPTH_TO_SPACE": Builtin(_unblocks, {"block_size": 1}),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), Builtin(_resize, _RESIZE)),
}
