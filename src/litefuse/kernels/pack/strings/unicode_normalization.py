"""``CaseFoldUTF8`` and ``NormalizeUTF8`` of TensorFlow Text: strings in Unicode's normalization forms."""

from __future__ import annotations

import functools
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import OfEachString, as_bytes, decoded, encoded, string_array
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from litefuse.litert.runtime.custom_op import TensorSpec
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["CaseFoldUTF8", "NormalizeUTF8"]

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

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Folds one string after the other."""
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
        """Returns the input's shape.

        Raises:
            KernelError: The input is not of strings, or the form is unknown.
        """
        _form(normalization_form)
        return super().prepare(text)

    def invoke(
        self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, normalization_form: str | bytes
    ) -> None:
        """Normalizes one string after the other."""
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
        kept = "".join(each for each in unicodedata.normalize("NFD", text) if ord(each) not in _IGNORED)
        text = "".join(each for each in unicodedata.normalize("NFKC", kept.casefold()) if ord(each) not in _IGNORED)
    return text
