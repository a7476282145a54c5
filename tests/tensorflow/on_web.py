"""Converted models in LiteRT.js, in a browser: run by ``.ci/web``, which gets both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import litefuse
from tests.every import every
from tests.tensorflow import recurrent_models
from tests.tensorflow.recurrent_models import Case
from tests.tensorflow.test_transformers import BACKBONES, LENGTH, backbone
from tests.tensorflow.test_web import lookup

if TYPE_CHECKING:
    from pathlib import Path

    from litefuse.conversion.verify.targets.target_check import TargetReport
    from tests.tensorflow.process import TensorFlow


def checked(path: Path, verdict: str, quantize: litefuse.Quantization | None = None) -> TargetReport:
    result = litefuse.convert(path, target="web", quantize=quantize, checks=litefuse.Checks(targets=False))
    (report,) = litefuse.check(result, "web").reports
    assert report.verdict == verdict, report
    on_gpu = [output for output in report.outputs if output.name.endswith(" on WebGPU")]
    assert len(on_gpu) * 2 == len(report.outputs) > 0
    assert every(output.error < (1e-4 if output in on_gpu else 1e-5) for output in report.outputs)
    return report


def test_a_transformer_is_on_the_gpu_as_a_whole(tensorflow: TensorFlow) -> None:
    (case,) = (case for case in BACKBONES if case.name == "LlamaBackbone")
    checked(tensorflow.save(backbone, case.name, dict(case.options), LENGTH), "accelerated")


def test_integers_and_booleans(tensorflow: TensorFlow) -> None:
    report = checked(tensorflow.save(lookup), "partly")
    assert {output.dtype for output in report.outputs} == {"float32", "int32", "uint8"}


def test_loops(tensorflow: TensorFlow) -> None:
    report = checked(tensorflow.save(recurrent_models.build, *Case("keras", "stack LSTM", None, 6)), "partly")
    assert {refused.op for refused in report.refused} == {"WHILE"}


def test_integers_in_loops(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(4)
    rows = [{"x": row} for row in random.standard_normal((50, 1, 6, recurrent_models.FEATURES)).astype(np.float32)]
    path = tensorflow.save(recurrent_models.build, *Case("keras", "sequence GRU", None, 6))
    checked(path, "partly", litefuse.Quantization("int8", samples=rows))


def test_an_update_of_another_rank_is_the_fault_that_conversions_avoid(tensorflow: TensorFlow) -> None:
    """If this fails, LiteRT.js computes it: see ``_update`` in passes/plain_forms/plain_operands.py."""
    path = tensorflow.save(recurrent_models.build, *Case("keras", "sequence LSTM", None, 6))
    (report,) = litefuse.check(litefuse.convert(path, batch=1, rnn="loop"), "web").reports
    assert [output.verdict for output in report.outputs] == ["equal", "differs"]
