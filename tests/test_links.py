"""Links between the pages of this repository lead to files and headings that are there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from scripts.markdown_links import anchors, links, prose

from tests.repository import ROOT, tracked

#: Their links lead out of the folders that `litefuse kernels` writes them to.
TEMPLATES = ROOT / "src" / "litefuse" / "tools" / "scaffold" / "templates"

_NAMED = re.compile(r"\[`(\w+)`\]\(([^()#\s]+\.py)\)")


def broken(pages: Mapping[Path, str], root: Path) -> list[str]:
    """The links that lead nowhere.

    Args:
        pages: The texts of the pages by their paths.
        root: What no link leads out of.
    """
    known = {path.resolve(): anchors(text) for path, text in pages.items()}
    found: list[str] = []
    for path, text in pages.items():
        for link in links(text):
            place, _, anchor = unquote(link).partition("#")
            target = (path.parent / place).resolve() if place else path.resolve()
            if not target.is_relative_to(root.resolve()) or not target.exists():
                found.append(f"{path.relative_to(root)}: {link}: there is no such file")
            elif anchor and target in known and anchor not in known[target]:
                found.append(f"{path.relative_to(root)}: {link}: there is no such heading")
    return found


def undefined(pages: Mapping[Path, str]) -> list[str]:
    """The names that pages link to a module which does not define them: ``[`Name`](module.py)``."""
    found: list[str] = []
    for path, text in pages.items():
        for name, place in _NAMED.findall(prose(text)):
            target = path.parent / place
            definition = rf"^(?:class|def) {name}\b|^{name}\b.* = "
            if target.exists() and not re.search(definition, target.read_text(), flags=re.MULTILINE):
                found.append(f"{path.name}: {name} is not in {place}")
    return found


def _pages() -> dict[Path, str]:
    return {path: path.read_text() for path in tracked("*.md") if path.parent != TEMPLATES}


def test_links_lead_somewhere() -> None:
    pages = _pages()
    assert sum(len(links(text)) for text in pages.values()) > 50
    assert broken(pages, ROOT) == []
    assert undefined(pages) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    first, second = tmp_path / "README.md", tmp_path / "docs" / "a_page.md"
    first.write_text(
        "# A page: `code` & more\n## Twice\n## Twice\n[good](docs/a_page.md#what-it-s), [twice](#twice-1)\n"
        "[no](#thrice) [shown][1] `[code](nowhere.md)` [web](https://example.com/nowhere)\n"
        "```\n[fenced](nowhere.md)\n# Fenced\n```\n"
        "[title](#a-page-code--more) [not](#fenced)\n\n[1]: docs/nowhere.md\n"
    )
    second.write_text(
        "## What it-s\n[up](../README.md) [out](../../somewhere.md) [to](../README.md#nowhere) ![](x.svg)\n"
    )
    pages = {path: path.read_text() for path in (first, second)}
    assert broken(pages, tmp_path) == [
        "README.md: #thrice: there is no such heading",
        "README.md: #fenced: there is no such heading",
        "README.md: docs/nowhere.md: there is no such file",
        "docs/a_page.md: ../../somewhere.md: there is no such file",
        "docs/a_page.md: ../README.md#nowhere: there is no such heading",
        "docs/a_page.md: x.svg: there is no such file",
    ]


def test_names_that_a_module_lacks_are_found(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("class Known:\n    ...\n\n\nTABLE: dict[str, int] = {}\n")
    page = tmp_path / "page.md"
    links = "[`Known`](module.py) [`TABLE`](module.py) [`Unknown`](module.py) [the module](module.py)"
    assert undefined({page: links}) == ["page.md: Unknown is not in module.py"]
