"""Removes ops that change nothing, whatever the dynamic dimensions; makes shapes of reshapes constant, bounds roots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from litefuse.ir.attributes import ASSERTS_SIZES
from litefuse.ir.mlir import ir
from litefuse.ir.ops.dims import Dim, Formula, is_stretched
from litefuse.ir.ops.facts import Dims, Op, Tensor, Values, array_of, elements, known
from litefuse.ir.ops.rules.elementwise import BROADCASTING
from litefuse.ir.ops.rules.slicing import extents
from litefuse.ir.shapes.editor import Editor, arithmetic_key, is_known
from litefuse.ir.shapes.graph import Node
from litefuse.passes.simplify.split_products import add_squeeze, is_open

_TRANSPOSED_CONVOLUTIONS = ("Conv2DBackpropInput", "Conv3DBackpropInputV2")
_REDUCTIONS = ("Max", "Mean", "Min", "Prod", "Sum")

Simplification = Callable[[Editor, Node], "int | None"]
"""Returns a value that equals the op's result, or None; it may change the op."""
_SMALLEST = np.finfo(np.float32).smallest_normal
_LARGEST = np.finfo(np.float32).max
# Ops whose results are negative only if an operand is, and those that never are.
_KEEPING_SIGN = ("ExpandDims", "Identity", "Mean", "Reshape", "Squeeze", "Sum")
_NEVER_NEGATIVE = ("Abs", "Exp", "Relu", "SquaredDifference", "Square")


def bound_before_root(editor: Editor, node: Node) -> int | None:
    """Bounds what the root is taken of, in place of the result::

        %s = tf.Sum(tf.Square(%x))                      %s = tf.Sum(tf.Square(%x))
        %r = tf.Rsqrt(%s)                          -->  %m = tf.Maximum(%s, 1e-24)
        %y = tf.Minimum(%r, 1e12)                       %y = tf.Rsqrt(%m)

    Of a value that may be zero, an op that is right there would be needed: fault ``reciprocal-root-of-zero``. Negative
    values have no root, so that they must be out of the question.
    """
    result = editor.tensor(node.results[0])
    for root, bound in (operands := editor.operands(node)), operands[::-1]:
        numbers, taking = editor.tensor(bound).numbers, editor.producer(root, "Rsqrt")
        if taking is None or numbers is None or numbers.size != 1 or result.dtype != "f32":
            continue
        (source,) = editor.operands(taking)
        largest = float(numbers.reshape(())[()])
        smallest = largest**-2 if 0 < largest < _LARGEST else 0.0
        shape = editor.shape(source)
        if not _SMALLEST <= smallest <= _LARGEST or shape is None or shape != result.shape:
            continue
        if not editor.is_used_once(root) or not _is_never_negative(editor, source):
            continue
        least = editor.numbers(node, np.array(smallest, np.float32), "f32")
        bounded = editor.add(node, "Maximum", [source, least], editor.tensor(source), {})
        return editor.add(node, "Rsqrt", [bounded], result, {})
    return None


def _is_never_negative(editor: Editor, value: int) -> bool:
    """Whether a value is a square, or another one that is never negative, or a sum or mean of such."""
    while (same := editor.producer(value, *_KEEPING_SIGN)) is not None:
        value = editor.operands(same)[0]
    if editor.producer(value, *_NEVER_NEGATIVE) is not None:
        return True
    product = editor.producer(value, "Mul")
    return product is not None and len(set(editor.operands(product))) == 1


def _same_shape(editor: Editor, node: Node) -> int | None:
    """Returns the first operand of an op that keeps all elements if it keeps the shape.

    A reduction that keeps the shape reduces dimensions of size 1 alone.
    """
    source = editor.resolve(node.operands[0])
    shape = editor.shape(source)
    return source if shape is not None and shape == editor.shape(node.results[0]) else None


def _whole_slice(editor: Editor, node: Node) -> int | None:
    """Returns the operand of a slice that takes all of it, in order."""
    if node.name == "StridedSlice":
        strides = editor.values(editor.resolve(node.operands[3]))
        if strides is None or not keeps_axes(node.attributes, elements(strides)):
            return None
    return _same_shape(editor, node)


def keeps_axes(attributes: Mapping[str, Any], strides: Sequence[Dim]) -> bool:
    """Whether a ``StridedSlice`` adds and drops no dimension, and takes each element in turn."""
    masks = (attributes.get(mask, 0) for mask in ("new_axis_mask", "shrink_axis_mask"))
    return not any(masks) and all(stride == 1 for stride in strides)


