"""``StringSplit`` and ``StringSplitV2``: strings split into pieces, as a sparse tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.kernels.pack.strings.strings import check_scalar, check_strings, string_array
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["StringSplit", "StringSplitV2"]

# C's whitespace (isspace).
_WHITESPACE = b" \t\n\v\f\r"


class _Split(CustomOp):
    dtypes = ("string",)

    def prepare(self, text: TensorSpec, separator: TensorSpec) -> list[TensorSpec]:
        """Checks the inputs; the number of pieces is known only at run time.

        Raises:
            KernelError: They are not a vector of strings and a string.
        """
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

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, skip_empty: bool = True) -> None:
        """Splits one string after the other."""
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

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, maxsplit: int = -1) -> None:
        """Splits one string after the other."""
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
