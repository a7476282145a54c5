"""RE2 regular expressions, by the package google-re2, and TensorFlow's ops that take them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import (
    OfEachString,
    as_bytes,
    check_scalar,
    check_strings,
    decoded,
    encoded,
    string_array,
)
from litefuse.kernels.pack.supported import Arrays, LimitedKernel
from litefuse.litert.runtime.custom_op import CustomOp, PartlyNativeKernel, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.tensors import STRING


class Expression:
    """A regular expression. Texts and rewrites are bytes, usually UTF-8: a byte that is not is a character of its own.

    Args:
        pattern: The expression.
        re2: The module of google-re2.

    Attributes:
        groups: The number of groups.

    Raises:
        KernelError: It is not valid in RE2.
    """

    def __init__(self, pattern: bytes, re2: Any) -> None:
        options = re2.Options()
        options.log_errors = False
        try:
            self._pattern = re2.compile(pattern, options)
        except re2.error as error:
            reason = error.args[0].decode("utf-8", "replace") if error.args else "is none of RE2"
            shown = pattern.decode("utf-8", "backslashreplace")
            raise KernelError(f"regular expression {shown!r}: {reason}") from None
        self.groups: int = self._pattern.groups

    def matches(self, text: bytes) -> bool:
        """Whether it matches the whole text."""
        return self._pattern.fullmatch(text) is not None

    def first(self, text: bytes) -> tuple[tuple[int, int], int] | None:
        """Returns the bytes at which the first group of the first match begins and ends, and at which the match ends.

        None if it does not match. The expression has a group.

        Raises:
            KernelError: The group is not part of the match.
        """
        match = self._pattern.search(text)
        if match is None:
            return None
        begin, end = match.span(1)
        if begin < 0:
            raise KernelError("the first group of the regular expression is not part of its match")
        return (begin, end), match.end()

    def replaced(self, rewrite: bytes, text: bytes, *, every: bool) -> bytes:
        """Returns the text with every match replaced, or only the first one.

        An empty match at the end of the previous match does not count. In ``rewrite``, a backslash and a digit refer to
        a group, with 0 to the whole match. If the group does not exist, RE2 replaces nothing.

        Raises:
            KernelError: A backslash in ``rewrite`` is followed by something else.
        """
        parts = _rewriting(rewrite)
        if any(isinstance(part, int) and part > self.groups for part in parts):
            return text
        pieces: list[bytes] = []
        at, last = 0, -1
        following = iter(_places(text))
        while at <= len(text):
            match = self._pattern.search(text, at)
            if match is None:
                break
            start, end = match.span()
            if start == end == last:  # equal to ``at``
                after = next((place for place in following if place > at), len(text) + 1)
                pieces.append(text[at:after])
                at = after
                continue
            pieces.append(text[at:start])
            pieces += [(match[part] or b"") if isinstance(part, int) else part for part in parts]
            at = last = end
            if not every:
                break
        pieces.append(text[at:])
        return b"".join(pieces)


@functools.lru_cache(maxsize=256)
def expression(pattern: bytes) -> Expression:
    """Returns the compiled expression.

    Raises:
        KernelError: It is not valid in RE2, or google-re2 is not installed.
    """
    re2 = google_re2()
    if re2 is None:
        raise KernelError(
            "regular expressions in Python need google-re2, which is not installed",
            hint="Install it: pip install 'litefuse[text]'.",
        )
    return Expression(pattern, re2)


@functools.cache
def google_re2() -> Any:
    """Returns the module of google-re2; None if it is not installed."""
    try:
        import re2
    except ImportError:
        return None
    return re2 if hasattr(re2, "Options") else None  # other packages have a module of this name


def _places(text: bytes) -> list[int]:
    """Returns the offsets of the characters, and of the end; a byte that is not valid UTF-8 is a character."""
    places = [0]
    for character in decoded(text):
        places.append(places[-1] + len(encoded(character)))
    return places


@functools.lru_cache(maxsize=256)
def _rewriting(rewrite: bytes) -> Sequence[bytes | int]:
    parts: list[bytes | int] = []
    for piece in re.findall(rb"\\.?|[^\\]+", rewrite, re.DOTALL):
        if piece[:1] != b"\\":
            parts.append(piece)
        elif piece == b"\\\\":
            parts.append(b"\\")
        elif piece[1:].isdigit():
            parts.append(int(piece[1:]))
        else:
            shown = rewrite.decode("utf-8", "backslashreplace")
            raise KernelError(f"rewrite {shown!r}: behind a backslash stands a digit or another one")
    return parts


class _OfKnownExpression(LimitedKernel, PartlyNativeKernel):
    @classmethod
    def refusal(cls, dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
        """Accepts what RE2 does; everything where google-re2 is not installed, which would tell."""
        del dtypes
        if google_re2() is None:
            return None
        try:
            expression(as_bytes(attributes.get("pattern", "")))
        except KernelError as error:
            return error.message
        return None

    @classmethod
    def is_beyond_native(cls, attributes: Mapping[str, Any]) -> bool:
        r"""Whether there may be flags, a Unicode class (\pL) or a byte (\C); a backslash before it is not checked."""
        pattern = attributes.get("pattern", "")
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else str(pattern)  # C++ refuses what is not text
        return re.search(r"\\[CpP]|\(\?(?!:|P?<)", text) is not None


@pack_kernel("StaticRegexReplace", limited=True, native="partly")
class StaticRegexReplace(_OfKnownExpression, OfEachString):
    """TensorFlow's op of the same name (``tf.strings.regex_replace`` with a constant expression).

    Input: ``input``, strings of any shape. Output: the strings with matches replaced.

    Options: ``pattern``, an RE2 expression; ``rewrite``, the replacement of a match, in which a backslash and a digit
    refer to a group; ``replace_global``, true if missing: whether every match is replaced, or only the first one.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/regex_replace.
    """

    def prepare(self, text: TensorSpec, *, pattern: str | bytes = "") -> TensorSpec:
        expression(as_bytes(pattern))
        return super().prepare(text)

    def invoke(
        self,
        inputs: Arrays,
        outputs: Outputs,
        *,
        pattern: str | bytes,
        rewrite: str | bytes,
        replace_global: bool = True,
    ) -> None:
        _replace(inputs[0], outputs, as_bytes(pattern), as_bytes(rewrite), every=replace_global)


@pack_kernel("RegexReplace")
class RegexReplace(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.regex_replace``).

    Inputs: ``input``, strings of any shape; ``pattern`` and ``rewrite``, each a string; see ``StaticRegexReplace``.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, pattern: TensorSpec, rewrite: TensorSpec) -> TensorSpec:
        for name, spec in (("pattern", pattern), ("rewrite", rewrite)):
            check_strings(name, spec)
            check_scalar(name, spec)
        return TensorSpec(check_strings("input", text), STRING)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, replace_global: bool = True) -> None:
        text, pattern, rewrite = inputs
        _replace(text, outputs, pattern.item(), rewrite.item(), every=replace_global)


@pack_kernel("StaticRegexFullMatch", limited=True, native="partly")
class StaticRegexFullMatch(_OfKnownExpression):
    """TensorFlow's op of the same name (``tf.strings.regex_full_match`` with a constant expression).

    Input: ``input``, strings of any shape. Output: whether the whole string matches, bool.

    Options: ``pattern``, an RE2 expression.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/regex_full_match.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, *, pattern: str | bytes) -> TensorSpec:
        expression(as_bytes(pattern))
        return TensorSpec(check_strings("input", text), np.bool_)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, pattern: str | bytes) -> None:
        _match(inputs[0], outputs, as_bytes(pattern))


@pack_kernel("RegexFullMatch")
class RegexFullMatch(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.regex_full_match``).

    Inputs: ``input``, strings of any shape; ``pattern``, a string; see ``StaticRegexFullMatch``.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, pattern: TensorSpec) -> TensorSpec:
        check_strings("pattern", pattern)
        check_scalar("pattern", pattern)
        return TensorSpec(check_strings("input", text), np.bool_)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        text, pattern = inputs
        _match(text, outputs, pattern.item())


def _replace(text: npt.NDArray[Any], outputs: Outputs, pattern: bytes, rewrite: bytes, *, every: bool) -> None:
    known = expression(pattern)
    changed = (known.replaced(rewrite, one, every=every) for one in text.ravel().tolist())
    outputs[0] = string_array(changed, text.shape)


def _match(text: npt.NDArray[Any], outputs: Outputs, pattern: bytes) -> None:
    known = expression(pattern)
    matches = [known.matches(one) for one in text.ravel().tolist()]
    outputs[0][...] = np.array(matches, np.bool_).reshape(text.shape)