def _identity_permutation(editor: Editor, node: Node) -> int | None:
    """Returns the operand of a transposition that moves nothing."""
    order = editor.values(editor.resolve(node.operands[1]))
    if order is None or not is_known(order):
        return None
    in_order = all(axis % order.size == place for place, axis in enumerate(order.tolist()))
    return editor.resolve(node.operands[0]) if in_order else None


def _set_second_operand(editor: Editor, node: Node, numbers: Values | Sequence[Dim]) -> None:
    """Replaces an op's second operand, its axes or its sizes, by a constant."""
    dtype = editor.tensor(editor.resolve(node.operands[1])).dtype
    editor.set_operand(node, 1, editor.integers(node, numbers, dtype))


def _axes_from_the_first(editor: Editor, node: Node) -> None:
    """Makes negative axes nonnegative.

    Faults ``sum-over-the-last``, ``reversal-of-the-last``, ``transposition-from-the-last``.
    """
    stated = editor.resolve(node.operands[1])
    shape, axes = editor.shape(editor.resolve(node.operands[0])), editor.values(stated)
    if not shape or axes is None:
        return
    numbers = [axis for axis in elements(axes) if isinstance(axis, int)]
    if len(numbers) == axes.size and min(numbers, default=0) < 0:
        _set_second_operand(editor, node, array_of([axis % len(shape) for axis in numbers], axes.shape))


def _stretched_axes(editor: Editor, node: Node) -> None:
    """Makes the axes of a gradient's sum constant where it is known which dimensions of a shape are 1::

    %r0, %r1 = tf.BroadcastGradientArgs(%s, [1, 4])
    %y = tf.Sum(%x, %r1)                                -->  %y = tf.Sum(%x, [0])
    """
    stated = editor.resolve(node.operands[1])
    asking = editor.producer(stated, "BroadcastGradientArgs")
    if asking is None:
        return
    shapes = [editor.values(shape) for shape in editor.operands(asking)]
    own = shapes[asking.results.index(stated)]
    if own is None or not is_known(own) or any(shape is None for shape in shapes):
        return
    missing = max(shape.size for shape in shapes if shape is not None) - own.size
    axes = [axis for axis, size in enumerate([1] * missing + own.tolist()) if size == 1]
    _set_second_operand(editor, node, axes)


def _sum(editor: Editor, node: Node) -> int | None:
    source = _same_shape(editor, node)
    if source is None:
        _stretched_axes(editor, node)
        _axes_from_the_first(editor, node)
    return source


def _permutation(editor: Editor, node: Node) -> int | None:
    source = _identity_permutation(editor, node)
    if source is None:
        _axes_from_the_first(editor, node)
    return source


def _parts(editor: Editor, node: Node) -> int | None:
    """Returns the only operand of a concatenation that has elements, or a concatenation of those that may have some.

    Fault ``concatenation-of-an-empty-slice``.
    """
    *parts, axis = editor.operands(node)
    result, place = editor.shape(node.results[0]), editor.values(axis)
    if len(parts) == 1:
        return parts[0]
    if result is None or 0 in result:
        return None
    shapes = [editor.shape(part) for part in parts]
    if result in shapes:
        return parts[shapes.index(result)]
    if place is None or not is_known(place):
        return None
    filled = [part for part, shape in zip(parts, shapes, strict=True) if shape is None or shape[int(place)] != 0]
    if not filled or len(filled) == len(parts):
        return None
    return editor.add(node, "ConcatV2", [*filled, axis], editor.tensor(node.results[0]), {})


def reshape_constant(editor: Editor, node: Node) -> int | None:
    """Reshapes a constant where dimensions of size 1 come or go, so that it stays the same weight::

    %p = tf.Pack(%w : tensor<50x8xf32>) {axis = 0}  -->  %p = tf.Reshape(%w, [1, 50, 8])
    """
    constants = [value for value in editor.operands(node) if editor.tensor(value).dtype == "f32"]
    sizes = known(editor.shape(node.results[0]))
    if len(constants) != 1 or not editor.is_constant(constants[0]) or sizes is None or None in sizes:
        return None
    return editor.add_reshape(node, constants[0], tuple(size for size in sizes if size is not None))


