"""Numbers from and to strings: ``StringToNumber``, ``AsString``, ``DecodeRaw`` and ``DecodePaddedRaw``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import as_bytes, check_dtype, check_scalar, check_strings, string_array
from litefuse.kernels.pack.supported import COMPLEX, FLOATS, INTEGERS, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.tensors import STRING

# The values of LiteRT's TensorType, which the op's options use.
_RESULTS = {0: "float32", 2: "int32", 4: "int64", 10: "float64", 12: "uint64", 15: "uint32"}

_WHITESPACE = " \t\n\v\f\r"
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_NO_NUMBER = re.compile(r"([+-]?)(inf|infinity|nan(?:\([0-9a-zA-Z_]*\))?)", re.IGNORECASE)


@pack_kernel("StringToNumber", native=True)
class StringToNumber(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.to_number``).

    Input: ``string_tensor``, strings of any shape: numbers in decimal form, floats also with an exponent, in
    hexadecimal form, ``inf`` or ``nan``; whitespace around them is ignored.

    Output: the numbers; floats are rounded to nearest.

    Options: ``out_type``, the dtype as LiteRT's TensorType: float32, float64, int32, int64, uint32 or uint64; float32
    if missing.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/to_number.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, *, out_type: int = 0) -> TensorSpec:
        if out_type not in _RESULTS:
            raise KernelError(f"out_type must be one of {', '.join(_RESULTS.values())}, not number {out_type}")
        return TensorSpec(check_strings("string_tensor", text), _RESULTS[out_type])

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        (text,) = inputs
        dtype = outputs[0].dtype
        read = _float if dtype.kind == "f" else _integer
        numbers = [read(one, dtype) for one in text.ravel().tolist()]
        outputs[0][...] = np.array(numbers, dtype).reshape(text.shape)


def _integer(data: bytes, dtype: np.dtype[Any]) -> int:
    text = data.decode("latin-1").strip(_WHITESPACE)
    if _INTEGER.fullmatch(text) and not (dtype.kind == "u" and text[0] == "-"):
        number = int(text)
        if np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
            return number
    raise KernelError(f"{data!r} is not a number of {dtype}")


def _float(data: bytes, dtype: np.dtype[Any]) -> float:
    text = data.decode("latin-1").strip(_WHITESPACE)
    if _DECIMAL.fullmatch(text):
        return _nearest(float(text), text, dtype)
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return float("-inf" if text[0] == "-" else "inf")
    matched = _NO_NUMBER.fullmatch(text)
    if matched is None:
        raise KernelError(f"{data!r} is not a number of {dtype}")
    return float(matched[1] + matched[2][:3])


def _nearest(number: float, text: str, dtype: np.dtype[Any]) -> float:
    """Returns the float32 that is nearest to a text's value; rounding its float64 may give another one."""
    if dtype != np.float32:
        return number
    with np.errstate(over="ignore"):
        rounded = np.float32(number)
    if not np.isfinite(rounded) or float(rounded) == number:
        return float(rounded)
    other = np.nextafter(rounded, np.float32(np.copysign(np.inf, number - float(rounded))))
    halfway = (Fraction(float(rounded)) + Fraction(float(other))) / 2 if np.isfinite(other) else None
    if halfway is None or halfway != Fraction(number):
        return float(rounded)
    exact = Fraction(Decimal(text))
    if exact == halfway:
        return float(rounded)
    return float(other if (exact > halfway) == (other > rounded) else rounded)


_FILLS = ("", " ", "+", "-", "0", "#")


