"""The engine where it is not installed, or cannot be loaded."""

from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from litefuse.errors import MissingEngineError
from litefuse.ir.installation import REQUIREMENT, check_engine, has_packages, missing_engine
from tests.projects import project

MISSING = ModuleNotFoundError("No module named 'litert_converter'", name="litert_converter")


def required() -> Requirement:
    """What the project requires of the engine."""
    (found,) = [each for each in map(Requirement, project()["dependencies"]) if each.name == "litert-converter"]
    return found


def test_the_error_names_the_version_that_the_project_requires() -> None:
    told = Requirement(REQUIREMENT)
    assert (told.name, told.specifier) == (required().name, required().specifier)


@pytest.mark.parametrize("implementation", ["cpython", "pypy"])
@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13", "3.14", "3.15"])
@pytest.mark.parametrize(
    ("system", "machine"),
    [("Linux", "x86_64"), ("Linux", "aarch64"), ("Darwin", "arm64"), ("Darwin", "x86_64"), ("Windows", "AMD64")],
    ids="-".join,
)
def test_packages_are_where_the_project_requires_them(
    implementation: str, python: str, system: str, machine: str
) -> None:
    marker = required().marker
    assert marker is not None
    expected = marker.evaluate(
        {
            "implementation_name": implementation,
            "python_version": python,
            "platform_system": system,
            "platform_machine": machine,
        }
    )
    found = has_packages(implementation, [*map(int, python.split("."))], system, machine)
    assert found == expected
    assert expected == (
        implementation == "cpython"
        and python != "3.15"
        and (system, machine) in {("Linux", "x86_64"), ("Darwin", "arm64")}
    )


def test_an_engine_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", nothing)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(MissingEngineError, match="is not installed\nInstall it: pip install 'litert-converter>="):
        check_engine()


def test_a_platform_without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    error = missing_engine(MISSING)
    python = ".".join(map(str, sys.version_info[:2]))
    assert f"has no package for cpython {python} on Linux aarch64" in error.message
    assert "Linux x86-64 or macOS arm64, with CPython 3.10 to 3.14" in error.hint


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ImportError("libstdc++.so.6: version `GLIBCXX_3.4.30' not found"), id="library"),
        pytest.param(ModuleNotFoundError("No module named 'xdsl'", name="xdsl"), id="dependency"),
    ],
)
def test_an_engine_that_cannot_be_loaded(error: ImportError) -> None:
    found = missing_engine(error)
    assert str(error) in found.message
    assert "cannot be loaded" in found.message
    assert "pip install --force-reinstall" in found.hint


def test_the_engine_that_is_here(tmp_path: Path) -> None:
    check_engine()
    code = "import sys; sys.modules['litert_converter'] = None; import litefuse.ir.installation as i; i.check_engine()"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
