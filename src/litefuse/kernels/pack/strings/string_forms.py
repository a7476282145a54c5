"""Each string in another form: case, whitespace, Base64, and the normalization forms of Unicode."""

from __future__ import annotations

import base64
import functools
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import OfEachString, as_bytes, decoded, encoded, string_array
from litefuse.kernels.pack.supported import Arrays
from litefuse.litert.runtime.custom_op import PartlyNativeKernel, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs

# C's whitespace (isspace).
_WHITESPACE = b" \t\n\v\f\r"


class _Letters(PartlyNativeKernel, OfEachString):
    @classmethod
    def is_beyond_native(cls, attributes: Mapping[str, Any]) -> bool:
        """Whether Unicode letters are converted, for which the C++ kernels would need another library."""
        return attributes.get("encoding", "") not in ("", b"")

    def prepare(self, text: TensorSpec, *, encoding: str = "") -> TensorSpec:
        if encoding not in ("", "utf-8"):
            raise KernelError(f"encoding must be empty or utf-8, not {encoding!r}")
        return super().prepare(text)

    def _invoke(
        self,
        text: npt.NDArray[Any],
        outputs: Outputs,
        encoding: str,
        of_bytes: Callable[[bytes], bytes],
        of_text: Callable[[str], str],
    ) -> None:
        def changed(one: bytes) -> bytes:
            if not encoding:
                return of_bytes(one)
            return of_text(one.partition(b"\0")[0].decode(errors="replace")).encode()

        outputs[0] = string_array(map(changed, text.ravel().tolist()), text.shape)


@pack_kernel("StringLower", native="partly")
class StringLower(_Letters):
    """TensorFlow's op of the same name (``tf.strings.lower``).

    Input: ``input``, strings of any shape. Output: the same in lowercase.

    Options: ``encoding``: empty if missing, for the letters A to Z only; or ``utf-8``, for all letters that have a
    lowercase in Unicode, in Python's version of it. With ``utf-8``, bytes that are not valid UTF-8 become U+FFFD, and a
    string ends before its first 0 byte.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/lower.
    """

    def invoke(self, inputs: Arrays, outputs: Outputs, *, encoding: str = "") -> None:
        self._invoke(inputs[0], outputs, encoding, bytes.lower, str.lower)


@pack_kernel("StringUpper", native="partly")
class StringUpper(_Letters):
    """TensorFlow's op of the same name (``tf.strings.upper``).

    Like ``StringLower``, for uppercase: https://www.tensorflow.org/api_docs/python/tf/strings/upper.
    """

    def invoke(self, inputs: Arrays, outputs: Outputs, *, encoding: str = "") -> None:
        self._invoke(inputs[0], outputs, encoding, bytes.upper, str.upper)


@pack_kernel("StringStrip", native=True)
class StringStrip(OfEachString):
    """TensorFlow's op of the same name (``tf.strings.strip``).

    Input: ``input``, strings of any shape. Output: the same without ASCII whitespace at both ends.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/strip.
    """

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        (text,) = inputs
        outputs[0] = string_array((one.strip(_WHITESPACE) for one in text.ravel().tolist()), text.shape)


_ENCODED = re.compile(rb"[A-Za-z0-9_-]*={0,2}")


@pack_kernel("EncodeBase64")
class EncodeBase64(OfEachString):
    """TensorFlow's op of the same name (``tf.io.encode_base64``).

    Input: ``input``, strings of any shape. Output: each encoded in the alphabet that is safe for URLs and file names.

    Options: ``pad``, false if missing: whether to pad with ``=`` to a multiple of four.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/encode_base64.
    """

    def invoke(self, inputs: Arrays, outputs: Outputs, *, pad: bool = False) -> None:
        (text,) = inputs
        encoded = map(base64.urlsafe_b64encode, text.ravel().tolist())
        outputs[0] = string_array((one if pad else one.rstrip(b"=") for one in encoded), text.shape)


