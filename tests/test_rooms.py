"""Who may import whom: packages stand in the order of the table in CONTRIBUTING.md, and none imports a later one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "litefuse"
TABLE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def order(text: str) -> list[str]:
    """The packages in the first column of the table; a room is named for its own modules."""
    rows = re.findall(r"^\| (`.*?) \|", text, flags=re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+(?:/\w+)?(?:\.py)?)`", row)]


def unit(path: Path, table: Iterable[str]) -> str | None:
    """The entry of the table that a file, relative to the sources, belongs to."""
    inner = "/".join(path.parts[:2])
    names = [inner, f"{inner}.py", path.parts[0]]
    return next((name for name in names if name in table), None)


def imported(tree: ast.AST) -> Iterator[Path]:
    """What a module imports, at its top, within functions and for types: paths of modules, or of what is in these."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "litefuse":
            yield from (Path(*node.module.split(".")[1:], alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (Path(*alias.name.split(".")[1:]) for alias in node.names if alias.name.startswith("litefuse."))


def upward_imports(files: dict[Path, str], table: list[str]) -> list[tuple[str, str]]:
    """Which files import an entry of the table that comes after their own."""
    upward: list[tuple[str, str]] = []
    for path, text in files.items():
        own = unit(path, table)
        for module in imported(ast.parse(text)):
            # Of ``from litefuse.ir import builder`` the name may be a module or not.
            other = unit(module, table) or unit(module.with_suffix(".py"), table) or unit(module.parent, table)
            if own and other and table.index(other) > table.index(own):
                upward.append((str(path), other))
    return upward


def sources() -> dict[Path, str]:
    """The modules in rooms, but for what only says what a room is; the modules beside the rooms have public names."""
    paths = [path.relative_to(SOURCES) for path in SOURCES.glob("*/**/*.py")]
    texts = {path: (SOURCES / path).read_text("utf-8") for path in paths}
    return {path: text for path, text in texts.items() if len(path.parts) > 2 or "\nfrom " in text}


def rooms(table: Iterable[str]) -> list[str]:
    return [
        room for room, _ in groupby(name.partition("/")[0] for name in table if name.partition("/")[0][-3:] != ".py")
    ]


def test_every_package_is_in_the_table() -> None:
    table = order(TABLE)
    units = {str(unit(path, table) or path) for path in sources()}
    assert units | {"errors.py", "version.py"} == {*table}


def test_the_rooms_are_few_and_none_is_a_third_of_the_house() -> None:
    lines = {path: text.count("\n") for path, text in sources().items()}
    sizes = {room: sum(count for path, count in lines.items() if path.parts[0] == room) for room in rooms(order(TABLE))}
    assert sorted(sizes) == sorted(path.name for path in SOURCES.iterdir() if path.is_dir() and path.name[0] != "_")
    assert len(sizes) <= 10
    assert max(sizes.values()) * 3 < sum(sizes.values())


def test_no_package_imports_a_later_one() -> None:
    assert upward_imports(sources(), order(TABLE)) == []


def test_an_import_upwards_is_seen() -> None:
    table = ["support/files", "ir/ops", "ir", "ir/shapes", "tools/page"]
    planted = {
        Path("ir/types.py"): "def f():\n    from litefuse.ir.shapes.graph import Node\n",
        Path("ir/ops/dims.py"): "from litefuse.ir import types, shapes\nfrom litefuse.support.files import path",
        Path("support/files/path.py"): "import litefuse.tools.page.layout",
        Path("tools/page/layout.py"): "from litefuse.ir.shapes import graph",
    }
    assert upward_imports(planted, table) == [
        ("ir/types.py", "ir/shapes"),
        ("ir/ops/dims.py", "ir"),
        ("ir/ops/dims.py", "ir/shapes"),
        ("support/files/path.py", "tools/page"),
    ]
