"""Writes windows of a tensor at computed positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, maximum, minimum, select
from litefuse.passes.legalize.arrays.loops import count_to
from litefuse.passes.stablehlo.rules.gather import Positions
from litefuse.passes.stablehlo.rules.reductions import combined, combining_op, emit_captures
from litefuse.passes.stablehlo.rules.slices import by_parts, updated
from litefuse.passes.stablehlo.translation import Result, Rules, Translation

_OPS = {"add": "TensorScatterAdd", "maximum": "TensorScatterMax", "minimum": "TensorScatterMin"}
_OF_CONDITIONS = {
    **dict.fromkeys(("add", "maximum", "or"), "TensorScatterMax"),
    **dict.fromkeys(("and", "minimum", "multiply"), "TensorScatterMin"),
}


@dataclass(frozen=True)
class _Elements:
    """The elements that a scatter writes: at ``[..., indexed]`` in the first dimensions, ``[..., others]``."""

    t: Translation
    value: Tensor
    vectors: Tensor
    new: Tensor

    @property
    def depth(self) -> int:
        """The number of indexed dimensions."""
        depth = self.vectors.shape[-1]
        assert depth is not None
        return depth


def _inside(elements: _Elements) -> Tensor:
    """Returns which of the positions lie in the tensor, ``[..., 1]``."""
    b = elements.t.b
    limits = b.vector(b.sizes(elements.value)[: elements.depth])
    low, high = elements.vectors >= 0, elements.vectors < limits
    return b.reduce("All", low & high, len(elements.vectors.shape) - 1, keep_dims=True)


def _multiplied(elements: _Elements) -> Tensor:
    """Returns the tensor times the product of what falls on each position."""
    b, depth = elements.t.b, elements.depth
    sizes = b.sizes(elements.value)
    total = b.product(sizes[:depth])
    steps = [b.product(sizes[axis + 1 : depth]) for axis in range(depth)]
    places = b.reduce("Sum", elements.vectors * b.vector(steps), len(elements.vectors.shape) - 1)
    within = _inside(elements)
    places = select(b.reshape(within, b.sizes(places)), places, b.scalar(total))
    count = b.product(b.sizes(places))
    others = sizes[depth:]
    segments = total + 1  # the last one is of what falls outside
    products = b.op(
        "UnsortedSegmentProd",
        [b.reshape(elements.new, [count, *others]), b.reshape(places, [count]), b.scalar(segments)],
        b.known([segments, *others]),
        elements.value.dtype,
    )
    return elements.value * b.reshape(b.slice(products, 0, 0, total), sizes)


def _replaced(elements: _Elements, block: ir.Block) -> Tensor:
    """Returns the new elements, combined with those of the tensor, for positions that differ."""
    t = elements.t
    return combined(t, block, [_taken(t, elements.value, _clamped(elements))], [elements.new])[0]


def _written_one_by_one(elements: _Elements, block: ir.Block) -> ir.Value:
    """Writes one element after the other, since several may fall on one position."""
    t, b = elements.t, elements.t.b
    emit_captures(t, block)
    within, places = _inside(elements), _clamped(elements)
    lead = len(b.shape(places)) - 1
    count = b.product(b.sizes(places)[:lead])
    others = b.sizes(elements.value)[elements.depth :]
    rows = b.reshape(elements.new, [count, *others])
    places, within = b.reshape(places, [count, elements.depth]), b.reshape(within, [count, 1])

    def turn(index: ir.Value, values: Sequence[ir.Value]) -> Sequence[ir.Value]:
        (value,) = values
        place, row, valid = (b.gather(tensor, b.expand(index, 0)) for tensor in (places, rows, within))
        old = _taken(t, value, place)
        (made,) = combined(t, block, [old], [row])
        ones: list[MixedSize] = [1] * len(others)
        made = select(b.reshape(valid, [1, *ones]), made, old)
        return [b.op("TensorScatterUpdate", [value, place, made], b.shape(value), b.dtype(value))]

    return count_to(b, count, [elements.value], turn)[0]


def _clamped(elements: _Elements) -> ir.Value:
    b = elements.t.b
    sizes = b.sizes(elements.value)[: elements.depth]
    if all(isinstance(size, int) for size in sizes):
        limits = b.constant(np.array(sizes, np.int32) - 1, "int32")
    else:
        limits = b.vector(sizes) - 1
    return maximum(minimum(elements.vectors, limits), 0)


def _taken(t: Translation, value: ir.Value, places: ir.Value) -> ir.Value:
    b = t.b
    depth = b.shape(places)[-1] or 0
    shape = [*b.shape(places)[:-1], *b.shape(value)[depth:]]
    return b.op("GatherNd", [value, places], shape, b.dtype(value), bad_indices_policy="")


def _scatter(op: Any, t: Translation) -> Result:
    """Translates a scatter, https://openxla.org/stablehlo/spec#scatter: windows outside are not written."""
    if len(op.results) != 1:
        raise GraphError("writing into several tensors at once is not supported")
    operand, indices, updates = op.operands
    block = op.regions[0].blocks[0]
    name = _name(block, t.dtype(operand))
    numbers, b = t.dialect.ScatterDimensionNumbers(op.scatter_dimension_numbers), t.b
    inserted, batching = list(numbers.inserted_window_dims), list(numbers.input_batching_dims)
    sizes = t.dims(operand)
    shown = [axis for axis in range(len(sizes)) if axis not in inserted and axis not in batching]
    in_updates = dict(zip(shown, numbers.update_window_dims, strict=True))
    update_dims = t.dims(updates)
    window: list[MixedSize] = [update_dims[in_updates[axis]] if axis in in_updates else 1 for axis in range(len(sizes))]
    axes = list(numbers.scattered_dims_to_operand_dims)
    positions = Positions(
        t,
        indices,
        int(numbers.index_vector_dim),
        axes,
        list(zip(batching, numbers.scatter_indices_batching_dims, strict=True)),
        sizes,
        window,
    )
    known = [(axis, size) for axis, size in enumerate(sizes) if isinstance(size, int) and isinstance(window[axis], int)]
    if any(axis not in positions.indexed and window[axis] != size for axis, size in known):
        raise GraphError("windows that are smaller than the tensor where no index says their position")
    within = _is_inside(positions)
    if within and name == "TensorScatterUpdate" and not positions.batch() and not positions.batching:
        return _updated(t, operand, updates, positions, window)
    indexed = positions.indexed
    others = [axis for axis in range(len(sizes)) if axis not in indexed]
    order = [*indexed, *others]
    value = b.transpose(t.value(operand), order)
    walked = [axis for axis in range(len(update_dims)) if axis not in in_updates.values()]
    arranged = [*walked, *(in_updates[axis] for axis in positions.wide), *(in_updates[axis] for axis in others)]
    new = t.value(updates)
    narrow = [in_updates[axis] for axis in indexed if axis in in_updates and axis not in positions.wide]
    new = b.transpose(new, [*arranged, *narrow])
    if narrow:
        new = b.reshape(new, b.sizes(new)[: len(arranged)])
    vectors = positions.vectors(positions.starts())
    if len(b.shape(vectors)) == 1:  # one window; TensorFlow's ops take a list of them
        vectors, new = b.expand(vectors, 0), b.expand(new, 0)
    result = _written(op, t, _Elements(t, value, vectors, new), name, block, positions, within=within)
    back = cast("list[int]", np.argsort(order).tolist())
    return b.transpose(result, back)


