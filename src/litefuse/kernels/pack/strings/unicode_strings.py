"""``UnicodeDecode``, ``UnicodeDecodeWithOffsets``, ``UnicodeEncode`` and ``UnicodeTranscode``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import (
    check_dtype,
    check_row_splits,
    check_row_splits_spec,
    check_strings,
    string_array,
)
from litefuse.kernels.pack.supported import Arrays, LimitedKernel
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.tensors import STRING

_ENCODINGS = {
    "UTF-8": "utf-8",
    "UTF-16-BE": "utf-16-be",
    "UTF-32-BE": "utf-32-be",
    "US ASCII": "ascii",
    "US-ASCII": "ascii",
    "ASCII": "ascii",
}
ENCODINGS = tuple(_ENCODINGS)
"""The encodings that can be decoded, by their names in ICU."""
_ENCODED = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_ERRORS = ("strict", "replace", "ignore")
_LAST_CONTROL = 0x1F
_LAST = 0x10FFFF
# The values of LiteRT's TensorType, which the op's options use.
_SPLITS = {2: np.int32, 4: np.int64}


def _check(errors: str, replacement: int, encoding: str, known: tuple[str, ...]) -> None:
    if encoding not in known:
        raise KernelError(f"the encoding must be one of {', '.join(known)}, not {encoding!r}")
    if errors not in _ERRORS:
        raise KernelError(f"errors must be one of {', '.join(_ERRORS)}, not {errors!r}")
    if not _is_character(replacement):
        raise KernelError(f"replacement_char must be a character, not {replacement}")


def _is_character(code: int) -> bool:
    return 0 <= code <= _LAST and not 0xD800 <= code <= 0xDFFF


def characters(data: bytes, encoding: str) -> Iterator[tuple[int | None, int]]:
    """Yields the code point of each character, None for invalid bytes, and its byte offset."""
    name = _ENCODINGS[encoding]
    at = 0
    while at < len(data):
        rest = data[at:]
        try:
            text, wrong = rest.decode(name), 0
        except UnicodeDecodeError as error:
            text, wrong = rest[: error.start].decode(name), error.end - error.start
        for character in text:
            yield ord(character), at
            at += len(character.encode(name))
        if wrong:
            yield None, at
            at += wrong


def _handled(data: bytes, encoding: str, errors: str, replacement: int, *, controls: bool) -> Iterator[tuple[int, int]]:
    """Yields the code points, with errors replaced, dropped or raised, and their byte offsets."""
    for code, at in characters(data, encoding):
        wrong = code is None or (controls and code <= _LAST_CONTROL)
        if code is not None and not wrong:
            yield code, at
        elif errors == "strict" and wrong:
            raise KernelError(f"{data!r} is not valid {encoding} at byte {at}")
        elif errors == "replace":
            yield replacement, at


class _OfEncoding(LimitedKernel):
    dtypes = ("string",)

    @classmethod
    def refusal(cls, dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
        """Accepts the encodings that the kernel decodes."""
        del dtypes
        name = attributes.get("input_encoding", ENCODINGS[0])
        return None if name in ENCODINGS else f"litefuse's kernel decodes {', '.join(ENCODINGS)}, not {name}"


@pack_kernel("UnicodeDecode", limited=True)
class UnicodeDecode(_OfEncoding):
    """TensorFlow's op of the same name (``tf.strings.unicode_decode``).

    Input: ``input``, strings of any shape.

    Outputs: row splits, the offsets at which each string's characters begin; then the characters of all strings as
    int32.

    Options: ``input_encoding``, ``UTF-8``, ``UTF-16-BE``, ``UTF-32-BE`` or ``US-ASCII``; ``errors``, for invalid bytes:
    ``replace``, the default, replaces them by ``replacement_char`` (65533 if missing), ``ignore`` drops them, and
    ``strict`` raises an error; ``replace_control_characters``, false if missing: whether those below 32 are errors too;
    ``Tsplits``, the row splits' dtype as LiteRT's TensorType, int64 if missing.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/unicode_decode.
    """

    dtypes = ("string",)

    def prepare(
        self,
        text: TensorSpec,
        *,
        input_encoding: str,
        errors: str = "replace",
        replacement_char: int = 0xFFFD,
        Tsplits: int = 4,
    ) -> list[TensorSpec]:
        """Returns the number of row splits; that of characters is known only once they are decoded."""
        _check(errors, replacement_char, input_encoding, ENCODINGS)
        count = int(np.prod(check_strings("input", text)))
        return [TensorSpec([count + 1], _SPLITS[Tsplits]), TensorSpec(None, np.int32)]

    def invoke(
        self,
        inputs: Arrays,
        outputs: Outputs,
        *,
        input_encoding: str,
        errors: str = "replace",
        replacement_char: int = 0xFFFD,
        replace_control_characters: bool = False,
    ) -> None:
        _decode(inputs[0], outputs, input_encoding, errors, replacement_char, controls=replace_control_characters)


@pack_kernel("UnicodeDecodeWithOffsets", limited=True)
class UnicodeDecodeWithOffsets(UnicodeDecode):
    """TensorFlow's op of the same name (``tf.strings.unicode_decode_with_offsets``).

    Like ``UnicodeDecode``, with a third output: the byte offset of each character in its string, int64.
    """

    def prepare(
        self,
        text: TensorSpec,
        *,
        input_encoding: str,
        errors: str = "replace",
        replacement_char: int = 0xFFFD,
        Tsplits: int = 4,
    ) -> list[TensorSpec]:
        """Returns the outputs of ``UnicodeDecode``, and the offsets."""
        specs = super().prepare(
            text, input_encoding=input_encoding, errors=errors, replacement_char=replacement_char, Tsplits=Tsplits
        )
        return [*specs, TensorSpec(None, np.int64)]


def _decode(
    text: npt.NDArray[Any], outputs: Outputs, encoding: str, errors: str, replacement: int, *, controls: bool
) -> None:
    rows = [list(_handled(one, encoding, errors, replacement, controls=controls)) for one in text.ravel().tolist()]
    outputs[0][0] = 0
    outputs[0][1:] = np.cumsum(list(map(len, rows)), dtype=np.int64)
    outputs[1] = np.array([code for row in rows for code, _ in row], np.int32)
    if len(outputs) > 2:
        outputs[2] = np.array([at for row in rows for _, at in row], np.int64)


@pack_kernel("UnicodeEncode")
class UnicodeEncode(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.unicode_encode``).

    Inputs: ``input_values``, a vector of int32: characters; ``input_splits``, int32 or int64, which splits them into
    strings. Output: the strings.

    Options: ``output_encoding``, ``UTF-8``, ``UTF-16-BE`` or ``UTF-32-BE``; ``errors``, for numbers that are not
    characters, as for ``UnicodeDecode``; ``replacement_char``, 65533 if missing.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/unicode_encode.
    """

    dtypes = ("int32",)

    def prepare(
        self,
        values: TensorSpec,
        splits: TensorSpec,
        *,
        output_encoding: str,
        errors: str = "replace",
        replacement_char: int = 0xFFFD,
    ) -> TensorSpec:
        _check(errors, replacement_char, output_encoding, _ENCODED)
        if len(check_dtype("input_values", values, "int32")) != 1:
            raise KernelError(f"input_values must be of rank 1, not {values.shape}")
        return TensorSpec([check_row_splits_spec("input_splits", splits)], STRING)

    def invoke(
        self,
        inputs: Arrays,
        outputs: Outputs,
        *,
        output_encoding: str,
        errors: str = "replace",
        replacement_char: int = 0xFFFD,
    ) -> None:
        values, splits = inputs
        check_row_splits("input_splits", splits, len(values))
        codes: list[int] = values.tolist()
        name = _ENCODINGS[output_encoding]

        def kept(code: int) -> str:
            if _is_character(code):
                return chr(code)
            if errors == "strict":
                raise KernelError(f"{code} is not a character")
            return chr(replacement_char) if errors == "replace" else ""

        outputs[0] = string_array(
            "".join(map(kept, codes[start:end])).encode(name) for start, end in itertools.pairwise(splits.tolist())
        )


