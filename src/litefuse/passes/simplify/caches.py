"""Caches of attention: written where they lie, and multiplied without repeating the heads that queries share."""

from __future__ import annotations

from collections.abc import Sequence

from litefuse.ir.ops.dims import Dim, product
from litefuse.ir.ops.facts import Dims, Tensor, array_of
from litefuse.ir.shapes.editor import Editor
from litefuse.ir.shapes.graph import Node
from litefuse.passes.simplify.split_products import add_transpose, is_open, numbers, permutation, reorder


def update_first(editor: Editor, node: Node) -> int | None:
    """Updates a tensor as it is stored, where it is reshaped or transposed for the update and back afterwards::

    %r = tf.Reshape(%x : tensor<1x1x9x8xf32>, [1, 9, 2, 4])
    %u = tf.XlaDynamicUpdateSlice(%r, %v : tensor<1x3x2x4xf32>, [0, %i, 0, 0])
    %y = tf.Reshape(%u, [1, 1, 9, 8])
        -->  %y = tf.XlaDynamicUpdateSlice(%x, tf.Reshape(%v, [1, 1, 3, 8]), [0, 0, %i, 0])
             %u = tf.Reshape(%y, [1, 9, 2, 4])

    LiteRT copies a tensor whenever its layout changes.
    """
    value, update, start = editor.operands(node)
    turning = editor.producer(value, "Reshape", "Transpose")
    if turning is None:
        return None
    source, stated = editor.operands(turning)
    if not _is_turned_back(editor, node, turning.name, source):
        return None
    before, after, part = editor.shape(source), editor.shape(value), editor.shape(update)
    starts = _starts(editor, node, start)
    if before is None or after is None or part is None or starts is None:
        return None
    order = (permutation(editor, stated) if turning.name == "Transpose" else None) or ()
    if turning.name == "Transpose":
        if not order:
            return None
        back = [order.index(axis) for axis in range(len(order))]
        starts, turned = [starts[axis] for axis in back], reorder(editor, node, update, back)
    else:
        axes = _kept_axes(before, after, part)
        if axes is None or is_open(after):
            return None
        # Whatever is written as a whole begins at 0: XLA moves an update that would pass the end.
        zero = editor.integers(node, array_of([0], []), editor.tensor(start).dtype)
        starts = [zero if axis is None else starts[axis] for axis in axes]
        sizes = tuple(size if axis is None else part[axis] for size, axis in zip(before, axes, strict=True))
        if is_open(sizes):
            return None
        turned = editor.add_reshape(node, update, sizes)
    places = Tensor(editor.tensor(start).dtype, (len(starts),))
    operands = [source, turned, editor.add(node, "Pack", starts, places, {"axis": 0})]
    updated = editor.add(node, node.name, operands, editor.tensor(source), {})
    if turning.name == "Transpose":
        return add_transpose(editor, node, updated, order)
    return editor.add_reshape(node, updated, after)


def _is_turned_back(editor: Editor, node: Node, name: str, source: int) -> bool:
    """Whether the updated tensor becomes one of the type that it had before."""
    kind, users = editor.value(source).type, [use.owner for use in node.op.results[0].uses]
    return any(user.name == f"tf.{name}" and user.results[0].type == kind for user in users)


def _starts(editor: Editor, node: Node, start: int) -> list[int] | None:
    """Returns the place of an update in each dimension, as scalars."""
    packing, known = editor.producer(start, "Pack"), numbers(editor, start)
    if known is not None:
        dtype = editor.tensor(start).dtype
        return [editor.integers(node, array_of([place], []), dtype) for place in known]
    if packing is None or any(editor.shape(value) != () for value in editor.operands(packing)):
        return None
    return editor.operands(packing)


def _kept_axes(before: Dims, after: Dims, part: Dims) -> list[int | None] | None:
    """Returns for each dimension before a reshape the one that it is afterwards; None where all of it is updated.

    Returns None if the elements of ``part``, of a tensor of shape ``after``, would not be a part of the tensor before.
    """
    axes: list[int | None] = [None] * len(before)
    first = [axis for axis, size in enumerate(before) if size != 1]
    second = [axis for axis, size in enumerate(after) if size != 1]
    if 0 in before or 0 in part:
        return None
    while first and second:
        if before[first[0]] == after[second[0]]:
            axes[first.pop(0)] = second.pop(0)
            continue
        old, new = 1, 1  # runs of dimensions that the reshape merges or splits
        while old < len(first) and new < len(second):
            sizes, others = product([before[a] for a in first[:old]]), product([after[a] for a in second[:new]])
            if sizes == others or not (isinstance(sizes, int) and isinstance(others, int)):
                break
            old, new = (old + 1, new) if sizes < others else (old, new + 1)
        else:
            old, new = len(first), len(second)
        run = second[:new]
        if product([before[a] for a in first[:old]]) != product([after[a] for a in run]):
            return None
        if any(part[axis] != after[axis] for axis in run):
            return None
        del first[:old], second[:new]
    return None if first or second else axes


