"""Batches of matrices whose dimensions were merged for a product, and are split again behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from litefuse.ir.attributes import ASSERTS_SIZES
from litefuse.ir.ops.dims import Dim, is_stretched, product
from litefuse.ir.ops.facts import Dims, Tensor
from litefuse.ir.shapes.editor import Editor
from litefuse.ir.shapes.graph import Node

__all__ = ["SPLITTABLE", "multiply_split"]

# Ops on each element or row, which are the same before and after a reshape that keeps the rows.
_UNARY = frozenset({"Exp", "Identity", "LogSoftmax", "Neg", "Relu", "Sigmoid", "Softmax", "Tanh"})
_BINARY = frozenset({"Add", "AddV2", "Maximum", "Minimum", "Mul", "RealDiv", "Sub"})

SPLITTABLE = _UNARY | _BINARY | {"BatchMatMulV2"}
"""The ops between merged and split batches."""


def multiply_split(editor: Editor, node: Node) -> int | None:
    """Multiplies matrices whose batches are not merged, where the product's batch is split again::

        %a = tf.Reshape(%q : tensor<?x2x?x4xf32>, ...) : tensor<?x?x4xf32>
        %b = tf.Reshape(%k : tensor<?x2x?x4xf32>, ...) : tensor<?x?x4xf32>
        %p = tf.BatchMatMulV2(%a, %b) {adj_y = true} : tensor<?x?x?xf32>
        %y = tf.Reshape(%p, ...) : tensor<?x2x?x?xf32>
            -->  %y = tf.BatchMatMulV2(%q, %k) {adj_y = true} : tensor<?x2x?x?xf32>

    So are the ops between them, such as the softmax of attention.
    """
    value = editor.resolve(node.operands[0])
    before, after = editor.shape(value), editor.shape(node.results[0])
    if (
        before is None
        or after is None
        or len(before) < 3
        or len(after) <= len(before)
        or ASSERTS_SIZES in node.attributes
    ):
        return None
    count = len(after) - len(before) + 1
    outer, rest = after[:count], after[count:]
    if rest != before[1:] or product(outer) != before[0]:
        return None
    emit = _split(editor, node, value, outer)
    return None if emit is None else emit()


_Emitted = Callable[[], int]


def _split(editor: Editor, node: Node, value: int, outer: Dims) -> _Emitted | None:
    """Returns what emits a value with its first dimension split into ``outer``; None if that takes a reshape."""
    shape = editor.shape(value)
    if shape is None:
        return None
    wanted = (*outer, *shape[1:])
    reshaping = editor.producer(value, "Reshape")
    if reshaping is not None:
        source = editor.resolve(reshaping.operands[0])
        return (lambda: source) if is_stretched(editor.shape(source) or (), wanted) else None
    if not editor.is_used_once(value):
        return None
    if (computing := editor.producer(value, *_UNARY)) is not None:
        return _again(editor, node, computing, wanted, [_split(editor, node, editor.operands(computing)[0], outer)])
    if (multiplying := editor.producer(value, "BatchMatMulV2")) is not None:
        operands = editor.operands(multiplying)
        shapes = [editor.shape(operand) for operand in operands]
        if any(own is None or len(own) != len(shape) or own[0] != shape[0] for own in shapes):
            return None  # one of them is broadcast
        return _again(editor, node, multiplying, wanted, [_split(editor, node, operand, outer) for operand in operands])
    if (computing := editor.producer(value, *_BINARY)) is not None:
        operands = editor.operands(computing)
        return _again(
            editor, node, computing, wanted, [_operand(editor, node, operand, outer, shape) for operand in operands]
        )
    return None


def _operand(editor: Editor, node: Node, value: int, outer: Dims, shape: Dims) -> _Emitted | None:
    """Returns what emits an operand of an op on each element."""
    own = editor.shape(value)
    if own is not None and len(own) < len(shape):
        return lambda: value  # it is broadcast over the first dimension
    return _split(editor, node, value, outer) if own == shape else None


def _again(
    editor: Editor, node: Node, op: Node, shape: Sequence[Dim], operands: Sequence[_Emitted | None]
) -> _Emitted | None:
    """Returns what emits an op on other operands."""
    found = [operand for operand in operands if operand is not None]
    if len(found) < len(operands):
        return None

    def emit() -> int:
        dtype = editor.tensor(op.results[0]).dtype
        return editor.add(node, op.name, [each() for each in found], Tensor(dtype, tuple(shape)), op.attributes)

    return emit
