"""Reciprocal roots that are bounded, as in norms that vectors are divided by."""

from __future__ import annotations

import numpy as np

from litefuse.ir.shapes.editor import Editor
from litefuse.ir.shapes.graph import Node

__all__ = ["bound_before_root"]

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
