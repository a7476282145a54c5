"""Products with a constant that split a dimension, or sum over two, with two dynamic dimensions.

A reshape of a tensor with two dynamic dimensions needs a shape computed at run time, and XNNPACK delegates only
reshapes to constant shapes. The heads of attention are split and merged by products, which need no reshape: a batch of
matrices gives each head its own dimension, and a convolution whose kernel is as large as the heads sums over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from litefuse.ir.mlir import ir
from litefuse.ir.ops.dims import Dim, Formula, is_stretched, product
from litefuse.ir.ops.facts import Dims, Tensor, known
from litefuse.ir.shapes.editor import Editor, is_known
from litefuse.ir.shapes.graph import Node

_CONVOLUTION = {
    "strides": [1, 1, 1, 1],
    "padding": "VALID",
    "explicit_paddings": [],
    "data_format": "NHWC",
    "dilations": [1, 1, 1, 1],
    "use_cudnn_on_gpu": True,
}
_PRODUCT = dict.fromkeys(("adj_x", "adj_y", "grad_x", "grad_y"), False)

# The places of a split product's dimensions: the two of the rows, the parts, and a part's width.
_PLACES = (1, 2, 0, 3)


def is_open(sizes: Sequence[Dim]) -> bool:
    """Whether a reshape to these sizes needs a shape that is computed."""
    return sum(isinstance(size, Formula) for size in sizes) > 1


def reorder(editor: Editor, node: Node, value: int, order: Sequence[int]) -> int:
    """Reorders the dimensions of a value, with at most one transposition."""
    if list(order) == sorted(order):
        return value
    split = _split(editor, node, value)
    if split is not None:
        value, order = split, [_PLACES[axis] for axis in order]
    transposing = editor.producer(value, "Transpose")
    if transposing is not None:
        source, inner = editor.operands(transposing)
        permutation = numbers(editor, inner)
        if permutation is not None:
            value, order = source, [permutation[axis] for axis in order]
    return value if list(order) == sorted(order) else add_transpose(editor, node, value, order)


def add_transpose(editor: Editor, node: Node, value: int, order: Sequence[int]) -> int:
    """Emits a transposition of a value of known rank."""
    tensor = editor.tensor(value)
    assert tensor.shape is not None
    shape = tuple(tensor.shape[axis] for axis in order)
    return editor.add(node, "Transpose", [value, editor.integers(node, order)], Tensor(tensor.dtype, shape), {})


def transpose_split(editor: Editor, node: Node) -> int | None:
    """Multiplies with a matrix for each part where a product is split into parts, and these are moved to the front::

    %p = tf.BatchMatMulV2(%x : tensor<?x?x4xf32>, %w : tensor<4x6xf32>)
    %r = tf.Reshape(%p, ...) : tensor<?x?x2x3xf32>
    %y = tf.Transpose(%r, [0, 2, 1, 3])
        -->  %m = tf.Transpose(tf.Reshape(%w, [4, 1, 2, 3]), [2, 1, 0, 3])
             %y = tf.Transpose(tf.BatchMatMulV2(%x, %m) : tensor<2x?x?x3xf32>, [1, 0, 2, 3])

    Additions to the product and multiplications with it before the split are moved behind it.
    """
    value, stated = editor.operands(node)
    order = numbers(editor, stated)
    if order is None or len(order) != 4 or _split_product(editor, value) is None:
        return None
    return reorder(editor, node, value, order)


class _Split(NamedTuple):
    """A product whose last dimension is split, its constant, and the ops on it with the constant of each."""

    product: Node
    matrix: int
    depth: int
    columns: range
    steps: Sequence[tuple[str, int]]
    shape: Dims


def _split_product(editor: Editor, value: int) -> _Split | None:
    """Finds the product of whose last dimension a value is a split, if it has no other uses.

    A replaced op uses it until this run is over: the next run finds it.
    """
    splitting = editor.producer(value, "Reshape")
    shape = editor.shape(value)
    if splitting is None or shape is None or len(shape) != 4 or not is_open(shape[:2]):
        return None
    if not editor.is_used_once(value):
        return None
    source, _ = editor.operands(splitting)
    before, width = editor.shape(source), known(shape[2:])
    if before is None or len(before) != 3 or before[:2] != shape[:2] or width is None or None in width:
        return None
    if before[2] != product(shape[2:]):
        return None
    source, columns = _part(editor, source, before[2])
    whole = (editor.shape(source) or before)[2:]
    steps: list[tuple[str, int]] = []
    while editor.is_used_once(source):
        multiplying = editor.producer(source, "BatchMatMulV2")
        if multiplying is not None:
            x, matrix = editor.operands(multiplying)
            sizes, outer = known(editor.shape(matrix)), editor.shape(x)
            if multiplying.attributes.get("adj_x", False) or sizes is None or len(sizes) != 2:
                return None
            if not editor.is_constant(matrix) or outer is None or len(outer) != 3 or editor.tensor(x).dtype != "f32":
                return None
            depth = sizes[1 if multiplying.attributes.get("adj_y", False) else 0]
            return None if depth is None else _Split(multiplying, matrix, depth, columns, steps[::-1], shape)
        step = editor.producer(source, "AddV2", "BiasAdd", "Mul")
        if step is None or step.attributes.get("data_format", "NHWC") != "NHWC":
            return None
        operands = editor.operands(step)
        constant = next((operand for operand in operands[::-1] if editor.is_constant(operand)), None)
        if constant is None or editor.shape(constant) not in {(), (1,), whole}:
            return None
        steps.append(("Mul" if step.name == "Mul" else "AddV2", constant))
        source = operands[1 - operands.index(constant)]
    return None


def _part(editor: Editor, value: int, width: Dim) -> tuple[int, range]:
    """Returns what a value is one of several equal parts of, and its columns; the value and all columns if of nothing.

    The queries, keys and values of attention are often one product.
    """
    assert isinstance(width, int)
    splitting = editor.producer(value, "Split")
    if splitting is None:
        return value, range(width)
    _, source = editor.operands(splitting)
    shape = editor.shape(source)
    # Were a part used otherwise, the whole product would be computed as well.
    users = [use.owner for result in splitting.op.results for use in result.uses]
    # Parts along another axis are as wide as the whole.
    if shape is None or shape[-1] != width * len(splitting.results) or not all(map(_is_turned, users)):
        return value, range(width)
    first = splitting.results.index(value) * width
    return source, range(first, first + width)


def _is_turned(op: ir.OpView) -> bool:
    """Whether an op is a reshape whose result is only transposed."""
    return op.name == "tf.Reshape" and all(use.owner.name == "tf.Transpose" for use in op.results[0].uses)


def _cut(editor: Editor, node: Node, value: int, axis: int, columns: range) -> int:
    """Returns the columns of a constant, which has them along an axis."""
    tensor = editor.tensor(value)
    assert tensor.shape is not None
    if tensor.shape[axis] == len(columns):
        return value
    sizes = [len(columns) if place == axis else size for place, size in enumerate(tensor.shape)]
    begin = [columns.start if place == axis else 0 for place in range(len(sizes))]
    operands = [value, editor.integers(node, begin), editor.integers(node, sizes)]
    return editor.add(node, "Slice", operands, Tensor(tensor.dtype, tuple(sizes)), {})


def _split(editor: Editor, node: Node, value: int) -> int | None:
    """Splits a product, with the parts before the rows."""
    split = _split_product(editor, value)
    if split is None:
        return None
    first, rows, parts, width = split.shape
    assert isinstance(parts, int)
    assert isinstance(width, int)
    x, _ = editor.operands(split.product)
    if split.product.attributes.get("adj_y", False):
        matrix = _cut(editor, node, split.matrix, 0, split.columns)
        matrices = editor.add_reshape(node, matrix, (parts, 1, width, split.depth))
    else:
        matrix = _cut(editor, node, split.matrix, 1, split.columns)
        whole = editor.add_reshape(node, matrix, (split.depth, 1, parts, width))
        matrices = add_transpose(editor, node, whole, (2, 1, 0, 3))
    tensor = Tensor("f32", (parts, first, rows, width))
    attributes = {**_PRODUCT, "adj_y": bool(split.product.attributes.get("adj_y", False))}
    result = editor.add(node, "BatchMatMulV2", [x, matrices], tensor, attributes)
    for name, constant in split.steps:
        factor = constant
        if editor.shape(constant) not in {(), (1,)}:
            own = _cut(editor, node, constant, 0, split.columns)
            factor = editor.add_reshape(node, own, (parts, 1, 1, width))
        result = editor.add(node, name, [result, factor], tensor, {})
    return result


def merge_product(editor: Editor, node: Node, x: int, matrices: int) -> int | None:
    """Sums over the last two dimensions of a tensor, multiplied with a constant, as a convolution::

    %y = tf.Einsum(%x : tensor<?x?x2x3xf32>, %w : tensor<2x3x4xf32>) "abcd,cde->abe"
        -->  %c = tf.Conv2D(%x, tf.Reshape(%w, [1, 2, 3, 4])) {padding = "VALID"} : tensor<?x?x1x4xf32>
             %y = tf.Sum(%c, [2])

    If the operand is a transposition that keeps the first and the last dimension, its source is used instead.

    Args:
        editor: The function.
        node: The op that is to be replaced.
        x: The tensor, of shape [a, b, c, d].
        matrices: The constant, of shape [c, d, e].

    Returns:
        The result, of shape [a, b, e]; None if a constant reshape suffices, or if it cannot be computed this way.
    """
    shape, sizes = editor.shape(x), known(editor.shape(matrices))
    if shape is None or len(shape) != 4 or sizes is None or len(sizes) != 3 or editor.tensor(x).dtype != "f32":
        return None
    parts, depth, width = sizes
    if parts is None or depth is None or width is None or not is_open(shape[:2]) or shape[2:] != (parts, depth):
        return None
    axis = 2
    transposing = editor.producer(x, "Transpose")
    if transposing is not None:
        source, order = editor.operands(transposing)
        if numbers(editor, order) == [0, 2, 1, 3]:
            x, axis = source, 1
    kernel = (parts, 1) if axis == 1 else (1, parts)
    outer = (shape[0], 1, shape[1]) if axis == 1 else (shape[0], shape[1], 1)
    filters = editor.add_reshape(node, matrices, (*kernel, depth, width))
    summed = editor.add(node, "Conv2D", [x, filters], Tensor("f32", (*outer, width)), _CONVOLUTION)
    return add_squeeze(editor, node, summed, [axis])


def squeeze(editor: Editor, node: Node) -> int | None:
    """Sums over dimensions of size 1 to drop them, where the resulting shape has two dynamic dimensions::

    %y = tf.Squeeze(%x : tensor<?x1x?x4xf32>) {squeeze_dims = [1]}  -->  %y = tf.Sum(%x, [1])
    """
    value, before, result = node.operands[0], editor.shape(node.operands[0]), editor.tensor(node.results[0])
    axes = node.attributes.get("squeeze_dims") or ()
    if before is None or result.shape is None or not axes or not is_open(result.shape):
        return None
    axes = [axis % len(before) for axis in axes]
    if result.dtype != "f32":
        return _squeeze_first(editor, node, axes)
    return add_squeeze(editor, node, editor.resolve(value), axes)


def squeeze_from_front(editor: Editor, node: Node) -> int | None:
    """Makes negative squeeze dimensions nonnegative, for the fault ``squeezed-from-the-last``::

    %y = tf.Squeeze(%x : tensor<?x6x1xf32>) {squeeze_dims = [-1]}  -->  %y = tf.Squeeze(%x) {squeeze_dims = [2]}
    """
    value = editor.resolve(node.operands[0])
    axes, shape = node.attributes.get("squeeze_dims") or (), editor.shape(value)
    if shape is None or min(axes, default=0) >= 0:
        return None
    positions = [axis % len(shape) for axis in axes]
    return editor.add(node, "Squeeze", [value], editor.tensor(node.results[0]), {"squeeze_dims": positions})


def _squeeze_first(editor: Editor, node: Node, axes: Sequence[int]) -> int | None:
    """Squeezes before a transposition, for the fault ``squeezed-after-a-transposition``::

    %t = tf.Transpose(%x : tensor<?x?x4x1xi1>, [2, 3, 1, 0])       %s = tf.Squeeze(%x) {squeeze_dims = [3]}
    %y = tf.Squeeze(%t) {squeeze_dims = [1]}                   --> %y = tf.Transpose(%s, [2, 1, 0])
    """
    transposing = editor.producer(editor.resolve(node.operands[0]), "Transpose")
    if transposing is None:
        return None
    source, stated = editor.operands(transposing)
    shape, order = editor.shape(source), numbers(editor, stated)
    if shape is None or order is None:
        return None
    dropped = sorted(order[axis] for axis in axes)
    left = [axis for axis in range(len(shape)) if axis not in dropped]
    tensor = Tensor(editor.tensor(source).dtype, tuple(shape[axis] for axis in left))
    value = editor.add(node, "Squeeze", [source], tensor, {"squeeze_dims": dropped})
    return reorder(editor, node, value, [left.index(axis) for axis in order if axis in left])


def add_squeeze(editor: Editor, node: Node, value: int, axes: Sequence[int]) -> int:
    """Emits a sum over size-1 dimensions: XNNPACK takes it, but not SQUEEZE or a reshape to two dynamic dimensions."""
    shape = editor.shape(value)
    assert shape is not None
    left = tuple(size for axis, size in enumerate(shape) if axis not in axes)
    summed = Tensor(editor.tensor(value).dtype, left)
    return editor.add(node, "Sum", [value, editor.integers(node, axes)], summed, {"keep_dims": False})


def merge_reshaped(editor: Editor, node: Node, x: int, matrix: int, *, transposed: bool) -> int | None:
    """Applies ``merge_product`` where the last two dimensions were merged for a product with a constant matrix."""
    merging = editor.producer(x, "Reshape")
    sizes = known(editor.shape(matrix))
    if merging is None or not editor.is_constant(matrix) or sizes is None or len(sizes) != 2 or None in sizes:
        return None
    source, _ = editor.operands(merging)
    shape, merged = editor.shape(source), editor.shape(x)
    if shape is None or merged is None or len(shape) != 4 or len(merged) != 3:
        return None
    if not is_stretched(shape[:2], merged[:2]):
        return None
    parts, depth = known(shape[2:]) or (None, None)
    if parts is None or depth is None or editor.tensor(x).dtype != "f32" or not is_open(shape[:2]):
        return None
    if merged[2] != parts * depth:
        return None
    if transposed:
        matrix = add_transpose(editor, node, matrix, (1, 0))
        sizes = sizes[::-1]
    width = prod(size for size in sizes[1:] if size is not None)
    return merge_product(editor, node, source, editor.add_reshape(node, matrix, (parts, depth, width)))


def numbers(editor: Editor, value: int) -> list[int] | None:
    """Returns the elements of a vector, if all are known."""
    values = editor.values(value)
    return None if values is None or not is_known(values) else [int(element) for element in values.tolist()]


def permutation(editor: Editor, value: int) -> list[int] | None:
    """Returns the axes in a vector, counted from the first, if all are known."""
    axes = numbers(editor, value)
    return None if axes is None else [axis % len(axes) for axis in axes]
