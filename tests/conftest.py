"""What holds for all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import litefuse
from litefuse.demo import SAVED_MODEL
from tests.in_part import left_out

# Tests are about results, not about the time that a busy machine takes for them.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# A shell that starts the tests in the background has them ignore interrupts, which some are about.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Set for the processes of pytest-xdist, which are given the names of all files.
_WHOLE = "LITEFUSE_TESTS_WHOLE"


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        os.environ[_WHOLE] = "" if named or os.environ.get("LITEFUSE_TESTS") == "all" else "part"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Runs all cases of the tests that are named on the command line, and a part where none is."""
    if os.environ.get(_WHOLE) != "part":
        return
    out = left_out([each.nodeid for each in items])
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid in out])
    items[:] = [each for each in items if each.nodeid not in out]


@pytest.fixture(scope="session")
def demo_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the model of ``litefuse demo`` becomes."""
    return litefuse.convert(SAVED_MODEL).save(tmp_path_factory.mktemp("demo") / "demo.tflite")
