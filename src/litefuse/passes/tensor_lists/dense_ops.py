"""Each list op as ops on a dense tensor ``[length, *item]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from litefuse.ir.attributes import ASSERTS_SIZES
from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.constants import integer_constant, tensor_constant
from litefuse.ir.mlir import ir
from litefuse.ir.ops.dims import Shape
from litefuse.ir.tensors import Tensor, equal, maximum, minimum, select
from litefuse.ir.types import ranked_type, tensor_type_of
from litefuse.passes.tensor_lists.list_groups import Web, resizes, unsupported
from litefuse.passes.tensor_lists.list_ops import NONE

# What LiteRT's DYNAMIC_UPDATE_SLICE and GATHER take.
_UPDATED = frozenset({"bool", "float16", "float32", "int8", "int16", "int32", "int64"})
_GATHERED = frozenset({"bool", "float32", "int8", "int16", "int32", "int64", "string", "uint8"})
# What is moved by other ops.
_MOVED = _UPDATED | _GATHERED | {"bfloat16", "float64", "uint16", "uint32", "uint64"}
# What a list of any elements may do: it is only made of a tensor and read.
_ANY_DTYPE = frozenset(
    {
        *("tf.Identity", "tf.StopGradient", "tf.TensorListFromTensor", "tf.TensorListGetItem", "tf.TensorListLength"),
        "tf.TensorListStack",
    }
)

_EMPTY = np.array(b"", object)


def dense_form(op: ir.OpView, web: Web, dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    """Emits what a list op becomes, and returns what takes the place of its results.

    Args:
        op: The op; the lists among its operands are dense tensors already.
        web: Its list.
        dims: The size of each dimension of an item, for the ops that make a list out of nothing.
        b: Emits ops.

    Raises:
        ConversionError: No such form.
    """
    if web.dtype not in _MOVED and op.name not in _ANY_DTYPE:
        raise unsupported(op, f"LiteRT's ops that move elements do not take {web.dtype}")
    return _FORMS[op.name](op, web, dims, b)


def _zeros(web: Web, dims: Sequence[MixedSize], b: Builder) -> ir.Value:
    if web.dtype == "string":
        return b.op("Fill", [b.vector(dims), b.strings(_EMPTY)], b.known(dims), "string")
    zero = b.constant(0, web.dtype)
    sizes = [dim for dim in dims if isinstance(dim, int)]
    if len(sizes) < len(dims):
        return b.op("Fill", [b.vector(dims), zero], b.known(dims), web.dtype)
    # As one number, not as many equal ones.
    constant_op = zero.owner
    assert not isinstance(constant_op, ir.Block)
    scalar = ir.DenseElementsAttr(constant_op.attributes["value"])
    kind = ir.RankedTensorType.get(sizes, scalar.type.element_type)
    return tensor_constant(ir.DenseElementsAttr.get_splat(kind, scalar.get_splat_value()))


def _typed(value: ir.Value, web: Web) -> ir.Value:
    value.set_type(web.type)
    return value


def _ensured(value: ir.Value, kind: ir.ShapedType, b: Builder) -> ir.Value:
    """A tensor whose type says as much as ``kind``, where a reshape can tell."""
    shape, wanted = tensor_type_of(value).shape, tensor_type_of(kind).shape
    assert wanted is not None
    if shape is not None and all(w is None or s == w for s, w in zip(shape, wanted, strict=True)):
        return value
    if wanted.count(None) > 1 or 0 in wanted:
        return value
    sizes = b.constant(np.array([-1 if size is None else size for size in wanted], np.int32), "int32")
    return b.op("Reshape", [value, sizes], wanted, tensor_type_of(kind).dtype)


def _length(value: ir.Value, b: Builder) -> Tensor:
    return b.scalar(b.size(value, 0))


def _merged(value: ir.Value, shape: Shape) -> Shape:
    own = tensor_type_of(value).shape
    if own is None or len(own) != len(shape):
        return shape
    return tuple(b if a is None else a for a, b in zip(own, shape, strict=True))


def _item(value: ir.Value, web: Web) -> ir.Value:
    """An item whose type says what is known of the list's items."""
    assert web.item is not None
    if tensor_type_of(value).shape is None:
        value.set_type(ranked_type(web.item, ir.ShapedType(value.type).element_type))
    return value


