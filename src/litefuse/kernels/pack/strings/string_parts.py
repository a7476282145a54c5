"""Parts of strings: ``StringSplit``, ``StringSplitV2``, ``Substr`` and ``StringLength``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import check_dtype, check_scalar, check_strings, string_array
from litefuse.kernels.pack.supported import INDICES, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.tensors import STRING

# C's whitespace (isspace).
_WHITESPACE = b" \t\n\v\f\r"


class _Split(CustomOp):
    dtypes = ("string",)

    def prepare(self, text: TensorSpec, separator: TensorSpec) -> list[TensorSpec]:
        """Checks the inputs; the number of pieces is known only at run time."""
        check_strings("input", text, 1)
        check_strings("the separator", separator)
        check_scalar("the separator", separator)
        return [TensorSpec(None, np.int64), TensorSpec(None, STRING), TensorSpec([2], np.int64)]

    def _write(self, rows: Sequence[Sequence[bytes]], outputs: Outputs) -> None:
        places = [(row, place) for row, pieces in enumerate(rows) for place in range(len(pieces))]
        outputs[0] = np.array(places, np.int64).reshape(-1, 2)
        outputs[1] = string_array(piece for row in rows for piece in row)
        outputs[2][...] = len(rows), max(map(len, rows), default=0)


@pack_kernel("StringSplit", native=True)
class StringSplit(_Split):
    """TensorFlow's op of the same name (``tf.compat.v1.string_split``).

    Inputs: ``input``, a vector of strings; ``delimiter``, a string: each of its bytes separates pieces; if it is empty,
    each byte is a piece. An empty string has no pieces.

    Outputs: a sparse tensor of the pieces of all strings: their indices, ``[n, 2]`` of int64; the pieces; and the
    number of strings and the largest number of pieces of a string, ``[2]`` of int64.

    Options: ``skip_empty``, true if missing: whether empty pieces are dropped.

    Source: https://www.tensorflow.org/api_docs/python/tf/compat/v1/string_split.
    """

    def invoke(self, inputs: Arrays, outputs: Outputs, *, skip_empty: bool = True) -> None:
        text, separator = inputs
        delimiters = separator.item()
        rows = [_at_bytes(one, delimiters) for one in text.tolist()]
        self._write([[piece for piece in row if piece or not skip_empty] for row in rows], outputs)


@pack_kernel("StringSplitV2", native=True)
class StringSplitV2(_Split):
    """TensorFlow's op of the same name (``tf.strings.split``).

    Inputs: ``input``, a vector of strings; ``sep``, the string that separates pieces; an empty one means any ASCII
    whitespace, in which case no piece is empty.

    Outputs: those of ``StringSplit``.

    Options: ``maxsplit``, -1 if missing: if it is positive, the rest of a string after this many pieces is one piece;
    0 splits nothing.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/split.
    """

    def invoke(self, inputs: Arrays, outputs: Outputs, *, maxsplit: int = -1) -> None:
        text, separator = inputs
        sep = separator.item()
        if maxsplit == 0:
            rows = [[one] for one in text.tolist()]
        elif sep:
            rows = [one.split(sep, max(maxsplit, -1)) for one in text.tolist()]
        else:
            rows = [_at_whitespace(one, maxsplit) for one in text.tolist()]
        self._write(rows, outputs)


def _at_bytes(text: bytes, delimiters: bytes) -> list[bytes]:
    if not delimiters:
        return [text[place : place + 1] for place in range(len(text))]
    for other in delimiters[1:]:
        text = text.replace(bytes([other]), delimiters[:1])
    return text.split(delimiters[:1]) if text else []


def _at_whitespace(text: bytes, maxsplit: int) -> list[bytes]:
    if maxsplit < 0:
        return text.split()
    pieces: list[bytes] = []
    rest = text.lstrip(_WHITESPACE)
    while rest and len(pieces) < maxsplit:
        piece = rest.split(None, 1)[0]
        pieces.append(piece)
        rest = rest[len(piece) :].lstrip(_WHITESPACE)
    # The rest after the last piece is a piece even if it is empty.
    return [*pieces, rest] if len(pieces) == maxsplit else pieces


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
        _check_unit(unit)
        return TensorSpec(check_strings("input", text), np.int32)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, unit: str = "BYTE") -> None:
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
        _check_unit(unit)
        shape = check_strings("input", text)
        places = check_dtype("pos", pos, *INDICES)
        if check_dtype("len", length, str(pos.dtype)) != places:
            raise KernelError(f"pos and len must be of one shape, not {places} and {length.shape}")
        try:
            return TensorSpec(np.broadcast_shapes(shape, places), STRING)
        except ValueError:
            raise KernelError(f"input {shape} and pos {places} do not broadcast to one shape") from None

    def invoke(self, inputs: Arrays, outputs: Outputs, *, unit: str = "BYTE") -> None:
        """Takes the substrings, one string after the other."""
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
