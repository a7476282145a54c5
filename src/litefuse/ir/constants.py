"""Values of constants, and constant ops."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litefuse.ir.mlir import converter_api_ext, ir, producer

DENSE_CONSTANTS = frozenset({"arith.constant", "tf.Const", "tfl.pseudo_const"})
"""Constants whose elements are in the module; ``tf.Const`` may name a weight of the checkpoint instead."""

PLACEHOLDER = "tfl.external_const"
"""The constant that stands for a weight, whose elements stay in the mapped checkpoint."""

CONSTANTS = DENSE_CONSTANTS | {PLACEHOLDER, "tfl.pseudo_qconst"}
"""All constants: the dense ones, weights, and those of quantized elements, whose attribute has the integers."""

# A string in the text of an attribute; its escapes are backslashes, and bytes as two hexadecimal digits.
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")


def without_copies(value: ir.Value) -> ir.Value:
    """Returns the value behind any number of ``tf.Identity``."""
    while not isinstance(value.owner, ir.Block) and value.owner.name == "tf.Identity":
        value = value.owner.operands[0]
    return value


def stored(value: ir.Value) -> ir.DenseElementsAttr | None:
    """Returns the elements of a dense constant; None for any other value, and for elements that stay elsewhere."""
    owner = producer(value, *DENSE_CONSTANTS)
    if owner is None:
        return None
    try:
        attribute = owner.attributes["value"]
    except TypeError:  # the bindings cannot read complex constants
        return None
    return attribute if isinstance(attribute, ir.DenseElementsAttr) else None


def elements_of(value: ir.Value) -> NDArray[Any] | None:
    """Returns the elements of a dense constant, a copy of those that are a weight of the checkpoint.

    None for any other value, and for elements that the bindings cannot read: strings and complex numbers.
    """
    owner = producer(value, *DENSE_CONSTANTS)
    if owner is None:
        return None
    try:
        attribute = owner.attributes["value"]
        if isinstance(attribute, ir.DenseElementsAttr):
            return np.array(attribute, copy=False).reshape(attribute.type.shape)
        return converter_api_ext.dense_resource_elements_attr_to_numpy(ir.DenseResourceElementsAttr(attribute))
    except (TypeError, ValueError):
        return None


def integer_constant(value: ir.Value) -> int | list[int] | None:
    """Returns the value of a constant integer scalar or vector; None for any other value."""
    attribute = stored(value)
    if attribute is None or attribute.type.rank > 1:
        return None
    return np.array(attribute).reshape(attribute.type.shape).tolist()


def int32_constant(values: int | Sequence[int]) -> ir.Value:
    """Emits ``tf.Const`` of int32, a scalar or a vector, at the current insertion point and location."""
    return tensor_constant(ir.DenseElementsAttr.get(np.array(values, np.int32)))


def comes_from_constant(value: ir.Value) -> bool:
    """Whether a value is a constant, perhaps behind QUANTIZE and DEQUANTIZE or an op that moves its elements."""
    moving = ("tfl.dequantize", "tfl.quantize", "tfl.reshape", "tfl.reverse_v2", "tfl.transpose")
    while (owner := producer(value, *CONSTANTS, *moving)) is not None and owner.operands:
        value = owner.operands[0]
    return owner is not None


def tensor_constant(elements: ir.DenseElementsAttr) -> ir.Value:
    """Emits ``tf.Const`` at the current insertion point and location."""
    return ir.Operation.create("tf.Const", [elements.type], [], {"value": elements}).result


def pseudo_constant(elements: ir.DenseElementsAttr) -> ir.Value:
    """Emits ``tfl.pseudo_const``, for lowered modules, at the current insertion point and location."""
    return ir.Operation.create("tfl.pseudo_const", [elements.type], [], {"value": elements}).result


def absent_operand() -> ir.Value:
    """Emits what stands for an operand of a LiteRT op that is left out, at the current insertion point."""
    return ir.Operation.create("tfl.no_value", [ir.Type.parse("none")], [], {"value": ir.UnitAttr.get()}).result


def string_elements(array: NDArray[Any]) -> ir.Attribute:
    """Returns the elements attribute of a string array (objects: bytes); the bindings can only parse one from text."""
    shape = "".join(f"{size}x" for size in array.shape)
    values = [_quoted(value) for value in array.reshape(-1).tolist()]
    text = values[0] if array.ndim == 0 else _nested(values, array.shape) if array.size else ""
    return ir.Attribute.parse(f"dense<{text}> : tensor<{shape}!tf_type.string>")


def strings_of_constant(value: ir.Value) -> NDArray[Any] | None:
    """Returns the strings of a ``tf.Const``, even behind ``tf.Identity``, as an object array (bytes), else None."""
    owner = without_copies(value).owner
    if isinstance(owner, ir.Block) or owner.name != "tf.Const":
        return None
    kind = ir.RankedTensorType(owner.results[0].type)
    if str(kind.element_type) != "!tf_type.string":
        return None
    text = str(owner.attributes["value"]).encode()
    texts = [_ESCAPED.sub(_unescaped, quoted[1]) for quoted in _QUOTED.finditer(text)]
    strings = np.empty(len(texts), np.object_)
    strings[:] = texts
    scalar = strings.size == 1 and kind.rank > 0  # the text has one string for all elements
    return np.broadcast_to(strings, kind.shape) if scalar else strings.reshape(kind.shape)


def _unescaped(escaped: re.Match[bytes]) -> bytes:
    return b"\\" if escaped[1] == b"\\" else bytes.fromhex(escaped[1].decode())


def _nested(values: list[str], shape: tuple[int, ...]) -> str:
    for size in reversed(shape):
        values = [f"[{', '.join(values[start : start + size])}]" for start in range(0, len(values), size)]
    return values[0]


def _quoted(value: bytes) -> str:
    plain = all(32 <= byte < 127 and byte not in b'"\\' for byte in value)
    body = value.decode() if plain else "".join(f"\\{byte:02X}" for byte in value)
    return f'"{body}"'


_RESHAPING = frozenset({"tf.Reshape", "tf.ExpandDims", "tf.Squeeze", "tf.Identity", "tf.Cast"})


def constant_behind(value: ir.Value) -> tuple[ir.OpView, ir.OpOperand | None] | None:
    """Returns the constant behind a value and its reshapes and casts, if there is one.

    Returns:
        The constant op, and its use by the first op between it and the value, if there is one.
    """
    reader: ir.OpOperand | None = None
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return None
        if owner.name == "tf.Const":
            return owner.opview, reader
        if owner.name not in _RESHAPING:
            return None
        value = owner.operands[0]
        reader = next(use for use in value.uses if use.owner == owner and use.operand_number == 0)


def is_zero(value: ir.Value) -> bool:
    """Whether a value is a constant, possibly reshaped or cast, whose elements are all 0."""
    constant = constant_behind(value)
    return constant is not None and splat_number(constant[0].attributes["value"]) == 0


def splat_number(attribute: ir.Attribute) -> float | None:
    """Returns the number that all elements equal; None if they differ, are not numbers, or are stored elsewhere."""
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    element = attribute.get_splat_value()
    return element.value if isinstance(element, (ir.FloatAttr, ir.IntegerAttr)) else None
