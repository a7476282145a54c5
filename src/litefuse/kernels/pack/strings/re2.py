r"""Translation of RE2 regular expressions, which TensorFlow's ops take, to Python's ``re``.

Both return the leftmost match and, of several there, the one that the expression prefers. But some syntax differs, or
means something else: in RE2, ``$`` is the end of the text, ``\w`` and the like are ASCII only, ``\pL`` and
``[[:alpha:]]`` are classes, and flags may change anywhere. So this parses an expression and rewrites it for Python. It
matches as in RE2, with two exceptions: RE2 also finds ``\B`` inside characters of several bytes; and for a repeated
group that may be empty, such as ``(a?)*``, Python captures a last, empty iteration where RE2 captures the one before.

Definition: https://github.com/google/re2/wiki/Syntax. Texts are UTF-8, decoded with ``surrogateescape``: a byte that is
not valid UTF-8 becomes a character that only itself matches, not a dot or a class.
"""

from __future__ import annotations

import functools
import re
import unicodedata

from litefuse.errors import KernelError

__all__ = ["compiled", "decoded", "encoded"]

_Ranges = list[tuple[int, int]]

_LAST = 0x10FFFF
_MAX_REPEAT = 1000
# The surrogates that represent bytes that are not valid UTF-8.
_ESCAPES = (0xDC80, 0xDCFF)
_NO_TEXT = r"\udc80-\udcff"

