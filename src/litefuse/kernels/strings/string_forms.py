"""``StringLower``, ``StringUpper`` and ``StringStrip``: strings in small or large letters, or without whitespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.index import pack_kernel
from litefuse.kernels.partly_native import PartlyNativeKernel
from litefuse.kernels.strings.strings import OfEachString, string_array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from litefuse.runtime.custom_op import TensorSpec
    from litefuse.runtime.outputs import Outputs

__all__ = ["StringLower", "StringStrip", "StringUpper"]

# What C calls whitespace (isspace).
_WHITESPACE = b" \t\n\v\f\r"


class _Letters(PartlyNativeKernel, OfEachString):
    @classmethod
    def is_beyond_native(cls, attributes: Mapping[str, Any]) -> bool:
        """The letters of Unicode are in no library that the kernels in C++ could do without."""
        return attributes.get("encoding", "") not in ("", b"")

    def prepare(self, text: TensorSpec, *, encoding: str = "") -> TensorSpec:
        """Gives the input's shape.

        Raises:
            KernelError: The input is not of strings, or TensorFlow does not know the encoding.
        """
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

    Input: ``input``, strings of any shape. Output: the same in small letters.

    Options: ``encoding``: empty if missing, for the letters A to Z alone; or ``utf-8``, for those that Unicode has
    small forms of. Then bytes that are no UTF-8 become U+FFFD, and a string ends before its first byte that is 0. The
    letters are those of Python's version of Unicode.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/lower.
    """

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, encoding: str = "") -> None:
        """Changes one string after the other."""
        self._invoke(inputs[0], outputs, encoding, bytes.lower, str.lower)


@pack_kernel("StringUpper", native="partly")
class StringUpper(_Letters):
    """TensorFlow's op of the same name (``tf.strings.upper``).

    As ``StringLower``, in large letters: https://www.tensorflow.org/api_docs/python/tf/strings/upper.
    """

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, encoding: str = "") -> None:
        """Changes one string after the other."""
        self._invoke(inputs[0], outputs, encoding, bytes.upper, str.upper)


@pack_kernel("StringStrip", native=True)
class StringStrip(OfEachString):
    """TensorFlow's op of the same name (``tf.strings.strip``).

    Input: ``input``, strings of any shape. Output: the same without the whitespace at both ends, that of ASCII.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/strip.
    """

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Strips one string after the other."""
        (text,) = inputs
        outputs[0] = string_array((one.strip(_WHITESPACE) for one in text.ravel().tolist()), text.shape)