def _reserve(op: ir.OpView, web: Web, dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    count = 0 if op.name == "tf.EmptyTensorList" else _number(op.operands[1], b)
    return [_typed(_zeros(web, [count, *dims], b), web)]


def _nothing(_op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    assert web.item is not None
    return [_typed(_zeros(web, [size or 0 for size in (web.length, *web.item)], b), web)]


def _number(value: ir.Value, b: Builder) -> MixedSize:
    known = integer_constant(value)
    return known if isinstance(known, int) else b.cast(value, "int32")


def _from_tensor(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    return [_ensured(op.operands[0], ir.ShapedType(web.type), b)]


def _get_item(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    return [_at(op.operands[0], Tensor(op.operands[1]), _item_shape(op.results[0], web), web, b)]


def _item_shape(result: ir.Value, web: Web) -> Shape:
    assert web.item is not None
    return _merged(result, web.item)


def _at(value: ir.Value, index: Tensor, shape: Shape, web: Web, b: Builder) -> ir.Value:
    known = [size for size in shape if size is not None]
    if 0 in known and len(known) == len(shape):  # the runtime does not see that a list without elements grows
        return _zeros(web, known, b)
    if web.dtype in _GATHERED:
        return b.op("GatherV2", [value, index, b.constant(0, "int32")], shape, web.dtype, batch_dims=0)
    item = b.slice(value, 0, index, index + 1)
    return b.op("Squeeze", [item], shape, b.dtype(item), squeeze_dims=[0])


def _set_item(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    if web.length == 0 and not resizes(op):  # of a loop without turns, which LiteRT prepares all the same
        return [op.operands[0]]
    value, index, item = op.operands[0], Tensor(op.operands[1]), _item(op.operands[2], web)
    value, item = _fitting(value, item, web, b)
    update = _guarded(item, value, b) if web.guarded else b.expand(item, 0)
    if web.length == 1 and integer_constant(index) == 0:
        return [_ensured(update, ir.ShapedType(web.type), b)]
    if resizes(op):
        missing = index + 1 - _length(value, b)
        value = _longer(value, maximum(missing, 0), web, b)
    if web.dtype in _UPDATED:
        rank = len(b.shape(update))
        start = b.vector([index, *[0] * (rank - 1)])
        updated = b.op("XlaDynamicUpdateSlice", [value, update, start], b.shape(value), web.dtype)
        return [_typed(updated, web)]
    after = b.slice(value, 0, index + 1, None)
    return [_typed(b.concat([b.slice(value, 0, 0, index), update, after], 0), web)]


def _fitting(value: ir.Value, item: ir.Value, web: Web, b: Builder) -> tuple[ir.Value, ir.Value]:
    """A list and an item that is written into it, of the same size if either has none."""
    own, its = b.sizes(value)[1:], b.sizes(item)
    if web.sized_by_first:
        value = _typed(b.pad(value, [(0, 0), *_missing(own, its, b)]), web)
    if web.holds_nothings:
        item = b.pad(item, _missing(its, own, b))
    return value, item


def _missing(dims: Sequence[MixedSize], others: Sequence[MixedSize], b: Builder) -> list[tuple[MixedSize, MixedSize]]:
    """Returns the paddings at the end of dimensions that are 0 and should have other sizes."""
    return [
        (0, 0) if isinstance(dim, int) else (0, select(equal(dim, 0), b.scalar(other), 0))
        for dim, other in zip(dims, others, strict=True)
    ]


def _guarded(item: ir.Value, value: ir.Value, b: Builder) -> ir.Value:
    """An item as an update of its list, by a reshape that fails if it has another size than the others.

    One that is too small would be written into a part of its place. No size is left to the reshape to find out.
    """
    shape = (1, *b.shape(value)[1:])
    return b.op("Reshape", [item, b.vector([1, *b.sizes(value)[1:]])], shape, b.dtype(item), **{ASSERTS_SIZES: True})


def _longer(value: ir.Value, count: MixedSize, web: Web, b: Builder) -> ir.Value:
    zeros = _zeros(web, [count, *b.sizes(value)[1:]], b)
    return _typed(b.concat([value, zeros], 0), web)


def _push_back(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    value, item = _fitting(op.operands[0], _item(op.operands[1], web), web, b)
    return [_typed(b.concat([value, b.expand(item, 0)], 0), web)]


def _pop_back(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    value = op.operands[0]
    last = _length(value, b) - 1
    item = _at(value, b.scalar(last), _item_shape(op.results[1], web), web, b)
    return [_typed(b.slice(value, 0, 0, last), web), item]


def _resize(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    value, size = op.operands[0], _number(op.operands[1], b)
    present = _length(value, b)
    kept = b.slice(value, 0, 0, minimum(present, size))
    missing = maximum(size - present, 0)
    return [_longer(kept, missing, web, b)]


def _stack(op: ir.OpView, _web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    kind = ir.ShapedType(op.results[0].type)
    return [_ensured(op.operands[0], kind, b) if kind.has_rank else op.operands[0]]


def _gather(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    if web.dtype not in _GATHERED:
        raise unsupported(op, f"LiteRT's GATHER does not take {web.dtype}")
    return [b.gather(op.operands[0], op.operands[1])]


def _list_length(op: ir.OpView, _web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    return [_length(op.operands[0], b)]


def _element_shape(op: ir.OpView, _web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    return [b.cast(b.vector(b.sizes(op.operands[0])[1:]), tensor_type_of(op.results[0]).dtype)]


def _concat(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    if not web.item:
        raise unsupported(op, "its items are scalars, which cannot be concatenated")
    length, first, *rest = b.sizes(op.operands[0])
    joined = b.reshape(op.operands[0], [length * first, *rest])
    count = b.scalar(first)
    lengths = b.op("Fill", [b.vector([length]), count], [web.length], "int32")
    return [joined, b.cast(lengths, "int64")]


def _split(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    lengths = integer_constant(op.operands[2])
    if not isinstance(lengths, list) or len(set(lengths)) != 1:
        raise unsupported(op, "the lengths of the parts are not known, or not equal")
    tensor = op.operands[0]
    return [_typed(b.reshape(tensor, [len(lengths), lengths[0], *b.sizes(tensor)[1:]]), web)]


def _scatter(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    tensor, indices = op.operands[0], op.operands[1]
    count = _number(op.operands[3], b)
    if count == -1:
        count = b.reduce("Max", indices, 0) + 1
    value = _zeros(web, [count, *b.sizes(tensor)[1:]], b)
    return [_typed(_scattered(value, tensor, indices, op, web, b), web)]


def _scatter_into(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    value, tensor, indices = op.operands
    missing = b.reduce("Max", indices, 0) + 1 - _length(value, b)
    value = _longer(value, maximum(missing, 0), web, b)
    return [_typed(_scattered(value, tensor, indices, op, web, b), web)]


def _scattered(value: ir.Value, tensor: ir.Value, indices: ir.Value, op: ir.OpView, web: Web, b: Builder) -> ir.Value:
    """The list with items replaced; of several for one place the last one counts.

    LiteRT's SCATTER_ND adds them up, so each place looks for the last item for it instead.
    """
    if web.dtype not in _GATHERED:
        raise unsupported(op, f"LiteRT's GATHER does not take {web.dtype}")
    places = b.expand(b.range(b.size(value, 0)), 1)
    numbers = b.expand(b.range(b.size(indices, 0)), 0)
    meant = equal(places, b.expand(indices, 0))
    last = b.reduce("Max", select(meant, numbers, -1), 1)
    items = b.gather(tensor, maximum(last, 0))
    written = last >= 0
    for _ in b.shape(value)[1:]:
        written = b.expand(written, len(b.shape(written)))
    return select(written, items, value)


def _sum(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    return [_typed(b.op("AddN", list(op.operands), b.shape(op.operands[0]), web.dtype), web)]


def _zeros_like(op: ir.OpView, web: Web, _dims: Sequence[MixedSize], b: Builder) -> list[ir.Value]:
    return [_typed(_zeros(web, b.sizes(op.operands[0]), b), web)]


_FORMS: dict[str, Callable[[ir.OpView, Web, Sequence[MixedSize], Builder], list[ir.Value]]] = {
    "tf.AddN": _sum,
    "tf.EmptyTensorList": _reserve,
    "tf.Identity": lambda op, _web, _dims, _b: [op.operands[0]],
    NONE: _nothing,
    "tf.StopGradient": lambda op, _web, _dims, _b: [op.operands[0]],
    "tf.TensorListConcatV2": _concat,
    "tf.TensorListElementShape": _element_shape,
    "tf.TensorListFromTensor": _from_tensor,
    "tf.TensorListGather": _gather,
    "tf.TensorListGetItem": _get_item,
    "tf.TensorListLength": _list_length,
    "tf.TensorListPopBack": _pop_back,
    "tf.TensorListPushBack": _push_back,
    "tf.TensorListReserve": _reserve,
    "tf.TensorListResize": _resize,
    "tf.TensorListScatterIntoExistingList": _scatter_into,
    "tf.TensorListScatterV2": _scatter,
    "tf.TensorListSetItem": _set_item,
    "tf.TensorListSplit": _split,
    "tf.TensorListStack": _stack,
    "tf.ZerosLike": _zeros_like,
}
