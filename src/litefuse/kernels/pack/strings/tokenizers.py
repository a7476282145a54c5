"""Tokenizers of TensorFlow Text: at whitespace, at regular expressions, and by a vocabulary."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.regular_expressions import Expression, expression
from litefuse.kernels.pack.strings.strings import as_bytes, check_scalar, check_strings, string_array
from litefuse.kernels.pack.strings.unicode_strings import characters
from litefuse.kernels.pack.supported import Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.tensors import STRING

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
        """Returns the sizes of the row splits; the number of tokens is known only at run time."""
        if text.dtype != STRING:
            raise KernelError(f"text must be of strings, not {text.dtype}")
        assert text.shape is not None
        counts = [math.prod(text.shape[: axis + 1]) for axis in range(len(text.shape))]
        return [TensorSpec(None, STRING), *(TensorSpec([count + 1], np.int64) for count in counts)]

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        (text,) = inputs
        tokens = [[token for token in _TOKEN_SEPARATOR.split(one) if token] for one in text.ravel().tolist()]
        outputs[0] = np.array([token for words in tokens for token in words], STRING)
        for axis in range(text.ndim):
            counts = list(map(len, tokens)) if axis == text.ndim - 1 else text.shape[axis + 1]
            splits = outputs[axis + 1]
            splits[0] = 0
            splits[1:] = counts
            np.cumsum(splits, out=splits)


_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)

# Where a token begins and ends in its string.
_Span = tuple[int, int]


@pack_kernel("TFText>WhitespaceTokenizeWithOffsetsV2")
class WhitespaceTokenizeWithOffsetsV2(CustomOp):
    """TensorFlow Text's op of the same name (``tensorflow_text.WhitespaceTokenizer``).

    Inputs: ``input_values``, a vector of UTF-8 strings; ``input_config``, a string whose bits say which characters are
    whitespace: that of character c is bit c mod 8 of byte c div 8.

    Outputs: the tokens of all strings; their row splits, int64; and the bytes at which each begins and ends, int32.

    As in TensorFlow Text, a token in front of whitespace ends one byte before that character's last byte. So of
    whitespace of several bytes, such as U+3000, the token has all bytes but one.

    Source: https://www.tensorflow.org/text/api_docs/python/text/WhitespaceTokenizer; the op's kernel,
    ``whitespace_tokenizer.cc``.
    """

    dtypes = ("string",)

    def prepare(self, values: TensorSpec, config: TensorSpec) -> list[TensorSpec]:
        """Returns the number of row splits; that of tokens is known only at run time."""
        (count,) = check_strings("input_values", values, 1)
        check_strings("input_config", config)
        check_scalar("input_config", config)
        return [
            TensorSpec(None, STRING),
            TensorSpec([count + 1], np.int64),
            TensorSpec(None, np.int32),
            TensorSpec(None, np.int32),
        ]

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        values, config = inputs
        whitespace = _whitespace(config.item())
        texts: list[bytes] = values.tolist()
        spans = [list(_between(whitespace, one)) for one in texts]
        outputs[0], outputs[1][...], outputs[2], outputs[3] = _ragged(texts, spans, np.int32)


@pack_kernel("RegexSplitWithOffsets")
class RegexSplitWithOffsets(CustomOp):
    """TensorFlow Text's op of the same name (``tensorflow_text.regex_split_with_offsets``).

    Inputs: ``input``, strings, of which what is before the first NUL counts; ``delim_regex_pattern``, an RE2
    expression, whose first group is what separates tokens; ``keep_delim_regex_pattern``, another one: a separator
    that it matches is a token, too; none is if it is empty.

    Outputs: the tokens of all strings; the bytes at which each begins and ends, int64; and their row splits, int64.

    Source: https://www.tensorflow.org/text/api_docs/python/text/regex_split_with_offsets; the op's kernel,
    ``regex_split.cc``.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, separator: TensorSpec, kept: TensorSpec) -> list[TensorSpec]:
        """Returns the number of row splits; that of tokens is known only at run time."""
        for name, spec in (("delim_regex_pattern", separator), ("keep_delim_regex_pattern", kept)):
            check_strings(name, spec)
            check_scalar(name, spec)
            if spec.value is not None:
                expression(spec.value.item())
        count = int(np.prod(check_strings("input", text)))
        return [
            TensorSpec(None, STRING),
            TensorSpec(None, np.int64),
            TensorSpec(None, np.int64),
            TensorSpec([count + 1], np.int64),
        ]

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Splits one string after the other.

        Raises:
            KernelError: An expression is invalid in RE2, google-re2 is missing, or a separator is empty at the
                beginning of a token, where TensorFlow's kernel does not end.
        """
        text, separator, kept = inputs
        at = expression(separator.item())
        keep = expression(kept.item()) if kept.item() else None
        texts: list[bytes] = [one.partition(b"\0")[0] for one in text.ravel().tolist()]
        spans = [_separated(at, keep, one) for one in texts]
        outputs[0], outputs[3][...], outputs[1], outputs[2] = _ragged(texts, spans, np.int64)


def _ragged(
    texts: Sequence[bytes], spans: Sequence[Sequence[_Span]], dtype: npt.DTypeLike
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Returns the tokens of all strings, their row splits, and where they begin and end."""
    tokens = string_array(one[start:end] for one, own in zip(texts, spans, strict=True) for start, end in own)
    splits = np.concatenate([[0], np.cumsum([len(span) for span in spans], dtype=np.int64)])
    places = np.array([span for own in spans for span in own], dtype).reshape(-1, 2)
    return tokens, splits, places[:, 0], places[:, 1]


