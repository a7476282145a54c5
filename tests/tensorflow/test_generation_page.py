"""What docs/guides/generation.md tells a user to do works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.tensorflow.checking import check_calls
from tests.tensorflow.pages import blocks, run_code

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow


def test_page(tensorflow: TensorFlow, tmp_path: Path) -> None:
    (code,) = blocks("generation.md", "python")
    tensorflow.call(run_code, code, str(tmp_path))
    random = np.random.default_rng(0)
    calls = [
        (
            "generate",
            {
                "token_ids": np.where(mask, random.integers(1, 256, mask.shape), 0).astype(np.int32),
                "padding_mask": mask,
            },
        )
        for batch in (1, 3, 1)
        for mask in [np.arange(16)[None] < random.integers(2, 6, (batch, 1))]
    ]
    check_calls(tensorflow, tmp_path / "writer", calls)
