"""What docs/guides/training.md tells a user to do works, and learns what TensorFlow learns."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.tensorflow.pages import blocks, run, run_code

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import Call, TensorFlow

PAGE = "training.md"


def test_page(tensorflow: TensorFlow, tmp_path: Path) -> None:
    model, device = blocks(PAGE, "python")
    tensorflow.call(run_code, model, str(tmp_path))
    random = np.random.default_rng(0)
    x, y = random.standard_normal((4, 8, 3)).astype(np.float32), random.standard_normal((4, 2)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=x, y=y)
    (tmp_path / "page.py").write_text(
        device + "import json\nprint(json.dumps({'losses': losses, 'predicted': predicted.tolist()}))\n"
    )
    found: dict[str, Any] = json.loads(run(tmp_path, sys.executable, "page.py").splitlines()[-1])
    calls: list[Call] = [*[("train", {"x": x, "y": y})] * 30, ("infer", {"x": x})]
    *trained, inferred = tensorflow.run_calls(tmp_path / "learner", calls)
    losses = [float(each["loss"]) for each in trained]
    assert losses[-1] < 0.5 * losses[0]
    # Thirty steps add rounding errors up, each step to what the last one left.
    np.testing.assert_allclose(found["losses"], losses, rtol=1e-4)
    np.testing.assert_allclose(found["predicted"], inferred["y"], rtol=0, atol=1e-4)
