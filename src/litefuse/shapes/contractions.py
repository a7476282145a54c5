"""``Einsum`` as a batched matrix product, where sizes are open: the engine would compute them in the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.engine.mlir import ir
from litefuse.shapes.editor import Editor
from litefuse.shapes.facts import Tensor, Values, known
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
