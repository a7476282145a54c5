"""The documentation is laid out for its site whole, with links that lead somewhere there."""

from __future__ import annotations

import inspect
import pkgutil
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType

import pytest
from scripts.stage_site import completed, misplaced, misread, stage

import litefuse

ROOT = Path(__file__).parents[1]


def test_the_documentation_is_ready_for_the_site(tmp_path: Path) -> None:
    assert stage(ROOT, tmp_path) == []
    assert "\n## litefuse convert\n" in (tmp_path / "docs" / "reference" / "cli.md").read_text()
    security = (tmp_path / "docs" / "project" / "security.md").read_text()
    assert "](../guides/models.md)" in security
    adding = (tmp_path / "docs" / "guides" / "adding.md").read_text()
    assert "](https://github.com/litefuse/litefuse/blob/main/src/litefuse/errors.py)" in adding
    assert "](../project/contributing.md#where-things-are)" in adding


def made() -> str:
    return "| a table |"


def test_what_is_made_is_in_its_place() -> None:
    assert completed("before\n<!-- made by tests.test_site:made -->\nafter\n") == "before\n| a table |\nafter\n"
    with pytest.raises((ImportError, AttributeError)):
        completed("<!-- made by tests.test_site:nothing -->")


def repository(folder: Path, **pages: str) -> Path:
    """A repository with pages in its folder ``docs``, all of them in the navigation, and a module."""
    (folder / "docs").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "src" / "a module.py").touch()
    (folder / "SECURITY.md").write_text("[a page](docs/a.md) [out](../elsewhere.md)\n")
    for name, text in pages.items():
        (folder / "docs" / f"{name}.md").write_text(text)
    listed = ", ".join(f'"{name}.md"' for name in (*pages, "project/security"))
    (folder / "zensical.toml").write_text(f"nav = [{listed}]\n")
    return folder


def test_links_lead_to_pages_or_to_the_repository(tmp_path: Path) -> None:
    text = (
        "[here](#x) [b](b.md#y) ![code](<../src/a%20module.py>) [all](../src) [safe](../SECURITY.md#z)\n"
        "[web](https://example.com/b.md) `[code](b.md)` [lost](lost.md)\n\n[1]: ../src/a%20module.py\n"
        "```\n[fenced](../src)\n```\n"
    )
    root = repository(tmp_path / "from", a=text, b="# Y\n")
    assert stage(root, tmp_path / "to") == [
        "SECURITY.md: ../elsewhere.md: there is no such file",
        "docs/a.md: lost.md: there is no such file",
    ]
    there = "https://github.com/litefuse/litefuse"
    assert (tmp_path / "to" / "docs" / "a.md").read_text() == (
        f"[here](#x) [b](b.md#y) ![code](<{there}/blob/main/src/a%20module.py>) [all]({there}/tree/main/src) "
        "[safe](project/security.md#z)\n"
        f"[web](https://example.com/b.md) `[code](b.md)` [lost](lost.md)\n\n[1]: {there}/blob/main/src/a%20module.py\n"
        "```\n[fenced](../src)\n```\n"
    )
    assert "[a page](../a.md)" in (tmp_path / "to" / "docs" / "project" / "security.md").read_text()


def test_pages_without_a_place_are_found() -> None:
    nav = '["a.md", { "B" = ["b/c.md", "a.md"] }, "gone.md"]'
    assert misplaced(nav, ["a.md", "b/c.md", "d.md", "picture.svg"]) == [
        "d.md: the navigation in zensical.toml lacks it",
        "gone.md: the navigation in zensical.toml has it, and there is no such page",
        "a.md: the navigation in zensical.toml has it twice",
    ]


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("- one\n  and more\n- two\n\n    and more\n\n    ```\n      x\n    ```\n    - nested\n\ntext\n\n1. one\n", []),
        ("- one\n  - nested\n", [2]),
        ("1. one\n\n   and more\n", [3]),
        ("1. one\n\n    text\n\n   ```\n   x\n   ```\n", [5, 7]),
        ("a paragraph:\n- an item\n", [2]),
        ("```\n- one\n  - in code\n```\n", []),
    ],
    ids=["as both read it", "nested", "paragraph", "code", "no empty line", "in code"],
)
def test_what_only_github_reads_as_a_list_is_found(page: str, lines: list[int]) -> None:
    assert [line for line, _ in misread(page)] == lines


def documented() -> list[object]:
    """What the reference is made of: each class and function, and what a module says that it has."""
    found: list[object] = []
    for page in (ROOT / "docs" / "reference" / "api").glob("*.md"):
        for name in re.findall(r"^::: (\S+)$", completed(page.read_text()), flags=re.MULTILINE):
            each = pkgutil.resolve_name(name)
            found += [getattr(each, one) for one in each.__all__] if isinstance(each, ModuleType) else [each]
    return found


def test_the_reference_has_every_public_name_once() -> None:
    reference = documented()
    assert [name for name in litefuse.__all__ if reference.count(getattr(litefuse, name)) != 1] == []


@pytest.mark.parametrize("name", ["convert", "quantize", "Quantization", "Checks", "Graph", "Limits", "Debugging"])
def test_the_reference_has_every_option_once(name: str) -> None:
    page = completed((ROOT / "docs" / "reference" / "api" / "converting.md").read_text())
    (section,) = re.findall(rf"^::: litefuse\.{name}\n(.*?)(?=^:::|\Z)", page, flags=re.DOTALL | re.MULTILINE)
    public = getattr(litefuse, name)
    options = (
        [field.name for field in fields(public)]
        if is_dataclass(public)
        else [*inspect.signature(public).parameters][1:]
    )
    assert options == re.findall(r"^- `(\w+)` \(`.+`\): \S", section, flags=re.MULTILINE)
