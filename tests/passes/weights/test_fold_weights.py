"""Mapped weights against weights that the engine knows: the same ops, the same numbers."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.conversion.model_file import summarize, write_model
from litefuse.frontends.saved_model import DataType
from litefuse.ir.call_graph import functions, operations
from litefuse.ir.engine.lowering import lower, run_mlir_passes, set_signature
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import run_passes
from litefuse.passes.control_flow.litert_loops import outline_loops
from litefuse.passes.weights import Weights
from litefuse.passes.weights.fold_weights import FoldWeights
from litefuse.passes.weights.place_weights import PlaceWeights
from litefuse.passes.weights.weights import Weight

_NO_BITS = "dilations = [1, 1, 1, 1], explicit_paddings = []"
_CONV = f'{{data_format = "NHWC", {_NO_BITS}, padding = "PADDING", strides = [1, 1, 1, 1], use_cudnn_on_gpu = true}}'
_CONV_SAME, _CONV_VALID = _CONV.replace("PADDING", "SAME"), _CONV.replace("PADDING", "VALID")
_DEPTHWISE = f'{{data_format = "NHWC", {_NO_BITS}, padding = "VALID", strides = [1, 1, 1, 1]}}'
_BACKPROP = f'{{data_format = "NHWC", {_NO_BITS}, padding = "SAME", strides = [1, 2, 2, 1], use_cudnn_on_gpu = true}}'
_PLAIN = "{transpose_a = false, transpose_b = false}"
_BATCH = "{adj_x = false, adj_y = false}"
_NORMALIZE = '{is_training = false, epsilon = 0.001 : f32, data_format = "NHWC"}'

# Each case is the ops of a function of %x. A line may define a constant: WEIGHT is a mapped one, SMALL another one.
# The other lines are `%name = op(%operand, ...) {attributes} -> type`; the last one is returned.
CASES: dict[str, tuple[str, str]] = {
    "matmul": (
        "?x4xf32",
        f"""%w = WEIGHT 4x6xf32
            %y = tf.MatMul(%x, %w) {_PLAIN} -> ?x6xf32""",
    ),
    "matmul, bias, activation": (
        "?x4xf32",
        f"""%w = WEIGHT 4x6xf32
            %b = SMALL 6xf32
            %p = tf.MatMul(%x, %w) {_PLAIN} -> ?x6xf32
            %s = tf.BiasAdd(%p, %b) {{data_format = "NHWC"}} -> ?x6xf32
            %y = tf.Relu(%s) -> ?x6xf32""",
    ),
    "matmul transposed": (
        "?x4xf32",
        """%w = WEIGHT 6x4xf32
           %y = tf.MatMul(%x, %w) {transpose_a = false, transpose_b = true} -> ?x6xf32""",
    ),
    "one weight, three forms": (
        "?x6xf32",
        f"""%w = WEIGHT 6x6xf32
            %p = tf.MatMul(%x, %w) {_PLAIN} -> ?x6xf32
            %q = tf.MatMul(%p, %w) {{transpose_a = false, transpose_b = true}} -> ?x6xf32
            %g = SMALL 6xf32
            %h = tf.Mul(%q, %g) -> ?x6xf32
            %y = tf.MatMul(%h, %w) {_PLAIN} -> ?x6xf32""",
    ),
    "normalized input": (
        "?x4xf32",
        f"""%w = WEIGHT 4x6xf32
            %g = SMALL 4xf32
            %c = SMALL 4xf32
            %b = SMALL 6xf32
            %m = tf.Mul(%x, %g) -> ?x4xf32
            %n = tf.AddV2(%m, %c) -> ?x4xf32
            %p = tf.MatMul(%n, %w) {_PLAIN} -> ?x6xf32
            %y = tf.BiasAdd(%p, %b) {{data_format = "NHWC"}} -> ?x6xf32""",
    ),
    "normalized input without bias": (
        "?x4xf32",
        f"""%w = WEIGHT 4x6xf32
            %g = SMALL 4xf32
            %n = tf.AddV2(%x, %g) -> ?x4xf32
            %y = tf.MatMul(%n, %w) {_PLAIN} -> ?x6xf32""",
    ),
    "normalized input of two": (
        "?x4xf32",
        f"""%w = WEIGHT 4x6xf32
            %v = WEIGHT 4x6xf32
            %g = SMALL 4xf32
            %b = SMALL 6xf32
            %m = tf.Mul(%x, %g) -> ?x4xf32
            %n = tf.AddV2(%m, %g) -> ?x4xf32
            %p = tf.MatMul(%n, %w) {_PLAIN} -> ?x6xf32
            %r = tf.BiasAdd(%p, %b) {{data_format = "NHWC"}} -> ?x6xf32
            %q = tf.MatMul(%n, %v) {_PLAIN} -> ?x6xf32
            %s = tf.BiasAdd(%q, %b) {{data_format = "NHWC"}} -> ?x6xf32
            %y = tf.Maximum(%r, %s) -> ?x6xf32""",
    ),
    "activation between factor and matmul": (
        "?x4xf32",
        f"""%w = WEIGHT 4x6xf32
            %g = SMALL 4xf32
            %m = tf.Mul(%x, %g) -> ?x4xf32
            %n = tf.Relu(%m) -> ?x4xf32
            %y = tf.MatMul(%n, %w) {_PLAIN} -> ?x6xf32""",
    ),
    "batch matmul": (
        "?x5x4xf32",
        f"""%w = WEIGHT 4x6xf32
            %b = SMALL 6xf32
            %p = tf.BatchMatMulV2(%x, %w) {_BATCH} -> ?x5x6xf32
            %s = tf.AddV2(%p, %b) -> ?x5x6xf32
            %y = tf.Relu(%s) -> ?x5x6xf32""",
    ),
    "batch matmul transposed": (
        "?x5x4xf32",
        """%w = WEIGHT 6x4xf32
           %y = tf.BatchMatMulV2(%x, %w) {adj_x = false, adj_y = true} -> ?x5x6xf32""",
    ),
    "normalized batch matmul": (
        "?x5x4xf32",
        f"""%w = WEIGHT 4x6xf32
            %g = SMALL 4xf32
            %b = SMALL 6xf32
            %m = tf.Mul(%x, %g) -> ?x5x4xf32
            %n = tf.AddV2(%m, %g) -> ?x5x4xf32
            %p = tf.BatchMatMulV2(%n, %w) {_BATCH} -> ?x5x6xf32
            %y = tf.AddV2(%p, %b) -> ?x5x6xf32""",
    ),
    "a matrix for each in the batch": (
        "?x2x5x4xf32",
        f"""%w = WEIGHT 2x4x6xf32
            %y = tf.BatchMatMulV2(%x, %w) {_BATCH} -> ?x2x5x6xf32""",
    ),
    "einsum": (
        "?x5x4xf32",
        """%w = WEIGHT 4x2x3xf32
           %b = SMALL 2x3xf32
           %p = tf.Einsum(%x, %w) {equation = "abc,cde->abde"} -> ?x5x2x3xf32
           %y = tf.AddV2(%p, %b) -> ?x5x2x3xf32""",
    ),
    "einsum over two axes": (
        "?x5x2x3xf32",
        """%w = WEIGHT 2x3x4xf32
           %b = SMALL 4xf32
           %p = tf.Einsum(%x, %w) {equation = "abcd,cde->abe"} -> ?x5x4xf32
           %y = tf.AddV2(%p, %b) -> ?x5x4xf32""",
    ),
    "einsum transposed": (
        "?x5x4xf32",
        """%w = WEIGHT 6x4xf32
           %y = tf.Einsum(%x, %w) {equation = "abc,dc->abd"} -> ?x5x6xf32""",
    ),
    "rearranged": (
        "?x4xf32",
        f"""%w = WEIGHT 6x2x2xf32
            %o = ORDER 4x6
            %t = tf.Reshape(%w, %o) -> 4x6xf32
            %y = tf.MatMul(%x, %t) {_PLAIN} -> ?x6xf32""",
    ),
    "convolution": (
        "?x8x8x4xf32",
        f"""%w = WEIGHT 3x3x4x6xf32
            %y = tf.Conv2D(%x, %w) {_CONV_SAME} -> ?x8x8x6xf32""",
    ),
    "convolution, batch normalization, activation": (
        "?x8x8x4xf32",
        f"""%w = WEIGHT 3x3x4x6xf32
            %s = SMALL 6xf32
            %o = SMALL 6xf32
            %m = SMALL 6xf32
            %v = SMALL 6xf32
            %c = tf.Conv2D(%x, %w) {_CONV_SAME} -> ?x8x8x6xf32
            %b = tf.BiasAdd(%c, %o) {{data_format = "NHWC"}} -> ?x8x8x6xf32
            %n = tf.FusedBatchNormV3(%b, %s, %o, %m, %v) {_NORMALIZE} -> ?x8x8x6xf32 6xf32 6xf32 6xf32 6xf32 6xf32
            %y = tf.Relu6(%n) -> ?x8x8x6xf32""",
    ),
    "scaled convolution": (
        "?x8x8x4xf32",
        f"""%w = WEIGHT 3x3x4x6xf32
            %k = SMALL 1xf32
            %d = tf.RealDiv(%x, %k) -> ?x8x8x4xf32
            %c = tf.Conv2D(%d, %w) {_CONV_SAME} -> ?x8x8x6xf32
            %s = tf.Mul(%c, %k) -> ?x8x8x6xf32
            %y = tf.Sub(%s, %k) -> ?x8x8x6xf32""",
    ),
    "shifted convolution": (
        "?x8x8x4xf32",
        f"""%w = WEIGHT 3x3x4x6xf32
            %k = SMALL 1xf32
            %d = tf.Sub(%x, %k) -> ?x8x8x4xf32
            %y = tf.Conv2D(%d, %w) {_CONV_VALID} -> ?x6x6x6xf32""",
    ),
    "shifted and padded convolution": (
        "?x8x8x4xf32",
        f"""%w = WEIGHT 3x3x4x6xf32
            %k = SMALL 1xf32
            %d = tf.AddV2(%x, %k) -> ?x8x8x4xf32
            %y = tf.Conv2D(%d, %w) {_CONV_SAME} -> ?x8x8x6xf32""",
    ),
    "convolution in groups": (
        "?x8x8x8xf32",
        f"""%w = WEIGHT 3x3x4x6xf32
            %k = SMALL 6xf32
            %c = tf.Conv2D(%x, %w) {_CONV_SAME} -> ?x8x8x6xf32
            %y = tf.Mul(%c, %k) -> ?x8x8x6xf32""",
    ),
    "convolution that is used twice": (
        "?x8x8x4xf32",
        f"""%w = WEIGHT 3x3x4x6xf32
            %k = SMALL 6xf32
            %c = tf.Conv2D(%x, %w) {_CONV_SAME} -> ?x8x8x6xf32
            %m = tf.Mul(%c, %k) -> ?x8x8x6xf32
            %y = tf.Maximum(%c, %m) -> ?x8x8x6xf32""",
    ),
    "depthwise convolution": (
        "?x8x8x6xf32",
        f"""%w = WEIGHT 3x3x6x1xf32
            %k = SMALL 1xf32
            %m = SMALL 6xf32
            %d = tf.AddV2(%x, %k) -> ?x8x8x6xf32
            %c = tf.DepthwiseConv2dNative(%d, %w) {_DEPTHWISE} -> ?x6x6x6xf32
            %n = tf.Mul(%c, %m) -> ?x6x6x6xf32
            %a = tf.AddV2(%n, %m) -> ?x6x6x6xf32
            %y = tf.Relu(%a) -> ?x6x6x6xf32""",
    ),
    "transposed convolution": (
        "2x8x8x6xf32",
        f"""%w = WEIGHT 3x3x4x6xf32
            %z = ORDER 2x16x16x4
            %m = SMALL 4xf32
            %c = tf.Conv2DBackpropInput(%z, %w, %x) {_BACKPROP} -> 2x16x16x4xf32
            %n = tf.Mul(%c, %m) -> 2x16x16x4xf32
            %a = tf.AddV2(%n, %m) -> 2x16x16x4xf32
            %y = tf.Relu(%a) -> 2x16x16x4xf32""",
    ),
    "embedding that is the output layer, too": (
        "?x5xi32",
        """%w = WEIGHT 10x4xf32
           %z = ORDER scalar
           %e = tf.GatherV2(%w, %x, %z) {batch_dims = 0 : i64} -> ?x5x4xf32
           %y = tf.BatchMatMulV2(%e, %w) {adj_x = false, adj_y = true} -> ?x5x10xf32""",
    ),
    "a use that needs the value": (
        "?x4xf32",
        f"""%w = WEIGHT 4x4xf32
            %p = tf.MatMul(%x, %w) {_PLAIN} -> ?x4xf32
            %t = tf.Tanh(%w) -> 4x4xf32
            %y = tf.MatMul(%p, %t) {_PLAIN} -> ?x4xf32""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_same_as_known_weights(name: str, tmp_path: Path) -> None:
    argument, body = CASES[name]
    known_ops, known_size = _convert(argument, body, tmp_path / "known.tflite", mapped=False)
    placed = name != "a use that needs the value"
    ops, size = _convert(argument, body, tmp_path / "mapped.tflite", mapped=True, placed=placed)
    assert ops == known_ops
    assert size <= known_size + 512
    expected = _run(tmp_path / "known.tflite")
    for found, wanted in zip(_run(tmp_path / "mapped.tflite"), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6 * max(1, float(np.abs(wanted).max())))


