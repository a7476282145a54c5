"""``litefuse quantize`` and ``litefuse.quantize``: LiteRT files that any converter may have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner, Result

import litefuse
from litefuse.conversion.quantization.litert_quantizer import prepare_model
from litefuse.litert.export.op_versions import types_of
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Model
from litefuse.tools.cli.app import app
from tests.litert.runtime.kernels import Double
from tests.litert.runtime.models import DTYPES, Graph, model

WEIGHTS = np.random.default_rng(1).normal(size=(64, 64)).astype(np.float32)
KERNEL = """
import litefuse

@litefuse.custom_op("Triple")
class Triple(litefuse.CustomOp):
    def prepare(self, x):
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs, outputs):
        outputs[0][...] = 3 * inputs[0]
"""


def product(custom: str | None = None) -> Graph:
    """``y = x * weights.T``, of one row, through a custom op."""
    graph = Graph()
    x, y = graph.input("x", [1, 64]), graph.output("y", [1, 64])
    w = graph.tensor("w", [64, 64], value=WEIGHTS)
    hidden = graph.tensor("hidden", [1, 64]) if custom else y
    graph.builtin("FULLY_CONNECTED", [x, w, -1], [hidden])
    if custom:
        graph.custom(custom, [hidden], [y])
    return graph


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["quantize", *map(str, arguments)])


def rows(number: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(4)
    return [{"x": random.normal(size=(1, 64)).astype(np.float32)} for _ in range(number)]


def check(path: Path, signature: str, factor: float = 1.0, **kernels: Any) -> None:
    """Calls a quantized model twice with the same row."""
    (row,) = rows(1)
    expected: Any = np.multiply(factor, row["x"]).dot(WEIGHTS.T)
    runner = litefuse.Interpreter(path, **kernels).get_signature_runner(signature)
    for _ in range(2):
        np.testing.assert_allclose(runner(**row)["y"], expected, atol=0.03 * np.abs(expected).max())


@pytest.mark.parametrize("form", ["dynamic", "weights", "float16", "int8", "int16"])
def test_a_file_without_signatures(tmp_path: Path, form: Any) -> None:
    before, after = written(tmp_path / "before.tflite", model(product())), tmp_path / "after.tflite"
    np.savez(tmp_path / "samples.npz", x=np.concatenate([each["x"] for each in rows(9)]))
    given = ["--samples", tmp_path / "samples.npz"] if form.startswith("int") else []
    outcome = run(before, "-o", after, "--quantize", form, *given, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    report = json.loads(outcome.stdout)
    assert (report["quantization"]["form"], report["signatures"]) == (form, ["serving_default"])
    assert report["size"] == after.stat().st_size < 0.6 * before.stat().st_size
    assert report["file_check"]["ran"]
    check(after, "serving_default")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["after.tflite", "before.tflite", "samples.npz"]


@pytest.mark.parametrize(
    ("option", "types"), [("uint8,float32", ["uint8", "float32"]), ("integer", ["int8", "int8"])], ids=["pair", "one"]
)
def test_types_of_inputs_and_outputs_on_the_command_line(tmp_path: Path, option: str, types: list[str]) -> None:
    before, after = written(tmp_path / "before.tflite", model(product())), tmp_path / "after.tflite"
    np.savez(tmp_path / "samples.npz", x=np.concatenate([each["x"] for each in rows(9)]))
    given = ["--samples", tmp_path / "samples.npz", f"--quantized-io={option}"]
    assert run(before, "-o", after, "--quantize", "int8", *given).exit_code == 0
    runner = litefuse.Interpreter(after).get_signature_runner("serving_default")
    details = [*runner.get_input_details().values(), *runner.get_output_details().values()]
    assert [np.dtype(each["dtype"]).name for each in details] == types


def test_several_subgraphs_with_the_same_names(tmp_path: Path) -> None:
    content = model(product(), product(), signatures={"first": 0, "second": 1})
    before = written(tmp_path / "before.tflite", content)
    result = litefuse.quantize(before, "dynamic")
    after = result.save(tmp_path / "after.tflite")
    assert result.report.signatures == ("first", "second")
    assert result.report.size < 0.4 * before.stat().st_size
    for signature in result.report.signatures:
        check(after, signature)
    samples = [("first", each) for each in rows(5)] + [("second", each) for each in rows(5)]
    after = litefuse.quantize(before, litefuse.Quantization("int8", samples=samples)).save(tmp_path / "after.tflite")
    for signature in result.report.signatures:
        check(after, signature)


def test_names_are_made_unique(tmp_path: Path) -> None:
    graph = Graph()
    x, hidden, y = graph.input("x", [1]), graph.tensor("x#2", [1]), graph.output("x", [1])
    nameless = graph.tensor("", [1])
    graph.builtin("ADD", [x, x], [hidden])
    graph.builtin("ADD", [hidden, x], [nameless])
    graph.builtin("ADD", [nameless, x], [y])
    prepare_model(written(tmp_path / "a.tflite", model(graph)), tmp_path / "b.tflite")
    (signature,) = inspect_litert_model(tmp_path / "b.tflite").signatures
    assert [each.name for each in (*signature.inputs, *signature.outputs)] == ["x", "x#3"]
    outputs = litefuse.Interpreter(tmp_path / "b.tflite").get_signature_runner()(x=np.ones(1, np.float32))
    np.testing.assert_array_equal(outputs["x#3"], [4])
    # What lacks nothing is not written anew.
    prepare_model(tmp_path / "b.tflite", tmp_path / "c.tflite")
    assert (tmp_path / "c.tflite").read_bytes() == (tmp_path / "b.tflite").read_bytes()


def test_custom_ops_run_with_kernels(tmp_path: Path) -> None:
    before = written(tmp_path / "before.tflite", model(product("Triple"), signatures={"serve": 0}))
    (tmp_path / "kernels.py").write_text(KERNEL)
    np.savez(tmp_path / "samples.npz", x=np.concatenate([each["x"] for each in rows(9)]))
    command = [before, "-o", tmp_path / "after.tflite", "--quantize", "int8"]
    command += ["--samples", tmp_path / "samples.npz"]
    outcome = run(*command)
    assert outcome.exit_code == 1
    assert "Triple" in outcome.stderr
    assert not (tmp_path / "after.tflite").exists()
    outcome = run(*command, "--kernels", tmp_path / "kernels.py")
    assert outcome.exit_code == 0, outcome.stderr
    assert inspect_litert_model(tmp_path / "after.tflite").op_counts["Triple"] == 1
    check(tmp_path / "after.tflite", "serve", 3.0)


def test_custom_ops_without_kernels_need_no_samples(tmp_path: Path) -> None:
    before = written(tmp_path / "before.tflite", model(product("Double"), signatures={"serve": 0}))
    report = litefuse.quantize(before, "dynamic")
    assert report.report.quantization is not None
    assert report.report.quantization.error is None
    check(report.path, "serve", 2.0, custom_ops=[Double])


def test_the_result_of_a_conversion(tmp_path: Path) -> None:
    first = litefuse.quantize(
        written(tmp_path / "before.tflite", model(product())), litefuse.Quantization("dynamic", keep_float=["y"])
    )
    assert first.report.quantization is not None
    assert first.report.quantization.error == 0
    second = litefuse.quantize(first, "dynamic")
    assert second.report.size < 0.4 * first.report.size


def test_what_is_no_model(tmp_path: Path) -> None:
    before, target = written(tmp_path / "before.tflite", model(product())), tmp_path / "after.tflite"
    for wrong, message in (
        ([tmp_path / "absent.tflite"], "no such file or folder"),
        ([tmp_path], "this is a folder, not a file"),
        ([written(tmp_path / "half.tflite", before.read_bytes()[:500])], "the model is damaged"),
        ([before, "--max-error", "1e-9"], "changes an output by"),
        ([before, "--keep-float", "nothing"], "matches the name of no result"),
        ([before, "--quantized-io", "integer"], "is only for the quantizations"),
        ([before, "--rotate", "hadamard", "--quantize", "int8"], "rotated weights"),
    ):
        command = wrong if "--quantize" in wrong else [*wrong, "--quantize", "dynamic"]
        outcome = run(*command, "-o", target)
        assert outcome.exit_code == 1, outcome.output
        assert message in outcome.stderr
        assert "Traceback" not in outcome.stderr
        assert not target.exists()
    for output in ("-", before, tmp_path / "missing" / "m.tflite"):
        assert "cannot be written" in run(before, "-o", output, "--quantize", "dynamic").stderr
    assert "neither a form of quantization nor a recipe" in run(before, "-o", target).stderr
    for types in ("int4", "uint8,int4", "uint8,uint8,uint8", ","):
        assert run(before, "-o", target, "--quantize", "int8", f"--quantized-io={types}").exit_code == 2
    with pytest.raises(litefuse.LitefuseError, match="a recipe already says how to quantize each op"):
        litefuse.quantize(before, litefuse.Quantization("dynamic", recipe=[]))


@pytest.mark.parametrize("form", ["dynamic", "float16", "int8", "blocks"])
def test_what_is_quantized_already_is_refused(tmp_path: Path, form: Any) -> None:
    """litert-quantizer would take the integers for real numbers."""
    plain = written(tmp_path / "plain.tflite", model(product()))
    samples = [{"x": np.ones((1, 64), np.float32)}]
    options: dict[str, Any] = {"samples": samples} if form == "int8" else {}
    if form == "blocks":
        form, options = "dynamic", {"weight_bits": 4, "granularity": "block:32"}
    litefuse.quantize(plain, litefuse.Quantization(form, **options)).save(tmp_path / "quantized.tflite")
    for again in ("dynamic", "weights", "float16", "int8"):
        options = {"samples": samples} if again == "int8" else {}
        with pytest.raises(litefuse.LitefuseError, match=r"quantized already: '.*', for one, is stored in fewer bits"):
            litefuse.quantize(tmp_path / "quantized.tflite", litefuse.Quantization(again, **options))


@pytest.mark.parametrize("dtype", ["BOOL", "INT64", "STRING", "COMPLEX64", "FLOAT16"])
def test_models_without_float32_have_nothing_to_make_integers_of(tmp_path: Path, dtype: str) -> None:
    graph = Graph()
    x, shape = graph.input("x", [1, 4], dtype), graph.tensor("s", [1], np.int32, value=[4])
    y = graph.output("y", [4], dtype)
    graph.builtin("RESHAPE", [x, shape], [y])
    before = written(tmp_path / "before.tflite", model(graph))
    value = np.full((1, 4), b"a", object) if dtype == "STRING" else np.zeros((1, 4), DTYPES[dtype])
    with pytest.raises(litefuse.LitefuseError, match="the model computes nothing in float32"):
        litefuse.quantize(before, litefuse.Quantization("int8", samples=[{"x": value}]))
    result = litefuse.quantize(before, "weights")
    assert result.path.read_bytes()[4:8] == b"TFL3"
    assert result.report.quantization is not None
    assert result.report.quantization.floats == ()


def runtime_of_file(path: Path) -> str:
    return inspect_litert_model(path).least_runtime


@pytest.mark.parametrize(
    ("limit", "form", "granularity", "least"),
    [
        (None, "dynamic", "channel", "TensorFlow Lite 2.17 or newer"),
        ("2.17", "dynamic", "channel", "TensorFlow Lite 2.17 or newer"),
        ("litert:1.0", "dynamic", "channel", "TensorFlow Lite 2.17 or newer"),
        ("2.14", "dynamic", "tensor", "TensorFlow Lite 1.14 or newer"),
    ],
)
def test_an_older_runtime_gets_a_form_that_it_has(
    tmp_path: Path, limit: str | None, form: str, granularity: str, least: str
) -> None:
    graph = product()
    graph.operators[0][0].inputs[2] = graph.tensor("b", [64], value=np.zeros(64))
    before = written(tmp_path / "before.tflite", model(graph))
    result = litefuse.quantize(before, "dynamic", min_runtime=limit)
    quantization = result.report.quantization
    assert quantization is not None
    assert quantization.form == form
    assert runtime_of_file(result.path).endswith(least)
    assert result.report.least_runtime == runtime_of_file(result.path)
    assert quantization.weights == ("a scale for each tensor" if granularity == "tensor" else "")
    assert ("TensorFlow Lite 2.14 has no FULLY_CONNECTED version 12" in quantization.instead) == (limit == "2.14")
    check(result.path, "serving_default")


@pytest.mark.parametrize(
    ("limit", "direct"), [(None, True), ("litert:2.1.3", True), ("litert:2.1.2", False), ("2.14", False)]
)
def test_an_older_runtime_converts_integers_through_float(tmp_path: Path, limit: str | None, direct: bool) -> None:
    """LiteRT below 2.1.3 lacks QUANTIZE from int8, which a lookup gives, to int16."""
    rng = np.random.default_rng(3)
    table, factors = (rng.normal(size=shape).astype(np.float32) for shape in ((50, 6), (6,)))
    graph = Graph()
    ids, found = graph.input("ids", [4], np.int32, signature=[-1]), graph.tensor("rows", [4, 6], signature=[-1, 6])
    graph.builtin("EMBEDDING_LOOKUP", [ids, graph.tensor("table", table.shape, value=table)], [found])
    y = graph.output("y", [4, 6], signature=[-1, 6])
    graph.builtin("MUL", [found, graph.tensor("factors", [6], value=factors)], [y])
    before = written(tmp_path / "before.tflite", model(graph))
    samples = [{"ids": rng.integers(0, 50, 4).astype(np.int32)} for _ in range(20)]
    result = litefuse.quantize(before, litefuse.Quantization("int16", samples=samples), min_runtime=limit)
    read = Model(result.path.read_bytes()).graphs[0]
    forms = [(op.name, *types_of(read, op)) for op in read.ops]
    assert (("QUANTIZE", "INT8", "INT16") in forms) is direct
    assert (("DEQUANTIZE", "INT8", "FLOAT32") in forms) is not direct
    assert runtime_of_file(result.path).startswith("LiteRT 2.1.3" if direct else "LiteRT 1.0")
    runner = Interpreter(result.path).get_signature_runner()
    for count in (4, 7, 0, 4):
        taken = rng.integers(0, 50, count).astype(np.int32)
        tolerance = np.abs(factors).max() * np.abs(table).max() / 127
        np.testing.assert_allclose(runner(ids=taken)["y"], table[taken] * factors, atol=tolerance)


@pytest.mark.parametrize(("limit", "tiles"), [(None, True), ("litert:2.1.2", False), ("2.14", False)])
@pytest.mark.parametrize("counts", [np.array([1, 2, 3], np.int32), np.array([2, 1, 1], np.int64), np.ones(3, np.int32)])
def test_an_older_runtime_concatenates_copies(
    tmp_path: Path, limit: str | None, tiles: bool, counts: npt.NDArray[Any]
) -> None:
    """LiteRT below 2.1.3 lacks TILE of int16."""
    rng = np.random.default_rng(4)
    shape = [size * int(count) for size, count in zip([1, 4, 5], counts, strict=True)]
    signature = [-1, *shape[1:]]
    graph = Graph()
    x, tiled = graph.input("x", [1, 4, 5], signature=[-1, 4, 5]), graph.tensor("tiled", shape, signature=signature)
    graph.builtin("TILE", [x, graph.tensor("counts", [3], counts.dtype.type, value=counts)], [tiled])
    factors = rng.normal(size=signature[-1]).astype(np.float32)
    y = graph.output("y", shape, signature=signature)
    graph.builtin("MUL", [tiled, graph.tensor("factors", factors.shape, value=factors)], [y])
    before = written(tmp_path / "before.tflite", model(graph))
    samples = [{"x": rng.uniform(-1, 1, (1, 4, 5)).astype(np.float32)} for _ in range(20)]
    options = litefuse.Quantization("int16", samples=samples, require_integer=True)
    result = litefuse.quantize(before, options, min_runtime=limit)
    assert ("TILE" in result.report.op_counts) is tiles
    assert runtime_of_file(result.path).startswith("LiteRT 2.1.3" if tiles else "LiteRT 1.0")
    runner = Interpreter(result.path).get_signature_runner()
    for count in (1, 3, 0, 1):
        value = rng.uniform(-1, 1, (count, 4, 5)).astype(np.float32)
        np.testing.assert_allclose(runner(x=value)["y"], np.tile(value, counts) * factors, atol=1e-3)


def test_a_runtime_that_lacks_an_op_is_refused(tmp_path: Path) -> None:
    graph = product()
    graph.builtin("GELU", [graph.outputs[0]], [graph.output("größe", [1, 64])])
    before, after = written(tmp_path / "before.tflite", model(graph)), tmp_path / "after.tflite"
    outcome = run(before, "-o", after, "--quantize", "weights", "--min-runtime", "2.8")
    assert outcome.exit_code == 1
    assert "TensorFlow Lite 2.8 lacks ops of this model" in outcome.stderr
    assert "1 x GELU version 1, such as 'größe': LiteRT 1.0 or newer; TensorFlow Lite 2.9 or newer" in outcome.stderr
    assert not after.exists()
    outcome = run(before, "-o", after, "--quantize", "weights", "--min-runtime", "new")
    assert (outcome.exit_code, "'new' names no runtime" in outcome.stderr) == (1, True)
