"""Matrix products on tensors of rank 3 or more, which TensorFlow computes on flattened ones or merged batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

from litefuse.ir.attributes import ASSERTS_SIZES
from litefuse.ir.ops.dims import is_stretched, product
from litefuse.ir.ops.facts import Dims, Tensor, known
from litefuse.ir.shapes.editor import Editor
from litefuse.ir.shapes.graph import Node
from litefuse.passes.simplify.split_products import merge_reshaped

_PRODUCTS = ("BatchMatMulV2", "Conv2D", "Einsum", "MatMul")
# Ops on elements, or on rows, which are the same before and after a reshape that keeps the rows.
_UNARY = frozenset({"Exp", "Identity", "LogSoftmax", "Neg", "Relu", "Sigmoid", "Softmax", "Tanh"})
_BINARY = frozenset({"Add", "AddV2", "Maximum", "Minimum", "Mul", "RealDiv", "SelectV2", "Sub"})

SPLITTABLE = _UNARY | _BINARY | {"BatchMatMulV2"}
"""The ops between merged and split batches."""


def unflatten_product(editor: Editor, node: Node) -> int | None:
    """Multiplies a tensor with a matrix without flattening it::

        %f = tf.Reshape(%x : tensor<?x9x4xf32>, [-1, 4])
        %p = tf.MatMul(%f, %w : tensor<4x6xf32>)
        %y = tf.Reshape(%p, ...) : tensor<?x9x6xf32>         -->  %y = tf.BatchMatMulV2(%x, %w) : tensor<?x9x6xf32>

    The engine lowers it to one FULLY_CONNECTED, which keeps the dimensions and fuses the bias and the activation that
    follow. A bias that was added to the flat product is added to the other one.
    """
    value = editor.resolve(node.operands[0])
    result = editor.tensor(node.results[0])
    biases, value = _biases(editor, value)
    multiplying = editor.producer(value, "MatMul")
    if multiplying is None or multiplying.attributes.get("transpose_a", False):
        return None
    flat, matrix = editor.operands(multiplying)
    flattening = editor.producer(flat, "Reshape")
    if flattening is None or not editor.is_constant(matrix) or not editor.is_used_once(value) or result.shape is None:
        return None
    source = editor.resolve(flattening.operands[0])
    shape, flat_shape, product_shape = editor.shape(source), editor.shape(flat), editor.shape(value)
    if shape is None or flat_shape is None or product_shape is None or len(shape) < 3:
        return None
    if shape[-1] != flat_shape[-1] or not is_stretched((*shape[:-1], product_shape[-1]), result.shape):
        return None
    transposed = bool(multiplying.attributes.get("transpose_b", False))
    total = merge_reshaped(editor, node, source, matrix, transposed=transposed)
    if total is None:
        attributes = {"adj_x": False, "adj_y": transposed, "grad_x": False, "grad_y": False}
        total = editor.add(node, "BatchMatMulV2", [source, matrix], Tensor(result.dtype, result.shape), attributes)
    for bias in biases:
        row = len(editor.shape(bias) or ()) == 2
        vector = editor.add_reshape(node, bias, product_shape[-1:]) if row else bias
        total = editor.add(node, "AddV2", [total, vector], Tensor(result.dtype, result.shape), {})
    return total


def _biases(editor: Editor, value: int) -> tuple[list[int], int]:
    """Returns the vectors that are added to a matrix, the first one first, and the matrix without them."""
    biases: list[int] = []
    while editor.is_used_once(value):
        adding = editor.producer(value, "AddV2", "BiasAdd")
        if adding is None or adding.attributes.get("data_format", "NHWC") != "NHWC":
            break
        source, bias = editor.operands(adding)
        if not editor.is_constant(bias):
            source, bias = bias, source
        shape, sizes = editor.shape(value), editor.shape(bias)
        if not editor.is_constant(bias) or shape is None or sizes is None or editor.shape(source) != shape:
            break
        if sizes not in {(), (1,), shape[-1:], (1, *shape[-1:])}:
            break
        biases.append(bias)
        value = source
    return biases[::-1], value


def multiply_merged(editor: Editor, node: Node) -> int | None:
    """Applies ``merge_reshaped`` to a product that was not flattened."""
    if node.attributes.get("adj_x", False):
        return None
    x, matrix = editor.operands(node)
    return merge_reshaped(editor, node, x, matrix, transposed=bool(node.attributes.get("adj_y", False)))


def multiply_once(editor: Editor, node: Node) -> int | None:
    """Multiplies with a matrix where a product has the same constant matrix for the whole batch::

        %y = tf.BatchMatMulV2(%x : tensor<?x9x4xf32>, %w : tensor<1x6x4xf32>) {adj_y = true}
        -->  %y = tf.BatchMatMulV2(%x, tf.Reshape(%w, [6, 4])) {adj_y = true}

    Keras models that tie their last product to the table of their embedding multiply with a list of one table.
    """
    x, matrices = editor.operands(node)
    shape, sizes, result = editor.shape(x), known(editor.shape(matrices)), editor.tensor(node.results[0])
    if shape is None or sizes is None or not 2 < len(sizes) <= len(shape) or set(sizes[:-2]) != {1}:
        return None
    if node.attributes.get("adj_x", False) or not editor.is_constant(matrices) or result.dtype != "f32":
        return None
    rows, columns = sizes[-2:]
    assert rows is not None
    assert columns is not None
    matrix = editor.add_reshape(node, matrices, (rows, columns))
    return editor.add(node, "BatchMatMulV2", [x, matrix], result, node.attributes)


def compute_first(editor: Editor, node: Node) -> int | None:
    """Adds a bias, or multiplies with a factor, before the product's dimensions are split or one of them is dropped::

    %r = tf.Reshape(%p : tensor<?x9x6xf32>, [-1, 9, 2, 3])            %s = tf.AddV2(%p, tf.Reshape(%b, [6]))
    %y = tf.AddV2(%r, %b : tensor<2x3xf32>)                      -->  %y = tf.Reshape(%s, [-1, 9, 2, 3])

    There the engine fuses it into the product.
    """
    result = editor.tensor(node.results[0])
    operands = editor.operands(node)
    if node.attributes.get("data_format", "NHWC") != "NHWC":
        return None
    for value, constant in [operands] if node.name == "BiasAdd" else [operands, operands[::-1]]:
        reshaping = editor.producer(value, "Reshape", "Sum")
        sizes = known(editor.shape(constant))
        if reshaping is None or sizes is None or None in sizes or not editor.is_constant(constant):
            continue
        source, *stated = editor.operands(reshaping)
        shape = editor.shape(source)
        if not shape or result.shape is None or result.shape != editor.shape(value) or not editor.is_used_once(value):
            continue
        sizes = sizes[next((axis for axis, size in enumerate(sizes) if size != 1), len(sizes)) :]
        count = prod(size for size in sizes if size is not None)
        if sizes and (result.shape[-len(sizes) :] != sizes or shape[-1] != count):
            continue
        if not _is_product(editor, source) or product(shape) != product(result.shape):
            continue
        name = "AddV2" if node.name == "BiasAdd" else node.name
        flat = editor.add_reshape(node, constant, (count,) if sizes else ())
        total = editor.add(node, name, [source, flat], Tensor(result.dtype, shape), {})
        return _again(editor, node, reshaping, [total, *stated])
    return None


def activate_first(editor: Editor, node: Node) -> int | None:
    """Does what ``compute_first`` does, for an activation that the engine fuses into the product."""
    value, result = editor.resolve(node.operands[0]), editor.tensor(node.results[0])
    reshaping = editor.producer(value, "Reshape", "Sum")
    if reshaping is None or result.shape is None or not editor.is_used_once(value):
        return None
    source, *stated = editor.operands(reshaping)
    shape = editor.shape(source)
    if shape is None or product(shape) != product(result.shape) or not _is_product(editor, source):
        return None
    total = editor.add(node, node.name, [source], Tensor(result.dtype, shape), {})
    return _again(editor, node, reshaping, [total, *stated])


def _again(editor: Editor, node: Node, reshaping: Node, operands: Sequence[int]) -> int:
    """Reshapes the replacement of a product."""
    summed = reshaping.name == "Sum"
    attributes = {"keep_dims": reshaping.attributes.get("keep_dims", False)} if summed else {}
    return editor.add(node, reshaping.name, operands, editor.tensor(node.results[0]), attributes)


def _is_product(editor: Editor, value: int) -> bool:
    """Whether a value is a product, or computed from one with constants."""
    while editor.producer(value, *_PRODUCTS) is None:
        step = editor.producer(value, "AddV2", "Mul")
        if step is None:
            return False
        operands = editor.operands(step)
        others = [operand for operand in operands if not editor.is_constant(operand)]
        if len(others) != 1:
            return False
        (value,) = others
    return True


def multiply_split(editor: Editor, node: Node) -> int | None:
    """Multiplies matrices whose batches are not merged, where the product's batch is split again::

        %a = tf.Reshape(%q : tensor<?x2x?x4xf32>, ...) : tensor<?x?x4xf32>
        %b = tf.Reshape(%k : tensor<?x2x?x4xf32>, ...) : tensor<?x?x4xf32>
        %p = tf.BatchMatMulV2(%a, %b) {adj_y = true} : tensor<?x?x?xf32>
        %y = tf.Reshape(%p, ...) : tensor<?x2x?x?xf32>
            -->  %y = tf.BatchMatMulV2(%q, %k) {adj_y = true} : tensor<?x2x?x?xf32>

    So are the ops between them, such as the softmax of attention, and those between two reshapes without a product.
    """
    value = editor.resolve(node.operands[0])
    before, after = editor.shape(value), editor.shape(node.results[0])
    if before is None or after is None or len(before) < 3 or len(after) < len(before) or before == after:
        return None
    if ASSERTS_SIZES in node.attributes:
        return None
    pairs = zip(before[:0:-1], after[::-1], strict=False)
    kept = next((place for place, (one, other) in enumerate(pairs) if one != other), len(before) - 1)
    merged, outer = before[: len(before) - kept], after[: len(after) - kept]
    if not kept or product(outer) != product(merged):
        return None
    emit = _Splitting(editor, node, len(merged), outer).of(value)
    return None if emit is None else emit()


_Emitted = Callable[[], int]


class _Splitting(NamedTuple):
    """Other first dimensions of a value, and of what it is computed from.

    Attributes:
        editor: The function.
        node: The reshape that gives it these.
        merged: How many dimensions become others.
        outer: These others.
    """

    editor: Editor
    node: Node
    merged: int
    outer: Dims

    def of(self, value: int) -> _Emitted | None:
        """Returns what emits a value with the other dimensions; None if that takes a reshape."""
        editor, shape = self.editor, self.editor.shape(value)
        if shape is None:
            return None
        reshaping = editor.producer(value, "Reshape")
        if reshaping is not None:
            source = editor.resolve(reshaping.operands[0])
            same = is_stretched(editor.shape(source) or (), (*self.outer, *shape[self.merged :]))
            return (lambda: source) if same else None
        computing = editor.producer(value, *_UNARY, *_BINARY, "BatchMatMulV2")
        if computing is None or not editor.is_used_once(value):
            return None
        operands = editor.operands(computing)
        own = [editor.shape(operand) or () for operand in operands]
        if computing.name in _BINARY and shape in own:
            return self._computed(computing, shape, [self._operand(operand, shape) for operand in operands])
        kept = 2 if computing.name == "BatchMatMulV2" else 1
        first = shape[: self.merged]
        if len(shape) < self.merged + kept or any(one[: self.merged] != first or len(one) != len(shape) for one in own):
            return None  # one of them is broadcast
        return self._computed(computing, shape, [self.of(operand) for operand in operands])

    def _operand(self, value: int, shape: Dims) -> _Emitted | None:
        """Returns what emits an operand of an op on each element."""
        own = self.editor.shape(value)
        if own is None or own == shape:
            return self.of(value)
        first = own[: max(0, len(own) - len(shape) + self.merged)]
        return (lambda: value) if all(size == 1 for size in first) else None  # it is broadcast over these dimensions

    def _computed(self, op: Node, shape: Dims, operands: Sequence[_Emitted | None]) -> _Emitted | None:
        emitting = [operand for operand in operands if operand is not None]
        if len(emitting) < len(operands):
            return None

        def emit() -> int:
            tensor = Tensor(self.editor.tensor(op.results[0]).dtype, (*self.outer, *shape[self.merged :]))
            values = [emit_operand() for emit_operand in emitting]
            return self.editor.add(self.node, op.name, values, tensor, op.attributes)

        return emit
