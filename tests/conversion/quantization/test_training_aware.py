# pyright: reportUnknownVariableType=false
# ruff: noqa: E501  (MLIR does not wrap)
"""Files of integer ops in the place of fake quantization, beside the file that computes it in floats."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.pipeline.lowering import Lowering, State, lower_module
from litefuse.conversion.quantization.difference import Difference
from litefuse.conversion.quantization.training_aware import quantize_trained
from litefuse.errors import LitefuseError
from litefuse.ir.importer import EntryPoint
from litefuse.ir.mlir import ir, mlir_context
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.passes.fake_quantization.pairs import NodesFound
from litefuse.passes.weights import Weights

WEIGHTS: Any = (np.arange(32) % 13 - 6).reshape(8, 4) / 7


def text(*, nodes: int) -> str:
    """``tanh(x * weights)``, then SIN, with fake quantization of some of the four: ``x``, weights, product, result."""

    def faked(name: str, value: str, kind: str, bits: int, used: bool) -> str:
        op = "FakeQuantWithMinMaxVars" if used else "Identity"
        limits = "%low, %high" if used else ""
        types = ", tensor<f32>, tensor<f32>" if used else ""
        attributes = f"num_bits = {bits} : i64, narrow_range = {str(bits == 4).lower()}" if used else ""
        operands = f"{value}, {limits}" if used else value
        return f'%{name} = "tf.{op}"({operands}) {{{attributes}}} : ({kind}{types}) -> {kind} loc("{name}")'

    weights = ", ".join(f"[{', '.join(map(str, row))}]" for row in WEIGHTS.tolist())
    return f"""
module {{
func.func @serve(%x: tensor<1x8xf32>) -> tensor<1x4xf32> {{
  %low = "tf.Const"() {{value = dense<-1.0> : tensor<f32>}} : () -> tensor<f32>
  %high = "tf.Const"() {{value = dense<1.0> : tensor<f32>}} : () -> tensor<f32>
  %w = "tf.Const"() {{value = dense<[{weights}]> : tensor<8x4xf32>}} : () -> tensor<8x4xf32>
  {faked("input", "%x", "tensor<1x8xf32>", 8, nodes > 0)}
  {faked("kernel", "%w", "tensor<8x4xf32>", 4, nodes > 1)}
  %p = "tf.MatMul"(%input, %kernel) {{transpose_a = false, transpose_b = false}} : (tensor<1x8xf32>, tensor<8x4xf32>) -> tensor<1x4xf32> loc("product")
  {faked("scaled", "%p", "tensor<1x4xf32>", 8, nodes > 2)}
  %t = "tf.Tanh"(%scaled) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("tanh")
  {faked("result", "%t", "tensor<1x4xf32>", 8, nodes > 3)}
  return %result : tensor<1x4xf32>
}}
}}
"""


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    with mlir_context():
        yield


def quantized(path: Path, nodes: int = 4, left: Any = (), **options: Any) -> tuple[int, Difference]:
    module, found = ir.Module.parse(text(nodes=nodes)), NodesFound()

    def no_value(_: str) -> ir.Attribute:
        raise AssertionError

    entry = EntryPoint("serve", ("x",), ("y",), ("x",), ("y",))
    lowering = Lowering((entry,), State(no_value, {}), Weights(sys.maxsize), fake_quantization=found)
    lower_module(module, lowering)
    found.left += left
    return quantize_trained(module, lowering.weights, path, found, **options)


def details(path: Path) -> tuple[str, str]:
    interpreter = Interpreter(path)
    interpreter.allocate_tensors()
    ends: Any = (interpreter.get_input_details()[0], interpreter.get_output_details()[0])
    taken, given = (str(np.dtype(end["dtype"])) for end in ends)
    return taken, given


@pytest.mark.parametrize("layers", [False, True])
def test_a_file_of_integers(tmp_path: Path, *, layers: bool) -> None:
    path = tmp_path / "model.tflite"
    size, difference = quantized(path, layers=layers)
    assert path.stat().st_size - 3000 < size != path.stat().st_size
    assert [file.name for file in tmp_path.iterdir()] == ["model.tflite"]
    assert difference.error is not None
    assert 0 < difference.error < 0.02
    assert difference.unchecked is None
    assert (difference.kinds.integer, difference.kinds.real, difference.floats) == (2, 0, ())
    assert [bool(difference.layers), details(path)] == [layers, ("float32", "float32")]
    x = np.random.default_rng(1).uniform(-1, 1, (1, 8)).astype(np.float32)
    made: Any = Interpreter(path).get_signature_runner()(x=x)["y"]
    wanted = np.tanh(np.clip(x @ WEIGHTS, -1, 1))
    np.testing.assert_allclose(made, wanted, atol=0.03)


def test_inputs_and_outputs_of_integers(tmp_path: Path) -> None:
    _, difference = quantized(tmp_path / "model.tflite", integer_signatures=["serve"])
    assert difference.layers == ()
    assert details(tmp_path / "model.tflite") == ("int8", "int8")


@pytest.mark.parametrize("int4", [None, True, False])
def test_weights_of_four_bits(tmp_path: Path, *, int4: bool | None) -> None:
    path = tmp_path / "model.tflite"
    quantized(path, **({} if int4 is None else {"int4": int4}))
    names = {tensor["dtype"] for tensor in Interpreter(path).get_tensor_details()}
    content = path.read_bytes()
    packed = np.asarray(WEIGHTS.T * 7, np.float32).round().astype(np.int8)
    assert (packed.tobytes() in content) == (int4 is False)
    assert np.int8 in names


def test_ops_that_stay_in_floating_point(tmp_path: Path) -> None:
    """What became of nodes is told first."""
    _, difference = quantized(tmp_path / "model.tflite", nodes=1, left=[("other", "its range is computed")])
    assert [(op.op, op.name, op.kind, op.weights) for op in difference.floats] == [
        ("fake quantization", "other", "float", 0),
        ("FULLY_CONNECTED", "node product", "float", 0),
        ("TANH", "node tanh", "float", 0),
    ]
    assert difference.floats[0].reason == "its range is computed"
    assert difference.kinds.real == 2


@pytest.mark.parametrize(("left", "why"), [([], ""), ([("a", "b"), ("c", "d")], ":\n  a: b\n  c: d")])
def test_a_model_without_ranges(tmp_path: Path, left: Any, why: str) -> None:
    with pytest.raises(LitefuseError) as raised:
        quantized(tmp_path / "model.tflite", nodes=0, left=left)
    assert raised.value.message == f"the model has no fake quantization that gives ranges{why}"
    assert [*tmp_path.iterdir()] == []
