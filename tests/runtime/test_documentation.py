"""The code in docs/guides/custom-ops.md runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.runtime import custom_op as module
from litefuse.runtime.interpreter import Interpreter
from tests.runtime.models import unary

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "custom-ops.md"


def test_custom_ops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "_registered", {})
    Path("model.tflite").write_bytes(unary("Standardize", shape=(1, 4)))
    names: dict[str, Any] = {"__name__": "page"}

    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)

    printed = np.array(re.findall(r"-?[\d.]+", capsys.readouterr().out), float)
    np.testing.assert_allclose(printed, [-1.3416, -0.4472, 0.4472, 1.3416], atol=1e-4)
    names["interpreter"].allocate_tensors()

    nonzero = Interpreter(unary("Nonzero", output_shape=(1, 2), output_dtype=np.int64))
    nonzero.allocate_tensors()
    nonzero.set_tensor(0, np.array([[0, 1, 0], [2, 0, 0]], np.float32))
    nonzero.invoke()
    assert nonzero.get_tensor(1).tolist() == [[0, 1], [1, 0]]

    assert names["MaxUnpooling2D"].decode_options(np.array([2, 5, 4, 3, 2, 0, 0, 0, 0, 0], "<i4").tobytes()) == {
        "padding": "VALID",
        "strides": (4, 5),
        "sizes": (2, 3),
    }
