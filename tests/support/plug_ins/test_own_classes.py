from __future__ import annotations

import sys
from pathlib import Path

import pytest

from litefuse.support.plug_ins.own_classes import own_classes

_MODULE = '''
"""A module with

@kernel("in a text")
"""
from nowhere import kernel, other

@other
@kernel("A", *("B", "F"), dtypes=("float32",))  # with a comment
# and one for itself
@kernel(
    "C",
    # why
    native=False,
)
class First(Base):
    @kernel("in a class")
    def f(self): ...


@other("D")
class Second: ...


@kernel("E")
class Third: ...
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "some_kernels"
    (folder / "family").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "family" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.startswith("some_kernels")]:
        monkeypatch.delitem(sys.modules, name)
    own_classes.cache_clear()
    return folder


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_decorators_are_read_and_no_module_is_imported(package: Path, newline: str) -> None:
    (package / "family" / "module.py").write_bytes(_MODULE.replace("\n", newline).encode())

    found = own_classes("some_kernels", "kernel")

    assert [(each.name, each.arguments, dict(each.keywords)) for each in found] == [
        ("First", ("A", "B", "F"), {"dtypes": ("float32",)}),
        ("First", ("C",), {"native": False}),
        ("Third", ("E",), {}),
    ]
    assert {each.module for each in found} == {"some_kernels.family.module"}
    assert "some_kernels.family.module" not in sys.modules


def test_a_class_is_loaded(package: Path) -> None:
    (package / "module.py").write_text("def mark(name):\n    return lambda cls: cls\n\n@mark('x')\nclass Loaded: ...\n")
    (found,) = own_classes("some_kernels", "mark")
    assert found.load().__name__ == "Loaded"


def test_arguments_are_literals(package: Path) -> None:
    (package / "module.py").write_text("\n@mark(NAME)\nclass Marked: ...\n")
    with pytest.raises(ValueError, match="malformed"):
        own_classes("some_kernels", "mark")


def test_a_package_without_sources(package: Path) -> None:
    with pytest.raises(ImportError, match="no_such_package has no source files"):
        own_classes("no_such_package", "mark")
