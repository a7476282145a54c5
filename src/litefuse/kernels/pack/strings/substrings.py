"""``StringLength`` and ``Substr``: lengths and substrings of strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import check_dtype, check_strings, string_array
from litefuse.kernels.pack.supported import INDICES
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["StringLength", "Substr"]

_UNITS = ("BYTE", "UTF8_CHAR")


@pack_kernel("StringLength", native=True)
class StringLength(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.length``).

    Input: ``input``, strings of any shape. Output: their lengths, int32.

    Options: ``unit``: ``BYTE`` if missing, or ``UTF8_CHAR``, for characters: all bytes but continuation bytes.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/length.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, *, unit: str = "BYTE") -> TensorSpec:
        """Returns the input's shape.

        Raises:
            KernelError: The input is not of strings, or the unit is unknown.
        """
        _check_unit(unit)
        return TensorSpec(check_strings("input", text), np.int32)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, unit: str = "BYTE") -> None:
        """Measures one string after the other."""
        (text,) = inputs
        lengths = [len(one) if unit == "BYTE" else len(_beginnings(one)) for one in text.ravel().tolist()]
        outputs[0][...] = np.array(lengths, np.int32).reshape(text.shape)


@pack_kernel("Substr", native=True)
class Substr(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.substr``).

    Inputs: ``input``, strings; ``pos`` and ``len``, both int32 or both int64 and of one shape, which broadcasts with
    that of ``input``. A negative ``pos`` counts from the end.

    Output: ``len`` bytes or characters of each string from ``pos`` on, or as many as there are; with a negative ``len``
    all bytes, or no characters.

    Options: ``unit``: ``BYTE`` if missing, or ``UTF8_CHAR``, for characters.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/substr.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, pos: TensorSpec, length: TensorSpec, *, unit: str = "BYTE") -> TensorSpec:
        """Returns the shape that the inputs broadcast to.

        Raises:
            KernelError: An input has a wrong dtype or shape, or the unit is unknown.
        """
        _check_unit(unit)
        shape = check_strings("input", text)
        places = check_dtype("pos", pos, *INDICES)
        if check_dtype("len", length, str(pos.dtype)) != places:
            raise KernelError(f"pos and len must be of one shape, not {places} and {length.shape}")
        try:
            return TensorSpec(np.broadcast_shapes(shape, places), STRING)
        except ValueError:
            raise KernelError(f"input {shape} and pos {places} do not broadcast to one shape") from None

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, unit: str = "BYTE") -> None:
        """Takes the substrings, one string after the other.

        Raises:
            KernelError: A position is outside its string.
        """
        text, pos, length = np.broadcast_arrays(*inputs)
        part = _bytes_of if unit == "BYTE" else _characters_of
        parts = map(part, text.ravel().tolist(), pos.ravel().tolist(), length.ravel().tolist())
        outputs[0] = string_array(parts, text.shape)


def _check_unit(unit: str) -> None:
    if unit not in _UNITS:
        raise KernelError(f"unit must be {' or '.join(_UNITS)}, not {unit!r}")


def _beginnings(text: bytes) -> list[int]:
    """Returns the offsets of the characters: of all bytes but continuation bytes."""
    return [place for place, byte in enumerate(text) if byte & 0xC0 != 0x80]


def _begin(pos: int, size: int, text: bytes) -> int:
    begin = pos + size if pos < 0 else pos
    if not 0 <= begin <= size:
        raise KernelError(f"pos must lie within its string, but {pos} is outside {text!r}")
    return begin


def _bytes_of(text: bytes, pos: int, length: int) -> bytes:
    begin = _begin(pos, len(text), text)
    return text[begin:] if length < 0 else text[begin : begin + length]


def _characters_of(text: bytes, pos: int, length: int) -> bytes:
    starts = [*sorted({*_beginnings(text), 0}), len(text)] if text else [0]
    begin = _begin(pos, len(starts) - 1, text)
    if pos < 0 and length < 0:
        raise KernelError(f"len must not be negative where pos is, as {length} and {pos} are")
    return text[starts[begin] : starts[min(begin + max(length, 0), len(starts) - 1)]]
