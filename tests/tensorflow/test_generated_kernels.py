# pyright: reportUnknownLambdaType=false
"""``composites="generate"``: composites of TensorFlow models get kernels, or their bodies where these are declined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, load_delegate

import litefuse
from litefuse.errors import LitefuseError, NotFusedError
from litefuse.kernels.generator import generate, project
from litefuse.kernels.generator.trial import Trial
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.support.options.forms import CompositeForm
from tests.kernels.generator.builds import build_quickly
from tests.tools.cli.test_cli import run

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def model(tf: Any) -> Any:
    """Two composites, the first of which has another in it, and one that no kernel can be made of."""

    def marked(name: str) -> str:
        return f'name: "{name}" attr {{ key: "tfl_fusable_op" value {{ b: true }} }}'

    @tf.function(experimental_implements=marked("Wave"))
    def wave(x: Any) -> Any:
        return tf.sin(x) + 0.5

    @tf.function(experimental_implements=marked("Normal"))
    def normal(x: Any, scale: Any) -> Any:
        y = wave(x) * 2.0
        mean = tf.reduce_mean(y, -1, keepdims=True)
        variance = tf.reduce_mean(tf.math.squared_difference(y, mean), -1, keepdims=True)
        return (y - mean) * tf.math.rsqrt(variance + 1e-3) * scale

    @tf.function(experimental_implements=marked("Kinds"))
    def kinds(x: Any) -> Any:
        return tf.unique(tf.cast(x, tf.int32))[1]

    @tf.function(input_signature=[tf.TensorSpec([None, 12], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        y = normal(x, tf.range(12, dtype=tf.float32))
        return {"y": y, "kinds": kinds(tf.reshape(y, [-1]))}

    module = tf.Module()
    module.serve = serve
    return module, serve


@pytest.fixture(scope="module")
def saved_model(tensorflow: TensorFlow) -> Path:
    return tensorflow.save(model)


@pytest.fixture(autouse=True)
def untimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has each kernel that computes the same count as twice as fast, and is compiled quickly."""
    in_worker = generate.run_in_worker

    def trial(target: str, job: Any, announce: Any) -> Trial:
        return in_worker(target, job._replace(is_timed=False), announce)._replace(
            kernel_seconds=1e-3, body_seconds=2e-3
        )

    monkeypatch.setattr(generate, "run_in_worker", trial)
    monkeypatch.setattr(project, "build_library", build_quickly)


def test_composites_get_kernels_or_their_bodies(saved_model: Path, tmp_path: Path, tensorflow: TensorFlow) -> None:
    result = litefuse.convert(saved_model, composites="generate")
    reports = {each.name: each for each in result.report.composites}
    assert (reports["Normal"].outcome, reports["Kinds"].outcome) == ("fused", "inlined")
    assert reports["Kinds"].reason == "no kernel was generated: no rule for UNIQUE"
    kernel = reports["Normal"].kernel
    assert kernel is not None
    assert kernel.error < 1e-5
    assert (reports["Normal"].error, reports["Normal"].unchecked) == (kernel.error, None)
    assert "2.0 times as fast as its body (1,000 µs, not 2,000)" in result.report.details()
    assert result.kernels is not None
    path = result.save(tmp_path / "größe.tflite")
    assert result.kernels == tmp_path / "größe.kernels"
    assert (tmp_path / "größe.kernels" / "NormalKernel.cc").is_file()
    assert "größe.tflite" in (tmp_path / "größe.kernels" / "README.md").read_text()
    ops = inspect_litert_model(path).op_counts
    assert ops["STABLEHLO_COMPOSITE"] == 2  # one has the other in its body
    assert ops["UNIQUE"] == 1
    library = next(result.kernels.glob("libgenerated_kernels.*"))
    plain = Interpreter(str(path)).get_signature_runner()
    native = Interpreter(str(path), experimental_delegates=[load_delegate(str(library))]).get_signature_runner()
    ours = litefuse.Interpreter(path, custom_ops=[library]).get_signature_runner()
    for rows in (3, 3, 1):
        x = np.random.default_rng(rows).normal(size=(rows, 12)).astype(np.float32)
        (expected,) = tensorflow.run_calls(saved_model, [("serving_default", {"x": x})])
        for runner in (plain, native, ours):
            np.testing.assert_allclose(runner(x=x)["y"], expected["y"], rtol=1e-4, atol=1e-4)


def test_it_is_written_beside_the_model(saved_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "m.tflite"
    for _ in range(2):  # the second time, those of the first are replaced
        report = json.loads(
            run(
                "convert", saved_model, "-o", output, "--composites", "Normal=generate", "--composites=inline", "--json"
            ).out
        )
        (normal,) = (each for each in report["composites"] if each["name"] == "Normal")
        assert normal["kernel"]["body_seconds"] == 2e-3
        assert sorted(path.name for path in tmp_path.iterdir()) == ["m.kernels", "m.tflite"]
    (tmp_path / "n.kernels").mkdir()
    forms: dict[str, CompositeForm] = {"Normal": "generate", "*": "inline"}
    result = litefuse.convert(saved_model, composites=forms, require_fused=["checked", "Norm*"])
    with pytest.raises(LitefuseError, match="something else is in their place"):
        result.save(tmp_path / "n.tflite")
    assert not (tmp_path / "n.tflite").exists()


def test_a_declined_kernel_is_an_error_where_fusion_is_required(saved_model: Path) -> None:
    with pytest.raises(NotFusedError, match="'Kinds': no kernel was generated: no rule for UNIQUE"):
        litefuse.convert(saved_model, composites={"Kinds": "generate", "*": "inline"}, require_fused=["Kin*"])


def test_it_goes_with_quantization(saved_model: Path, tmp_path: Path) -> None:
    result = litefuse.convert(saved_model, composites={"Normal": "generate", "*": "inline"}, quantize="dynamic")
    result.save(tmp_path / "q.tflite")
    assert result.kernels is not None
    library = next(result.kernels.glob("libgenerated_kernels.*"))
    x = np.random.default_rng(0).normal(size=(4, 12)).astype(np.float32)
    results = [
        litefuse.Interpreter(tmp_path / "q.tflite", custom_ops=ops).get_signature_runner()(x=x)["y"]
        for ops in ([], [library])
    ]
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5, atol=1e-5)


def test_the_command_writes_a_folder(saved_model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    done = run("kernels", "generate", saved_model, "Nor*", "-o", folder)
    assert "2.0 times as fast" in done.out
    assert (folder / f"{saved_model.name}.tflite").is_file()
    again = run("kernels", "generate", folder / f"{saved_model.name}.tflite", "Kinds", "-o", tmp_path / "none")
    assert again.code == 1
    assert "declined: no rule for UNIQUE" in again.out
    assert not (tmp_path / "none").exists()
    missing = run("kernels", "generate", saved_model, "Nothing", "-o", tmp_path / "none")
    assert missing.code != 0
    assert "no composite is called 'Nothing'" in missing.err
