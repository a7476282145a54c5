"""Dtypes and shapes of tensors, with TensorFlow's names and as MLIR types; handles and variants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from litefuse.ir.mlir import ir
from litefuse.ir.ops.dims import Shape

_VALUE_TYPE = re.compile(r"tensor<!tf_type\.resource<(.+)>>")


class TensorType(NamedTuple):
    """A tensor's type.

    Attributes:
        dtype: TensorFlow's name of the element type, such as ``float32``; MLIR's name if it has none.
        shape: The shape, None for an unknown dimension; None instead of the tuple for unknown rank.
    """

    dtype: str
    shape: Shape | None

    @property
    def rank(self) -> int | None:
        """The rank; None if unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def sizes(self) -> Shape:
        """The shape; empty if the rank is unknown."""
        return self.shape or ()

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype}[*]"
        return f"{self.dtype}[{','.join('?' if size is None else str(size) for size in self.shape)}]"


_DTYPE_NAMES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "i1": "bool",
    **{f"i{width}": f"int{width}" for width in (2, 4, 8, 16, 32, 64)},
    **{f"ui{width}": f"uint{width}" for width in (8, 16, 32, 64)},
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
    **{f"!tf_type.{name}": name for name in ("string", "resource", "variant")},
    **{f"!tf_type.{name}": name for name in ("qint8", "quint8", "qint16", "quint16", "qint32")},
}


def tensor_type_of(value: ir.Value | ir.Type) -> TensorType:
    """Returns the dtype and shape of a value (or of a tensor type)."""
    kind = ir.ShapedType(value.type if isinstance(value, ir.Value) else value)
    element = str(kind.element_type)
    return TensorType(_DTYPE_NAMES.get(element, element), shape_of(kind))


def is_float32(value: ir.Value) -> bool:
    """Whether a value is a tensor of float32; an omitted operand of a LiteRT op is none."""
    return isinstance(value.type, ir.ShapedType) and isinstance(value.type.element_type, ir.F32Type)


def shape_of(kind: ir.ShapedType) -> Shape | None:
    """Returns the shape of a type, with None for an unknown dimension; None for unknown rank."""
    if not kind.has_rank:
        return None
    return tuple(None if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(kind.rank))


ELEMENTS = {name: element for element, name in _DTYPE_NAMES.items()}
"""MLIR's name of each dtype that it has."""


def element_type_of(dtype: str) -> ir.Type:
    """Returns the MLIR type of a dtype.

    Raises:
        ValueError: No such dtype.
    """
    if dtype not in ELEMENTS:
        raise ValueError(f"unknown dtype {dtype!r}")
    return ir.Type.parse(ELEMENTS[dtype])


def ranked_tensor_type(kind: TensorType) -> ir.Type:
    """Returns the MLIR type of a dtype and a shape.

    Raises:
        ValueError: The rank is unknown, or the dtype is unknown.
    """
    if kind.shape is None or kind.dtype not in ELEMENTS:
        raise ValueError(f"{kind} is not a ranked tensor type")
    return ranked_type(kind.shape, element_type_of(kind.dtype))


def ranked_type(shape: Sequence[int | None], element: ir.Type) -> ir.Type:
    """Returns the MLIR type of an element type and a shape, with None for an unknown dimension."""
    dynamic = ir.ShapedType.get_dynamic_size()
    return ir.RankedTensorType.get([dynamic if size is None else size for size in shape], element)


def is_resource(value: ir.Value) -> bool:
    """Whether the value is a handle."""
    return "!tf_type.resource" in str(value.type)


def resource_value_type(handle: ir.Value) -> ir.ShapedType | None:
    """Returns the type of the value behind a handle, if the handle's type states it."""
    match = _VALUE_TYPE.fullmatch(str(handle.type))
    return ir.ShapedType(ir.Type.parse(match[1])) if match else None


def is_variant(value: ir.Value) -> bool:
    """Whether a value is a variant, such as a tensor list."""
    return "!tf_type.variant" in str(value.type)  # an omitted operand of a fused op has no shaped type


def assign_variable(handle: ir.Value, value: ir.Value) -> None:
    """Emits the assignment of a variable, at the current insertion point."""
    attributes: dict[str, ir.Attribute] = {"validate_shape": ir.BoolAttr.get(False)}
    ir.Operation.create("tf.AssignVariableOp", operands=[handle, value], attributes=attributes)