@pack_kernel("DecodeBase64")
class DecodeBase64(OfEachString):
    """TensorFlow's op of the same name (``tf.io.decode_base64``).

    Input: ``input``, strings of any shape in the alphabet that is safe for URLs and file names, with or without ``=``
    at the end. Output: the decoded strings.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/decode_base64.
    """

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        (text,) = inputs
        outputs[0] = string_array(map(_base64_decoded, text.ravel().tolist()), text.shape)


def _base64_decoded(text: bytes) -> bytes:
    letters = text.rstrip(b"=")
    if not _ENCODED.fullmatch(text) or len(letters) % 4 == 1 or (text != letters and len(text) % 4):
        raise KernelError(f"{text!r} is not Base64 in the alphabet for file names and addresses")
    return base64.urlsafe_b64decode(letters + b"=" * (-len(letters) % 4))


_Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
_FORMS: dict[str, _Form] = {"NFC": "NFC", "NFD": "NFD", "NFKC": "NFKC", "NFKD": "NFKD"}

# The code points of Unicode's property Default_Ignorable_Code_Point (DerivedCoreProperties.txt).
_IGNORED = frozenset(
    {
        *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        *range(0xFFF0, 0xFFF9),
        *range(0x1BCA0, 0x1BCA4),
        *range(0x1D173, 0x1D17B),
        *range(0xE0000, 0xE1000),
    }
)


@pack_kernel("CaseFoldUTF8")
class CaseFoldUTF8(OfEachString):
    """TensorFlow Text's op of the same name (``tensorflow_text.case_fold_utf8``).

    Input: ``input``, UTF-8 strings of any shape. Output: the strings without distinctions of case, in the form
    NFKC_Casefold: characters that look alike are the same (``ﬁ`` becomes ``fi``), and those that are not seen are
    dropped. Invalid bytes stay as they are. Letters are those of Python's version of Unicode.

    Sources: https://www.tensorflow.org/text/api_docs/python/text/case_fold_utf8;
    https://www.unicode.org/versions/latest/core-spec/chapter-3/ (toNFKC_Casefold, in 3.13.3).
    """

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        (text,) = inputs
        outputs[0] = string_array(map(_folded, text.ravel().tolist()), text.shape)


@pack_kernel("NormalizeUTF8")
class NormalizeUTF8(OfEachString):
    """TensorFlow Text's op of the same name (``tensorflow_text.normalize_utf8``).

    Input: ``input``, UTF-8 strings of any shape. Output: the strings in a normalization form. Invalid bytes stay as
    they are. Characters are those of Python's version of Unicode.

    Options: ``normalization_form``, in letters of either case: ``NFC``, ``NFD``, ``NFKC`` or ``NFKD``.

    Sources: https://www.tensorflow.org/text/api_docs/python/text/normalize_utf8; https://unicode.org/reports/tr15/.
    """

    def prepare(self, text: TensorSpec, *, normalization_form: str | bytes = "") -> TensorSpec:
        _form(normalization_form)
        return super().prepare(text)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, normalization_form: str | bytes) -> None:
        (text,) = inputs
        form = _form(normalization_form)
        normalized = (encoded(unicodedata.normalize(form, decoded(one))) for one in text.ravel().tolist())
        outputs[0] = string_array(normalized, text.shape)


def _form(name: str | bytes) -> _Form:
    form = _FORMS.get(as_bytes(name).upper().decode("latin-1"))
    if form is None:
        raise KernelError(f"normalization_form must be one of {', '.join(_FORMS)}, not {name!r}")
    return form


def _folded(text: bytes) -> bytes:
    if text.isascii():
        return text.lower()
    return encoded(unicodedata.normalize("NFC", "".join(map(_folded_character, decoded(text)))))


@functools.lru_cache(maxsize=4096)
def _folded_character(character: str) -> str:
    """Returns the property NFKC_Casefold of a character, by its definition in UAX #44."""
    before, text = "", character
    while text != before:
        before = text
        kept = "".join(letter for letter in unicodedata.normalize("NFD", text) if ord(letter) not in _IGNORED)
        text = "".join(
            letter for letter in unicodedata.normalize("NFKC", kept.casefold()) if ord(letter) not in _IGNORED
        )
    return text
