"""``Einsum`` as a batched matrix product with dynamic dimensions: the engine would compute their sizes at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from litefuse.ir.ops.facts import Dims, Tensor, known
from litefuse.ir.shapes.editor import Editor
from litefuse.ir.shapes.graph import Node
from litefuse.passes.simplify.split_products import is_open, merge_product, reorder


def multiply_matrices(editor: Editor, node: Node) -> int | None:
    """Lowers a sum over one dimension of products of two tensors that each have one dimension of their own::

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
    if not all(len(labels) == 1 for labels in (contracted, own, others)):
        return None
    if own[0] not in output or others[0] not in output or not batch:
        return None
    a, b = editor.operands(node)
    if output.index(others[0]) < output.index(own[0]):
        a, first, own, b, second, others = b, second, others, a, first, own
    # Rows that come before the columns stay rows: the product can take them as columns of its second operand.
    adjoint = second.index(others[0]) < second.index(contracted[0])
    columns = [*others, *contracted] if adjoint else [*contracted, *others]
    left = _ordered(editor, node, a, first, [*batch, *own, *contracted])
    right = _ordered(editor, node, b, second, [*batch, *columns])
    order = [*batch, *own, *others]
    shape = tuple(result.shape[output.index(label)] for label in order)
    attributes: dict[str, bool] = dict.fromkeys(("adj_x", "grad_x", "grad_y"), False)
    product = Tensor(result.dtype, shape)
    value = editor.add(node, "BatchMatMulV2", [left, right], product, {**attributes, "adj_y": adjoint})
    return _ordered(editor, node, value, order, output)


def project(editor: Editor, node: Node) -> int | None:
    """Lowers a product of a tensor's last dimensions and a constant to a matrix product that keeps the others::

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
    kept, own = first[: len(first) - len(contracted)], [label for label in output if label not in first]
    labels = [*contracted, *own]
    if not contracted or "".join(contracted) != first[len(kept) :] or sorted(second) != sorted(labels):
        return None
    shape, weights = editor.shape(x), known(editor.shape(matrix))
    if shape is None or weights is None or output != kept + "".join(own) or len(kept) < 2 or not own:
        return None
    if None in weights or not editor.is_constant(matrix):
        return None
    matrix = _ordered(editor, node, matrix, second, labels)
    sizes = [size for size in known(editor.shape(matrix)) or () if size is not None]
    depth, width = prod(sizes[: len(contracted)]), prod(sizes[len(contracted) :])
    outer = shape[: len(kept)]
    if len(contracted) == 2 and len(own) == 1:
        merged = merge_product(editor, node, x, matrix)
        if merged is not None:
            return merged
    flat = x if len(contracted) == 1 else _reshaped(editor, node, x, (*outer, depth), x)
    if flat is None:
        return None
    second_matrix = editor.add_reshape(node, matrix, (depth, width)) if len(sizes) > 2 else matrix
    attributes: dict[str, bool] = dict.fromkeys(("adj_x", "adj_y", "grad_x", "grad_y"), False)
    product = Tensor(result.dtype, (*outer, width))
    value = editor.add(node, "BatchMatMulV2", [flat, second_matrix], product, attributes)
    return value if len(own) == 1 else _reshaped(editor, node, value, result.shape, x)


def multiply_rows(editor: Editor, node: Node) -> int | None:
    """Folds a transposition of a product's second operand into the product::

    %t = tf.Transpose(%b : tensor<?x2x?x4xf32>, [0, 1, 3, 2])
    %y = tf.BatchMatMulV2(%a, %t)                            -->  %y = tf.BatchMatMulV2(%a, %b) {adj_y = true}
    """
    a, b = editor.operands(node)
    transposing = editor.producer(b, "Transpose")
    if transposing is None or not editor.is_used_once(b) or editor.is_constant(b):
        return None
    source, stated = editor.operands(transposing)
    order = editor.values(stated)
    if order is None or order.size < 3 or order[-2] != order.size - 1:
        return None
    rows = reorder(editor, node, source, [*order[:-2], order[-1], order[-2]])
    return _product(editor, node, node, a, rows, {"adj_y": not node.attributes.get("adj_y", False)})


def swap_operands(editor: Editor, node: Node) -> int | None:
    """Folds a transposition of a product into the product, by swapping its operands::

    %p = tf.BatchMatMulV2(%a, %b) {adj_y = true}
    %y = tf.Transpose(%p : tensor<?x2x?x?xf32>, [0, 1, 3, 2])  -->  %y = tf.BatchMatMulV2(%b, %a) {adj_y = true}
    """
    value, stated = editor.operands(node)
    product, order = editor.producer(value, "BatchMatMulV2"), editor.values(stated)
    if product is None or order is None or order.size < 3 or not editor.is_used_once(value):
        return None
    count = order.size
    a, b = editor.operands(product)
    if order.tolist() != [*range(count - 2), count - 1, count - 2] or editor.is_constant(a) or editor.is_constant(b):
        return None
    if product.attributes.get("adj_x", False) or not product.attributes.get("adj_y", False):
        return None  # one of them would be transposed in every call
    return _product(editor, node, product, b, a, {})


def _product(editor: Editor, node: Node, like: Node, a: int, b: int, changes: Mapping[str, bool]) -> int:
    """Emits a product with the type of a node's result, and most attributes of another product."""
    names = ("adj_x", "adj_y", "grad_x", "grad_y")
    attributes = {name: bool(like.attributes.get(name, False)) for name in names} | dict(changes)
    return editor.add(node, "BatchMatMulV2", [a, b], editor.tensor(node.results[0]), attributes)


def _reshaped(editor: Editor, node: Node, value: int, shape: Dims, source: int) -> int | None:
    """Reshapes a value; returns None if the shape cannot be computed from that of ``source``."""
    if not is_open(shape):
        return editor.add_reshape(node, value, shape)
    computed = editor.vector(node, shape, source)
    if computed is None:
        return None
    return editor.add(node, "Reshape", [value, computed], Tensor(editor.tensor(value).dtype, shape), {})


def _ordered(editor: Editor, node: Node, value: int, labels: Sequence[str], order: Sequence[str]) -> int:
    return reorder(editor, node, value, [list(labels).index(label) for label in order])
