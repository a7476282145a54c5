"""The tensors of a LiteRT model, and how they are quantized."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from click.testing import CliRunner
from litert_quantizer import qtyping
from litert_quantizer.quantizer import Quantizer

from litefuse.litert.inspection.facts import QuantizationFacts, StoredTensor
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.inspection.litert_model_facts import litert_model_sections
from litefuse.support.report.text import sections_text
from litefuse.tools.cli.app import app
from tests.conversion.quantization.models import dense
from tests.litert.runtime.models import Graph, model

WEIGHTS = np.random.default_rng(1).normal(size=(48, 64)).astype(np.float32)


def by_name(path: Path) -> dict[str, StoredTensor]:
    return {each.name: each for each in inspect_litert_model(path).tensors}


def lines(text: str) -> list[str]:
    """The lines, with single spaces."""
    return [" ".join(line.split()) for line in text.splitlines()]


def quantized(tmp_path: Path, **options: Any) -> Path:
    before, after = tmp_path / "before.tflite", tmp_path / "after.tflite"
    before.write_bytes(model(dense(WEIGHTS), signatures={"serve": 0}))
    quantizer = Quantizer(str(before))
    quantizer.add_dynamic_config(".*", qtyping.TFLOperationName.FULLY_CONNECTED, **options)
    quantizer.quantize(serialize_to_path=str(after), enable_progress_bar=False, enable_progress_report=False)
    return after


def test_scales_of_the_tensor_and_of_slices(tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.input("größe", (1, 3), np.int8), graph.output("y", (1, 3), np.int8, signature=(-1, 3))
    graph.builtin("ADD", [x, x], [y])
    graph.tensor("slices", (2, 4), np.int8, value=np.zeros((2, 4)))
    for (tensor, _), scales, zeros, axis in zip(
        graph.tensors, ([0.5], [], [0.1, 0.3, 0.2, 0.1]), ([-3], [], [0, 0, 0, 1]), (0, 0, 1), strict=True
    ):
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale, tensor.quantization.zeroPoint = scales, zeros
        tensor.quantization.quantizedDimension = axis
    path = tmp_path / "m.tflite"
    path.write_bytes(model(graph))
    assert inspect_litert_model(path).tensors == (
        StoredTensor(0, "größe", "int8", (1, 3), 0, QuantizationFacts(1, (0.5, 0.5), (-3, -3))),
        StoredTensor(0, "y", "int8", (None, 3), index=1),
        StoredTensor(
            *(0, "slices", "int8", (2, 4), 8, QuantizationFacts(4, (0.1, 0.3), (0, 1), axis=1)),
            index=2,
            buffer=1,
            is_constant=True,
        ),
    )
    text = sections_text(litert_model_sections(inspect_litert_model(path)))
    assert lines(text)[-8:] == [
        "Tensors: 3",
        "tensors dtype bytes of constants",
        "3 int8 8",
        "",
        "Quantized tensors: 2",
        "tensor dtype scale zero point scales",
        "größe int8 [1, 3] 0.5 -3 1",
        "slices int8 [2, 4], constant 0.1 to 0.3 0 to 1 4, along axis 1",
    ]


@pytest.mark.parametrize(("bits", "dtype", "size"), [(8, "int8", 48 * 64), (4, "int4", 48 * 32)])
def test_weights_of_channels(tmp_path: Path, bits: int, dtype: str, size: int) -> None:
    weights = by_name(quantized(tmp_path, num_bits=bits))["weights"]
    assert (weights.dtype, weights.shape, weights.size) == (dtype, (48, 64), size)
    assert weights.quantization is not None
    largest = np.abs(WEIGHTS).max(axis=1) / (2 ** (bits - 1) - 1)
    assert (weights.quantization.count, weights.quantization.axis) == (48, 0)
    np.testing.assert_allclose(weights.quantization.scale, (largest.min(), largest.max()), rtol=1e-6)


def test_weights_of_blocks(tmp_path: Path) -> None:
    path = quantized(tmp_path, num_bits=4, granularity=qtyping.QuantGranularity.BLOCKWISE_32)
    weights = by_name(path)["weights"]
    assert weights.quantization is not None
    assert (weights.quantization.count, weights.quantization.block, weights.quantization.axis) == (96, 32, None)
    largest = np.abs(WEIGHTS.reshape(48, 2, 32)).max(axis=2) / 7
    np.testing.assert_allclose(weights.quantization.scale, (largest.min(), largest.max()), rtol=2e-3)  # of float16
    assert "96, one for each block of 32" in sections_text(litert_model_sections(inspect_litert_model(path)))


def test_command_line(tmp_path: Path) -> None:
    path = quantized(tmp_path, num_bits=8)
    outcome = CliRunner().invoke(app, ["inspect", str(path), "--json"])
    (weights,) = [each for each in json.loads(outcome.stdout)["tensors"] if each["quantization"]]
    assert (weights["name"], weights["dtype"], weights["size"]) == ("weights", "int8", 48 * 64)
    assert weights["quantization"]["count"] == 48


def test_many_tensors_are_listed_on_request(tmp_path: Path) -> None:
    graph = Graph()
    for number in range(15):
        graph.input(f"x{number}", (1,), np.int8)
        tensor, _ = graph.tensors[-1]
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale, tensor.quantization.zeroPoint = [0.5], [0]
    path = tmp_path / "m.tflite"
    path.write_bytes(model(graph))
    short, full = (CliRunner().invoke(app, ["inspect", str(path), *more]).stdout for more in ([], ["--all"]))
    assert "and 3 tensors more; --all lists them" in short
    assert "x14 int8 [1] 0.5 0 1" in lines(full)
    assert "x14 int8 [1] 0.5 0 1" not in lines(short)
    assert "more" not in full
