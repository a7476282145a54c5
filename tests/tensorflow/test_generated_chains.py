# pyright: reportUnknownLambdaType=false
"""``generate_kernels=True``: chains of ops in TensorFlow models that nobody marked get kernels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, load_delegate

import litefuse
from litefuse.kernels.generator import chain_kernels, generate, project
from litefuse.kernels.generator.trial import ModelTrial, Trial
from litefuse.litert.inspection.litert_model import inspect_litert_model
from tests.every import every
from tests.kernels.generator.builds import build_quickly
from tests.tools.cli.test_cli import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow


def image_model(tf: Any) -> Any:
    """Normalizes images, convolves them, and has a composite behind that."""

    @tf.function(experimental_implements='name: "Wave" attr { key: "tfl_fusable_op" value { b: true } }')
    def wave(x: Any) -> Any:
        return tf.sin(x) * 0.5 + tf.cos(x)

    @tf.function(input_signature=[tf.TensorSpec([None, 16, 16, 3], tf.uint8, name="image")])
    def serve(image: Any) -> Any:
        x = (tf.cast(image, tf.float32) / 255.0 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
        weights = tf.reshape(tf.range(3 * 3 * 3 * 4, dtype=tf.float32) / 100 - 0.5, [3, 3, 3, 4])
        return {"y": wave(tf.nn.conv2d(x, weights, 2, "SAME"))}

    module = tf.Module()
    module.serve = serve
    return module, serve


def product_model(tf: Any) -> Any:
    """Nothing but a product and one op."""

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": tf.tanh(x @ tf.eye(4))}

    module = tf.Module()
    module.serve = serve
    return module, serve


@pytest.fixture(autouse=True)
def untimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has all that computes the same count as faster, and compiles quickly."""
    in_worker, whole_in_worker = generate.run_in_worker, chain_kernels.run_in_worker

    def trial(target: str, job: Any, announce: Any) -> Trial:
        found = in_worker(target, job._replace(is_timed=False), announce)
        return found._replace(kernel_seconds=1e-3, body_seconds=2e-3)

    def whole(target: str, job: Any, announce: Any) -> ModelTrial:
        found = whole_in_worker(target, job._replace(is_timed=False), announce)
        return found._replace(with_seconds=1e-3, without_seconds=2e-3)

    monkeypatch.setattr(generate, "run_in_worker", trial)
    monkeypatch.setattr(chain_kernels, "run_in_worker", whole)
    monkeypatch.setattr(project, "build_library", build_quickly)


def test_a_chain_gets_a_kernel_beside_a_composite(tmp_path: Path, tensorflow: TensorFlow) -> None:
    saved_model = tensorflow.save(image_model)
    result = litefuse.convert(saved_model, composites={"Wave": "generate"}, generate_kernels=True)
    path = result.save(tmp_path / "m.tflite")
    assert result.report.chains is not None
    ((name, first, kernel),) = ((each.name, each.first, each.kernel) for each in result.report.chains)
    assert (name, first) == ("litefuse.chain.1", "CAST")
    assert kernel is not None
    assert "Chains of ops: 1 of 1 with a kernel" in result.report.details()
    (composite,) = result.report.composites
    assert composite.kernel is not None
    assert result.report.op_counts == inspect_litert_model(path).op_counts
    assert result.report.op_counts["STABLEHLO_COMPOSITE"] == 2
    assert result.report.size == path.stat().st_size
    assert result.kernels is not None
    (library,) = result.kernels.glob("libgenerated_kernels.*")
    registry = (result.kernels / "registry.cc").read_text()
    assert every(each in registry for each in ("WaveKernel", "LitefuseChain1Kernel"))
    plain = Interpreter(str(path)).get_signature_runner()
    native = Interpreter(str(path), experimental_delegates=[load_delegate(str(library))]).get_signature_runner()
    ours = litefuse.Interpreter(path, custom_ops=[library]).get_signature_runner()
    for batch in (3, 3, 1):
        image = np.random.default_rng(batch).integers(0, 256, (batch, 16, 16, 3)).astype(np.uint8)
        (expected,) = tensorflow.run_calls(saved_model, [("serving_default", {"image": image})])
        for runner in (plain, native, ours):
            np.testing.assert_allclose(runner(image=image)["y"], expected["y"], rtol=1e-4, atol=1e-4)


def test_nothing_is_found(tmp_path: Path, tensorflow: TensorFlow) -> None:
    saved_model = tensorflow.save(product_model)
    done = run("convert", saved_model, "-o", tmp_path / "m.tflite", "--generate-kernels", "-v")
    assert "Chains of ops: none that a kernel can be generated for" in done.out
    report = json.loads(run("convert", saved_model, "-o", tmp_path / "p.tflite", "--json").out)
    assert report["chains"] is None
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m.tflite", "p.tflite"]
    assert (tmp_path / "m.tflite").read_bytes() == (tmp_path / "p.tflite").read_bytes()
