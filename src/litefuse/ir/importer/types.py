"""Conversion of TensorFlow dtypes and shapes to MLIR types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.ir.mlir import ir

__all__ = ["dimension_sizes", "dtype_name", "element_type", "shape_text", "tensor_type", "variant_type"]

_LARGEST = 2**31 - 1
_ELEMENT_TYPES: dict[int, Callable[[], ir.Type]] = {
    DataType.FLOAT32: ir.F32Type.get,
    DataType.FLOAT64: ir.F64Type.get,
    DataType.FLOAT16: ir.F16Type.get,
    DataType.BFLOAT16: ir.BF16Type.get,
    DataType.FLOAT8_E4M3FN: lambda: ir.Type.parse("f8E4M3FN"),
    DataType.FLOAT8_E5M2: lambda: ir.Type.parse("f8E5M2"),
    DataType.BOOL: lambda: ir.IntegerType.get_signless(1),
    DataType.INT8: lambda: ir.IntegerType.get_signless(8),
    DataType.INT16: lambda: ir.IntegerType.get_signless(16),
    DataType.INT32: lambda: ir.IntegerType.get_signless(32),
    DataType.INT64: lambda: ir.IntegerType.get_signless(64),
    DataType.UINT8: lambda: ir.IntegerType.get_unsigned(8),
    DataType.UINT16: lambda: ir.IntegerType.get_unsigned(16),
    DataType.UINT32: lambda: ir.IntegerType.get_unsigned(32),
    DataType.UINT64: lambda: ir.IntegerType.get_unsigned(64),
    DataType.COMPLEX64: lambda: ir.ComplexType.get(ir.F32Type.get()),
    DataType.COMPLEX128: lambda: ir.ComplexType.get(ir.F64Type.get()),
    DataType.STRING: lambda: ir.Type.parse("!tf_type.string"),
    DataType.RESOURCE: lambda: ir.Type.parse("!tf_type.resource"),
    DataType.VARIANT: lambda: ir.Type.parse("!tf_type.variant"),
    DataType.QINT8: lambda: ir.Type.parse("!tf_type.qint8"),
    DataType.QUINT8: lambda: ir.Type.parse("!tf_type.quint8"),
    DataType.QINT16: lambda: ir.Type.parse("!tf_type.qint16"),
    DataType.QUINT16: lambda: ir.Type.parse("!tf_type.quint16"),
    DataType.QINT32: lambda: ir.Type.parse("!tf_type.qint32"),
}


def element_type(dtype: int) -> ir.Type:
    """Returns the MLIR element type of a TensorFlow ``DataType``.

    Raises:
        GraphError: MLIR's ``tf`` dialect has no such type (other kinds of float8, int4 and the reference types).
    """
    make = _ELEMENT_TYPES.get(dtype)
    if make is None:
        names = {member.value: str(member) for member in DataType}
        raise GraphError(f"the dtype {names.get(dtype, dtype)} is not supported")
    return make()


def dtype_name(kind: ir.Type) -> str:
    """Returns TensorFlow's name of the element type of a tensor type from :func:`tensor_type`, or of a handle."""
    element = ir.ShapedType(kind).element_type
    for dtype, make in _ELEMENT_TYPES.items():
        if make() == element:
            return str(DataType(dtype))
    return "resource" if "tf_type.resource" in str(element) else "variant"


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