_DIGITS: _Ranges = [(0x30, 0x39)]
_LETTERS: _Ranges = [(0x41, 0x5A), (0x61, 0x7A)]
_PERL: dict[str, _Ranges] = {
    "d": _DIGITS,
    "s": [(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)],
    "w": [*_DIGITS, (0x5F, 0x5F), *_LETTERS],
}
_POSIX: dict[str, _Ranges] = {
    "alnum": [*_DIGITS, *_LETTERS],
    "alpha": _LETTERS,
    "ascii": [(0x00, 0x7F)],
    "blank": [(0x09, 0x09), (0x20, 0x20)],
    "cntrl": [(0x00, 0x1F), (0x7F, 0x7F)],
    "digit": _DIGITS,
    "graph": [(0x21, 0x7E)],
    "lower": [(0x61, 0x7A)],
    "print": [(0x20, 0x7E)],
    "punct": [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
    "space": [(0x09, 0x0D), (0x20, 0x20)],
    "upper": [(0x41, 0x5A)],
    "word": _PERL["w"],
    "xdigit": [*_DIGITS, (0x41, 0x46), (0x61, 0x66)],
}
# Python's \B does not match in an empty text.
_WORD = "[0-9A-Za-z_]"
_BOUNDARY = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_NO_BOUNDARY = f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))"
_CONTROLS = {"a": 0x07, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_REPEATED = re.compile(r"\{(\d+)(?:(,)(\d*))?\}", re.ASCII)
_GROUP = re.compile(r"\(\?(?:P?<(?P<name>\w+)>|(?P<on>[imsU]*)(?:-(?P<off>[imsU]+))?(?P<end>[:)]))")
_OCTAL = re.compile(r"[0-7]{1,3}", re.ASCII)
_HEXADECIMAL = re.compile(r"x(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]+)\})")
_PROPERTY = re.compile(r"[pP](?:\{(\^?)([^}]*)\}|(.))", re.DOTALL)
_POSIX_CLASS = re.compile(r"\[:(\^?)(\w+):\]")


def decoded(text: bytes) -> str:
    """Decodes a text for matching."""
    return text.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Returns the bytes of a decoded text."""
    return text.encode("utf-8", "surrogateescape")


def compiled(pattern: str) -> re.Pattern[str]:
    """Compiles an RE2 expression with Python's ``re``.

    Raises:
        KernelError: It is not valid in RE2, or Python cannot express it.
    """
    return re.compile(_Reader(pattern).read())


@functools.lru_cache(maxsize=64)
def _category(name: str) -> tuple[tuple[int, int], ...]:
    """Returns the ranges of a general category of Unicode."""
    ranges: _Ranges = []
    for code in range(_LAST + 1):
        found = unicodedata.category(chr(code))
        if found.startswith(name) and found != "Cn":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1] = (ranges[-1][0], code)
            else:
                ranges.append((code, code))
    return tuple(ranges)


class _Reader:
    """Parser of an expression, from left to right, that returns it in Python's syntax."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._flags = frozenset[str]()
        self._depth = 0

    def read(self) -> str:
        result = self._alternatives()
        if self._at < len(self._pattern):
            raise self._error("a parenthesis is closed that was not opened")
        return result

    def _error(self, reason: str) -> KernelError:
        return KernelError(f"regular expression {self._pattern!r}: {reason} (position {self._at})")

    def _next(self, text: str) -> bool:
        """Consumes a text, if it comes next."""
        found = self._pattern.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _matched(self, form: re.Pattern[str]) -> re.Match[str] | None:
        """Consumes a match of a pattern, if it comes next."""
        found = form.match(self._pattern, self._at)
        self._at = found.end() if found else self._at
        return found

    def _alternatives(self) -> str:
        before = self._flags
        parts: list[str] = []
        repeatable = False
        while self._at < len(self._pattern) and self._pattern[self._at] != ")":
            if self._next("|"):
                parts.append("|")
                repeatable = False
                continue
            if self._next(r"\Q"):
                parts += self._quoted()
                repeatable = bool(parts) and parts[-1] != "|"
                continue
            repeat = self._repeat()
            if repeat is not None:
                if not repeatable:
                    raise self._error("nothing stands before a repetition, or another one does")
                parts[-1] = f"(?:{parts[-1]}){repeat}"
                repeatable = False
                continue
            atom = self._atom()
            if atom is not None:  # flags are not an atom
                parts.append(atom)
                repeatable = True
        self._flags = before
        return "".join(parts)

    def _quoted(self) -> list[str]:
        end = self._pattern.find(r"\E", self._at)
        text = self._pattern[self._at :] if end < 0 else self._pattern[self._at : end]
        self._at = len(self._pattern) if end < 0 else end + len(r"\E")
        return [self._literal(ord(character)) for character in text]

    def _repeat(self) -> str | None:
        """Consumes a repetition and returns it in Python's syntax; None if none comes next."""
        character = self._pattern[self._at]
        if character in "*+?":
            self._at += 1
            repeat = character
        else:
            found = self._matched(_REPEATED)
            if found is None:
                return None
            numbers = [int(number) for number in (found[1], found[3]) if number]
            if max(numbers) > _MAX_REPEAT or numbers != sorted(numbers):
                raise self._error(f"{found[0]} is no repetition: at most {_MAX_REPEAT} times, the smaller number first")
            repeat = found[0]
        lazy = self._next("?")
        return repeat + ("?" if lazy != ("U" in self._flags) else "")

    def _atom(self) -> str | None:
        character = self._pattern[self._at]
        if character == "(":
            return self._group()
        if character == "[":
            self._at += 1
            return self._class()
        if character == "\\":
            self._at += 1
            return self._escape()
        self._at += 1
        if character == ".":
            return f"[^{'' if 's' in self._flags else chr(92) + 'n'}{_NO_TEXT}]"
        if character in "^$":
            if "m" in self._flags:
                return f"(?m:{character})"
            return r"\A" if character == "^" else r"\Z"
        return self._literal(ord(character))

    def _group(self) -> str | None:
        opened = "("
        before = self._flags
        if self._pattern.startswith("(?", self._at):
            found = self._matched(_GROUP)
            if found is None:
                raise self._error("RE2 has no group that begins so")
            if not found["name"]:
                self._flags = (self._flags | set(found["on"])) - set(found["off"] or "")
                if found["end"] == ")":
                    return None
                opened = "(?:"
        else:
            self._at += 1
        inner = self._alternatives()
        if not self._next(")"):
            raise self._error("a parenthesis is not closed")
        self._flags = before
        return f"{opened}{inner})"

    def _escape(self) -> str:
        """Translates what follows a backslash, outside classes."""
        for letter, form in (("A", r"\A"), ("z", r"\Z"), ("b", _BOUNDARY), ("B", _NO_BOUNDARY)):
            if self._next(letter):
                return form
        if self._next("C"):
            raise self._error(r"\C is any byte, also within a character, which Python cannot express")
        group = self._escaped_class()
        if group is not None:
            ranges, negated = group
            return self._set(ranges, [], negated=negated)
        return self._literal(self._escaped_character())

    def _escaped_class(self) -> tuple[_Ranges, bool] | None:
        r"""Returns the class that follows a backslash, such as \d or \pL, and whether it is negated."""
        if self._at == len(self._pattern):
            raise self._error("a backslash stands at the end")
        character = self._pattern[self._at]
        if character in "dDsSwW":
            self._at += 1
            return _PERL[character.lower()], character.isupper()
        if character not in "pP":
            return None
        found = self._matched(_PROPERTY)
        if found is None:
            raise self._error(f"\\{character} names no class")
        name = found[2] if found[2] is not None else found[3]
        negated = (character == "P") != bool(found[1])
        if name == "Any":
            return [(0, _LAST)], negated
        ranges = list(_category(name)) if len(name) in (1, 2) and name.isalpha() else []
        if not ranges:
            raise self._error(
                f"the class {name!r} is not known: general categories of Unicode are, such as L and Lu, scripts are not"
            )
        return ranges, negated

    def _escaped_character(self) -> int:
        character = self._pattern[self._at]
        if character in _CONTROLS:
            self._at += 1
            return _CONTROLS[character]
        if character == "x":
            found = self._matched(_HEXADECIMAL)
            code = int(found[1] or found[2], 16) if found else _LAST + 1
            if code > _LAST:
                raise self._error(r"\x needs two hexadecimal digits, or a character's number in braces")
            return code
        octal = _OCTAL.match(self._pattern, self._at)
        if octal is not None and (character == "0" or len(octal[0]) > 1):
            self._at = octal.end()
            return int(octal[0], 8)
        if character.isascii() and not character.isalnum():
            self._at += 1
            return ord(character)
        raise self._error(f"RE2 has no \\{character}")

    def _class(self) -> str:
        """Translates a class in brackets, after the opening one."""
        negated = self._next("^")
        ranges: _Ranges = []
        without: list[_Ranges] = []  # negated classes
        first = True
        while first or not self._next("]"):
            if self._at == len(self._pattern):
                raise self._error("a bracket is not closed")
            group = self._class_in_class()
            if group is not None:
                found, is_negated = group
                if is_negated:
                    without.append(found)
                else:
                    ranges += found
            else:
                low = self._class_character()
                high = low
                if self._pattern.startswith("-", self._at) and not self._pattern.startswith("-]", self._at):
                    self._at += 1
                    high = self._class_character()
                if high < low:
                    raise self._error("a range in brackets ends before it begins")
                ranges.append((low, high))
            first = False
        return self._set(ranges, without, negated=negated)

    def _class_in_class(self) -> tuple[_Ranges, bool] | None:
        if self._pattern.startswith("[:", self._at):
            found = self._matched(_POSIX_CLASS)
            if found is not None:
                if found[2] not in _POSIX:
                    raise self._error(f"there is no class {found[0]}")
                return _POSIX[found[2]], bool(found[1])
        if self._pattern.startswith("\\", self._at):
            self._at += 1
            group = self._escaped_class()
            if group is not None:
                return group
            self._at -= 1
        return None

    def _class_character(self) -> int:
        if self._at == len(self._pattern):
            raise self._error("a bracket is not closed")
        if self._next("\\"):
            if self._at == len(self._pattern):
                raise self._error("a backslash stands at the end")
            return self._escaped_character()
        self._at += 1
        return ord(self._pattern[self._at - 1])

    def _literal(self, code: int) -> str:
        return self._folded(re.escape(chr(code)))

    def _folded(self, text: str) -> str:
        return f"(?i:{text})" if "i" in self._flags else text

    def _set(self, ranges: _Ranges, without: list[_Ranges], *, negated: bool) -> str:
        """Returns a class of the characters in ``ranges`` or not in one of ``without``, or of the others if negated."""
        inside = _written(ranges)
        if not without:
            if negated:
                return self._folded(f"[^{inside}{_NO_TEXT}]")
            return self._folded(f"[{inside}]") if inside else "(?!)"
        text = f"[^{_NO_TEXT}]"
        forms = [f"(?!{self._folded(f'[{_written(each)}]')}){text}" for each in without]
        form = "|".join([*forms, *([self._folded(f"[{inside}]")] if inside else [])])
        return f"(?!{form}){text}" if negated else f"(?:{form})"


def _written(ranges: _Ranges) -> str:
    """Formats ranges for brackets, without the surrogates that represent bytes."""
    kept: _Ranges = []
    for low, high in ranges:
        kept += [(low, min(high, _ESCAPES[0] - 1)), (max(low, _ESCAPES[1] + 1), high)]
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in kept if low <= high)
