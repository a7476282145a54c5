"""``EncodeBase64`` and ``DecodeBase64``: strings from and to Base64."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import OfEachString, string_array
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["DecodeBase64", "EncodeBase64"]

_ENCODED = re.compile(rb"[A-Za-z0-9_-]*={0,2}")


@pack_kernel("EncodeBase64")
class EncodeBase64(OfEachString):
    """TensorFlow's op of the same name (``tf.io.encode_base64``).

    Input: ``input``, strings of any shape. Output: each encoded in the alphabet that is safe for URLs and file names.

    Options: ``pad``, false if missing: whether to pad with ``=`` to a multiple of four.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/encode_base64.
    """

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, pad: bool = False) -> None:
        """Encodes one string after the other."""
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

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Decodes one string after the other.

        Raises:
            KernelError: A string is not valid Base64.
        """
        (text,) = inputs
        outputs[0] = string_array(map(_decoded, text.ravel().tolist()), text.shape)


def _decoded(text: bytes) -> bytes:
    letters = text.rstrip(b"=")
    if not _ENCODED.fullmatch(text) or len(letters) % 4 == 1 or (text != letters and len(text) % 4):
        raise KernelError(f"{text!r} is no Base64 in the alphabet for file names and addresses")
    return base64.urlsafe_b64decode(letters + b"=" * (-len(letters) % 4))