def _same_dtype(editor: Editor, node: Node) -> int | None:
    """Returns the operand of a cast to its own type, which inlining leaves between types of different shapes."""
    source = editor.resolve(node.operands[0])
    return source if editor.tensor(source).dtype == editor.tensor(node.results[0]).dtype else None


def _reshape(editor: Editor, node: Node) -> int | None:
    """Removes a reshape that keeps the shape; otherwise makes the shape a constant, with -1 for a dynamic dimension.

    With several dynamic dimensions, no shape need be computed if only dimensions of size 1 come or go.
    """
    source, shape = editor.resolve(node.operands[0]), editor.shape(node.results[0])
    if shape is None:
        return None
    before = editor.shape(source)
    if before is not None and before == shape:
        return source
    if ASSERTS_SIZES in node.attributes:
        return None
    if before is not None and is_stretched(before, shape):
        return source
    replacement = _concatenated(editor, node)
    if replacement is None and is_open(shape):
        replacement = _ones(editor, node)
    if replacement is not None:
        return replacement
    stated = editor.resolve(node.operands[1])
    sizes = [-1 if isinstance(size, Formula) else size for size in shape]
    if sizes.count(-1) > 1 or (-1 in sizes and 0 in sizes):
        return None
    present = editor.values(stated)
    if present is None or present.tolist() != sizes:
        _set_second_operand(editor, node, sizes)
    return None


def reshape_back(editor: Editor, node: Node) -> int | None:
    """Returns the value before a reshape or reduction with the same shape: a reduction then is over size 1 only.

    Gradients sum over the dimensions that a broadcast stretched, even where it is unknown whether there are any.
    """
    value, shape = editor.resolve(node.operands[0]), editor.shape(node.results[0])
    if shape is None or ASSERTS_SIZES in node.attributes:
        return None
    while editor.shape(value) != shape:
        reshaping = editor.producer(value, "ExpandDims", "Reshape", "Squeeze", *_REDUCTIONS)
        if reshaping is None or ASSERTS_SIZES in reshaping.attributes:
            return None
        value = editor.operands(reshaping)[0]
    return value


def _ones(editor: Editor, node: Node) -> int | None:
    value, result = editor.resolve(node.operands[0]), editor.tensor(node.results[0])
    before, after = editor.shape(value), result.shape
    if before is None or after is None or _without_ones(before) != _without_ones(after):
        return None
    removed, added = _moved_ones(before, after)
    if removed and added and len(removed) + len(added) > 2:
        return None  # more ops than a reshape and what computes its shape are worth
    if removed:
        left = tuple(size for axis, size in enumerate(before) if axis not in removed)
        if result.dtype == "f32":
            value = add_squeeze(editor, node, value, removed)
        else:
            value = editor.add(node, "Squeeze", [value], Tensor(result.dtype, left), {"squeeze_dims": removed})
    for axis in added:
        value = _expanded(editor, node, value, axis)
    return value


def _without_ones(shape: Dims) -> Dims:
    return tuple(size for size in shape if size != 1)


def _moved_ones(before: Dims, after: Dims) -> tuple[list[int], list[int]]:
    """Returns the axes of size 1 to remove from a shape, and then to add, for another of the same other sizes."""
    removed: list[int] = []
    added: list[int] = []
    old = new = 0
    while old < len(before) or new < len(after):
        if old < len(before) and new < len(after) and before[old] == after[new]:
            old, new = old + 1, new + 1
        elif new < len(after) and after[new] == 1:
            added.append(new)
            new += 1
        else:
            removed.append(old)
            old += 1
    return removed, added


def new_axes(editor: Editor, node: Node) -> int | None:
    """Inserts dimensions of size 1 where a slice does nothing else, by a reshape unless its shape is computed."""
    value, result = editor.resolve(node.operands[0]), editor.shape(node.results[0])
    shape, strides = editor.shape(value), editor.values(editor.resolve(node.operands[3]))
    if shape is None or result is None or strides is None:
        return None
    if any(stride != 1 for stride in elements(strides)):
        return None
    taken = extents(Op(node.name, [], [], node.attributes), len(shape), strides.size)
    added = [place for place, extent in enumerate(taken) if extent.axis is None]
    present = tuple(size for place, size in enumerate(result) if place not in added)
    if shape != present or any(extent.shrinks for extent in taken):
        return None
    if not is_open(result):
        return editor.add_reshape(node, value, result)
    for place in added:
        value = _expanded(editor, node, value, place)
    return value


