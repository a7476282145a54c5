"""Every pass has a text-in text-out test: one that names it in a RUN line.

A pass is a function with ``@module_pass``, or a class with ``run(self, module: ir.Module)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.mlir.given import named_passes
from tests.mlir.test_mlir import PASSES

SOURCES = Path(__file__).parents[2] / "src" / "litefuse"


def passes(text: str) -> Iterator[tuple[str, str | None]]:
    """The passes that a module's text defines: each class or function, and its name as a pass, if it has one."""
    for node in ast.walk(ast.parse(text)) if "def run(" in text or "@module_pass" in text else ():
        if isinstance(node, ast.FunctionDef) and any(
            ast.unparse(each) == "module_pass" for each in node.decorator_list
        ):
            yield node.name, node.name.replace("_", "-")
        if not isinstance(node, ast.ClassDef) or any(ast.unparse(base) == "Protocol" for base in node.bases):
            continue
        if any(isinstance(each, ast.FunctionDef) and _runs_on_a_module(each) for each in node.body):
            named = [each.value for each in node.body if isinstance(each, ast.Assign) and _is_name(each.targets[0])]
            yield node.name, ast.literal_eval(named[0]) or None if named else None


def _runs_on_a_module(method: ast.FunctionDef) -> bool:
    arguments = [argument.annotation for argument in method.args.args[1:]]
    return method.name == "run" and [ast.unparse(each) for each in arguments if each is not None] == ["ir.Module"]


def _is_name(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == "name"


def untested(sources: Mapping[Path, str], tests: Iterable[str]) -> set[str]:
    """The passes, as ``path: class``, that no test's RUN line names."""
    run = {name for text in tests for name, _ in named_passes(text)}
    defined = [(path, *each) for path, text in sources.items() for each in passes(text)]
    return {f"{path}: {cls}" for path, cls, name in defined if name is None or name not in run}


def test_every_pass_has_a_test() -> None:
    sources = {path.relative_to(SOURCES): path.read_text() for path in SOURCES.rglob("*.py")}
    tests = [path.read_text() for path in Path(__file__).parent.glob("*.mlir")]
    found = [name for text in sources.values() for _, name in passes(text)]
    assert len(found) == len(set(found)) > 40  # what is looked for is found, and no two share a name
    assert untested(sources, tests) == {"ir/passes.py: Deferred"}  # the others' stand-in, of no name of its own


def test_every_pass_that_can_be_named_is() -> None:
    tests = [path.read_text() for path in Path(__file__).parent.glob("*.mlir")]
    run = {name for text in tests for name, _ in named_passes(text)}
    assert PASSES.keys() <= run


def test_a_pass_without_a_test_is_found() -> None:
    planted = """
class Tested:
    name = "tested"

    def run(self, module: ir.Module) -> bool: ...

@dataclass(frozen=True)
class Untested:
    name = "not-tested"
    option: int

    def run(self, module: ir.Module) -> bool: ...

class Nameless:
    def run(self, module: ir.Module) -> bool: ...

@module_pass
def also_untested(module: ir.Module) -> bool: ...

class Other:
    name = "other"

    def run(self) -> None: ...
"""
    tests = ["// RUN: tested{option=1}, symbol-dce\n// CHECK: main\n"]
    assert untested({Path("a.py"): planted}, tests) == {"a.py: Untested", "a.py: Nameless", "a.py: also_untested"}
