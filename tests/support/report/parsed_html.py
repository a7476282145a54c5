"""HTML as a reader finds it: what the elements are, and the text in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

#: The elements that have no end tag.
VOID = {"br", "col", "hr", "img", "input", "link", "meta", "wbr"}


@dataclass
class Parsed(HTMLParser):
    """The elements of a fragment in order, the rows of its tables, and the text of each kind of element."""

    rows: list[list[str]] = field(default_factory=list[list[str]])
    row_classes: list[str] = field(default_factory=list[str])
    tags: list[str] = field(default_factory=list[str])
    attributes: set[str] = field(default_factory=set[str])
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    open: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)
        self.texts.setdefault(tag, []).append("")
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
            self.row_classes.append(dict(attrs).get("class") or "")
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in {*self.open}:
            self.texts[tag][-1] += data
        if {"td", "th"} & {*self.open}:
            self.rows[-1][-1] += data


def parsed(text: str) -> Parsed:
    """Parses a fragment; asserts that every element is closed, in order."""
    found = Parsed()
    found.feed(text)
    found.close()
    assert found.open == []
    return found
