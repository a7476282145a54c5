"""Drops broadcasts of operands of elementwise ops, which broadcast by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from litefuse.ir.ops.dims import Shape
from litefuse.ir.ops.facts import Dims, Op, ShapeError, Tensor, Undecided, Values, broadcast_shapes, known
from litefuse.ir.ops.rules import RULES
from litefuse.ir.ops.rules.elementwise import BROADCASTING
from litefuse.ir.shapes.editor import Editor
from litefuse.ir.shapes.graph import Function, Node
from litefuse.ir.shapes.inference import Inference

EXPANDING = ("BroadcastTo", "Fill", "Tile")
"""The ops that repeat values."""

# LiteRT's elementwise ops broadcast up to this rank.
_MAX_RANK = 4

# Ops that commute with broadcasting.
_TOLERANT = BROADCASTING | {
    *("Abs", "Cast", "Ceil", "Cos", "Elu", "Erf", "Exp", "ExpandDims", "Floor", "Identity", "IsFinite", "IsInf"),
    *("IsNan", "LeakyRelu", "Log", "Log1p", "LogicalNot", "Neg", "OnesLike", "Reciprocal", "Relu", "Relu6", "Round"),
    *("Rsqrt", "Sigmoid", "Sign", "Sin", "Softplus", "Sqrt", "Square", "StopGradient", "Tan", "Tanh", "ZerosLike"),
}
_FLOATS = frozenset({"f16", "f32", "f64"})


def drop_expansions(inference: Inference, function: Function) -> dict[int, int]:
    """Finds values that need not be broadcast, since the elementwise ops that use them broadcast by themselves::

        %e = tf.BroadcastTo(%c : tensor<1x4xf32>, %shape) : tensor<?x4xf32>
        %m = tf.Greater(%e, %zero)                                               %m = tf.Greater(%c, %zero)
        %y = tf.SelectV2(%m, %x : tensor<?x4xf32>, %zero)                   -->  %y = tf.SelectV2(%m, %x, %zero)

    Values computed from one that is not broadcast are smaller as well, down to the ops whose results are the same
    either way; if other ops use one of them, the broadcast stays. The shapes of the smaller values are recorded.

    Returns:
        The replacement of each broadcast value.
    """
    users: dict[int, list[int]] = {}
    for position, node in enumerate(function.nodes):
        for value in dict.fromkeys(node.operands):
            users.setdefault(value, []).append(position)
    returned = frozenset(function.returned)
    sources: dict[int, int] = {}
    for node in function.nodes:
        if node.name in EXPANDING:
            source = _expanded(inference, node)
            (result,) = node.results
            if source is None or inference.tensor(source).shape == inference.tensor(result).shape:
                continue
            smaller = _smaller(inference, function, users, returned, result, inference.tensor(source))
            if smaller is not None:
                sources[result] = source
                for value, tensor in smaller.items():
                    inference.tensors[value] = tensor
    return sources


def _smaller(
    inference: Inference,
    function: Function,
    users: Mapping[int, Sequence[int]],
    returned: frozenset[int],
    expanded: int,
    source: Tensor,
) -> dict[int, Tensor] | None:
    """Returns the values that are smaller without a broadcast; None if it has to stay."""
    smaller = {expanded: source}
    waiting = list(users.get(expanded, ()))
    heapify(waiting)
    if not waiting or expanded in returned:
        return None
    while waiting:
        position = heappop(waiting)
        while waiting and waiting[0] == position:
            heappop(waiting)
        node = function.nodes[position]
        if node.name not in _TOLERANT or len(node.results) != 1:
            return None
        operands = [smaller.get(value) or inference.tensor(value) for value in node.operands]
        (result,) = node.results
        before = inference.tensor(result)
        if before.values is not None or before.shape is None:
            return None
        try:
            shape = RULES[node.name](Op(node.name, operands, [before], node.attributes))
        except (ShapeError, Undecided):
            return None
        if not isinstance(shape, tuple) or None in shape:
            return None
        if not _is_cheap([operand.shape for operand in operands], before.shape):
            return None
        if shape != before.shape:
            if result in returned:
                return None
            smaller[result] = Tensor(before.dtype, tuple(size for size in shape if size is not None))
            for user in users.get(result, ()):
                heappush(waiting, user)
    return smaller


def _is_cheap(operands: Sequence[Dims | None], result: Dims) -> bool:
    return len(result) <= _MAX_RANK or all(not shape or shape == result for shape in operands)


def _expanded(inference: Inference, node: Node) -> int | None:
    """Returns the value that an op repeats along dimensions of size 1, or as a whole; None if it repeats parts."""
    if node.name == "Fill":
        return node.operands[1]
    shape, result = inference.tensor(node.operands[0]).shape, inference.tensor(node.results[0]).shape
    if shape is None or result is None:
        return None
    if node.name == "Tile" and any(a not in {1, b} for a, b in zip(shape, result, strict=True)):
        return None
    return node.operands[0]


def pad_instead(editor: Editor, node: Node) -> int | None:
    """Concatenates a constant with a tensor by padding and adding, instead of repeating the constant for every batch::

        %e = tf.BroadcastTo(%c : tensor<1x1x4xf32>, %shape)                %p = tf.Pad(%x, [[0, 0], [1, 0], [0, 0]])
        %y = tf.ConcatV2(%e, %x : tensor<?x9x4xf32>, 1)               -->  %y = tf.AddV2(%p, tf.ConcatV2(%c, zeros, 1))

    The sum is exact: one of its terms is 0 everywhere.
    """
    *parts, last = editor.operands(node)
    result = editor.tensor(node.results[0])
    axes, open_shape = editor.values(last), known(result.shape)
    if axes is None or open_shape is None or None not in open_shape:
        return None
    axis = int(axes.item()) % len(open_shape)
    sources = [_constant_source(editor, part) for part in parts]
    widths = [width for part in parts for width in (known(editor.shape(part)) or open_shape)[axis : axis + 1]]
    if result.dtype not in _FLOATS or len(open_shape) > _MAX_RANK or sources.count(None) != 1 or None in widths:
        return None
    place, width = sources.index(None), [width or 0 for width in widths]
    frame = _frame([editor.shape(source) for source in sources if source is not None], axis, len(open_shape))
    if frame is None:
        return None

    def framed(size: int) -> tuple[int, ...]:
        return (*frame[:axis], size, *frame[axis:])

    def repeated(source: int, size: int) -> int:
        """Repeats a constant along the axis, too, and gives it the rank of its part."""
        if known(editor.shape(source)) == framed(size):
            return source
        shape = editor.integers(node, framed(size))
        return editor.add(node, "BroadcastTo", [source, shape], Tensor(result.dtype, framed(size)), {})

    zeros = editor.zeros(node, node.results[0], framed(width[place]))
    terms = [zeros if source is None else repeated(source, size) for source, size in zip(sources, width, strict=True)]
    constant = editor.add(node, "ConcatV2", [*terms, last], Tensor(result.dtype, framed(sum(width))), {})
    amounts: Values = np.zeros((len(open_shape), 2), object)
    amounts[axis] = [sum(width[:place]), sum(width[place + 1 :])]
    operands = [parts[place], editor.integers(node, amounts)]
    padded = editor.add(node, "Pad", operands, Tensor(result.dtype, result.shape), {})
    total = editor.add(node, "AddV2", [padded, constant], Tensor(result.dtype, result.shape), {})
    editor.padded_sums.add(total)
    return total


def _constant_source(editor: Editor, part: int) -> int | None:
    """Returns the constant that a part of a concatenation repeats."""
    producer = editor.producer(part, "BroadcastTo", "Tile")
    source = None if producer is None else _expanded(editor.inference, producer)
    source = None if source is None else editor.resolve(source)
    return source if source is not None and editor.is_constant(source) else None


def _frame(shapes: Sequence[Dims | None], axis: int, rank: int) -> tuple[int, ...] | None:
    """Returns the shape of a rank without one dimension, if it is known and the same for all of these."""
    frames: set[Shape] = set()
    for shape in shapes:
        sizes = known(shape)
        if sizes is None:
            return None
        sizes = (*[1] * (rank - len(sizes)), *sizes)
        frames.add((*sizes[:axis], *sizes[axis + 1 :]))
    if len(frames) != 1:
        return None
    (frame,) = frames
    whole = tuple(size for size in frame if size is not None)
    return whole if len(whole) == len(frame) else None


def _broadcast_shape(editor: Editor, values: Sequence[int]) -> Dims | None:
    shapes = [shape for shape in map(editor.shape, values) if shape is not None]
    try:
        return broadcast_shapes(shapes) if len(shapes) == len(values) else None
    except ShapeError:
        return None


def add_constants_first(editor: Editor, node: Node) -> int | None:
    """Adds a second constant to the first where a tensor was padded for it: exact if each element has one term."""
    for value, other in (editor.operands(node), editor.operands(node)[::-1]):
        total = editor.producer(value, "AddV2")
        if total is None or not editor.is_constant(other) or not editor.is_used_once(value):
            continue
        padded, constant = editor.operands(total)
        if value not in editor.padded_sums:
            continue
        shape = _broadcast_shape(editor, [constant, other])
        result = editor.tensor(node.results[0])
        if shape is not None and _broadcast_shape(editor, [padded, constant]) == result.shape:
            joined = editor.add(node, "AddV2", [constant, other], Tensor(result.dtype, shape), {})
            return editor.add(node, "AddV2", [padded, joined], Tensor(result.dtype, result.shape), {})
    return None
