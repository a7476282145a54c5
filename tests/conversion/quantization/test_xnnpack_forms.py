"""What XNNPACK lacks in int8, as ops that it has, for LiteRT on a CPU alone: by numbers, against the float model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from litefuse.conversion.quantization.adjusted_ranges import center_factors
from litefuse.conversion.quantization.equal_ops import write_equal_ops
from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.export.editor import editors_of
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.targets import traits_of
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

SHAPE = (1, 6, 8)
RANDOM = np.random.default_rng(4)
SAMPLES = [{"x": RANDOM.normal(size=SHAPE).astype(np.float32) * 3} for _ in range(16)]


def model() -> Graph:
    """A hard swish, squares of what it differs by, which are averaged, and products of that with itself, transposed."""
    graph = Graph()
    x = graph.input("x", [*SHAPE], signature=[-1, *SHAPE[1:]])

    def op(kind: str, operands: list[int], name: str, shape: tuple[int, ...] = SHAPE) -> int:
        result = graph.tensor(name, [*shape], signature=[-1, *shape[1:]])
        graph.builtin(kind, operands, [result])
        return result

    swish = op("HARD_SWISH", [x], "swish")
    squares = op("SQUARED_DIFFERENCE", [swish, x], "squares")
    difference = op("SUB", [swish, x], "difference")
    order = graph.tensor("order", [3], np.int32, value=np.array([0, 2, 1], np.int32))
    columns = op("TRANSPOSE", [x, order], "columns", (1, 8, 6))
    axes = graph.tensor("axes", [1], np.int32, value=np.array([2], np.int32))
    graph.outputs.append(op("MEAN", [squares, axes], "mean", (1, 6)))
    graph.outputs.append(op("BATCH_MATMUL", [difference, columns], "products", (1, 6, 6)))
    return graph


def quantized(folder: Path, target: str) -> tuple[Path, Path, list[str]]:
    """Returns the model, its int8 form for a target, and the kinds of the form's ops."""
    before, after = saved(folder / "before.tflite", model()), folder / "after.tflite"
    form = folder / "form.tflite"
    form.write_bytes(before.read_bytes())
    edit_file(form, lambda of_form: write_equal_ops(of_form, 8, (), traits_of(target)))
    quantize_model(form, after, "int8", take_samples(SAMPLES), traits=traits_of(target))
    (graph,) = editors_of(read_model(after))
    return before, after, [graph.kind(op) for op in graph.ops]


def test_what_it_lacks_is_written_as_what_it_has(tmp_path: Path) -> None:
    before, after, kinds = quantized(tmp_path, "cpu")
    assert not {"HARD_SWISH", "SQUARED_DIFFERENCE"}.intersection(kinds)
    assert kinds.count("SUB") == 1  # of the squares and of the product
    (graph,) = editors_of(read_model(after))
    (product,) = (op for op in graph.ops if graph.kind(op) == "BATCH_MATMUL")
    moved = graph.producer(int(product.inputs[1]))
    assert moved is not None
    for operand in (moved.inputs[0], moved.outputs[0]):
        scale = graph.scale(int(operand))
        assert scale is not None
        assert scale.zero == 0
    runners = [Interpreter(path).get_signature_runner() for path in (before, after)]
    for count in (1, 3, 1):
        rows = np.concatenate([sample["x"] for sample in SAMPLES[:count]])
        expected, results = (runner(x=rows) for runner in runners)
        for name, values in expected.items():
            np.testing.assert_allclose(results[name], values, atol=6 * np.ptp(values) / 255)


@pytest.mark.parametrize("target", ["micro", "gpu", "openvino"])
def test_other_targets_get_the_ops(tmp_path: Path, target: str) -> None:
    assert {"HARD_SWISH", "SQUARED_DIFFERENCE"} <= {*quantized(tmp_path, target)[2]}


@pytest.mark.parametrize(("least", "largest", "centered"), [(-1.0, 1.2, True), (0.0, 1.0, False), (-0.1, 2.0, False)])
def test_ranges_are_centered_where_they_lose_little(
    tmp_path: Path, least: float, largest: float, centered: bool
) -> None:
    ranges = {"x": {"min": np.array([least], np.float32), "max": np.array([largest], np.float32)}}
    ranges |= {"columns": ranges["x"], "other": ranges["x"]}
    made = center_factors(read_model(saved(tmp_path / "model.tflite", model())), ranges)
    assert (made["columns"]["min"] < -1.2) == centered == (made["x"]["min"] < -1.2)
    assert made["other"] == ranges["other"]
