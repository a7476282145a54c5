"""Matrix products on tensors of more than two dimensions, which TensorFlow computes on flattened ones."""

from __future__ import annotations

from math import prod

from litefuse.shapes.editor import Editor
from litefuse.shapes.facts import Tensor, known
from litefuse.shapes.graph import Node

__all__ = ["add_bias_first", "unflatten_product"]

_PRODUCTS = ("BatchMatMulV2", "Einsum", "MatMul")


def unflatten_product(editor: Editor, node: Node) -> int | None:
    """Takes a product of a flattened tensor and a matrix without flattening it::

        %f = tf.Reshape(%x : tensor<?x9x4xf32>, [-1, 4])
        %p = tf.MatMul(%f, %w : tensor<4x6xf32>)
        %y = tf.Reshape(%p, ...) : tensor<?x9x6xf32>         -->  %y = tf.BatchMatMulV2(%x, %w) : tensor<?x9x6xf32>

    The engine makes one FULLY_CONNECTED of it, which keeps the dimensions and takes the bias and the activation that
    follow.
    """
    value = editor.resolve(node.operands[0])
    product = editor.producer(value, "MatMul")
    if product is None or product.attributes.get("transpose_a", False):
        return None
    flat, matrix = editor.operands(product)
    flattening = editor.producer(flat, "Reshape")
    result = editor.tensor(node.results[0])
    if flattening is None or not editor.is_constant(matrix) or not editor.is_used_once(value) or result.shape is None:
        return None
    source = editor.resolve(flattening.operands[0])
    shape, flat_shape, product_shape = editor.shape(source), editor.shape(flat), editor.shape(value)
    if shape is None or flat_shape is None or product_shape is None or len(shape) < 3:
        return None
    if shape[-1] != flat_shape[-1] or result.shape != (*shape[:-1], product_shape[-1]):
        return None
    attributes = {
        "adj_x": False,
        "adj_y": bool(product.attributes.get("transpose_b", False)),
        "grad_x": False,
        "grad_y": False,
    }
    return editor.add(node, "BatchMatMulV2", [source, matrix], Tensor(result.dtype, result.shape), attributes)


def add_bias_first(editor: Editor, node: Node) -> int | None:
    """Adds a bias before the product's last dimension is split, where the engine puts it into the product::

    %r = tf.Reshape(%p : tensor<?x9x6xf32>, [-1, 9, 2, 3])            %s = tf.AddV2(%p, tf.Reshape(%b, [6]))
    %y = tf.AddV2(%r, %b : tensor<2x3xf32>)                      -->  %y = tf.Reshape(%s, [-1, 9, 2, 3])
    """
    result = editor.tensor(node.results[0])
    for value, bias in (editor.operands(node), editor.operands(node)[::-1]):
        splitting = editor.producer(value, "Reshape")
        sizes = known(editor.shape(bias))
        if splitting is None or not sizes or None in sizes or result.shape is None or not editor.is_constant(bias):
            continue
        source, stated = editor.operands(splitting)
        shape = editor.shape(source)
        if editor.producer(source, *_PRODUCTS) is None or not editor.is_used_once(value) or not shape:
            continue
        count = prod(size for size in sizes if size is not None)
        if result.shape != editor.shape(value) or result.shape[-len(sizes) :] != sizes or shape[-1] != count:
            continue
        flat = editor.add_reshape(node, bias, (count,))
        total = editor.add(node, "AddV2", [source, flat], Tensor(result.dtype, shape), {})
        return editor.add(node, "Reshape", [total, stated], result, {})
    return None
