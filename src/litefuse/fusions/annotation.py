"""Annotations, as TensorFlow's ``experimental_implements`` takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from google.protobuf import text_format

from litefuse.errors import FusionError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AttrValue, NameAttrList, TensorProto, TensorShapeProto

_LARGEST = 3.4028235677973366e38  # what is smaller is rounded to a finite float32


def annotation(name: str, /, **attributes: Any) -> str:
    """Returns the annotation that marks a function of TensorFlow as a composite.

    It is text, and TensorFlow is not needed to write it:

        @tf.function(experimental_implements=litefuse.annotation("RowStandardize", epsilon=1e-3, axes=[1, 2]))
        def row_standardize(x):
            ...

    Args:
        name: The composite's name: of the conversion code that is registered for it, or of the custom op to be.
        attributes: The values of its attributes by name. Pass those that Python does not allow as keywords as
            ``**{"data-format": "NHWC"}``. A value is

            - a bool, an int of 64 bits, a float (stored as float32), a str or bytes;
            - a dtype of numpy, ml_dtypes or TensorFlow;
            - a shape: a ``tf.TensorShape``, or a list or tuple with None for an unknown size;
            - a numpy array;
            - a list or tuple of these, all of one kind; ints beside floats become floats.

    Returns:
        A ``NameAttrList`` in protobuf's text format, in one line.

    Raises:
        FusionError: The name is empty, or TensorFlow has no attribute that holds the value.
    """
    if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise FusionError(f"{name!r} does not name a composite", hint="Pass its name as text, then its attributes.")
    message = NameAttrList(name=name)
    for key, value in attributes.items():
        try:
            message.attr[key].CopyFrom(_attribute(value))
        except (TypeError, ValueError) as error:
            raise FusionError(
                f"the attribute {key!r} cannot be {value!r}: {error}",
                where=f"the annotation {name!r}",
                hint="Attributes are numbers, text, dtypes, shapes, arrays, and lists of these.",
            ) from None
    return text_format.MessageToString(message, as_one_line=True)


def _attribute(value: Any) -> AttrValue:
    if isinstance(value, np.generic):
        return _attribute(cast("Any", value.item()))
    if isinstance(value, bool):
        return AttrValue(b=value)
    if isinstance(value, int):
        return AttrValue(i=value)
    if isinstance(value, float):
        if _LARGEST <= abs(value) < float("inf"):
            raise ValueError("float32 does not hold it")
        return AttrValue(f=value)
    if isinstance(value, str | bytes):
        return AttrValue(s=value.encode() if isinstance(value, str) else value)
    if isinstance(value, np.ndarray):
        return AttrValue(tensor=_tensor(cast("npt.NDArray[Any]", value)))
    if isinstance(value, list | tuple):
        elements = cast("Sequence[Any]", value)
        is_shape = any(element is None for element in elements)
        return AttrValue(shape=_shape(elements)) if is_shape else _list([_attribute(element) for element in elements])
    if hasattr(value, "as_proto"):  # TensorFlow's TensorShape
        return AttrValue(shape=_shape(None if value.rank is None else value.as_list()))
    return AttrValue(type=_dtype(value))


def _tensor(array: npt.NDArray[Any]) -> TensorProto:
    result = TensorProto(dtype=_dtype(array.dtype), tensor_shape=_shape(array.shape))
    if result.dtype == DataType.STRING:
        result.string_val.extend(_attribute(element).s for element in array.reshape(-1).tolist())
    else:
        result.tensor_content = array.astype(DataType(result.dtype).to_numpy()).tobytes()
    return result


def _list(values: Sequence[AttrValue]) -> AttrValue:
    kinds = {str(value.WhichOneof("value")) for value in values}
    if kinds == {"f", "i"}:
        return _list([AttrValue(f=value.i) if value.HasField("i") else value for value in values])
    if len(kinds) > 1 or "list" in kinds:
        raise TypeError("the elements of a list are of one kind, and no lists themselves")
    result = AttrValue(list=AttrValue.ListValue())
    for kind in kinds:
        getattr(result.list, kind).extend(getattr(value, kind) for value in values)
    return result


def _shape(sizes: Iterable[int | None] | None) -> TensorShapeProto:
    if sizes is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=-1 if size is None else size) for size in sizes])


def _dtype(value: Any) -> int:
    """Returns TensorFlow's number of a dtype of its own or of numpy's."""
    if hasattr(value, "as_datatype_enum"):
        return value.as_datatype_enum
    if not isinstance(value, np.dtype | type) or (isinstance(value, type) and not issubclass(value, np.generic)):
        raise TypeError(f"no attribute holds a {type(cast('object', value)).__name__}")
    dtype = np.result_type(cast("Any", value))
    name = "STRING" if dtype.kind in "OSU" else str(dtype).upper()
    if name not in DataType.__members__:
        raise TypeError(f"TensorFlow has no dtype {dtype}")
    return DataType[name]