@pack_kernel("UnicodeTranscode", limited=True)
class UnicodeTranscode(_OfEncoding):
    """TensorFlow's op of the same name (``tf.strings.unicode_transcode``).

    Input: ``input``, strings of any shape. Output: the same in another encoding.

    Options: ``output_encoding``, as for ``UnicodeEncode``, and all of ``UnicodeDecode`` except ``Tsplits``.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/unicode_transcode.
    """

    dtypes = ("string",)

    def prepare(
        self,
        text: TensorSpec,
        *,
        input_encoding: str,
        output_encoding: str,
        errors: str = "replace",
        replacement_char: int = 0xFFFD,
    ) -> TensorSpec:
        _check(errors, replacement_char, input_encoding, ENCODINGS)
        _check(errors, replacement_char, output_encoding, _ENCODED)
        return TensorSpec(check_strings("input", text), STRING)

    def invoke(
        self,
        inputs: Arrays,
        outputs: Outputs,
        *,
        input_encoding: str,
        output_encoding: str,
        errors: str = "replace",
        replacement_char: int = 0xFFFD,
        replace_control_characters: bool = False,
    ) -> None:
        (text,) = inputs

        def transcoded(one: bytes) -> bytes:
            handled = _handled(one, input_encoding, errors, replacement_char, controls=replace_control_characters)
            return "".join(chr(code) for code, _ in handled).encode(_ENCODINGS[output_encoding])

        outputs[0] = string_array(map(transcoded, text.ravel().tolist()), text.shape)
