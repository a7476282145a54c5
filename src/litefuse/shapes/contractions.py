"""``Einsum`` as a batched matrix product, where sizes are open: the engine would compute them in the model."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from litefuse.engine.mlir import ir
from litefuse.shapes.editor import Editor
from litefuse.shapes.facts import Shape, Tensor, Values, array_of, known
from litefuse.shapes.graph import Node

__all__ = ["multiply_matrices"]


def multiply_matrices(editor: Editor, node: Node) -> int | None:
    """Computes the sum over one dimension of products of two tensors that each have one dimension of their own::

    %y = tf.Einsum(%a, %b) "abcd,aecd->acbe"   -->  %t = tf.Transpose(%a) : acbd;  %u = tf.Transpose(%b) : acde
                                                    %y = tf.BatchMatMulV2(%t, %u)
    """
    equation: str = node.attributes["equation"].replace(" ", "")
    terms, _, output = equation.partition("->")
    first, _, second = terms.partition(",")
    result = editor.tensor(node.results[0])
    if result.shape is None or None not in (known(result.shape) or ()) or not output.isalpha():
        return None
    if not all(labels.isalpha() and len(set(labels)) == len(labels) for labels in (first, second, output)):
        return None
    batch = [label for label in output if label in first and label in second]
    contracted = [label for label in first if label in second and label not in output]
    own = [label for label in first if label not in second]
    others = [label for label in second if label not in first]
    if not all(len(labels) == 1 and labels[0] for labels in (contracted, own, others)):
        return None
    if own[0] not in output or others[0] not in output or not batch:
        return None
    a, b = editor.operands(node)
    left = _transposed(editor, node, a, first, [*batch, *own, *contracted])
    right = _transposed(editor, node, b, second, [*batch, *contracted, *others])
    order = [*batch, *own, *others]
    shape = tuple(result.shape[output.index(label)] for label in order)
    attributes: dict[str, bool] = dict.fromkeys(("adj_x", "adj_y", "grad_x", "grad_y"), False)
    product = editor.add(node, "BatchMatMulV2", [left, right], Tensor(result.dtype, shape), attributes)
    return _transposed(editor, node, product, order, output)


def project(editor: Editor, node: Node) -> int | None:
    """Multiplies the last dimensions of a tensor with a constant, as a matrix product that keeps the others::

    %y = tf.Einsum(%x : tensor<?x?x4xf32>, %w : tensor<4x2x3xf32>) "abc,cde->abde"
        -->  %p = tf.BatchMatMulV2(%x, tf.Reshape(%w, [4, 6]))
             %y = tf.Reshape(%p, [a, b, 2, 3])
    """
    equation: str = node.attributes["equation"].replace(" ", "")
    terms, _, output = equation.partition("->")
    first, _, second = terms.partition(",")
    result = editor.tensor(node.results[0])
    if result.shape is None or None not in (known(result.shape) or ()) or not (first + second + output).isalpha():
        return None
    if not second:
        return None
    x, matrix = editor.operands(node)
    contracted = [label for label in first if label in second]
    kept, own = first[: len(first) - len(contracted)], second[len(contracted) :]
    if not contracted or "".join(contracted) != first[len(kept) :] or second != "".join(contracted) + own:
        return None
    shape, weights = editor.shape(x), known(editor.shape(matrix))
    if shape is None or weights is None or output != kept + own or len(kept) < 2 or not own:
        return None
    sizes = [size for size in weights if size is not None]
    if len(sizes) < len(weights) or not editor.is_constant(matrix):
        return None
    depth, width = prod(sizes[: len(contracted)]), prod(sizes[len(contracted) :])
    outer = shape[: len(kept)]
    flat = x if len(contracted) == 1 else _reshaped(editor, node, x, (*outer, depth), x)
    if flat is None:
        return None
    second_matrix = editor.add_reshape(node, matrix, (depth, width)) if len(sizes) > 2 else matrix
    attributes: dict[str, bool] = dict.fromkeys(("adj_x", "adj_y", "grad_x", "grad_y"), False)
    product = Tensor(result.dtype, (*outer, width))
    value = editor.add(node, "BatchMatMulV2", [flat, second_matrix], product, attributes)
    return value if len(own) == 1 else _reshaped(editor, node, value, result.shape, x)


def _reshaped(editor: Editor, node: Node, value: int, shape: Shape, source: int) -> int | None:
    """A value in another shape; None if that cannot be computed of the shape of ``source``."""
    sizes = known(shape) or ()
    if sizes.count(None) < 2:
        numbers = [-1 if size is None else size for size in sizes]
        point = ir.InsertionPoint(node.op)
        stated = editor.constant(array_of(numbers, [len(numbers)]), "i32", point, node.op.location)
    else:
        computed = editor.vector(node, shape, source)
        if computed is None:
            return None
        stated = computed
    return editor.add(node, "Reshape", [value, stated], Tensor(editor.tensor(value).dtype, shape), {})


def _transposed(editor: Editor, node: Node, value: int, labels: Sequence[str], order: Sequence[str]) -> int:
    """A value with its dimensions in another order."""
    tensor = editor.tensor(value)
    if list(labels) == list(order) or tensor.shape is None:
        return value
    permutation = [list(labels).index(label) for label in order]
    elements: Values = np.array(permutation, object)
    constant = editor.constant(elements, "i32", ir.InsertionPoint(node.op), node.op.location)
    shape = tuple(tensor.shape[axis] for axis in permutation)
    return editor.add(node, "Transpose", [value, constant], Tensor(tensor.dtype, shape), {})
