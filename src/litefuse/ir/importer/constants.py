"""TensorFlow's dtypes and shapes as MLIR types, arrays and TensorProtos as constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litefuse.errors import GraphError, SavedModelError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import TensorProto
from litefuse.frontends.saved_model.tensor_proto import tensor_value
from litefuse.ir.constants import string_elements
from litefuse.ir.mlir import COUNTS, converter_api_ext, ir
from litefuse.ir.types import ELEMENTS, element_type_of, tensor_type_of

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


_SIGNLESS = frozenset(np.dtype(kind) for kind in ("?", "i1", "i2", "i4", "i8", "f2", "f4", "f8"))


def elements_attribute(array: NDArray[Any], dtype: int) -> ir.Attribute:
    """Makes the elements attribute of an array: one copy of its bytes, owned by the MLIR context.

    Args:
        array: A numpy array of any TensorFlow dtype, including ml_dtypes' bfloat16; strings as objects (bytes).
        dtype: Its TensorFlow ``DataType``: numpy cannot distinguish quantized types from integers.

    Raises:
        GraphError: The ``tf`` dialect does not have the dtype, or no constants of it.
    """
    element = element_type(dtype)
    if dtype == DataType.STRING:
        return string_elements(array)
    if not isinstance(element, (ir.ComplexType, *_SPLAT_TYPES)):
        raise GraphError(f"a constant of dtype {DataType(dtype)} is not supported")
    kind = ir.RankedTensorType.get(dimension_sizes(array.shape), element)
    if array.size > 1 and not any(array.strides) and isinstance(element, _SPLAT_TYPES):
        # A broadcast scalar: a splat takes no memory.
        return ir.DenseElementsAttr.get_splat(kind, _scalar(array.reshape(-1)[0], element))
    COUNTS["copied_bytes"] += array.nbytes
    if not (array.flags.c_contiguous and array.flags.aligned):  # tensors in a checkpoint are not aligned
        array = np.array(array, array.dtype, order="C")
    if array.dtype in _SIGNLESS:
        return ir.DenseElementsAttr.get(array)
    if array.dtype.name == "bfloat16":
        # For a type that numpy lacks, the bindings take its bits and an explicit type.
        return ir.DenseElementsAttr.get(array.view(np.uint16), type=element, shape=array.shape)
    if array.dtype.kind == "c":
        return ir.DenseElementsAttr.get(_parts(array).reshape(-1), type=kind)
    return ir.DenseElementsAttr.get(array, type=element, shape=array.shape)


def constant(array: NDArray[Any], dtype: int, location: ir.Location | None = None) -> ir.Value:
    """Emits a constant at the current insertion point.

    Complex numbers are emitted as interleaved parts that a ``tf.Complex`` combines: the bindings cannot read complex
    constants.

    Raises:
        GraphError: Constants of this dtype do not exist.
    """
    attribute = elements_attribute(*constant_parts(array, dtype))
    kind = ir.DenseElementsAttr(attribute).type
    value = ir.Operation.create("tf.Const", results=[kind], attributes={"value": attribute}, loc=location).result
    return complex_of_parts(value, location) if dtype in _PARTS else value


def constant_parts(array: NDArray[Any], dtype: int) -> tuple[NDArray[Any], int]:
    """Returns a constant's array and dtype as emitted: complex numbers as parts in a new last dimension of size 2."""
    return (_parts(array), _PARTS[dtype]) if dtype in _PARTS else (array, dtype)


def complex_of_parts(value: ir.Value, location: ir.Location | None = None) -> ir.Value:
    """Emits the complex numbers whose real and imaginary parts are in a value's last dimension, of size 2."""
    pairs = ir.RankedTensorType(value.type)
    part = ir.RankedTensorType.get(pairs.shape[:-1], pairs.element_type)
    number = ir.IntegerType.get_signless(64)
    axes: dict[str, ir.Attribute] = {
        "axis": ir.IntegerAttr.get(number, len(part.shape)),
        "num": ir.IntegerAttr.get(number, 2),
    }
    parts = ir.Operation.create("tf.Unpack", results=[part, part], operands=[value], attributes=axes, loc=location)
    kind = ir.RankedTensorType.get(part.shape, ir.ComplexType.get(part.element_type))
    return ir.Operation.create("tf.Complex", results=[kind], operands=list(parts.results), loc=location).result


def _parts(array: NDArray[Any]) -> NDArray[Any]:
    part = np.float32 if array.dtype == np.complex64 else np.float64
    return np.array(array, order="C").reshape(-1).view(part).reshape(*array.shape, 2)


_PARTS: dict[int, DataType] = {DataType.COMPLEX64: DataType.FLOAT32, DataType.COMPLEX128: DataType.FLOAT64}


# The types that the bindings can read back.
_MAPPED_TYPES = frozenset(np.dtype(kind) for kind in ("i1", "i4", "i8", "f4", "f8"))


def mapped_attribute(array: NDArray[Any], dtype: int) -> ir.Attribute | None:
    """Makes an elements attribute that refers to an array's bytes without a copy.

    The engine does not support such an attribute, see ``place-weights``.

    Args:
        array: The array; it must not change.
        dtype: Its TensorFlow ``DataType``.

    Returns:
        The attribute, or None for an array that cannot be mapped.
    """
    if array.dtype not in _MAPPED_TYPES or not array.flags.c_contiguous:
        return None
    kind = ir.RankedTensorType.get(dimension_sizes(array.shape), element_type(dtype))
    return ir.DenseResourceElementsAttr.get_from_buffer(array.reshape(-1).view(np.uint8), "weight", kind)


def loaded_attribute(attribute: ir.Attribute) -> ir.Attribute:
    """Replaces an attribute that refers to its bytes by one that holds a copy; returns others unchanged."""
    try:
        ir.DenseResourceElementsAttr(attribute)
    except ValueError:
        return attribute
    array = converter_api_ext.dense_resource_elements_attr_to_numpy(attribute)
    COUNTS["copied_bytes"] += array.nbytes
    return ir.DenseElementsAttr.get(array)


_SPLAT_TYPES = (ir.IntegerType, ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)


def _scalar(value: np.generic, element: ir.Type) -> ir.Attribute:
    if isinstance(element, ir.IntegerType):
        return ir.IntegerAttr.get(element, int(value.item()))
    return ir.FloatAttr.get(element, float(value.item()))


def tensor_elements_attribute(proto: TensorProto) -> ir.Attribute:
    """Makes the elements attribute of a TensorProto.

    Raises:
        GraphError: Its dtype cannot be written, or data and shape do not match.
    """
    return elements_attribute(tensor_array(proto), proto.dtype)


def tensor_array(proto: TensorProto) -> NDArray[Any]:
    """Returns the value of a TensorProto.

    Raises:
        GraphError: It has no value that can be read, or data and shape do not match.
    """
    try:
        return tensor_value(proto)
    except SavedModelError as error:
        raise GraphError(error.message) from error
