"""Lays the documentation out for the site's generator: ``python -m scripts.stage_site FOLDER``.

In the repository, links lead to files, as they do on GitHub, also out of the folder ``docs``. The site has the pages
of ``docs`` and those in ``PAGES``: links to other files become links to the repository. Tables of what the code or a
record has are not kept in pages: a line ``<!-- made by MODULE:FUNCTION -->`` becomes what the function returns. What
the generator would not say is an error: a link to a file that is not there, a page that the navigation lacks, an
indentation that only GitHub reads.
"""

from __future__ import annotations

import argparse
import os
import pkgutil
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from scripts.markdown_links import prose, relinked

ROOT = Path(__file__).parents[1]
REPOSITORY = "https://github.com/litefuse/litefuse"

#: Pages outside of ``docs`` that the site has, and where.
PAGES = {
    "CHANGELOG.md": "project/changes.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "examples/README.md": "tutorials/examples.md",
}
_CONFIGURATION = "zensical.toml"
_LEFT_OUT = {"requirements.txt"}
_MADE = re.compile(r"^<!-- made by ([\w.]+:\w+) -->$", flags=re.MULTILINE)


def stage(root: Path, folder: Path) -> list[str]:
    """Writes the pages of a repository, and what else the generator needs, into a new folder.

    Args:
        root: The repository.
        folder: The folder. The pages are in its folder ``docs`` afterwards.

    Returns:
        What is wrong with the pages, a line for each fault.
    """
    documents = [path for path in (root / "docs").rglob("*") if path.is_file() and path.name not in _LEFT_OUT]
    places = {path.resolve(): path.relative_to(root / "docs").as_posix() for path in documents}
    places |= {(root / path).resolve(): place for path, place in PAGES.items() if (root / path).exists()}
    faults = misplaced((root / _CONFIGURATION).read_text(encoding="utf-8"), places.values())
    for path, place in sorted(places.items()):
        target = folder / "docs" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text, wrong = _page(path, root.resolve(), places)
            target.write_text(text, encoding="utf-8")
            faults += [f"{path.relative_to(root.resolve()).as_posix()}{fault}" for fault in wrong]
        else:
            shutil.copyfile(path, target)
    shutil.copyfile(root / _CONFIGURATION, folder / _CONFIGURATION)
    # The API's pages are made of the sources.
    (folder / "src").symlink_to((root / "src").resolve())
    return faults


def _page(path: Path, root: Path, places: Mapping[Path, str]) -> tuple[str, list[str]]:
    """A page as it is on the site, and what is wrong with it."""
    text = completed(path.read_text(encoding="utf-8"))
    faults = [f":{line}: {what}" for line, what in misread(text)]

    def moved(link: str) -> str:
        led, hash_sign, anchor = link.partition("#")
        if not led:
            return link
        to = (path.parent / unquote(led)).resolve()
        if to in places:
            from_here = os.path.relpath(places[to], Path(places[path]).parent)
            return quote(Path(from_here).as_posix()) + hash_sign + anchor
        if not to.exists() or not to.is_relative_to(root):
            faults.append(f": {link}: there is no such file")
            return link
        kind = "tree" if to.is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{quote(to.relative_to(root).as_posix())}{hash_sign}{anchor}"

    return relinked(text, moved), faults


def completed(text: str) -> str:
    """A page with what it says to be made in its place."""
    return _MADE.sub(lambda mark: pkgutil.resolve_name(mark[1])(), text)


def misplaced(configuration: str, places: Iterable[str]) -> list[str]:
    """The pages that the navigation has not, has twice, or has although there are none.

    Args:
        configuration: The text of ``zensical.toml``.
        places: Where the site has files, by their paths in its folder.
    """
    named = re.findall(r"\"([^\"\n]+\.md)\"", configuration)
    pages = {place for place in places if place.endswith(".md")}
    return [
        *(f"{page}: the navigation in zensical.toml lacks it" for page in sorted(pages - set(named))),
        *(
            f"{page}: the navigation in zensical.toml has it, and there is no such page"
            for page in sorted(set(named) - pages)
        ),
        *(
            f"{page}: the navigation in zensical.toml has it twice"
            for page in sorted(set(named))
            if named.count(page) > 1
        ),
    ]


def misread(text: str) -> list[tuple[int, str]]:
    """The lines of a page, by their numbers, that the site's generator reads as something else than GitHub does.

    What belongs to an item of a list is indented by four columns on the site. On GitHub, two or three will do, or four.
    """
    found: list[tuple[int, str]] = []
    before = ""
    for number, line in enumerate(prose(text).splitlines(), 1):
        begins_item = re.match(r"( *)([-*]|\d+\.) ", line)
        if begins_item and len(begins_item[1]) % 4:
            found.append((number, "an item of a list is indented by other than four columns for each list around it"))
        elif not before.strip() and re.match(r" {1,3}\S", line):
            found.append((number, "a paragraph in a list is indented by less than four columns"))
        elif (
            begins_item and not begins_item[1] and re.match(r"[^\s\-*#|>]", before) and not re.match(r"\d+\. ", before)
        ):
            found.append((number, "a list follows a paragraph without an empty line"))
        before = line
    found += [
        (text.count("\n", 0, fence.start()) + 1, "code in a list is indented by other than four columns")
        for fence in re.finditer(r"^( *)(?:```|~~~)", text, flags=re.MULTILINE)
        if len(fence[1]) % 4
    ]
    return sorted(found)


def main() -> None:
    """Stage the documentation of this repository."""
    parser = argparse.ArgumentParser(description="Lay the documentation out for its site.")
    parser.add_argument("folder", type=Path, help="a folder that is new or empty")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    if faults := stage(ROOT, folder):
        raise SystemExit("\n".join(faults))


if __name__ == "__main__":
    main()