def multiply_shared(editor: Editor, node: Node) -> int | None:
    """Multiplies the rows of all heads that share a matrix with it at once, instead of repeating the matrix::

    %r = tf.Reshape(tf.Tile(tf.Reshape(%k : tensor<1x4x9x8xf32>), [1, 1, 2, 1, 1])) : tensor<1x8x9x8xf32>
    %y = tf.BatchMatMulV2(%q : tensor<1x8x3x8xf32>, %r) {adj_y = true}
        -->  %p = tf.BatchMatMulV2(tf.Reshape(%q, [1, 4, 6, 8]), %k) {adj_y = true}
             %y = tf.Reshape(%p : tensor<1x4x6x9xf32>, [1, 8, 3, 9])

    The matrix is a cache: recognizers find attention without one by its repeated heads.
    """
    rows, repeated = editor.operands(node)
    shape, whole, result = editor.shape(rows), editor.shape(repeated), editor.tensor(node.results[0])
    if shape is None or whole is None or result.shape is None or node.attributes.get("adj_x", False):
        return None
    axis, repeating = len(whole) - 3, _repeated(editor, repeated)
    order: Sequence[int] = range(len(whole))
    if repeating is None and (transposing := editor.producer(repeated, "Transpose")) is not None:
        source, stated = editor.operands(transposing)
        order, repeating = permutation(editor, stated) or (), _repeated(editor, source)
    if (
        repeating is None
        or not _is_written(editor, repeating[0])
        or axis < 0
        or len(order) != len(whole)
        or order[axis] != repeating[1]
    ):
        return None
    if shape[:-2] != whole[:-2]:
        return None
    matrices = repeating[0]
    few = (editor.shape(matrices) or ())[repeating[1]]
    count = shape[-3]
    if not isinstance(few, int) or not isinstance(count, int) or is_open([*shape[:-3], *shape[-2:]]):
        return None
    many: Dim = product([count // few, shape[-2]])
    grouped = editor.add_reshape(node, rows, (*shape[:-3], few, many, shape[-1]))
    matrices = reorder(editor, node, matrices, order)
    outcome = Tensor(result.dtype, (*shape[:-3], few, many, result.shape[-1]))
    if is_open(outcome.shape or ()) or is_open(result.shape):
        return None
    multiplied = editor.add(node, node.name, [grouped, matrices], outcome, node.attributes)
    return editor.add_reshape(node, multiplied, result.shape)


def _is_written(editor: Editor, value: int) -> bool:
    while (turning := editor.producer(value, "Reshape", "Transpose")) is not None:
        value = editor.operands(turning)[0]
    return editor.producer(value, "XlaDynamicUpdateSlice") is not None


def _repeated(editor: Editor, value: int) -> tuple[int, int] | None:
    """Returns the tensor of which a value is a repetition item by item along one dimension, and that dimension."""
    merging, shape = editor.producer(value, "Reshape"), editor.shape(value)
    tiling = None if merging is None else editor.producer(editor.operands(merging)[0], "BroadcastTo", "Tile")
    if tiling is None or shape is None:
        return None
    inserted = editor.operands(tiling)[0]
    single, tiled = editor.shape(inserted), editor.shape(tiling.results[0])
    inserting = editor.producer(inserted, "ExpandDims", "Reshape", "StridedSlice")
    if single is None or tiled is None or inserting is None or len(single) != len(tiled):
        return None
    stretched = [axis for axis, sizes in enumerate(zip(single, tiled, strict=True)) if sizes[0] != sizes[1]]
    if len(stretched) != 1 or stretched[0] == 0 or single[stretched[0]] != 1:
        return None
    axis = stretched[0] - 1
    source, *rest = editor.operands(inserting)
    if len(rest) == 3 and set(numbers(editor, rest[2]) or ()) != {1}:
        return None  # not a new axis alone
    before = (*single[: axis + 1], *single[axis + 2 :])
    merged = (*tiled[:axis], product(tiled[axis : axis + 2]), *tiled[axis + 2 :])
    return (source, axis) if editor.shape(source) == before and shape == merged else None
