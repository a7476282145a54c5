"""One rule for each op: two are an error, in two modules and in one."""

from __future__ import annotations

import ast
import importlib
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TABLES = {
    "litefuse.ir.ops.rules": "RULES",
    "litefuse.ir.ops.values": "VALUES",
    "litefuse.passes.stablehlo.rules": "RULES",
}


def repeated(source: str, namespace: dict[str, Any], name: str) -> list[str]:
    """The keys that a module's dictionary is given more than once; a dictionary itself keeps the last of each."""
    found: Counter[str] = Counter()
    for statement in ast.parse(source).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        value = getattr(statement, "value", None)
        if not isinstance(value, ast.Dict) or not any(isinstance(t, ast.Name) and t.id == name for t in targets):
            continue
        for key, entry in zip(value.keys, value.values, strict=True):
            part: Any = eval(compile(ast.Expression(entry if key is None else key), "a part", "eval"), namespace)
            found.update(list(part) if key is None else [part])
    return [key for key, count in found.items() if count > 1]


def modules(name: str) -> list[ModuleType]:
    """A module, or those in a package."""
    module = importlib.import_module(name)
    assert module.__file__ is not None
    paths = sorted(Path(module.__file__).parent.glob("*.py")) if hasattr(module, "__path__") else []
    return [importlib.import_module(f"{name}.{path.stem}") for path in paths if path.stem != "__init__"] or [module]


@pytest.mark.parametrize("name", TABLES)
def test_no_module_has_two_rules_for_an_op(name: str) -> None:
    for module in modules(name):
        assert module.__file__ is not None
        assert repeated(Path(module.__file__).read_text(), vars(module), TABLES[name]) == [], module.__name__


@pytest.mark.parametrize("name", TABLES)
def test_every_rule_is_seen(name: str) -> None:
    whole = getattr(importlib.import_module(name), TABLES[name])
    parts = [getattr(module, TABLES[name], {}) for module in modules(name)]
    assert sum(map(len, parts)) == len(whole) > 50


def test_two_in_one_module_are_seen() -> None:
    source = 'RULES: dict[str, int] = {**dict.fromkeys(NAMES.split(), 1), "Abs": 2, "Neg": 3}'
    assert repeated(source, {"NAMES": "Abs Exp"}, "RULES") == ["Abs"]
    assert repeated('RULES = {"Abs": 2, "Abs": 3}', {}, "RULES") == ["Abs"]
    assert repeated('OTHERS = {"Abs": 2, "Abs": 3}', {}, "RULES") == []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "some_rules"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from litefuse.support.plug_ins.own_classes import own_table\nRULES = own_table(__name__, __path__)\n"
    )
    (folder / "plain.py").write_text("RULES = {'Abs': 1, 'Exp': 2}\n")
    (folder / "shared.py").write_text("MOST = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "some_rules"]:
        monkeypatch.delitem(sys.modules, name)
    return folder


def test_a_new_module_is_found(folder: Path) -> None:
    (folder / "more.py").write_text("RULES = {'Neg': 3}\n")
    assert importlib.import_module("some_rules").RULES == {"Abs": 1, "Exp": 2, "Neg": 3}


def test_two_modules_with_a_rule_for_one_op_are_refused(folder: Path) -> None:
    (folder / "more.py").write_text("RULES = {'Exp': 3}\n")
    with pytest.raises(ValueError, match=r"RULES of both some_rules\.more and some_rules\.plain have 'Exp'"):
        importlib.import_module("some_rules")
