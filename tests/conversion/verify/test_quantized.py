"""Quantized models are judged by what their quantization explains."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from click.testing import CliRunner
from PIL import Image

import litefuse
from litefuse.conversion.verify.quantized.float_copy import FloatCopy, is_quantized_file
from litefuse.errors import LitefuseError
from litefuse.litert.differences.compared_model import ComparedModel
from litefuse.tools.cli.app import app
from litefuse.tools.page.saving import save_report
from tests.litert.runtime.models import Graph, model
from tests.tensorflow.spoiled_models import spoiled

if TYPE_CHECKING:
    from litefuse.conversion.verify.verification import Verification

RANDOM = np.random.default_rng(3)
FORMS: dict[str, dict[str, Any]] = {
    "int8": {},
    "int16": {},
    "dynamic": {"min_weight_elements": 0},
    "weights": {},
    "float16": {},
    "int8, integers": {"io": True},
    "int8, uint8": {"io": "uint8"},
    "dynamic, int4": {"min_weight_elements": 0, "weight_bits": 4},
    "int8, tensor": {"granularity": "tensor"},
}


def network() -> bytes:
    """Three convolutions and a dense layer, of an image of an open batch, with biases."""
    graph = Graph()

    def conv(x: int, name: str, size: int, given: int, made: int) -> int:
        weights = RANDOM.normal(0, 1 / np.sqrt(9 * given), (made, 3, 3, given))
        y = graph.tensor(name, [1, size, size, made], signature=[-1, size, size, made])
        w = graph.tensor(f"{name}/w", [made, 3, 3, given], value=weights)
        b = graph.tensor(f"{name}/b", [made], value=RANDOM.normal(0, 0.3, made))
        options = {"strideH": 1, "strideW": 1, "dilationWFactor": 1, "dilationHFactor": 1}
        relu = schema.ActivationFunctionType.RELU
        graph.builtin("CONV_2D", [x, w, b], [y], **options, fusedActivationFunction=relu)
        graph.operators[-1][0].builtinOptionsType = schema.BuiltinOptions.Conv2DOptions
        return y

    x = graph.input("größe", [1, 12, 12, 3], signature=[-1, 12, 12, 3])
    y = conv(conv(conv(x, "first", 12, 3, 8), "second", 12, 8, 8), "third", 12, 8, 12)
    mean = graph.tensor("mean", [1, 12], signature=[-1, 12])
    graph.builtin("MEAN", [y, graph.tensor("axes", [2], np.int32, value=[1, 2])], [mean])
    w = graph.tensor("dense/w", [10, 12], value=RANDOM.normal(0, 1, (10, 12)))
    b = graph.tensor("dense/b", [10], value=RANDOM.normal(0, 0.3, 10))
    out = graph.output("dense", [1, 10], signature=[-1, 10])
    graph.builtin("FULLY_CONNECTED", [mean, w, b], [out])
    return model(graph, signatures={"serve": 0})


ORIGINAL = network()


def samples(seed: int = 1, count: int = 16) -> list[Any]:
    return [*np.random.default_rng(seed).normal(size=(count, 1, 12, 12, 3)).astype(np.float32)]


@functools.cache
def form(name: str = "int8") -> bytes:
    of = name.partition(",")[0]
    dataset: dict[str, Any] = {"samples": samples()} if of in {"int8", "int16"} else {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "float.tflite"
        file.write_bytes(ORIGINAL)
        quantization = litefuse.Quantization(of, **dataset, **FORMS[name])  # pyright: ignore[reportArgumentType]
        return litefuse.quantize(file, quantization).model_bytes


def faults(verification: Verification) -> list[str]:
    assert verification.layers is not None
    return [each.tensor for each in verification.layers.layers if each.fault]


@pytest.mark.parametrize("name", FORMS)
def test_good_forms_are_equal(name: str) -> None:
    content = form(name)
    assert is_quantized_file(content)
    cases: list[dict[str, Any]] = [{"shapes": {"größe": (4, 12, 12, 3)}}, {"samples": samples(7, 5)}]
    for given in cases:
        verification = litefuse.verify_model(content, ORIGINAL, layers=True, **given)
        (output,) = verification.outputs
        assert verification.verdict == "equal"
        assert faults(verification) == []
        assert output.explained is not None
        assert output.error <= 3 * output.explained < 0.7
        assert output.dtype == {"int8, integers": "int8", "int8, uint8": "uint8"}.get(name, "float32")
        assert f"quantization explains {output.explained:.2g}" in str(verification)
        assert "none by more than its quantization explains" in str(verification)


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("int8", "second"),
        ("int16", "dense"),
        ("dynamic", "first"),
        ("weights", "second"),
        ("float16", "dense"),
        ("int8, tensor", "first"),
    ],
)
def test_spoiled_weights(name: str, layer: str) -> None:
    content = bytearray(form(name))
    read: Any = schema.Model.GetRootAs(content, 0)
    graph = read.Subgraphs(0)
    for index in range(graph.TensorsLength()):
        tensor = graph.Tensors(index)
        if (tensor.Name() or b"").startswith(f"{layer}/w".encode()) and read.Buffers(tensor.Buffer()).DataLength():
            weights = read.Buffers(tensor.Buffer()).DataAsNumpy()
            weights[:] = np.roll(weights, len(weights) // 3)
            break
    else:
        raise AssertionError(layer)
    verification = litefuse.verify_model(bytes(content), ORIGINAL, layers=True)
    assert verification.verdict == "differs"
    assert [each.split(";")[0] for each in faults(verification)] == [layer]
    assert layer in verification.outputs[0].problem


@pytest.mark.parametrize(
    ("what", "how", "place"),
    [
        ("channel", -1.0, 0.4),
        ("channel scale", 1.5, 0.0),
        ("bias", -1.0, 0.7),
        ("scale", 2.0, 0.0),
        ("scale", 0.5, 0.4),
    ],
)
def test_spoiled_numbers(tmp_path: Path, what: str, how: float, place: float) -> None:
    content, blamed = spoiled(form(), what, how, place)
    verification = litefuse.verify_model(content, ORIGINAL, samples=samples(), layers=True)
    assert verification.verdict == "differs"
    assert faults(verification)[0] in blamed
    file, page = tmp_path / "spoiled.tflite", tmp_path / "page.html"
    file.write_bytes(content)
    save_report(page, file, verification=verification)
    assert 'class="bad' in page.read_text("utf-8")


def test_the_page_of_a_good_file(tmp_path: Path) -> None:
    verification = litefuse.verify_model(form(), ORIGINAL, samples=samples(), layers=True)
    file, page = tmp_path / "good.tflite", tmp_path / "page.html"
    file.write_bytes(form())
    save_report(page, file, verification=verification)
    assert 'class="bad' not in page.read_text("utf-8")


def test_clipping_is_told_and_large_clipping_is_not_equal() -> None:
    """Samples of a tenth of the size do not show what ranges are needed."""
    for size, verdict in ((1.0, "equal"), (0.1, "differs")):
        few = [size * sample for sample in samples()]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "float.tflite"
            file.write_bytes(ORIGINAL)
            content = litefuse.quantize(file, litefuse.Quantization("int8", samples=few)).model_bytes
        verification = litefuse.verify_model(content, ORIGINAL, samples=samples())
        assert verification.verdict == verdict
        problem = verification.outputs[0].problem
        assert ("are clipped, which moves it by" in problem and "more samples" in problem) is (verdict == "differs")


def test_a_tolerance_is_what_counts() -> None:
    content = form()
    assert litefuse.verify_model(content, ORIGINAL, max_error=1e-4).verdict == "differs"
    (output,) = litefuse.verify_model(content, ORIGINAL, max_error=0.1, samples=samples()).outputs
    assert (output.verdict, output.explained) == ("equal", None)


def test_a_file_is_equal_to_itself_and_to_another_quantized_one() -> None:
    content = form()
    assert litefuse.verify_model(content, content, layers=True).error == 0
    assert litefuse.verify_model(content, form("weights"), layers=True).verdict == "equal"


def test_a_model_of_real_numbers_is_judged_by_the_tolerance() -> None:
    assert not is_quantized_file(ORIGINAL)
    verification = litefuse.verify_model(ORIGINAL, ORIGINAL, layers=True)
    assert verification.outputs[0].explained is None
    assert verification.layers is not None
    assert not verification.layers.judged


def test_the_range_of_images_is_told(tmp_path: Path) -> None:
    (tmp_path / "float.tflite").write_bytes(ORIGINAL)
    (tmp_path / "images").mkdir()
    for number in range(4):
        image = np.random.default_rng(number).integers(0, 256, (12, 12, 3)).astype(np.uint8)
        Image.fromarray(image).save(tmp_path / "images" / f"{number}.png")
    before, after = str(tmp_path / "float.tflite"), str(tmp_path / "q.tflite")
    given = ["--samples", str(tmp_path / "images")]
    made = CliRunner().invoke(app, ["quantize", before, "-o", after, "--quantize", "int8", *given])
    compared = CliRunner().invoke(app, ["verify", after, before, *given])
    for done in (made, compared):
        assert done.exit_code == 0, done.output
        assert "images with values 0 to 1, as the model does not scale them" in done.output


def test_samples_in_files_and_many_rows(tmp_path: Path) -> None:
    for name, content in (("q.tflite", form()), ("float.tflite", ORIGINAL)):
        (tmp_path / name).write_bytes(content)
    np.savez(tmp_path / "rows.npz", größe=np.concatenate(samples(5, 40)))
    given = [str(tmp_path / "q.tflite"), str(tmp_path / "float.tflite")]
    arguments = ["verify", *given, "--samples", str(tmp_path / "rows.npz")]
    done = CliRunner().invoke(app, [*arguments, "--layers"])
    assert done.exit_code == 0, done.output
    assert "calls          40" in done.output
    assert "quantization explains" in done.output
    assert CliRunner().invoke(app, [*arguments, "--seed", "1"]).exit_code == 2
    with pytest.raises(LitefuseError, match="replace inputs"):
        litefuse.verify_model(given[0], given[1], inputs={}, samples=samples())
    with pytest.raises(LitefuseError, match="rows"):
        litefuse.verify_model(given[0], given[1], samples=[{"rows": np.zeros(3)}])


def test_the_copy_computes_what_the_file_says() -> None:
    content = form()
    side = ComparedModel(content, "q")
    (x,) = samples(9, 1)
    found = {
        name: np.array(litefuse.Interpreter(each).get_signature_runner("serve")(größe=x)["dense"])
        for name, each in {
            "file": content,
            "rounded": FloatCopy(side, 0, rounded=True).content(),
            "exact": FloatCopy(side, 0).content(),
            "original": ORIGINAL,
        }.items()
    }
    scale = np.abs(found["original"]).max()
    assert np.abs(found["rounded"] - found["file"]).max() < 0.02 * scale
    assert 0 < np.abs(found["exact"] - found["original"]).max() < 0.02 * scale
    assert np.abs(found["exact"] - found["file"]).max() > 0
