"""Layers of int8 and int16 in one file: as few of int16 as the outputs need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.quantization.difference import Difference
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.options.quantization import Quantization
from litefuse.support.report.quantized import MixedPrecision
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

WIDTH, OUTLIER = 16, 60.0
ROWS = np.random.default_rng(4).normal(size=(12, 3, WIDTH)).astype(np.float32)


def products() -> Graph:
    """Six products; between the second and the third, one column is much larger than the others."""
    random, graph = np.random.default_rng(2), Graph()
    x = graph.input("x", [3, WIDTH], signature=[-1, WIDTH])
    for number in range(6):
        weights = random.normal(size=(WIDTH, WIDTH)).astype(np.float32) / np.sqrt(WIDTH)
        weights[0] *= OUTLIER if number == 1 else 1.0
        weights[:, 0] /= OUTLIER if number == 2 else 1.0
        operands = [x, graph.tensor(f"w{number}", weights.shape, value=weights)]
        bias = graph.tensor(f"b{number}", [WIDTH], value=random.normal(size=WIDTH).astype(np.float32) / 4)
        add = graph.output if number == 5 else graph.tensor
        y = add(f"y{number}", [3, WIDTH], signature=[-1, WIDTH])
        graph.builtin("FULLY_CONNECTED", [*operands, bias], [y])
        x = y
        if number == 3:  # which nothing else reads
            x = graph.tensor("tanh", [3, WIDTH], signature=[-1, WIDTH])
            graph.builtin("TANH", [y], [x])
    return graph


def quantized(folder: Path, graph: Graph, max_error: float, **options: Any) -> tuple[Path, Difference, MixedPrecision]:
    before, after = saved(folder / "before.tflite", graph), folder / "after.tflite"
    chosen = Quantization("auto", require_integer=True, max_error=max_error, **options)
    effect = quantize_model(before, after, chosen, take_samples([*ROWS]))
    assert effect.mixed is not None
    return after, effect, effect.mixed


def forms(mixed: MixedPrecision) -> dict[str, str]:
    return {layer.layer: layer.form for layer in mixed.layers}


def dtypes(path: Path) -> dict[str, str]:
    """The dtype of the first operand of each op but conversions, by the name of its result."""
    with content_of(path) as content:
        (graph,) = Model(content).graphs
        return {
            graph.tensor(op.outputs[0]).name: str(graph.tensor(op.inputs[0]).dtype)
            for op in graph.ops
            if op.name not in {"QUANTIZE", "DEQUANTIZE"}
        }


def errors(folder: Path) -> tuple[float, float]:
    """The errors of int8 and of int16 throughout."""
    before = saved(folder / "before.tflite", products())
    both = [quantize_model(before, folder / "one.tflite", form, take_samples([*ROWS])) for form in ("int8", "int16")]
    found = [effect.error for effect in both]
    assert found[0] is not None
    assert found[1] is not None
    return found[0], found[1]


def test_the_layers_around_a_wide_tensor_become_int16(tmp_path: Path) -> None:
    narrow, wide = errors(tmp_path)
    limit = (narrow + 2 * wide) / 3
    assert wide < limit < narrow
    path, effect, mixed = quantized(tmp_path, products(), limit)
    assert effect.error is not None
    assert effect.error <= limit
    assert [*forms(mixed)] == [f"y{number}" for number in range(6)], "TANH belongs to the product before it"
    int16 = [name for name, form in forms(mixed).items() if form == "int16"]
    assert {"y1", "y2"} <= {*int16}
    assert len(int16) < 6
    assert dtypes(path) == {**forms(mixed), "tanh": forms(mixed)["y3"]}
    assert effect.floats == ()
    assert [point.size for point in mixed.curve] == sorted(point.size for point in mixed.curve)
    assert any(point.error == effect.error for point in mixed.curve)
    # None of them can be int8 alone.
    before = tmp_path / "before.tflite"
    for name in int16:
        others = [other for other in int16 if other != name]
        recipe = (entry(".*", 8), *([entry(f"^(?:{'|'.join(others)}|tanh);", 16)] if others else []), *FLOAT_ENDS)
        one = quantize_model(before, tmp_path / "one.tflite", Quantization(recipe=recipe), take_samples([*ROWS]))
        assert one.error is not None
        assert one.error > limit


def entry(regex: str, bits: int) -> dict[str, Any]:
    def of(bits: int, granularity: str) -> dict[str, Any]:
        return {"num_bits": bits, "symmetric": bits == 16, "granularity": granularity, "dtype": "INT"}

    config = {
        "weight_tensor_config": of(8, "CHANNELWISE") | {"symmetric": True},
        "activation_tensor_config": of(bits, "TENSORWISE"),
        "compute_precision": "INTEGER",
        "explicit_dequantize": False,
    }
    return {"regex": regex, "operation": "*", "algorithm_key": "min_max_uniform_quantize", "op_config": config}


FLOAT_ENDS = tuple({"regex": "(?:)", "operation": end, "algorithm_key": "no_quantize"} for end in ("INPUT", "OUTPUT"))


@pytest.mark.parametrize("rows", [1, 3, 5])
def test_it_runs_twice_with_other_batches(tmp_path: Path, rows: int) -> None:
    narrow, wide = errors(tmp_path)
    path, _, _ = quantized(tmp_path, products(), (narrow + wide) / 2)
    x = np.concatenate(ROWS)[:rows]
    expected = Interpreter(tmp_path / "before.tflite").get_signature_runner()(x=x)["y5"]
    runner = Interpreter(path).get_signature_runner()
    for _ in range(2):
        actual = next(iter(runner(x=x).values()))
        assert np.abs(actual - expected).max() <= narrow * np.abs(expected).max() * 1.5


def test_int8_throughout_if_that_is_enough(tmp_path: Path) -> None:
    _, effect, mixed = quantized(tmp_path, products(), 1.0)
    assert {*forms(mixed).values()} == {"int8"}
    assert [(point.error, dict(point.forms)) for point in mixed.curve] == [(effect.error, {"int8": 6})]


def test_int16_throughout_if_nothing_is_enough(tmp_path: Path) -> None:
    path, effect, mixed = quantized(tmp_path, products(), 0.0)
    assert {*forms(mixed).values()} == {"int16"}
    assert {*dtypes(path).values()} == {"int16"}
    assert effect.error == pytest.approx(errors(tmp_path)[1], rel=0.05)  # whose ranges are a little wider


def test_ops_that_are_kept_and_ops_without_int16(tmp_path: Path) -> None:
    """HARD_SWISH has no kernel of int16: it stays int8, and is not said to be int16."""
    graph = products()
    y = graph.outputs.pop()
    graph.builtin("HARD_SWISH", [y], [graph.output("swish", [3, WIDTH], signature=[-1, WIDTH])])
    path, effect, mixed = quantized(tmp_path, graph, 0.0, keep_float=("^y0;",))
    assert "y0" not in forms(mixed)
    assert {*forms(mixed).values()} == {"int16"}
    assert [op.name for op in effect.floats] == ["y0"]
    assert dtypes(path) == {**forms(mixed), "y0": "float32", "tanh": "int16", "swish": "int8"}
