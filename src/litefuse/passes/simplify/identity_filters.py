"""Convolutions that only extract windows of images."""

from __future__ import annotations

from litefuse.ir.constants import splat_number
from litefuse.ir.ops.facts import FLOATS
from litefuse.ir.shapes.editor import Editor
from litefuse.ir.shapes.graph import Node


def take_windows(editor: Editor, node: Node) -> int | None:
    """Extracts windows directly, which Keras's ``extract_patches`` computes with an identity matrix as the filter::

    %e = tf.MatrixDiagV3(tf.Fill([48], 1.0), 0, ...)
    %f = tf.Reshape(%e, [4, 4, 3, 48])
    %y = tf.Conv2D(%x, %f) {strides = [1, 4, 4, 1]}
        -->  %y = tf.ExtractImagePatches(%x) {ksizes = [1, 4, 4, 1], strides = [1, 4, 4, 1]}
    """
    images, filters = editor.operands(node)
    reshaping = editor.producer(filters, "Reshape")
    if reshaping is None or node.attributes["padding"] not in {"SAME", "VALID"}:
        return None
    image, shape, result = editor.shape(images), editor.shape(filters), editor.tensor(node.results[0])
    if node.attributes["data_format"] != "NHWC" or result.dtype not in FLOATS or image is None or shape is None:
        return None
    sizes = [size for size in shape if isinstance(size, int)]
    if len(image) != 4 or len(shape) != 4 or len(sizes) != 4 or image[3] != sizes[2]:
        return None
    rows, columns, channels, count = sizes
    matrix = editor.resolve(reshaping.operands[0])
    if rows * columns * channels != count or not _is_identity(editor, matrix, count):
        return None
    attributes = {
        "ksizes": [1, rows, columns, 1],
        "strides": node.attributes["strides"],
        "rates": node.attributes["dilations"],
        "padding": node.attributes["padding"],
    }
    return editor.add(node, "ExtractImagePatches", [images], result, attributes)


def _is_identity(editor: Editor, value: int, size: int) -> bool:
    diagonal = editor.producer(value, "MatrixDiag", "MatrixDiagV2", "MatrixDiagV3")
    if diagonal is None or editor.shape(value) != (size, size):
        return False
    ones, *parameters = editor.operands(diagonal)
    if parameters and not _is_zero(editor, parameters[0]):  # not the main diagonal
        return False
    return editor.shape(ones) == (size,) and _is_ones(editor, ones)


def _is_zero(editor: Editor, value: int) -> bool:
    values = editor.values(value)
    return values is not None and values.size > 0 and all(element == 0 for element in values.reshape(-1).tolist())


def _is_ones(editor: Editor, value: int) -> bool:
    filling = editor.producer(value, "Fill")
    if filling is not None:
        return _is_ones(editor, editor.resolve(filling.operands[1]))
    constant = editor.producer(value, "Const")
    return constant is not None and splat_number(constant.op.attributes["value"]) == 1
