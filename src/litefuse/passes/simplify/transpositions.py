"""Moves reshapes before transpositions, so that at most one transposition is left.

The engine rewrites these too: fault ``transposed-open-reshape``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from litefuse.ir.ops.dims import Dim, product
from litefuse.ir.ops.facts import Dims, Tensor, known
from litefuse.ir.shapes.editor import Editor
from litefuse.ir.shapes.graph import Node
from litefuse.passes.simplify.split_products import add_transpose, is_open, permutation, reorder


def multiply_constant_last(editor: Editor, node: Node) -> int | None:
    """Swaps the operands of a product of a constant and rows, as the engine does for FULLY_CONNECTED::

    %y = tf.MatMul(%w, %x : tensor<?x4xf32>) {transpose_b = true}
        -->  %p = tf.MatMul(%x, %w) {transpose_b = true}
             %y = tf.Transpose(%p, [1, 0])
    """
    first, second = ("transpose_a", "transpose_b") if node.name == "MatMul" else ("adj_x", "adj_y")
    constant, rows = editor.operands(node)
    result = editor.tensor(node.results[0])
    if result.shape is None or len(result.shape) != 2 or None not in (known(result.shape) or ()):
        return None
    if not editor.is_constant(constant) or editor.is_constant(rows) or len(editor.shape(rows) or ()) != 2:
        return None
    if node.attributes.get(first, False) or not node.attributes.get(second, False):
        return None
    turned = Tensor(result.dtype, result.shape[::-1])
    return add_transpose(editor, node, editor.add(node, node.name, [rows, constant], turned, node.attributes), [1, 0])


def reshape_first(editor: Editor, node: Node) -> int | None:
    """Reshapes before it transposes, with at most one transposition::

    %t = tf.Transpose(%x : tensor<?x32xf32>, [1, 0])
    %r = tf.Reshape(%t, [32, -1, 10])
    %y = tf.Transpose(%r, [1, 2, 0])                  -->  %y = tf.Reshape(%x, [-1, 10, 32])
    """
    reshaped, stated = editor.operands(node)
    order, after = permutation(editor, stated), editor.shape(reshaped)
    if order is None or after is None or is_open(after):
        return None
    turned = reshaped
    while (reshaping := editor.producer(turned, "Reshape")) is not None:
        turned = editor.resolve(reshaping.operands[0])
    transposing = editor.producer(turned, "Transpose")
    before = editor.shape(turned)
    if turned == reshaped or transposing is None or before is None or 0 in before or 0 in after:
        return None
    source, inner = editor.operands(transposing)
    axes = _moved(before, permutation(editor, inner) or (), after)
    if axes is None:
        return None
    value = editor.add_reshape(node, source, tuple(after[axis] for axis in axes))
    return reorder(editor, node, value, [axes.index(axis) for axis in order])


def transpose_ones(editor: Editor, node: Node) -> int | None:
    """Moves dimensions of size 1 with a transposition, where a reshape behind it does no more::

    %t = tf.Transpose(%x : tensor<1x32x32x3xf32>, [0, 3, 1, 2])
    %y = tf.Reshape(%t, [3, 32, 32, 1])                          -->  %y = tf.Transpose(%x, [3, 1, 2, 0])
    """
    turned = editor.resolve(node.operands[0])
    transposing = editor.producer(turned, "Transpose")
    before, after = editor.shape(turned), editor.shape(node.results[0])
    if transposing is None or before is None or after is None or len(before) != len(after):
        return None
    source, stated = editor.operands(transposing)
    order = permutation(editor, stated)
    if order is None or not editor.is_used_once(turned):
        return None
    if [size for size in before if size != 1] != [size for size in after if size != 1]:
        return None
    ones = iter(axis for axis, size in zip(order, before, strict=True) if size == 1)
    others = iter(axis for axis, size in zip(order, before, strict=True) if size != 1)
    return reorder(editor, node, source, [next(ones if size == 1 else others) for size in after])


def transpose_once(editor: Editor, node: Node) -> int | None:
    """Transposes a transposed value at once."""
    value, stated = editor.operands(node)
    order = permutation(editor, stated)
    if order is None or editor.producer(value, "Transpose") is None:
        return None
    return reorder(editor, node, value, order)


def _moved(before: Dims, permutation: Sequence[int], after: Dims) -> Sequence[int] | None:
    """Returns the order of a reshape's dimensions if the operand is reshaped before the transposition.

    They are axes of ``after``, the shape after the reshape; ``before`` is that after the transposition. None if a
    reshape before the transposition has other elements in them.
    """
    groups = _groups(before, after)
    if groups is None or len(permutation) != len(before):
        return None
    groups.sort(key=lambda group: min(permutation[axis] for axis in group[0]))
    places = [permutation[axis] for axes, _ in groups for axis in axes]
    if places != sorted(places):
        return None
    axes = [axis for _, axes in groups for axis in axes]
    return [*axes, *(axis for axis, size in enumerate(after) if size == 1)]


def _groups(before: Dims, after: Dims) -> list[tuple[list[int], list[int]]] | None:
    """Returns runs of dimensions with the same elements before and after a reshape; None if they are ambiguous.

    Dimensions of size 1 are in none of them. Between the runs of equal sizes at the beginning and at the end, one run
    has the sizes that are not known to be equal.
    """
    first, second = ([axis for axis, size in enumerate(shape) if size != 1] for shape in (before, after))
    sizes, others = [before[axis] for axis in first], [after[axis] for axis in second]
    cuts = [(0, 0), *_cuts(sizes, others)]
    left, right = sizes[cuts[-1][0] :], others[cuts[-1][1] :]
    from_last = _cuts(left[::-1], right[::-1])
    cuts += [(len(sizes) - place, len(others) - other) for place, other in from_last[::-1]]
    cuts.append((len(sizes), len(others)))
    runs = [(first[a:c], second[b:d]) for (a, b), (c, d) in pairwise(dict.fromkeys(cuts))]
    return runs if all(one and other for one, other in runs) else None


def _cuts(sizes: list[Dim], others: list[Dim]) -> list[tuple[int, int]]:
    """Returns the lengths of the prefixes of both lists that have the same product."""
    ends = {product(others[:end]): end for end in range(1, len(others) + 1)}
    products = [product(sizes[:end]) for end in range(1, len(sizes) + 1)]
    return [(place, ends[size]) for place, size in enumerate(products, 1) if size in ends]
