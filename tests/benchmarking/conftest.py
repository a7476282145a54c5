"""What holds for all tests of measurements."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the kernels that other tests registered: a job that is done in this process replaces them."""
    monkeypatch.setattr("litefuse.runtime.custom_op._registered", {})
