"""The target ``gpu`` in LiteRT's own accelerator. It needs a driver, and runs where ``.ci/gpu`` finds one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import litefuse
from tests.tensorflow.test_transformers import BACKBONES, LENGTH, backbone

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def test_a_transformer_is_accelerated_as_a_whole(tensorflow: TensorFlow) -> None:
    (case,) = (case for case in BACKBONES if case.name == "LlamaBackbone")
    path = tensorflow.save(backbone, case.name, dict(case.options), LENGTH)
    result = litefuse.convert(path, target="gpu", checks=litefuse.Checks(targets="required"))
    (told,) = result.report.target_checks
    assert told.verdict == "accelerated"

    (found,) = litefuse.check(result, "gpu").reports
    assert found.verdict == "accelerated"
    assert found.outputs
    assert found.error < 1e-4

    # The file for the CPU is another one, which the accelerator does not take as a whole.
    (found,) = litefuse.check(litefuse.convert(path, batch=1), "gpu").reports
    assert found.verdict == "partly"
    assert "GATHER" in {each.op for each in found.refused}