def _expanded(editor: Editor, node: Node, value: int, axis: int) -> int:
    tensor = editor.tensor(value)
    assert tensor.shape is not None
    shape = (*tensor.shape[:axis], 1, *tensor.shape[axis:])
    return editor.add(node, "ExpandDims", [value, editor.integer(node, axis)], Tensor(tensor.dtype, shape), {})


def _concatenated(editor: Editor, node: Node) -> int | None:
    """Concatenates values that are packed along a new dimension, which a reshape then merges with the next::

    %p = tf.Pack(%a : tensor<?x?x2xf32>, %b) {axis = 2}
    %y = tf.Reshape(%p, ...) : tensor<?x?x4xf32>         -->  %y = tf.ConcatV2(%a, %b, 2)
    """
    value, result = editor.resolve(node.operands[0]), editor.tensor(node.results[0])
    packing = editor.producer(value, "Pack")
    if packing is None or not editor.is_used_once(value):
        return None
    parts = editor.operands(packing)
    shape = editor.shape(parts[0])
    if not shape:
        return None
    axis = int(packing.attributes.get("axis", 0)) % (len(shape) + 1)
    if axis == len(shape) or result.shape != (*shape[:axis], shape[axis] * len(parts), *shape[axis + 1 :]):
        return None
    return editor.add(node, "ConcatV2", [*parts, editor.integer(node, axis)], result, {})


def keep_reduced(editor: Editor, node: Node) -> int | None:
    """Lets a reduction keep its dimensions, with size 1, where a reshape restores them::

    %m = tf.Mean(%x : tensor<?x8x8x4xf32>, [1, 2])
    %y = tf.Reshape(%m, ...) : tensor<?x1x1x4xf32>    -->  %y = tf.Mean(%x, [1, 2]) {keep_dims = true}
    """
    value = editor.resolve(node.operands[0])
    reduction = editor.producer(value, *_REDUCTIONS)
    result = editor.tensor(node.results[0])
    if reduction is None or not editor.is_used_once(value) or reduction.attributes.get("keep_dims", False):
        return None
    source, axes = editor.operands(reduction)
    shape, reduced = editor.shape(source), editor.values(axes)
    if shape is None or reduced is None or not is_known(reduced):
        return None
    removed = {axis % len(shape) for axis in elements(reduced) if isinstance(axis, int)}
    kept = tuple(1 if axis in removed else size for axis, size in enumerate(shape))
    if kept != result.shape or result.dtype not in {"f16", "f32"}:
        return None
    return editor.add(node, reduction.name, [source, axes], Tensor(result.dtype, kept), {"keep_dims": True})


def scalar_operand(editor: Editor, node: Node) -> None:
    """Replaces a constant with one element by a scalar, where that changes no shape.

    After a transposed convolution it gets an element for each channel instead. Faults
    ``one-element-between-products``, ``one-element-before-a-product``, ``one-element-behind-a-transposed-convolution``.
    """
    operands = editor.operands(node)
    for position, value in enumerate(operands):
        other = operands[1 - position]
        numbers, shape = editor.tensor(value).numbers, editor.shape(other)
        if numbers is None or numbers.size != 1 or shape is None or len(shape) < numbers.ndim:
            continue
        channels = shape[-1] if _is_transposed_convolution(editor, other) else None
        sizes = (channels,) if isinstance(channels, int) else ()
        if numbers.shape != sizes:
            alike = np.full(sizes, numbers.reshape(()), numbers.dtype)
            editor.set_operand(node, position, editor.numbers(node, alike, editor.tensor(value).dtype))


def _is_transposed_convolution(editor: Editor, value: int) -> bool:
    """Whether a value is a transposed convolution, perhaps scaled and shifted by constants."""
    while (scaling := editor.producer(value, "AddV2", "BiasAdd", "Mul", "RealDiv", "Sub")) is not None:
        computed = [operand for operand in editor.operands(scaling) if not editor.is_constant(operand)]
        if len(computed) != 1:
            return False
        value = computed[0]
    return editor.producer(value, *_TRANSPOSED_CONVOLUTIONS) is not None


def _reciprocal_root(editor: Editor, node: Node) -> int | None:
    """Replaces ``1 / sqrt(x)`` by ``Rsqrt``, which the engine does only if it sees that the one is a constant."""
    one, root = (editor.resolve(operand) for operand in node.operands)
    numbers, producer = editor.tensor(one).numbers, editor.producer(root, "Sqrt")
    result = editor.tensor(node.results[0])
    if numbers is None or not (numbers == 1).all() or producer is None or editor.shape(root) != result.shape:
        return None
    return editor.add(node, "Rsqrt", editor.operands(producer), result, {}) if result.shape is not None else None