def _written(
    op: Any, t: Translation, elements: _Elements, name: str, block: ir.Block, positions: Positions, *, within: bool
) -> ir.Value:
    b, (value, new), dtype = t.b, (elements.value, elements.new), elements.value.dtype

    def write(value: Tensor, new: Tensor) -> ir.Value:
        return _by_tensorflow(t, name, _Elements(t, value, elements.vectors, new), within=within)

    if name == "multiply" and dtype != "bool":
        return _multiplied(elements)
    if not name.startswith("TensorScatter"):
        if not _are_distinct(op, positions):
            return _written_one_by_one(elements, block)
        name, new = "TensorScatterUpdate", _replaced(elements, block)
    if dtype == "complex64" and name in {"TensorScatterAdd", "TensorScatterUpdate"}:
        return by_parts(t, value, new, write)
    if dtype == "bool" and name != "TensorScatterUpdate":
        value, new = b.cast(value, "int32"), b.cast(new, "int32")
    return b.cast(write(value, new), dtype)


def _by_tensorflow(t: Translation, name: str, elements: _Elements, *, within: bool) -> ir.Value:
    if not within:
        return _written_inside(t, name, elements)
    value = elements.value
    return t.b.op(name, [value, elements.vectors, elements.new], t.b.shape(value), t.b.dtype(value))


def _name(block: ir.Block, dtype: str) -> str:
    """Returns the op that combines old and new elements: TensorFlow's if there is one."""
    ops = list(block.operations)
    if len(ops) == 1 and list(ops[0].operands) == [block.arguments[1]]:
        return "TensorScatterUpdate"
    name = combining_op(block) or ""
    return (_OF_CONDITIONS if dtype == "bool" else _OPS).get(name, name)


def _are_distinct(op: Any, positions: Positions) -> bool:
    """Whether no two windows overlap."""
    if "unique_indices" in op.attributes and ir.BoolAttr(op.attributes["unique_indices"]).value:
        return True
    numbers = positions.numbers()
    if numbers is None or positions.wide or positions.batching:
        return False
    rows = np.stack([number.reshape(-1) for number in numbers], 1)
    return len(np.unique(rows, axis=0)) == len(rows)


def _is_inside(positions: Positions) -> bool:
    """Whether all windows are known to lie within the tensor."""
    numbers = positions.numbers()
    if numbers is None:
        return False
    lasts = [positions.last(axis) for axis in positions.axes]
    return all(
        isinstance(last, int) and (not component.size or (component.min() >= 0 and component.max() <= last))
        for component, last in zip(numbers, lasts, strict=True)
    )


def _updated(
    t: Translation, operand: ir.Value, updates: ir.Value, positions: Positions, window: list[MixedSize]
) -> ir.Value:
    b, value = t.b, t.value(operand)
    begins = [0] * len(window)
    for axis, position in zip(positions.axes, positions.numbers() or [], strict=True):
        begins[axis] = int(position)
    new = b.reshape(t.value(updates), window)
    return updated(t, value, new, b.constant(np.array(begins, np.int32), "int32"))


def _written_inside(t: Translation, name: str, elements: _Elements) -> ir.Value:
    """Writes positions outside into an additional row, which is cut off afterwards."""
    b, value = t.b, elements.value
    sizes = b.sizes(value)
    outside = b.vector([sizes[0], *([0] * (elements.depth - 1))])
    places = select(_inside(elements), elements.vectors, outside)
    paddings: list[tuple[MixedSize, MixedSize]] = [(0, 1), *([(0, 0)] * (len(sizes) - 1))]
    longer = b.pad(value, paddings)
    written = b.op(name, [longer, places, elements.new], b.shape(longer), b.dtype(value))
    return b.slice(written, 0, 0, sizes[0])


RULES: Rules = {"stablehlo.scatter": _scatter}
