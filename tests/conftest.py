"""What holds for all tests."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import litefuse
from litefuse.demo import SAVED_MODEL

# Tests are about results, not about the time that a busy machine takes for them.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# A shell that starts the tests in the background has them ignore interrupts, which some are about.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def demo_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the model of ``litefuse demo`` becomes."""
    return litefuse.convert(SAVED_MODEL).save(tmp_path_factory.mktemp("demo") / "demo.tflite")
