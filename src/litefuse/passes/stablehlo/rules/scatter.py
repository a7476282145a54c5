"""Writes windows of a tensor at computed positions."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.rules.positions import Positions
from litefuse.passes.stablehlo.rules.reductions import combining_op
from litefuse.passes.stablehlo.rules.scatter_functions import Elements, inside, multiplied, replaced, walked
from litefuse.passes.stablehlo.rules.slices import updated
from litefuse.passes.stablehlo.translation import Result, Rules, Translation

__all__ = ["RULES"]

_OPS = {
    "add": "TensorScatterAdd",
    "maximum": "TensorScatterMax",
    "minimum": "TensorScatterMin",
}
_OF_CONDITIONS = {
    **dict.fromkeys(("add", "maximum", "or"), "TensorScatterMax"),
    **dict.fromkeys(("and", "minimum", "multiply"), "TensorScatterMin"),
}


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
    partial = [
        axis
        for axis in range(len(sizes))
        if axis not in positions.indexed
        and window[axis] != sizes[axis]
        and isinstance(window[axis], int)
        and isinstance(sizes[axis], int)
    ]
    if partial:
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
    result = _written(op, t, Elements(t, value, vectors, new), name, block, positions, within=within)
    back = cast("list[int]", np.argsort(order).tolist())
    return b.transpose(result, back)


def _written(
    op: Any, t: Translation, elements: Elements, name: str, block: ir.Block, positions: Positions, *, within: bool
) -> ir.Value:
    b, (value, new), dtype = t.b, (elements.value, elements.new), t.b.dtype(elements.value)
    if name == "multiply" and dtype != "bool":
        return multiplied(elements)
    if not name.startswith("TensorScatter"):
        if not _are_distinct(op, positions):
            return walked(elements, block)
        name, new = "TensorScatterUpdate", replaced(elements, block)
    if dtype == "complex64" and name in {"TensorScatterAdd", "TensorScatterUpdate"}:
        parts = [[b.op(part, [each], b.shape(each), "float32") for each in (value, new)] for part in ("Real", "Imag")]
        made = [_by_tensorflow(t, name, Elements(t, old, elements.vectors, one), within=within) for old, one in parts]
        return b.op("Complex", made, b.shape(value), dtype)
    if dtype == "bool" and name != "TensorScatterUpdate":
        value, new = b.cast(value, "int32"), b.cast(new, "int32")
    return b.cast(_by_tensorflow(t, name, Elements(t, value, elements.vectors, new), within=within), dtype)


def _by_tensorflow(t: Translation, name: str, elements: Elements, *, within: bool) -> ir.Value:
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
        isinstance(last, int) and (not each.size or (each.min() >= 0 and each.max() <= last))
        for each, last in zip(numbers, lasts, strict=True)
    )


def _updated(
    t: Translation, operand: ir.Value, updates: ir.Value, positions: Positions, window: list[MixedSize]
) -> ir.Value:
    """Writes one window at a known position."""
    b, value = t.b, t.value(operand)
    begins = [0] * len(window)
    for axis, each in zip(positions.axes, positions.numbers() or [], strict=True):
        begins[axis] = int(each)
    new = b.reshape(t.value(updates), window)
    return updated(t, value, new, b.constant(np.array(begins, np.int32), "int32"))


def _written_inside(t: Translation, name: str, elements: Elements) -> ir.Value:
    """Writes positions outside into an additional row, which is cut off afterwards."""
    b, value = t.b, elements.value
    sizes = b.sizes(value)
    outside = b.vector([sizes[0], *([0] * (elements.depth - 1))])
    places = b.select(inside(elements), elements.vectors, outside)
    paddings: list[tuple[MixedSize, MixedSize]] = [(0, 1), *([(0, 0)] * (len(sizes) - 1))]
    longer = b.pad(value, paddings)
    written = b.op(name, [longer, places, elements.new], b.shape(longer), b.dtype(value))
    return b.slice(written, 0, 0, sizes[0])


RULES: Rules = {"stablehlo.scatter": _scatter}
