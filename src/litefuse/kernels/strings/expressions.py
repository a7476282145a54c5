r"""Matching and replacing by regular expressions of RE2, which TensorFlow's ops take.

RE2 itself does it where the package google-re2 is installed (the extra ``text``), in a time that grows with the text
alone. Else Python's ``re`` does, with the expression as ``re2.py`` writes it anew: some expressions, such as
``(x+x+)+y``, then take a time that doubles with each character.
"""

from __future__ import annotations

import functools
import logging
import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from litefuse.errors import KernelError
from litefuse.kernels.strings.re2 import compiled, decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Expression", "PythonExpression", "RE2Expression", "expression"]

logger = logging.getLogger("litefuse")


class Expression(ABC):
    """A regular expression. Texts and rewritings are bytes, UTF-8 as a rule; see the two forms for what they match."""

    groups: int
    """How many groups it has."""

    @abstractmethod
    def matches(self, text: bytes) -> bool:
        """Whether it matches the whole text."""

    @abstractmethod
    def replaced(self, rewrite: bytes, text: bytes, *, every: bool) -> bytes:
        """The text with what matches replaced: every match, or the first one.

        An empty match at the end of the last one does not count. In ``rewrite``, a backslash and a digit is a group, or
        with 0 the match; with a group that there is not, RE2 replaces nothing.

        Raises:
            KernelError: Something else stands behind a backslash.
        """


class PythonExpression(Expression):
    """The expression as Python's ``re`` takes it.

    Args:
        pattern: The expression.

    Raises:
        KernelError: It is none of RE2, or Python cannot express it.
    """

    def __init__(self, pattern: bytes) -> None:
        try:
            self._pattern = compiled(pattern.decode())
        except UnicodeDecodeError:
            raise KernelError(f"regular expression {pattern!r} is no UTF-8") from None
        self.groups = self._pattern.groups

    def matches(self, text: bytes) -> bool:
        return self._pattern.fullmatch(decoded(text)) is not None

    def replaced(self, rewrite: bytes, text: bytes, *, every: bool) -> bytes:
        parts = [part if isinstance(part, int) else decoded(part) for part in _rewriting(rewrite)]
        whole = decoded(text)
        return encoded("".join(_pieces(self._pattern, parts, whole, [*range(len(whole) + 1)], every=every)))


class RE2Expression(Expression):
    """The expression in RE2.

    Args:
        pattern: The expression.
        re2: The module of google-re2.

    Raises:
        KernelError: It is none of RE2.
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
        self.groups = self._pattern.groups

    def matches(self, text: bytes) -> bool:
        return self._pattern.fullmatch(text) is not None

    def replaced(self, rewrite: bytes, text: bytes, *, every: bool) -> bytes:
        return b"".join(_pieces(self._pattern, _rewriting(rewrite), text, _places(text), every=every))


@functools.lru_cache(maxsize=256)
def expression(pattern: bytes) -> Expression:
    """The expression, in RE2 where google-re2 is installed.

    Raises:
        KernelError: It is none of RE2, or, without google-re2, Python cannot express it.
    """
    re2 = _google_re2()
    if re2 is not None:
        return RE2Expression(pattern, re2)
    found = PythonExpression(pattern)
    logger.warning(
        "the regular expression %r runs in Python's re, where some take a time without bound: "
        "pip install 'litefuse[text]' brings RE2",
        pattern.decode(),
    )
    return found


@functools.cache
def _google_re2() -> Any:
    try:
        import re2
    except ImportError:
        return None
    return re2 if hasattr(re2, "Options") else None  # other packages have a module of this name


def _places(text: bytes) -> list[int]:
    """Where each character begins, and the end; a byte that is no UTF-8 is one."""
    places = [0]
    for character in decoded(text):
        places.append(places[-1] + len(encoded(character)))
    return places


def _pieces(pattern: Any, parts: Sequence[Any], text: Any, places: Sequence[int], *, every: bool) -> list[Any]:
    """The pieces of the text that is left, and of what is put in, all of the type of ``text``.

    Args:
        pattern: The expression, with the methods of ``re.Pattern``.
        parts: What is put in for a match: texts, and the numbers of groups.
        text: The text.
        places: Where each of its characters begins, and its end.
        every: Whether every match is replaced.
    """
    if any(isinstance(part, int) and part > pattern.groups for part in parts):
        return [text]
    result: list[Any] = []
    at, last = 0, -1
    following = iter(places)
    while at <= len(text):
        match = pattern.search(text, at)
        if match is None:
            break
        start, end = match.span()
        if start == end == last:  # at the same place as ``at``
            after = next((place for place in following if place > at), len(text) + 1)
            result.append(text[at:after])
            at = after
            continue
        result.append(text[at:start])
        result += [(match[part] or text[:0]) if isinstance(part, int) else part for part in parts]
        at = last = end
        if not every:
            break
    result.append(text[at:])
    return result


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
