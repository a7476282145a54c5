"""Language models on JAX in LiteRT-LM: a bundle of the model in memory writes what its file writes on TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

from litefuse.tools.language_models.verification import verify_bundle
from tests.with_jax.process import run


@pytest.mark.parametrize("family", ["stacked", "paired"])
def test_the_engine_writes_what_keras_writes(tmp_path: Path, family: str) -> None:
    run("make_language_model", str(tmp_path), family, KERAS_BACKEND="jax")
    verification = verify_bundle(tmp_path / "model.litertlm", tmp_path / "model.keras")
    assert verification.ok, verification
    assert verification.error < 1e-4
