"""``WordpieceTokenizeWithOffsets`` of TensorFlow Text: words split into pieces of a vocabulary."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import as_bytes, check_strings, string_array
from litefuse.kernels.pack.strings.unicode_strings import characters
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["WordpieceTokenizeWithOffsets"]

# A piece, and where it begins and ends in its word.
_Piece = tuple[bytes, int, int]


@pack_kernel("WordpieceTokenizeWithOffsets")
class WordpieceTokenizeWithOffsets(CustomOp):
    """TensorFlow Text's op of the same name (``tensorflow_text.WordpieceTokenizer``, ``BertTokenizer``).

    Inputs: ``input_values``, a vector of words; and, where TensorFlow's op has a table, the strings of the table's
    keys, a vector: the vocabulary.

    Outputs: the pieces of all words, each the longest one of the vocabulary at its place; how many pieces each word
    has, or, with ``row_splits``, where its pieces begin, int64; and the bytes of the word at which each begins and
    ends, int64. A word that has no such pieces is one piece.

    Options: ``suffix_indicator``, which pieces behind the first have in front; ``max_bytes_per_word``: a longer word
    is one piece, which ends, as in TensorFlow Text, behind as many bytes as the unknown token has;
    ``max_chars_per_token``, if positive: pieces have no more characters, the indicator aside; ``use_unknown_token``,
    whether ``unknown_token`` stands for what is not in the vocabulary; ``split_unknown_characters``, false if missing:
    whether such a character is a piece of its own; ``output_row_partition_type``, ``row_lengths`` if missing, or
    ``row_splits``.

    Source: https://www.tensorflow.org/text/api_docs/python/text/WordpieceTokenizer; the op's kernel,
    ``wordpiece_tokenizer.cc``.
    """

    dtypes = ("string",)

    def __init__(self) -> None:
        self._vocabulary: AbstractSet[bytes] | None = None

    def prepare(
        self,
        words: TensorSpec,
        vocabulary: TensorSpec,
        *,
        output_row_partition_type: str = "row_lengths",
    ) -> list[TensorSpec]:
        """Returns the number of row lengths; that of pieces is known only at run time.

        Raises:
            KernelError: The inputs are not two vectors of strings, or an option is invalid.
        """
        if output_row_partition_type not in ("row_lengths", "row_splits"):
            raise KernelError(
                f"output_row_partition_type must be row_lengths or row_splits, not {output_row_partition_type!r}"
            )
        (count,) = check_strings("input_values", words, 1)
        check_strings("the vocabulary", vocabulary, 1)
        self._vocabulary = None if vocabulary.value is None else frozenset(vocabulary.value.tolist())
        return [
            TensorSpec(None, STRING),
            TensorSpec([count + (output_row_partition_type == "row_splits")], np.int64),
            TensorSpec(None, np.int64),
            TensorSpec(None, np.int64),
        ]

    def invoke(
        self,
        inputs: tuple[npt.NDArray[Any], ...],
        outputs: Outputs,
        *,
        suffix_indicator: str | bytes,
        max_bytes_per_word: int,
        use_unknown_token: bool,
        unknown_token: str | bytes,
        max_chars_per_token: int = 0,
        split_unknown_characters: bool = False,
        output_row_partition_type: str = "row_lengths",
    ) -> None:
        """Splits one word after the other."""
        words, keys = inputs
        known = self._vocabulary if self._vocabulary is not None else frozenset(keys.tolist())
        unknown = as_bytes(unknown_token) if use_unknown_token else None
        suffix = as_bytes(suffix_indicator)
        pieces: list[list[_Piece]] = []
        for word in words.tolist():
            if len(word) > max_bytes_per_word:
                token = word if unknown is None else unknown
                pieces.append([(token, 0, len(token))])
                continue
            found = _pieces(
                word, known, suffix, max_chars_per_token, unknown=unknown, split_unknown=split_unknown_characters
            )
            pieces.append([(word if unknown is None else unknown, 0, len(word))] if found is None else found)
        counts = [len(piece) for piece in pieces]
        places = np.array([piece[1:] for each in pieces for piece in each], np.int64).reshape(-1, 2)
        outputs[0] = string_array(piece for each in pieces for piece, _, _ in each)
        outputs[1][...] = [0, *itertools.accumulate(counts)] if output_row_partition_type == "row_splits" else counts
        outputs[2] = places[:, 0]
        outputs[3] = places[:, 1]


def _pieces(
    word: bytes,
    vocabulary: AbstractSet[bytes],
    suffix: bytes,
    most: int,
    *,
    unknown: bytes | None,
    split_unknown: bool,
) -> list[_Piece] | None:
    """Returns a word's pieces; None if there are none for a part of it.

    Args:
        word: The word.
        vocabulary: The pieces that are known.
        suffix: What is in front of pieces behind the first.
        most: How many characters a piece may have, if positive.
        unknown: The token for unknown characters; None if they stand for themselves.
        split_unknown: Whether an unknown character is a piece.
    """
    places = [*(place for _, place in characters(word, "UTF-8")), len(word)]
    pieces: list[_Piece] = []
    at, last = 0, len(places) - 1
    while at < last:
        start = places[at]
        front = suffix if start else b""
        furthest = min(at + most, last) if most > 0 else last
        for after in range(furthest, at, -1):
            piece = front + word[start : places[after]]
            if piece in vocabulary:
                break
        else:
            if not split_unknown:
                return None
            after = at + 1
            piece = front + (word[start : places[after]] if unknown is None else unknown)
        pieces.append((piece, start, places[after]))
        at = after
    return pieces
