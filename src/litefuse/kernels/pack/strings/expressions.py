"""Matching and replacing with RE2 regular expressions, which TensorFlow's ops take, by the package google-re2."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Expression", "expression", "google_re2"]


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
            KernelError: The group is no part of the match.
        """
        match = self._pattern.search(text)
        if match is None:
            return None
        begin, end = match.span(1)
        if begin < 0:
            raise KernelError("the first group of the regular expression is no part of its match")
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
