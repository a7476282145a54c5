"""``StringLower``, ``StringUpper`` and ``StringStrip``: lowercase, uppercase and stripped strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import OfEachString, string_array
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.partly_native import PartlyNativeKernel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from litefuse.litert.runtime.custom_op import TensorSpec
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["StringLower", "StringStrip", "StringUpper"]

# C's whitespace (isspace).
_WHITESPACE = b" \t\n\v\f\r"


class _Letters(PartlyNativeKernel, OfEachString):
    @classmethod
    def is_beyond_native(cls, attributes: Mapping[str, Any]) -> bool:
        """Whether Unicode letters are converted, for which the C++ kernels would need another library."""
        return attributes.get("encoding", "") not in ("", b"")

    def prepare(self, text: TensorSpec, *, encoding: str = "") -> TensorSpec:
        """Returns the input's shape.

        Raises:
            KernelError: The input is not of strings, or TensorFlow does not support the encoding.
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

    Input: ``input``, strings of any shape. Output: the same in lowercase.

    Options: ``encoding``: empty if missing, for the letters A to Z only; or ``utf-8``, for all letters that have a
    lowercase in Unicode, in Python's version of it. With ``utf-8``, bytes that are not valid UTF-8 become U+FFFD, and a
    string ends before its first 0 byte.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/lower.
    """

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, encoding: str = "") -> None:
        """Converts one string after the other."""
        self._invoke(inputs[0], outputs, encoding, bytes.lower, str.lower)


@pack_kernel("StringUpper", native="partly")
class StringUpper(_Letters):
    """TensorFlow's op of the same name (``tf.strings.upper``).

    Like ``StringLower``, for uppercase: https://www.tensorflow.org/api_docs/python/tf/strings/upper.
    """

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, encoding: str = "") -> None:
        """Converts one string after the other."""
        self._invoke(inputs[0], outputs, encoding, bytes.upper, str.upper)


@pack_kernel("StringStrip", native=True)
class StringStrip(OfEachString):
    """TensorFlow's op of the same name (``tf.strings.strip``).

    Input: ``input``, strings of any shape. Output: the same without ASCII whitespace at both ends.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/strip.
    """

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Strips one string after the other."""
        (text,) = inputs
        outputs[0] = string_array((one.strip(_WHITESPACE) for one in text.ravel().tolist()), text.shape)
