r"""Matching and replacing with RE2 regular expressions, which TensorFlow's ops take.

If the package google-re2 is installed (the extra ``text``), RE2 itself runs them, in time linear in the text.
Otherwise Python's ``re`` does, with the expression as ``re2.py`` translates it: some expressions, such as
``(x+x+)+y``, then take a time that doubles with each character.
"""

from __future__ import annotations

import functools
import logging
import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.re2 import compiled, decoded, encoded
from litefuse.support.logs.events import silent_by_default

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Expression", "PythonExpression", "RE2Expression", "expression"]

logger = logging.getLogger("litefuse.kernels")
silent_by_default()


class Expression(ABC):
    """A regular expression. Texts and rewrites are bytes, usually UTF-8; see the subclasses for what they match."""

    groups: int
    """The number of groups."""

    @abstractmethod
    def matches(self, text: bytes) -> bool:
        """Whether it matches the whole text."""

    @abstractmethod
    def first(self, text: bytes) -> tuple[tuple[int, int], int] | None:
        """Returns the bytes at which the first group of the first match begins and ends, and at which the match ends.

        None if it does not match. The expression has a group.

        Raises:
            KernelError: The group is no part of the match.
        """

    @abstractmethod
    def replaced(self, rewrite: bytes, text: bytes, *, every: bool) -> bytes:
        """Returns the text with every match replaced, or only the first one.

        An empty match at the end of the previous match does not count. In ``rewrite``, a backslash and a digit refer to
        a group, with 0 to the whole match. If the group does not exist, RE2 replaces nothing.

        Raises:
            KernelError: A backslash in ``rewrite`` is followed by something else.
        """


class PythonExpression(Expression):
    """An expression that Python's ``re`` runs.

    Args:
        pattern: The expression.

    Raises:
        KernelError: It is not valid in RE2, or Python cannot express it.
    """

    def __init__(self, pattern: bytes) -> None:
        try:
            self._pattern = compiled(pattern.decode())
        except UnicodeDecodeError:
            raise KernelError(f"regular expression {pattern!r} is no UTF-8") from None
        self.groups = self._pattern.groups

    def matches(self, text: bytes) -> bool:
        return self._pattern.fullmatch(decoded(text)) is not None

    def first(self, text: bytes) -> tuple[tuple[int, int], int] | None:
        whole = decoded(text)
        match = self._pattern.search(whole)
        if match is None:
            return None
        begin, end = _first_group(match)
        before = len(encoded(whole[:begin]))
        return (before, before + len(encoded(whole[begin:end]))), len(encoded(whole[: match.end()]))

    def replaced(self, rewrite: bytes, text: bytes, *, every: bool) -> bytes:
        parts = [part if isinstance(part, int) else decoded(part) for part in _rewriting(rewrite)]
        whole = decoded(text)
        return encoded("".join(_pieces(self._pattern, parts, whole, [*range(len(whole) + 1)], every=every)))


class RE2Expression(Expression):
    """An expression that RE2 runs.

    Args:
        pattern: The expression.
        re2: The module of google-re2.

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
        self.groups = self._pattern.groups

    def matches(self, text: bytes) -> bool:
        return self._pattern.fullmatch(text) is not None

    def first(self, text: bytes) -> tuple[tuple[int, int], int] | None:
        match = self._pattern.search(text)
        return None if match is None else (_first_group(match), match.end())

    def replaced(self, rewrite: bytes, text: bytes, *, every: bool) -> bytes:
        return b"".join(_pieces(self._pattern, _rewriting(rewrite), text, _places(text), every=every))


@functools.lru_cache(maxsize=256)
def expression(pattern: bytes) -> Expression:
    """Returns the compiled expression, in RE2 if google-re2 is installed.

    Raises:
        KernelError: It is not valid in RE2, or, without google-re2, Python cannot express it.
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


def _first_group(match: Any) -> tuple[int, int]:
    begin, end = match.span(1)
    if begin < 0:
        raise KernelError("the first group of the regular expression is no part of its match")
    return begin, end


def _places(text: bytes) -> list[int]:
    """Returns the offsets of the characters, and of the end; a byte that is not valid UTF-8 is a character."""
    places = [0]
    for character in decoded(text):
        places.append(places[-1] + len(encoded(character)))
    return places


def _pieces(pattern: Any, parts: Sequence[Any], text: Any, places: Sequence[int], *, every: bool) -> list[Any]:
    """Returns the pieces of the result, unchanged and replaced ones, all of the type of ``text``.

    Args:
        pattern: The expression, with the methods of ``re.Pattern``.
        parts: The replacement of a match: texts, and the numbers of groups.
        text: The text.
        places: The offsets of its characters, and of its end.
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
        if start == end == last:  # equal to ``at``
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