def _between(whitespace: re.Pattern[bytes] | None, text: bytes) -> Iterable[_Span]:
    """Yields where the tokens between whitespace begin and end."""
    start = 0
    for match in whitespace.finditer(text) if whitespace is not None else ():
        if match.start() > start:
            yield start, match.end() - 1
        start = match.end()
    if start < len(text):
        yield start, len(text)


@functools.lru_cache(maxsize=16)
def _whitespace(config: bytes) -> re.Pattern[bytes] | None:
    """Returns what matches one character of those that the bits of a string say; None if they say none.

    It matches bytes, since strings need not be valid UTF-8: the bytes of a character never occur in what is not it.
    """
    bits = np.unpackbits(np.frombuffer(config, np.uint8), bitorder="little")
    codes = [code for code in np.flatnonzero(bits).tolist() if code <= _LAST and code not in _SURROGATES]
    if not codes:
        return None
    return re.compile(b"|".join(re.escape(chr(code).encode()) for code in codes))


def _separated(separator: Expression, kept: Expression | None, text: bytes) -> list[_Span]:
    """Returns where the tokens between separators begin and end, and the separators that are kept.

    Each match is looked for in what is left of the text, as if nothing were before it.
    """
    spans: list[_Span] = []
    start = 0
    while separator.groups:
        match = separator.first(text[start:])
        if match is None:
            break
        (begin, end), after = match
        if after == 0:
            raise KernelError(f"a separator of {text!r} at byte {start} is empty")
        if begin > 0:
            spans.append((start, start + begin))
        if kept is not None and kept.matches(text[start + begin : start + end]):
            spans.append((start + begin, start + end))
        start += after
    if start < len(text):
        spans.append((start, len(text)))
    return spans


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
        self, words: TensorSpec, vocabulary: TensorSpec, *, output_row_partition_type: str = "row_lengths"
    ) -> list[TensorSpec]:
        """Returns the number of row lengths; that of pieces is known only at run time."""
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
        inputs: Arrays,
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
            split = _pieces(
                word, known, suffix, max_chars_per_token, unknown=unknown, split_unknown=split_unknown_characters
            )
            pieces.append([(word if unknown is None else unknown, 0, len(word))] if split is None else split)
        counts = [len(piece) for piece in pieces]
        places = np.array([piece[1:] for of_word in pieces for piece in of_word], np.int64).reshape(-1, 2)
        outputs[0] = string_array(piece for of_word in pieces for piece, _, _ in of_word)
        outputs[1][...] = [0, *itertools.accumulate(counts)] if output_row_partition_type == "row_splits" else counts
        outputs[2] = places[:, 0]
        outputs[3] = places[:, 1]


def _pieces(
    word: bytes, vocabulary: AbstractSet[bytes], suffix: bytes, most: int, *, unknown: bytes | None, split_unknown: bool
) -> list[_Piece] | None:
    """Returns a word's pieces; None if there are none for a part of it.

    ``suffix`` is in front of pieces behind the first; a piece may have ``most`` characters, if positive. ``unknown`` is
    the token for unknown characters; None if they stand for themselves. If ``split_unknown``, each is a piece.
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
