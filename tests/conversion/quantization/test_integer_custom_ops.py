"""Custom ops in models of integers: in floating point, or as their kernels declare."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.errors import KernelError
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime import custom_op as registry
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec, custom_op, kernels_by_name
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.quantization import Quantization
from litefuse.support.report.quantized import FloatOp
from tests.conversion.quantization.models import saved, take_samples
from tests.every import every
from tests.litert.runtime.models import Graph

RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.normal(size=(16, 16)).astype(np.float32) * 0.5
ROWS = [RANDOM.normal(size=(1, 16)).astype(np.float32) for _ in range(16)]


class SoftSign(CustomOp):
    """x / (1 + |x|), on float32, int8 and int16; the second output is twice that."""

    quantized_dtypes: ClassVar[tuple[str, ...]] = ("int8", "int16")
    seen: ClassVar[list[Any]] = []

    def prepare(self, x: TensorSpec, *rest: TensorSpec) -> list[TensorSpec]:
        self._from, self._to = x.quantization, [each.quantization for each in self.output_specs]
        SoftSign.seen.append((x.dtype.name, self._from, self._to))
        return [TensorSpec(x.shape, each.dtype) for each in self.output_specs]

    def invoke(self, inputs: Any, outputs: Any) -> None:
        x = inputs[0]
        real = x if self._from is None else self._from.dequantize(x)
        for number, to in enumerate(self._to):
            y = (1 + number) * real / (1 + np.abs(real))
            outputs[number][...] = y if to is None else to.quantize(y, x.dtype)


class OfFloats(SoftSign):
    quantized_dtypes: ClassVar[tuple[str, ...]] = ()


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {})
    SoftSign.seen.clear()
    return iter(())


def between(*, outputs: int = 1, ends: bool = False, begins: bool = False) -> Graph:
    """A product, the custom op, and another product; or the custom op at an end of the model."""
    graph = Graph()
    x = graph.input("x", [1, 16], signature=[-1, 16])
    weights = graph.tensor("weights", [16, 16], value=WEIGHTS)
    first = x
    if not begins:
        first = graph.tensor("first", [1, 16], signature=[-1, 16])
        graph.builtin("FULLY_CONNECTED", [x, weights, -1], [first])
    made = [graph.tensor(f"soft {number}", [1, 16], signature=[-1, 16]) for number in range(outputs)]
    graph.custom("SoftSign", [first], made)
    if ends:
        graph.outputs += made
    else:
        y = graph.output("y", [1, 16], signature=[-1, 16])
        graph.builtin("FULLY_CONNECTED", [made[-1], weights, -1], [y])
    return graph


def calls(path: Path, x: Any) -> dict[str, Any]:
    runner = Interpreter(path).get_signature_runner()
    first = {name: np.array(value) for name, value in runner(x=x).items()}
    for name, value in runner(x=x).items():  # the second call gives the same
        np.testing.assert_array_equal(value, first[name])
    return first


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"outputs": 2},
        {"ends": True},
        {"ends": True, "outputs": 2},
        {"begins": True},
        {"begins": True, "ends": True},
    ],
)
def test_a_kernel_that_takes_integers(tmp_path: Path, form: Any, options: dict[str, Any]) -> None:
    custom_op("SoftSign")(SoftSign)
    before, after = saved(tmp_path / "before.tflite", between(**options)), tmp_path / "after.tflite"
    found = quantize_model(before, after, form, take_samples(ROWS))
    assert found.floats == ()
    assert found.error is not None
    assert found.error < 0.05
    dtype, given, to = SoftSign.seen[-1]
    assert dtype == form
    assert given.scale > 0
    assert every(each.scale > 0 for each in to)
    for count in (1, 5, 2):
        x = np.random.default_rng(count).normal(size=(count, 16)).astype(np.float32) * 0.5
        expected = calls(before, x)
        for name, value in calls(after, x).items():
            np.testing.assert_allclose(value, expected[name], atol=0.06 * max(1, np.abs(expected[name]).max()))
    counts = inspect_litert_model(after).op_counts
    # One at each end of the model, and none around the op.
    ends = options.get("outputs", 1) if options.get("ends") else 1
    assert (counts["QUANTIZE"], counts["DEQUANTIZE"]) == (1, ends)


@pytest.mark.parametrize("options", [{"begins": True}, {"begins": True, "ends": True}, {"ends": True}])
def test_with_bytes_as_inputs_and_outputs(options: dict[str, Any], tmp_path: Path) -> None:
    custom_op("SoftSign")(SoftSign)
    before, after = saved(tmp_path / "before.tflite", between(**options)), tmp_path / "after.tflite"
    found = quantize_model(before, after, Quantization("int8", io="uint8"), take_samples(ROWS))
    assert found.floats == ()
    assert found.error is not None
    assert found.error < 0.05
    assert "DEQUANTIZE" not in inspect_litert_model(after).op_counts


def test_with_integer_inputs_and_outputs(tmp_path: Path) -> None:
    custom_op("SoftSign")(SoftSign)
    before, after = saved(tmp_path / "before.tflite", between()), tmp_path / "after.tflite"
    found = quantize_model(before, after, Quantization("int8", io=True), take_samples(ROWS))
    assert found.floats == ()
    assert {*inspect_litert_model(after).op_counts} == {"FULLY_CONNECTED", "SoftSign"}


def test_a_kernel_that_takes_floating_point(tmp_path: Path) -> None:
    custom_op("SoftSign")(OfFloats)
    before, after = saved(tmp_path / "before.tflite", between()), tmp_path / "after.tflite"
    found = quantize_model(before, after, "int8", take_samples(ROWS))
    reason = "a custom op, whose kernel takes floating point"
    assert found.floats == (FloatOp("SoftSign", "soft 0", "float", reason, 0),)
    assert {each[0] for each in SoftSign.seen} == {"float32"}
    counts = inspect_litert_model(after).op_counts
    assert (counts["QUANTIZE"], counts["DEQUANTIZE"]) == (2, 2)


def test_only_declared_dtypes(tmp_path: Path) -> None:
    class OfBytes(SoftSign):
        quantized_dtypes: ClassVar[tuple[str, ...]] = ("int8",)

    custom_op("SoftSign")(OfBytes)
    before, after = saved(tmp_path / "before.tflite", between()), tmp_path / "after.tflite"
    assert quantize_model(before, after, "int8", take_samples(ROWS)).floats == ()
    assert len(quantize_model(before, after, "int16", take_samples(ROWS)).floats) == 1


def test_dtypes_that_are_none() -> None:
    class Wrong(SoftSign):
        quantized_dtypes: ClassVar[tuple[str, ...]] = ("int4",)
        op_name = "Wrong"

    with pytest.raises(KernelError, match="quantized_dtypes are int8 and int16, not int4"):
        kernels_by_name([Wrong])


def test_scales_along_an_axis() -> None:
    from litefuse.litert.runtime.scales import QuantizationParameters

    scales = QuantizationParameters(np.array([0.5, 2], np.float32), np.array([0, 1], np.int64), axis=1)
    integers = np.array([[2, 3]] * 3, np.int8)
    np.testing.assert_array_equal(scales.dequantize(integers), [[1, 4]] * 3)
    np.testing.assert_array_equal(scales.quantize(np.array([[1.0, 4.0], [1e9, -1e9]]), np.int8), [[2, 3], [127, -128]])


def test_a_kernel_sees_the_scales_of_constants(tmp_path: Path) -> None:
    """Scales for each slice, as converters write them for weights."""
    from ai_edge_litert import schema_py_generated as schema

    seen: list[Any] = []

    class Product(CustomOp):
        def prepare(self, x: TensorSpec, weights: TensorSpec) -> TensorSpec:
            seen.append((x.quantization, weights.quantization))
            return TensorSpec((1, 2), np.float32)

        def invoke(self, inputs: Any, outputs: Any) -> None:
            outputs[0][...] = inputs[0] @ seen[-1][1].dequantize(inputs[1]).T

    graph = Graph()
    x, w = graph.input("x", [1, 3]), graph.tensor("w", [2, 3], np.int8, value=[[1, 2, 3], [4, 5, 6]])
    tensor, _ = graph.tensors[w]
    tensor.quantization = schema.QuantizationParametersT()
    tensor.quantization.scale, tensor.quantization.zeroPoint = [0.5, 0.25], [0, 0]
    graph.custom("Product", [x, w], [graph.output("y", [1, 2])])
    custom_op("Product")(Product)
    y = calls(saved(tmp_path / "m.tflite", graph), np.ones((1, 3), np.float32))["y"]
    np.testing.assert_array_equal(y, [[3, 3.75]])
    none, parameters = seen[-1]
    assert none is None
    assert (parameters.scales.tolist(), parameters.axis) == ([0.5, 0.25], 0)
