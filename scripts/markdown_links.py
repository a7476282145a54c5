"""Links in pages of Markdown: which there are, what they may name, and other places for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

_FENCE = r"^[ ]*(```|~~~).*?^[ ]*\1[^\n]*$"
_CODE = r"(?<!`)(`+)(?!`).*?(?<!`)\2(?!`)"
_ALL_CODE = re.compile(f"{_FENCE}|{_CODE}", flags=re.MULTILINE | re.DOTALL)
_FENCES = re.compile(_FENCE, flags=re.MULTILINE | re.DOTALL)
_INLINE = r"\]\(<?([^()<>\s]*(?:\([^()\s]*\)[^()<>\s]*)*)>?(?:\s+\"[^\"]*\")?\)"
_REFERENCE = r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?\s*$"
_LINK = re.compile(f"{_INLINE}|{_REFERENCE}", flags=re.MULTILINE)
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:")
_HEADING = re.compile(r"^ {0,3}#{1,6} +(.*?)(?: +#+)? *$", flags=re.MULTILINE)
_ANCHOR = re.compile(r"<a (?:name|id)=\"([^\"]+)\"")


def prose(text: str) -> str:
    """A page without its blocks of code, on lines of the same numbers."""
    return _FENCES.sub(lambda block: "\n" * block[0].count("\n"), text)


def anchors(text: str) -> set[str]:
    """What GitHub lets the headings of a page be linked by, and the anchors written by hand."""
    words = prose(text)
    found, seen = set(_ANCHOR.findall(words)), Counter[str]()
    for heading in _HEADING.findall(words):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def links(text: str) -> list[str]:
    """Where a page's links lead, those within this repository."""
    found: list[str] = []
    relinked(text, lambda link: found.append(link) or link)
    return found


def relinked(text: str, place: Callable[[str], str]) -> str:
    """A page whose links within this repository lead to other places. Code is left as it is.

    Args:
        text: The page.
        place: Where a link leads now, by where it led.
    """

    def moved(found: re.Match[str]) -> str:
        group = 1 if found[1] is not None else 2
        link = found[group]
        if _ELSEWHERE.match(link):
            return found[0]
        start, end = (each - found.start() for each in found.span(group))
        return found[0][:start] + place(link) + found[0][end:]

    parts: list[str] = []
    at = 0
    for code in _ALL_CODE.finditer(text):
        parts += [_LINK.sub(moved, text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, _LINK.sub(moved, text[at:])])
