"""The code of docs/guides/jax.md runs, and does what the page says."""

from __future__ import annotations

from pathlib import Path

from tests.tensorflow.pages import blocks
from tests.with_jax.process import run_code


def test_page(tmp_path: Path) -> None:
    functions, of_keras, composites = blocks("jax.md", "python")
    shown = """
print(dict(result.report.op_counts))
"""
    lines = run_code(f"{functions}{of_keras}{shown}{composites}{shown}", tmp_path, KERAS_BACKEND="jax").splitlines()
    assert (tmp_path / "predict.tflite").stat().st_size > 0
    assert "  1  FULLY_CONNECTED" in lines
    assert "  1  SOFTMAX" in lines
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" in lines[-2]
    assert lines[-1] == "{'ScaledSwish': 1}"