@pack_kernel("AsString")
class AsString(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.as_string``).

    Input: ``input``: integers, floats, complex numbers, booleans or strings of any shape. Output: these as strings.

    Options, as for C's ``printf``: ``width``; ``fill``: one of its flags, or empty; for floats ``precision``,
    ``scientific`` (``%e``) and ``shortest`` (``%g``), otherwise ``%f``. All may be missing.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/as_string.
    """

    dtypes = ("bool", *INTEGERS, *FLOATS, *COMPLEX, "string")

    def prepare(
        self,
        values: TensorSpec,
        *,
        precision: int = -1,
        scientific: bool = False,
        shortest: bool = False,
        fill: str | bytes = "",
    ) -> TensorSpec:
        if as_bytes(fill).decode("latin-1") not in _FILLS:
            raise KernelError(f"fill must be a flag of printf, not {fill!r}")
        if scientific and shortest:
            raise KernelError("scientific and shortest exclude each other")
        if _letter(values.dtype) in {"d", "s"} and (precision >= 0 or scientific or shortest):
            raise KernelError(f"precision, scientific and shortest do not belong to {values.dtype}")
        return TensorSpec(values.shape, STRING)

    def invoke(
        self,
        inputs: Arrays,
        outputs: Outputs,
        *,
        precision: int = -1,
        scientific: bool = False,
        shortest: bool = False,
        width: int = -1,
        fill: str | bytes = "",
    ) -> None:
        (values,) = inputs
        flag = as_bytes(fill).decode()
        letter = _letter(values.dtype)
        if letter == "f":
            letter = "g" if shortest else "e" if scientific else "f"
        if values.dtype.kind == "u" and flag in {" ", "+"}:  # for signed numbers only, in C
            flag = ""
        size = (str(width) if width >= 0 else "") + (f".{precision}" if precision >= 0 else "")

        def written(value: Any) -> bytes:
            if isinstance(value, bool):
                return b"true" if value else b"false"
            if isinstance(value, bytes):
                missing = width - len(value)
                return value.ljust(width) if flag == "-" else b" " * missing + value
            if isinstance(value, complex):
                return b"(" + written(value.real) + b"," + written(value.imag) + b")"
            if letter != "d" and not np.isfinite(value):
                # C writes the sign of NaN, and does not pad infinities and NaN with zeros.
                form = f"%{flag if flag != '0' else ''}{size}{letter}" % value
                negative = np.isnan(value) and np.signbit(value)
                return (_negative(form) if negative else form).encode()
            return (f"%{flag}{size}{letter}" % value).encode()

        wide = values.astype(np.float64) if values.dtype.name in FLOATS else values
        outputs[0] = string_array(map(written, wide.ravel().tolist()), values.shape)


def _letter(dtype: np.dtype[Any]) -> str:
    return "s" if dtype == STRING or dtype == np.bool_ else "d" if dtype.name in INTEGERS else "f"


def _negative(form: str) -> str:
    """Returns the text of a positive NaN with a minus sign, of the same width."""
    start = form.rindex("nan")
    if start and form[start - 1] in " +":
        return f"{form[: start - 1]}-{form[start:]}"
    text = f"-{form}"
    return text.removesuffix(" ")


# The values of LiteRT's TensorType, which the ops' options use.
_DTYPES: dict[int, np.dtype[Any]] = {
    0: np.dtype(np.float32),
    1: np.dtype(np.float16),
    2: np.dtype(np.int32),
    3: np.dtype(np.uint8),
    4: np.dtype(np.int64),
    6: np.dtype(np.bool_),
    7: np.dtype(np.int16),
    8: np.dtype(np.complex64),
    9: np.dtype(np.int8),
    10: np.dtype(np.float64),
    11: np.dtype(np.complex128),
    16: np.dtype(np.uint16),
    18: np.dtype(ml_dtypes.bfloat16),
}


def _dtype(out_type: int) -> np.dtype[Any]:
    if out_type not in _DTYPES:
        names = ", ".join(map(str, _DTYPES.values()))
        raise KernelError(f"out_type must be one of {names}, not number {out_type}")
    return _DTYPES[out_type]


def _numbers(
    rows: Sequence[bytes], shape: Sequence[int], dtype: np.dtype[Any], *, little_endian: bool
) -> npt.NDArray[Any]:
    """Returns strings of one length as rows of numbers; the byte order applies to each half of a complex number."""
    width = dtype.itemsize
    size = len(rows[0]) // width if rows else 0
    parts = width // 2 if dtype.kind == "c" else width
    data = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, parts)
    ordered = data if little_endian else data[:, ::-1]
    # In TensorFlow, a boolean may be any byte; in LiteRT and numpy, it is 0 or 1.
    values = ordered != 0 if dtype == np.bool_ else np.frombuffer(ordered.tobytes(), dtype)
    return values.reshape(*shape, size)


@pack_kernel("DecodeRaw", native=True)
class DecodeRaw(CustomOp):
    """TensorFlow's op of the same name (``tf.io.decode_raw``).

    Input: ``bytes``, strings of any shape ``[...]`` and of one length.

    Output: their bytes as numbers, ``[..., length / width]``.

    Options: ``out_type``, the dtype as LiteRT's TensorType: bool, complex numbers, floats, signed integers, uint8 or
    uint16; ``little_endian``, true if missing: whether the lowest byte of a number comes first.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/decode_raw.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, *, out_type: int) -> TensorSpec:
        """Checks the input; the number of elements is known only once its bytes are."""
        check_strings("bytes", text)
        return TensorSpec(None, _dtype(out_type))

    def invoke(self, inputs: Arrays, outputs: Outputs, *, out_type: int, little_endian: bool = True) -> None:
        (text,), dtype = inputs, _dtype(out_type)
        rows: list[bytes] = text.ravel().tolist()
        lengths = sorted({len(row) for row in rows})
        if len(lengths) > 1:
            raise KernelError(f"all strings must have one length, not {', '.join(map(str, lengths))} bytes")
        if lengths and lengths[0] % dtype.itemsize:
            raise KernelError(f"{lengths[0]} bytes are not a whole number of {dtype}")
        outputs[0] = _numbers(rows, text.shape, dtype, little_endian=little_endian)


@pack_kernel("DecodePaddedRaw", native=True)
class DecodePaddedRaw(CustomOp):
    """TensorFlow's op of the same name (``tf.io.decode_raw`` with ``fixed_length``).

    Inputs: ``input_bytes``, strings of any shape ``[...]``; ``fixed_length``, the number of bytes used of each, a
    scalar of int32 and a multiple of the dtype's width. Shorter strings are padded with zeros.

    Output: the bytes as numbers, ``[..., fixed_length / width]``.

    Options: those of ``DecodeRaw``.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/decode_raw.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, length: TensorSpec, *, out_type: int) -> TensorSpec:
        """Returns the shape, if the length is a constant."""
        shape = check_strings("input_bytes", text)
        check_dtype("fixed_length", length, "int32")
        check_scalar("fixed_length", length)
        dtype = _dtype(out_type)
        if length.value is None:
            return TensorSpec(None, dtype)
        return TensorSpec((*shape, _count(length.value, dtype)), dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, out_type: int, little_endian: bool = True) -> None:
        (text, length), dtype = inputs, _dtype(out_type)
        size = _count(length, dtype) * dtype.itemsize
        rows = [row[:size].ljust(size, b"\0") for row in text.ravel().tolist()]
        values = _numbers(rows, text.shape, dtype, little_endian=little_endian) if rows else np.zeros(0, dtype)
        outputs[0] = values.reshape(*text.shape, size // dtype.itemsize)


def _count(length: npt.NDArray[Any], dtype: np.dtype[Any]) -> int:
    """Returns the number of elements for each string."""
    size = int(length.item())
    if size <= 0 or size % dtype.itemsize:
        raise KernelError(
            f"fixed_length must be a positive multiple of {dtype.itemsize}, the width of {dtype}, not {size}"
        )
    return size // dtype.itemsize
