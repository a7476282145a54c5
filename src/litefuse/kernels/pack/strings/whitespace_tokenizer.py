"""``tftext:WhitespaceTokenizer``: strings split into tokens at whitespace."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["WHITESPACE", "WhitespaceTokenizer"]

WHITESPACE = (
    *range(0x09, 0x0E),
    0x20,
    0x85,
    0xA0,
    0x1680,
    *range(0x2000, 0x200B),
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
)
"""The code points of Unicode's property White_Space (PropList.txt), ICU's whitespace (u_isUWhiteSpace)."""

# Matches bytes, since strings need not be valid UTF-8. The first byte of a character never occurs inside another one,
# so what looks like a whitespace character is one.
_TOKEN_SEPARATOR = re.compile(b"(?:" + b"|".join(re.escape(chr(code).encode()) for code in WHITESPACE) + b")+")


@pack_kernel("tftext:WhitespaceTokenizer")
class WhitespaceTokenizer(CustomOp):
    """``WhitespaceTokenizer.tokenize`` of TensorFlow Text.

    Input: ``text``, UTF-8 strings of any rank. Invalid bytes are not whitespace, so they stay in their token.

    Outputs: the tokens of all strings, of rank 1; then an int64 vector of row splits for each dimension of the input,
    the outermost first. The last ones split the tokens by string. All others are evenly spaced, since the input is
    dense.

    Sources: https://www.tensorflow.org/text/api_docs/python/text/WhitespaceTokenizer, which splits on the characters
    that ICU defines as whitespace; those are Unicode's property White_Space,
    https://unicode-org.github.io/icu-docs/apidoc/released/icu4c/uchar_8h.html (``u_isUWhiteSpace``).
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec) -> list[TensorSpec]:
        """Returns the sizes of the row splits; the number of tokens is known only at run time.

        Raises:
            KernelError: The input is not of strings.
        """
        if text.dtype != STRING:
            raise KernelError(f"text must be of strings, not {text.dtype}")
        assert text.shape is not None
        counts = [math.prod(text.shape[: axis + 1]) for axis in range(len(text.shape))]
        return [TensorSpec(None, STRING), *(TensorSpec([count + 1], np.int64) for count in counts)]

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Splits one string after the other."""
        (text,) = inputs
        tokens = [[token for token in _TOKEN_SEPARATOR.split(one) if token] for one in text.ravel().tolist()]
        outputs[0] = np.array([token for each in tokens for token in each], STRING)
        for axis in range(text.ndim):
            counts = list(map(len, tokens)) if axis == text.ndim - 1 else text.shape[axis + 1]
            splits = outputs[axis + 1]
            splits[0] = 0
            splits[1:] = counts
            np.cumsum(splits, out=splits)
