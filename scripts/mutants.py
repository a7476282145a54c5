"""Asks whether the tests notice what is wrong: ``python -m scripts.mutants [--count N] [--seed N] [MODULE.py ...]``.

Draws mutants of modules, such as ``<`` for ``<=``, in a copy of the package, and runs the tests that cover each module:
those that name it, and the folder of its name, or what ``--tests`` names. Without modules, of those that differ from
main. Tells which live, which hang, and the share that dies: a test is missing for one that lives, or it changes nothing
that one could see. The same seed draws the same mutants.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, NamedTuple

import litefuse
from litefuse.litert.runtime.kernel_pack import native_library

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "litefuse"
_PAIRS = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)),
    *((ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.FloorDiv), (ast.Break, ast.Continue)),
)
_OTHERS: dict[Any, Any] = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A module with one change: its line, the code that was there and is there, and the whole source."""

    line: int
    before: str
    after: str
    source: str


def mutants_of(source: str) -> list[Mutant]:
    """Returns all mutants of a module's source."""
    tree = ast.parse(source)
    left = {inner for node in ast.walk(tree) for part in _left(node) for inner in ast.walk(part)}
    content = source.encode()
    lines = content.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    mutants: list[Mutant] = []
    for node in ast.walk(tree):
        if node in left or not isinstance(node, ast.expr | ast.stmt) or (changed := _changed(node)) is None:
            continue
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        after = ast.unparse(changed) if isinstance(node, ast.stmt) else f"({ast.unparse(changed)})"
        mutated = (content[:begin] + after.encode() + content[end:]).decode()
        mutants.append(Mutant(node.lineno, ast.unparse(node), after, mutated))
    return mutants


def _left(node: ast.AST) -> Iterator[ast.AST]:
    """Yields parts of a node that do nothing, or only say something: annotations and messages."""
    if isinstance(node, ast.FunctionDef) and node.returns is not None:
        yield node.returns
    if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        yield node.annotation
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert):
        yield node


def _changed(node: ast.expr | ast.stmt) -> ast.AST | None:
    """Returns what takes the place of a node; None if it stays."""
    new: Any = copy.copy(node)
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _OTHERS:
            new.ops = [_OTHERS[type(operator)]()]
        case ast.BoolOp() | ast.BinOp() if type(new.op) in _OTHERS:
            new.op = _OTHERS[type(new.op)]()
        case ast.Constant(value=bool() | int()):
            new.value = not new.value if isinstance(new.value, bool) else new.value + 1
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            new.func = ast.Name(_NAMES[name])
        case ast.Return(value=ast.expr()) if not isinstance(new.value, ast.Constant):
            new.value = None
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return new.operand
        case ast.Break() | ast.Continue() | ast.AugAssign() | ast.Expr(value=ast.Call()):
            return _OTHERS.get(type(new), ast.Pass)()
        case _:
            return None
    return new


def covering_tests(module: Path) -> list[str]:
    """Returns the tests that cover a module, a path below ``src/litefuse``: its folder, and files that name it."""
    tests = ROOT / "tests"
    package = next(
        (tests / folder for folder in module.parents if len(folder.parts) > 1 and (tests / folder).is_dir()), None
    )
    own = tests.rglob(f"test_*{module.stem}*.py") if package is None else [package]
    dotted = ".".join(["litefuse", *module.with_suffix("").parts])
    naming = [file for file in tests.rglob("test_*.py") if dotted in file.read_text("utf-8")]
    files = [*own, *(file for file in naming if package is None or not file.is_relative_to(package))]
    return [str(file.relative_to(ROOT)) for file in dict.fromkeys(files)]


def _changed_modules() -> list[Path]:
    """Returns the modules that differ from where this branch left main."""
    base = subprocess.check_output(["git", "merge-base", "HEAD", "main"], cwd=ROOT, text=True).strip()
    command = ["git", "diff", "--name-only", "--diff-filter=d", base, "--", "src/litefuse/*.py"]
    return [ROOT / name for name in subprocess.check_output(command, cwd=ROOT, text=True).split()]


def _fates(package: Path, drawn: Iterable[tuple[Path, Mutant]], tests: list[str]) -> Iterator[str]:
    """Runs the tests of each mutant in a copy of the package; yields what becomes of it."""
    limits: dict[Path, float | None] = {}
    for module, mutant in drawn:
        chosen = tests or covering_tests(module)
        if module not in limits:
            began = time.monotonic()
            passes = bool(chosen) and _run(package, chosen, None) == "lives"
            limits[module] = 30 + 3 * (time.monotonic() - began) if passes else None
            print(
                module, *(chosen if passes else ["is left out: its tests fail, or there are none", *chosen]), flush=True
            )
        if limits[module] is not None:
            path = package / module
            original = path.read_text("utf-8")
            path.write_text(mutant.source, "utf-8")
            fate = _run(package, chosen, limits[module])
            path.write_text(original, "utf-8")
            print(f"  {fate}: line {mutant.line}, {mutant.after[:60]} for {mutant.before[:60]}", flush=True)
            yield fate


def _run(package: Path, tests: list[str], limit: float | None) -> str:
    environment = {"LITEFUSE_KERNELS_LIBRARY": str(native_library() or ""), **os.environ}
    environment |= {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:  # its output is no pipe, which would wait for processes that outlive pytest
        code = subprocess.call(command, cwd=ROOT, env=environment, stdout=DEVNULL, stderr=DEVNULL, timeout=limit)
    except subprocess.TimeoutExpired:
        return "hangs"
    return "dies" if code else "lives"


def main() -> None:
    """Prints each mutant with its fate, and the share that dies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", type=Path, metavar="MODULE.py")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", nargs="*", default=[], metavar="TEST")
    given = parser.parse_args()
    modules = sorted({path.resolve().relative_to(SOURCES) for path in given.modules or _changed_modules()})
    every = [(module, mutant) for module in modules for mutant in mutants_of((SOURCES / module).read_text("utf-8"))]
    drawn = sorted(random.Random(given.seed).sample(every, min(given.count, len(every))))
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "src", "litefuse")
        shutil.copytree(Path(litefuse.__file__).parent, package)
        Path(folder, "native").symlink_to(ROOT / "native")
        fates = [*_fates(package, drawn, given.tests)]
    died, hung = fates.count("dies"), fates.count("hangs")
    print(f"{died} of {len(fates)} mutants die: {died / max(len(fates), 1):.0%}; {hung} hang (seed {given.seed})")


if __name__ == "__main__":
    main()
