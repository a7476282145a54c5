"""What docs/guides/text.md tells a user to do works, and gives what TensorFlow gives."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import numpy as np

from tests.tensorflow.pages import blocks, run, run_code

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow

PAGE = "text.md"


def test_page(tensorflow: TensorFlow, tmp_path: Path) -> None:
    model, device = blocks(PAGE, "python")
    (command,) = blocks(PAGE, "sh")
    tensorflow.call(run_code, model, str(tmp_path))
    report = run(tmp_path, sys.executable, "-m", *command.split())
    assert "The model needs the kernels: StaticRegexReplace, StringLower, StringNGrams, StringSplitV2" in report
    assert "in Python only" not in report
    (tmp_path / "page.py").write_text(device + "import json\nprint(json.dumps(liked.tolist()))\n")
    found: list[list[float]] = json.loads(run(tmp_path, sys.executable, "page.py").splitlines()[-1])
    texts = np.array([b"A moving film", b"boring!", b"wonderful"], object)
    (expected,) = tensorflow.run(tmp_path / "classifier", {"text": texts}, calls=1)
    np.testing.assert_allclose(found, expected["output_0"], rtol=1e-5)
    assert np.ptp(found) > 1e-3
