"""Dtypes and shapes of tensors, with TensorFlow's names and as MLIR types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from litefuse.ir.mlir import ir
from litefuse.ir.ops.dims import Shape

__all__ = ["TensorType", "element_type_of", "ranked_tensor_type", "ranked_type", "shape_of", "tensor_type_of"]


@dataclass(frozen=True)
class TensorType:
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
    **{f"!tf_type.{name}": name for name in ("string", "resource", "variant", "qint8", "quint8", "qint16", "qint32")},
}


def tensor_type_of(value: ir.Value | ir.Type) -> TensorType:
    """Returns the dtype and shape of a value (or of a tensor type)."""
    kind = ir.ShapedType(value.type if isinstance(value, ir.Value) else value)
    element = str(kind.element_type)
    return TensorType(_DTYPE_NAMES.get(element, element), shape_of(kind))


def shape_of(kind: ir.ShapedType) -> Shape | None:
    """Returns the shape of a type, with None for an unknown dimension; None for unknown rank."""
    if not kind.has_rank:
        return None
    return tuple(None if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(kind.rank))


_ELEMENTS = {name: element for element, name in _DTYPE_NAMES.items()}


def element_type_of(dtype: str) -> ir.Type:
    """Returns the MLIR type of a dtype.

    Raises:
        ValueError: No such dtype.
    """
    if dtype not in _ELEMENTS:
        raise ValueError(f"unknown dtype {dtype!r}")
    return ir.Type.parse(_ELEMENTS[dtype])


def ranked_tensor_type(kind: TensorType) -> ir.Type:
    """Returns the MLIR type of a dtype and a shape.

    Raises:
        ValueError: The rank is unknown, or the dtype is unknown.
    """
    if kind.shape is None or kind.dtype not in _ELEMENTS:
        raise ValueError(f"{kind} is not a ranked tensor type")
    return ranked_type(kind.shape, element_type_of(kind.dtype))


def ranked_type(shape: Sequence[int | None], element: ir.Type) -> ir.Type:
    """Returns the MLIR type of an element type and a shape, with None for an unknown dimension."""
    dynamic = ir.ShapedType.get_dynamic_size()
    return ir.RankedTensorType.get([dynamic if size is None else size for size in shape], element)
