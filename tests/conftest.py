"""What holds for all tests."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import HealthCheck, settings

import litefuse
from litefuse.fusions.fusion import called_formulas, called_fusions, take_formulas, take_fusions
from litefuse.litert.runtime.custom_op import registered_kernels, replace_registered
from litefuse.tools.demo import SAVED_MODEL
from tests.in_part import VARIABLE, left_out, turn
from tests.litert.cpp import compile_once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

# Tests are about results, not about the time that a busy machine takes for them.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# A shell that starts the tests in the background has them ignore interrupts, which some are about.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Set for the processes of pytest-xdist, which are given the names of all files, and have the turn of this one.
_WHOLE = "LITEFUSE_TESTS_WHOLE"

COLLECTED = pytest.StashKey[list[str]]()
"""The names of all tests, before a part of them is left out."""


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        os.environ[_WHOLE] = "" if named or os.environ.get("LITEFUSE_TESTS") == "all" else "part"
        os.environ[VARIABLE] = str(turn())
        folder = Path(tempfile.mkdtemp(prefix="litefuse-tests-"))
        config.add_cleanup(lambda: shutil.rmtree(folder))
        compile_once.install(folder)


def pytest_report_header() -> str:
    part = "a part of all tests, " if os.environ.get(_WHOLE) == "part" else ""
    return f"{part}turn {turn()}: {VARIABLE}={turn()} runs the same cases again"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Runs all cases of the tests that are named on the command line, and a part where none is.

    The processes of pytest-xdist find tests by their names, so that no name may hold the address of an object.
    """
    if addressed := [each.nodeid for each in items if " at 0x" in each.nodeid]:
        raise pytest.UsageError(f"these tests have other names in each process; pass ids: {addressed[:3]}")
    config.stash[COLLECTED] = names = [each.nodeid for each in items]
    if os.environ.get(_WHOLE) != "part":
        return
    out = left_out(names, turn())
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid in out])
    items[:] = [each for each in items if each.nodeid not in out]


@pytest.fixture(scope="session")
def demo_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the model of ``litefuse demo`` becomes."""
    return litefuse.convert(SAVED_MODEL).save(tmp_path_factory.mktemp("demo") / "demo.tflite")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Empties the registry of kernels, which modules of tests fill when they are imported."""
    del session
    _of_tests.extend(registered_kernels().items())
    replace_registered({})


_of_tests: list[tuple[str, type[litefuse.CustomOp]]] = []


@pytest.fixture(autouse=True, scope="module")
def kernels_of_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """Registers the kernels of a module of tests for its own tests, and for no fixture that others share."""
    module = cast("ModuleType", request.module).__name__
    replace_registered({name: kernel for name, kernel in _of_tests if kernel.__module__ == module})
    yield
    replace_registered({})


@pytest.fixture(autouse=True)
def same_registries() -> Iterator[None]:
    """Keeps what is registered: a job that is done in this process replaces the kernels and fusions."""
    kernels, fusions, formulas = registered_kernels(), called_fusions(), called_formulas()
    yield
    replace_registered(kernels)
    take_fusions(fusions)
    take_formulas(formulas)


@pytest.fixture(autouse=True)
def code_is_named_by_one_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets the files of plug-ins that a test named, as commands do, which have a process of their own."""
    monkeypatch.setattr("litefuse.support.plug_ins.modules._named", {})
