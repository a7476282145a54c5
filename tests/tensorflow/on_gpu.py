"""The target ``gpu`` in LiteRT's own accelerator. It needs a driver, and runs where ``.ci/gpu`` finds one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import litefuse
from litefuse.tools.language_models.bundle import read_bundle
from tests.tensorflow import language_models
from tests.tensorflow.test_transformers import BACKBONES, LENGTH, backbone

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize("family", language_models.FAMILIES)
def test_a_language_model_is_accelerated_as_a_whole(tensorflow: TensorFlow, tmp_path: Path, family: str) -> None:
    model = tmp_path / "model.keras"
    tensorflow.call(language_models.save, str(model), family, "")
    bundle = litefuse.language_model(model, prefill=language_models.CHUNK, target="gpu").save(tmp_path / "x.litertlm")
    with read_bundle(bundle).opened() as path:
        (found,) = litefuse.check(path, "gpu").reports
    assert not found.refused
    assert found.error < 5e-3  # of sines, which drivers may round to 11 bits
