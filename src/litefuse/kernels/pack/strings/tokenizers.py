"""``WhitespaceTokenizeWithOffsetsV2`` and ``RegexSplitWithOffsets`` of TensorFlow Text."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.expressions import Expression, expression
from litefuse.kernels.pack.strings.strings import check_scalar, check_strings, string_array
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["RegexSplitWithOffsets", "WhitespaceTokenizeWithOffsetsV2"]

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
        """Returns the number of row splits; that of tokens is known only at run time.

        Raises:
            KernelError: The inputs are not a vector of strings and a string.
        """
        (count,) = check_strings("input_values", values, 1)
        check_strings("input_config", config)
        check_scalar("input_config", config)
        return [
            TensorSpec(None, STRING),
            TensorSpec([count + 1], np.int64),
            TensorSpec(None, np.int32),
            TensorSpec(None, np.int32),
        ]

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Splits one string after the other."""
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
        """Returns the number of row splits; that of tokens is known only at run time.

        Raises:
            KernelError: An input has a wrong dtype or shape, a constant expression is invalid in RE2, or google-re2 is
                missing.
        """
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

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
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
    tokens = string_array(one[start:end] for one, found in zip(texts, spans, strict=True) for start, end in found)
    splits = np.concatenate([[0], np.cumsum([len(span) for span in spans], dtype=np.int64)])
    places = np.array([span for found in spans for span in found], dtype).reshape(-1, 2)
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
