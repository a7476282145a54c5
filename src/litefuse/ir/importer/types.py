"""Conversion of TensorFlow dtypes and shapes to MLIR types."""

from __future__ import annotations

from collections.abc import Sequence

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.ir.mlir import ir
from litefuse.ir.types import ELEMENTS, element_type_of, tensor_type_of

__all__ = ["dimension_sizes", "dtype_name", "element_type", "shape_text", "tensor_type", "variant_type"]

_LARGEST = 2**31 - 1
_NAMES = {member.value: str(member) for member in DataType}
# MLIR has them, and its ``tf`` dialect does not.
_NOT_IN_DIALECT = frozenset({DataType.INT2, DataType.INT4})


def element_type(dtype: int) -> ir.Type:
    """Returns the MLIR element type of a TensorFlow ``DataType``.

    Raises:
        GraphError: MLIR's ``tf`` dialect has no such type (other kinds of float8, int4 and the reference types).
    """
    name = _NAMES.get(dtype, str(dtype))
    if name not in ELEMENTS or dtype in _NOT_IN_DIALECT:
        raise GraphError(f"the dtype {name} is not supported")
    return element_type_of(name)


def dtype_name(kind: ir.Type) -> str:
    """Returns TensorFlow's name of the element type of a tensor type from :func:`tensor_type`, or of a handle."""
    name = tensor_type_of(kind).dtype
    if name in ELEMENTS:
        return name
    return "resource" if "tf_type.resource" in name else "variant"


def dimension_sizes(shape: Sequence[int | None]) -> list[int]:
    """Converts a shape to MLIR's form: an unknown dimension (None) becomes the dynamic size.

    Raises:
        GraphError: A size exceeds int32, which LiteRT's shapes and the passes use.
    """
    for size in shape:
        if size is not None and size > _LARGEST:
            raise GraphError(f"a dimension of the size {size} is more than LiteRT's shapes can note, {_LARGEST}")
    dynamic = ir.ShapedType.get_dynamic_size()
    return [dynamic if size is None else size for size in shape]


def tensor_type(dtype: int, shape: Sequence[int | None] | None) -> ir.ShapedType:
    """Returns the tensor type of a dtype and a shape: None as shape is an unknown rank, as a size a dynamic dimension.

    Raises:
        GraphError: MLIR's ``tf`` dialect has no such type, or a size exceeds LiteRT's int32.
    """
    element = element_type(dtype)
    if shape is None:
        return ir.UnrankedTensorType.get(element)
    return ir.RankedTensorType.get(dimension_sizes(shape), element)


def variant_type(content: ir.Type) -> ir.Type:
    """Returns the type of a scalar variant that holds values of type ``content``, such as a tensor list's elements."""
    return ir.Type.parse(f"tensor<!tf_type.variant<{content}>>")


def shape_text(shape: Sequence[int | None] | None) -> str:
    """Returns a shape as the ``tf`` dialect's shape attribute spells it: ``1x?x3``, ``*`` for unknown rank."""
    if shape is None:
        return "*"
    return "x".join("?" if size is None else str(size) for size in shape)