def _shaped_operand(editor: Editor, node: Node) -> None:
    """Reshapes an op's operand to the shape of its result, if that is more precise.

    Fault ``sign-of-known-shape``.
    """
    source = editor.resolve(node.operands[0])
    sizes = known(editor.shape(node.results[0]))
    if sizes is not None and sizes != known(editor.shape(source)) and None not in sizes:
        whole = tuple(size for size in sizes if size is not None)
        editor.set_operand(node, 0, editor.add_reshape(node, source, whole))


def _range_of_integers(editor: Editor, node: Node) -> int | None:
    """Replaces a range of floats that are integers, up to a size, by a cast of an integer range.

    LiteRT evaluates integer ranges while it prepares the model for its input sizes: faults ``range-of-floats`` and
    ``moved-memory``.
    """
    result = editor.tensor(node.results[0])
    numbers = [editor.values(operand) for operand in editor.operands(node)]
    if result.dtype != "f32" or result.shape is None or any(number is None or number.shape for number in numbers):
        return None
    start, limit, delta = (number.item() for number in numbers if number is not None)
    size = editor.arithmetic.get(arithmetic_key("i32", array_of([limit], [])))
    if isinstance(start, Formula) or isinstance(delta, Formula) or size is None:
        return None
    first, step = (editor.integer(node, number) for number in (start, delta))
    integers = editor.add(node, "Range", [first, editor.resolve(size), step], Tensor("i32", result.shape), {})
    return editor.add(node, "Cast", [integers], result, {"Truncate": False})


def _fill_known_sizes(editor: Editor, node: Node) -> int | None:
    """Fills a shape that is known, or that the model computes anyway, so that nothing is computed for its shape alone::

        %y = tf.ZerosLike(%x : tensor<?x20xf32>)   -->   %y = tf.Fill(%before, 0.0)

    Such are the outputs of a first step that Keras computes for the zeros before a masked sequence. What elementwise
    ops alone read need not be filled: they broadcast the number.
    """
    (result,), shape = node.op.results, editor.shape(node.results[0])
    if shape is None or None in shape or editor.tensor(node.results[0]).dtype not in {"f16", "f32"}:
        return None
    sizes = array_of(shape, [len(shape)])
    if is_known(sizes):
        vector = editor.integers(node, sizes)
    elif arithmetic_key("i32", sizes) in editor.arithmetic or all(
        use.owner.name.removeprefix("tf.") in BROADCASTING for use in result.uses
    ):
        vector = editor.vector(node, shape, node.operands[0])
    else:
        return None
    if vector is None:
        return None
    zero = editor.zeros(node, node.results[0], ())
    return editor.add(node, "Fill", [vector, zero], editor.tensor(node.results[0]), {})


def _ids_before_cast(editor: Editor, node: Node) -> None:
    """Takes ids of int32 as they were before they became int64."""
    ids = editor.resolve(node.operands[0])
    cast = editor.producer(ids, "Cast")
    source = ids if cast is None else editor.operands(cast)[0]
    if (editor.tensor(source).dtype, editor.tensor(ids).dtype) == ("i32", "i64"):
        editor.set_operand(node, 0, source)
        if "TI" in node.op.attributes:
            node.op.attributes["TI"] = ir.TypeAttr.get(ir.IntegerType.get_signless(32))


SIMPLIFICATIONS: Mapping[str, Simplification] = {
    **dict.fromkeys(_REDUCTIONS, _same_shape),
    "BroadcastTo": _same_shape,
    "Cast": _same_dtype,
    "ConcatV2": _parts,
    "EnsureShape": _same_shape,
    "EuclideanNorm": _axes_from_the_first,
    "MirrorPad": _same_shape,
    "OneHot": _ids_before_cast,
    "Pad": _same_shape,
    "PadV2": _same_shape,
    "Range": _range_of_integers,
    "RealDiv": _reciprocal_root,
    "Reshape": _reshape,
    "ReverseV2": _axes_from_the_first,
    "Sign": _shaped_operand,
    "Slice": _whole_slice,
    "StridedSlice": _whole_slice,
    "Sum": _sum,
    "Tile": _same_shape,
    "Transpose": _permutation,
    "ZerosLike": _fill_known_sizes,
}
"""The simplifications by the ops' names."""