@pytest.mark.parametrize("name", ["one weight, three forms", "embedding that is the output layer, too"])
def test_weights_behind_the_flatbuffer(name: str, tmp_path: Path) -> None:
    """The form of models of more than 2 GB."""
    argument, body = CASES[name]
    _convert(argument, body, tmp_path / "inside.tflite", mapped=True)
    _convert(argument, body, tmp_path / "outside.tflite", mapped=True, max_flatbuffer=0)
    assert (tmp_path / "inside.tflite").read_bytes() != (tmp_path / "outside.tflite").read_bytes()
    for found, wanted in zip(_run(tmp_path / "outside.tflite"), _run(tmp_path / "inside.tflite"), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_loop_has_weights(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %i = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %y:2 = "tf.While"(%i, %x) {cond = @cond, body = @body, is_stateless = true}
        : (tensor<i32>, tensor<2x4xf32>) -> (tensor<i32>, tensor<2x4xf32>)
      return %y#1 : tensor<2x4xf32>
    }
    func.func private @cond(%i: tensor<i32>, %x: tensor<2x4xf32>) -> tensor<i1> {
      %n = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
      %c = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      return %c : tensor<i1>
    }
    func.func private @body(%i: tensor<i32>, %x: tensor<2x4xf32>) -> (tensor<i32>, tensor<2x4xf32>) {
      %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %j = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      WEIGHT %w 4x4xf32
      %p = "tf.MatMul"(%x, %w) {transpose_a = false, transpose_b = false}
        : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      return %j, %p : tensor<i32>, tensor<2x4xf32>
    }"""
    text = text.replace("WEIGHT %w 4x4xf32", _Text({}).line("%w = WEIGHT 4x4xf32", 1))
    known_ops, _ = _convert_module(text, tmp_path / "known.tflite", mapped=False)
    assert _convert_module(text, tmp_path / "mapped.tflite", mapped=True)[0] == known_ops
    for found, wanted in zip(_run(tmp_path / "mapped.tflite"), _run(tmp_path / "known.tflite"), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_the_same_model_is_the_same_file(tmp_path: Path) -> None:
    argument, body = CASES["one weight, three forms"]
    for name in ("first", "second"):
        _convert(argument, body, tmp_path / name, mapped=True)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_equal_weights_are_stored_once(tmp_path: Path) -> None:
    sizes: list[int] = []
    for seeds in ("WEIGHT%1", "WEIGHT%2"):
        body = f"""%w = WEIGHT%1 40x40xf32
            %v = {seeds} 40x40xf32
            %p = tf.MatMul(%x, %w) {_PLAIN} -> ?x40xf32
            %y = tf.MatMul(%p, %v) {_PLAIN} -> ?x40xf32"""
        sizes.append(_convert("?x40xf32", body, tmp_path / "model.tflite", mapped=True)[1])
    assert sizes[1] - sizes[0] >= 40 * 40 * 4


def test_a_weight_is_its_bytes_in_their_order() -> None:
    numbers = np.arange(6, dtype=np.float32)
    row, column = Weight(numbers.reshape(1, 6)), Weight(numbers.reshape(6, 1))
    assert row.source.strides != column.transposed([1, 0]).source.strides  # of a dimension of size 1, it is any number
    weights = Weights(0)
    same = [row, column.transposed([1, 0]), column.reshaped([1, 6])]
    assert [*map(weights.number_of, same)] == [0, 0, 0]
    others = [column, Weight(numbers[::-1].reshape(1, 6)), row.scaled(1, numbers), row.scaled(1, numbers[:1])]
    assert [*map(weights.number_of, others)] == [1, 2, 3, 4]
    assert row.contents == column.contents != others[1].contents
    assert others[2].contents == column.scaled(0, numbers).contents != others[3].contents


def test_a_weight_that_is_no_view_is_copied_once() -> None:
    weights = Weights(0)
    turned = Weight(np.arange(24, dtype=np.float32).reshape(2, 3, 4)).transposed([0, 2, 1])
    number = weights.number_of(turned)
    copies = [weights.reshaped(number, (8, 3)) for _ in range(2)]  # of two signatures
    assert np.array_equal(copies[0].value(), turned.value().reshape(8, 3))
    assert len({*map(weights.number_of, copies)}) == 1
    assert weights.reshaped(number, (3, 8)).shape == (3, 8)


@dataclass
class _Text:
    """The text of a function, line by line.

    Attributes:
        types: The type of each value without ``tensor<>``.
        several: The values of ops with several results, of which the first one counts.
    """

    types: dict[str, str]
    several: set[str] = field(default_factory=set[str])

    def constant(self, name: str, kind: str, value: str, attributes: str = "") -> str:
        self.types[name] = kind
        return f'%{name} = "tf.Const"() {{value = dense<{value}> : tensor<{kind}>{attributes}}} : () -> tensor<{kind}>'

    def line(self, text: str, number: int) -> str:
        name, definition = text.removeprefix("%").split(" = ", 1)
        if found := re.fullmatch(r"WEIGHT(?:%(\d+))? (\S+)", definition):
            return self.constant(name, found[2], "0.0", f", mapped = {found[1] or number} : i64")
        if found := re.fullmatch(r"SMALL (\S+)", definition):
            kind = "f32" if found[1] == "1xf32" else found[1]
            values = np.random.default_rng(number).uniform(0.5, 1.5, _shape(kind)).astype(np.float32)
            return self.constant(name, kind, str(values.tolist()))
        if found := re.fullmatch(r"ORDER (\S+)", definition):
            values = [] if found[1] == "scalar" else found[1].split("x")
            return self.constant(
                name, f"{len(values)}xi32" if values else "i32", f"[{', '.join(values)}]" if values else "0"
            )
        found = re.fullmatch(r"(\S+?)\((.*?)\)\s*(\{.*\})? -> (.*)", definition)
        assert found is not None, text
        op, operands, attributes, kinds = found.groups()
        operands = [operand.strip().removeprefix("%") for operand in operands.split(",")]
        results = kinds.split()
        self.types[name] = results[0]
        if len(results) > 1:
            self.several.add(name)
        uses = ", ".join(f"%{each}#0" if each in self.several else f"%{each}" for each in operands)
        takes = ", ".join(f"tensor<{self.types[each]}>" for each in operands)
        gives = ", ".join(f"tensor<{kind}>" for kind in results)
        return f'%{name}:{len(results)} = "{op}"({uses}) {attributes or "{}"} : ({takes}) -> ({gives})'


def _module_text(argument: str, body: str) -> str:
    """The module of a case."""
    text = _Text({"x": argument})
    lines = [line.strip() for line in body.splitlines()]
    ops = "\n  ".join(text.line(line, number) for number, line in enumerate(lines))
    result = list(text.types)[-1]
    kind = f"tensor<{text.types[result]}>"
    return f"func.func @main(%x: tensor<{argument}>) -> {kind} {{\n  {ops}\n  return %{result} : {kind}\n}}"


def _shape(kind: str) -> list[int]:
    return [int(size) for size in kind.split("x")[:-1]]


def _convert(argument: str, body: str, path: Path, **options: Any) -> tuple[Mapping[str, int], int]:
    return _convert_module(_module_text(argument, body), path, **options)


def _convert_module(
    text: str, path: Path, *, mapped: bool, placed: bool = True, **options: Any
) -> tuple[Mapping[str, int], int]:
    """Writes the model; returns its ops and its size."""
    with mlir_context():
        module = ir.Module.parse(text)
        weights = Weights(0 if mapped else 1 << 40)
        for function in functions(module).values():
            for op in operations(function):
                if "mapped" in op.attributes:
                    seed = ir.IntegerAttr(op.attributes["mapped"]).value
                    values = _unaligned(ir.ShapedType(op.results[0].type).shape, seed)
                    op.attributes["value"] = weights.attribute(values, DataType.FLOAT32)
                    del op.attributes["mapped"]
        run_passes(module, [PlaceWeights(weights)])
        assert ("tfl.external_const" in str(module)) == (mapped and placed)
        set_signature(functions(module)["main"], "main", ["x"], ["y"])
        lower(module)
        run_passes(module, [FoldWeights(weights), outline_loops])
        run_mlir_passes(module, "symbol-dce")
        ops = summarize(module).op_counts
        write_model(module, weights, path, **options)
    return ops, path.stat().st_size


def _unaligned(shape: list[int], seed: int) -> npt.NDArray[Any]:
    """Values as they lie in a checkpoint: aligned to nothing."""
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    data = b"\0" + values.tobytes()
    return np.ndarray(shape, np.float32, buffer=data, offset=1)


def _run(path: Path) -> list[npt.NDArray[Any]]:
    interpreter: Any = importlib.import_module("ai_edge_litert.interpreter").Interpreter(model_path=str(path))
    runner = interpreter.get_signature_runner()
    (details,) = runner.get_input_details().values()
    found: list[npt.NDArray[Any]] = []
    for batch in (1, 3, 3):
        shape = [batch if size < 0 else size for size in details["shape_signature"]]
        random = np.random.default_rng(batch)
        floats = np.issubdtype(details["dtype"], np.floating)
        values = random.standard_normal(shape) if floats else random.integers(0, 10, shape)
        found.append(np.array(runner(x=values.astype(details["dtype"]))["y"]))
    return found
