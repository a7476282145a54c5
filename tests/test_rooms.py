"""Who may import whom: packages stand in the order of the table in CONTRIBUTING.md, and none imports a later one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "litefuse"

#: Imports of a later package: the modules that do so, within functions. Each import has its reason beside it.
UPWARDS = {("runtime", "kernels"): {Path("runtime/custom_op.py")}}


def order(text: str) -> list[str]:
    """The packages and modules in the first column of the table."""
    rows = re.findall(r"^\| (`.*?) \|", text, flags=re.MULTILINE)
    return [name.removesuffix(".py") for row in rows for name in re.findall(r"`(\w+(?:\.py)?)`", row)]


def imported(tree: ast.AST) -> Iterator[str]:
    """The packages that a module imports, at its top, within functions and for types."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("litefuse."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("litefuse."))


def upward_imports(files: dict[Path, str], rooms: list[str]) -> dict[tuple[str, str], set[Path]]:
    """Which files import a room that comes after their own."""
    found: dict[tuple[str, str], set[Path]] = {}
    for path, text in files.items():
        own = path.parts[0].removesuffix(".py")
        for room in imported(ast.parse(text)):
            if rooms.index(room) > rooms.index(own):
                found.setdefault((own, room), set()).add(path)
    return found


def sources() -> dict[Path, str]:
    paths = [path.relative_to(SOURCES) for path in SOURCES.rglob("*.py")]
    return {path: (SOURCES / path).read_text() for path in paths if not path.name.startswith("__") or path.parent.name}


def test_every_room_is_in_the_table() -> None:
    present = {path.parts[0].removesuffix(".py") for path in sources()}
    assert sorted(order((ROOT / "CONTRIBUTING.md").read_text())) == sorted(present)


def test_no_room_imports_a_later_one() -> None:
    assert upward_imports(sources(), order((ROOT / "CONTRIBUTING.md").read_text())) == UPWARDS


def test_an_import_upwards_is_found() -> None:
    planted = {Path("ir/types.py"): "def f():\n    from litefuse.shapes.graph import Node\n"}
    assert upward_imports(planted, ["ir", "shapes"]) == {("ir", "shapes"): {Path("ir/types.py")}}
