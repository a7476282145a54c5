"""Mends in models made by hand, as litert-quantizer writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse import Quantization, quantize
from litefuse.conversion.quantization.quantizer_mends import (
    halve_biases,
    mend_rotations,
    mend_shared_outputs,
    mend_unread_results,
    restore_open_shapes,
    share_buffers,
    share_conversions,
)
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.schema_objects import add_metadata, objects_of
from tests.conversion.quantization.test_integer_composites import ops_of
from tests.conversion.quantization.test_needless_conversions import integers
from tests.litert.runtime.models import Graph, model


def loaded(*graphs: Graph) -> Any:
    return objects_of(model(*graphs, Graph(), signatures={f"key{number}": number for number, _ in enumerate(graphs)}))


def names(loaded: Any, indices: Any, graph: int = 0) -> list[str]:
    return [loaded.subgraphs[graph].tensors[int(index)].name.decode() for index in indices]


@pytest.mark.parametrize("granularity", ["channel", "tensor"])
@pytest.mark.parametrize(("form", "tolerance"), [("int8", 0.02), ("int16", 2e-4)])
@pytest.mark.parametrize("kind", ["FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"])
def test_biases_beyond_int32(tmp_path: Path, kind: str, form: Any, tolerance: float, granularity: Any) -> None:
    """Small inputs, and weights of a channel near zero, make the steps of biases small; a larger input shares both."""
    rng = np.random.default_rng(6)
    bias = np.array([3, -2, 1, 0.5], np.float32)
    weights: Any = rng.normal(size=(4, 4)).astype(np.float32)
    if kind == "DEPTHWISE_CONV_2D":
        weights = np.diag(weights.diagonal())
    weights[0] *= 1e-9
    shape, row = ([4, 4], [1, 4]) if kind == "FULLY_CONNECTED" else ([4, 1, 1, 4], [1, 1, 1, 4])
    stored = weights.diagonal().reshape(row) if kind == "DEPTHWISE_CONV_2D" else weights.reshape(shape)
    graph = Graph()
    x, w = graph.input("x", row), graph.tensor("w", stored.shape, value=stored)
    operands = [x, w, graph.tensor("b", [4], value=bias)]
    if kind == "TRANSPOSE_CONV":
        operands = [graph.tensor("size", [4], np.int32, value=row), w, x, operands[2]]
    options = {} if kind == "FULLY_CONNECTED" else {"strideW": 1, "strideH": 1}
    graph.builtin(kind, operands, [graph.output("y", row)], **options)
    large = graph.input("z", row)
    shared = [large if operand == x else operand for operand in operands]
    graph.builtin(kind, shared, [graph.output("u", row)], **options)
    before = tmp_path / "before.tflite"
    before.write_bytes(model(graph))
    values = rng.uniform(-1e-4, 1e-4, (30, *row)).astype(np.float32)
    calls = [{"x": value, "z": value * 1e4} for value in values]
    chosen = Quantization(form, samples=calls, granularity=granularity)
    result = quantize(before, chosen)
    runner = Interpreter(result.path).get_signature_runner()
    for call in (*calls[:3], calls[0]):
        results = runner(**call)
        np.testing.assert_allclose(results["y"], call["x"] @ weights.T + bias, atol=tolerance)
        np.testing.assert_allclose(results["u"], call["z"] @ weights.T + bias, atol=0.1)


def test_conversions_to_the_same_integers_are_one() -> None:
    """Not those to others, nor those that the model returns, nor states; those to the integers that are there go."""
    graph = Graph()
    x = graph.input("x", [4])
    made = [
        integers(graph, graph.output("d", [4], np.int8) if name == "d" else graph.tensor(name, [4], dtype), scale)
        for name, dtype, scale in [("a", np.int8, 0.5), ("b", np.int8, 0.5), ("c", np.int8, 0.25), ("d", np.int8, 0.5)]
    ]
    state = integers(graph, graph.tensor("state", [4], np.int8), 0.5)
    graph.tensors[state][0].isVariable = True
    for tensor in (state, *made):
        graph.builtin("QUANTIZE", [x], [tensor])
    again = integers(graph, graph.tensor("again", [4], np.int8), 0.5)
    graph.builtin("QUANTIZE", [made[0]], [again])
    wide = [graph.tensor(f"wide_{number}", [4], np.int32) for number in range(4)]
    for tensor, source in zip(wide, (*made[:3], again), strict=True):
        graph.builtin("CAST", [source], [tensor])
    graph.builtin("ADD_N", wide, [graph.output("y", [4], np.int32)])
    given = loaded(graph)
    assert share_conversions(given)
    assert ops_of(given, 0) == [
        *("QUANTIZE: x -> state", "QUANTIZE: x -> a", "QUANTIZE: x -> c", "QUANTIZE: x -> d"),
        *("CAST: a -> wide_0", "CAST: c -> wide_2", "ADD_N: wide_0, wide_0, wide_2, wide_0 -> y"),
    ]
    assert not share_conversions(given)


_SIGNATURES: list[tuple[Any, bool, Any]] = [
    (([-1, 4], None), True, ([-1, 4], [-1, 4])),
    ((None, [-1, 4]), True, ([-1, 4], [-1, 4])),
    (([-1, 4], [1, 4]), False, ([-1, 4], [1, 4])),
    ((None, None), False, ([], [])),
    (([-1], None), False, ([-1], [])),
]


@pytest.mark.parametrize("kind", ["QUANTIZE", "DEQUANTIZE", "NEG"])
@pytest.mark.parametrize(("signatures", "changed", "expected"), _SIGNATURES)
def test_open_shapes(kind: str, signatures: Any, changed: bool, expected: Any) -> None:
    graph = Graph()
    x = graph.input("x", [1, 4], signature=signatures[0])
    graph.builtin(kind, [x], [graph.output("y", [1, 4], signature=signatures[1])])
    given = loaded(graph)
    assert restore_open_shapes(given) is (changed and kind != "NEG")
    after = tuple(
        [] if tensor.shapeSignature is None else [*tensor.shapeSignature] for tensor in given.subgraphs[0].tensors
    )
    assert after == (expected if kind != "NEG" else tuple(signature or [] for signature in signatures))


def with_output(*, reader: str, rescaled: bool = False, real_output: bool = True) -> Graph:
    """An output ``h`` of integers, of which ``real`` is made, and a reader; the signature names ``h``."""
    graph = Graph()
    x, h = integers(graph, graph.input("x", [4], np.int8), 0.5), integers(graph, graph.tensor("h", [4], np.int8), 0.5)
    real = graph.tensor("real", [4])
    graph.builtin("TANH", [x], [h])
    wide = integers(graph, graph.tensor("wide", [4], np.int16), 0.25)
    if rescaled:
        graph.builtin("QUANTIZE", [h], [wide])
        graph.builtin("ABS", [wide], [integers(graph, graph.output("y", [4], np.int16), 0.25)])
    else:
        graph.builtin("DEQUANTIZE", [h], [real])
        made = graph.output("y", [4], np.int8 if reader == "NEG" else np.float32)
        graph.builtin(reader, [real], [integers(graph, made, 0.5) if reader == "NEG" else made])
    graph.outputs.append(real if real_output else wide if rescaled else h)
    return graph


def signed(graph: Graph, *outputs: int) -> Any:
    """The model, whose signature names some tensors in the place of its outputs."""
    given = loaded(graph)
    for entry, output in zip(given.signatureDefs[0].outputs, outputs, strict=False):
        entry.tensorIndex = output
    return given


def test_readers_of_integers_take_them() -> None:
    given = loaded(with_output(reader="NEG"))
    assert mend_shared_outputs(given)
    assert ops_of(given, 0) == ["TANH: x -> h", "DEQUANTIZE: h -> real", "NEG: h -> y"]
    assert not mend_shared_outputs(given)
    floats = loaded(with_output(reader="SIN"))
    assert not mend_shared_outputs(floats)
    assert ops_of(floats, 0)[-1] == "SIN: real -> y"


def test_signatures_name_outputs_again() -> None:
    graph = with_output(reader="SIN")
    given = signed(graph, graph.outputs[0], 1)
    assert mend_shared_outputs(given)
    assert names(given, [entry.tensorIndex for entry in given.signatureDefs[0].outputs]) == ["y", "real"]
    assert names(given, given.subgraphs[0].outputs) == ["y", "real"]


def test_an_output_that_is_not_computed_in_floating_point() -> None:
    """What QUANTIZE makes for a reader is an output in its place."""
    graph = with_output(reader="", rescaled=True, real_output=False)
    given = signed(graph, graph.outputs[0], 1)
    assert mend_shared_outputs(given)
    assert names(given, [entry.tensorIndex for entry in given.signatureDefs[0].outputs]) == ["y", "h"]
    assert names(given, given.subgraphs[0].outputs) == ["y", "h"]
    without = with_output(reader="", rescaled=True, real_output=False)
    without.outputs[1] = 0
    given = signed(without, without.outputs[0], 1)
    assert not mend_shared_outputs(given)
    assert names(given, given.subgraphs[0].outputs) == ["y", "x"]


def test_what_is_read_in_floating_point_alone_is_no_output() -> None:
    graph = with_output(reader="SIN", real_output=False)
    graph.outputs[1] = 0
    given = signed(graph, graph.outputs[0], 1)
    assert not mend_shared_outputs(given)
    assert names(given, [entry.tensorIndex for entry in given.signatureDefs[0].outputs]) == ["y", "h"]


def test_an_op_with_an_empty_scale_is_one_of_floats() -> None:
    graph = with_output(reader="SIN")
    y = integers(graph, graph.outputs[0], 0.5)
    graph.tensors[y][0].quantization.scale = []
    given = loaded(graph)
    assert not mend_shared_outputs(given)
    given.subgraphs[0].tensors[y].quantization.scale = [0.5]
    assert mend_shared_outputs(given)


@pytest.mark.parametrize(
    ("op", "position"), [("SPLIT", 1), ("SPLIT_V", 0), ("TOPK_V2", 0), ("UNPACK", 0), ("ABS", None)]
)
def test_unread_results(op: str, position: int | None) -> None:
    graph = Graph()
    operands = [graph.input(f"x{place}", [4], np.int32) for place in range(2)]
    part = integers(graph, graph.input("part", [4], np.int8), 0.5)
    operands[position or 0] = part
    graph.builtin(op, operands, [graph.output("y", [2]), graph.output("z", [2], np.int32)])
    given = loaded(graph)
    assert mend_unread_results(given) is (position is not None)
    y, z = given.subgraphs[0].tensors[-2:]
    operand = given.subgraphs[0].tensors[part]
    assert (y.type == operand.type) is (position is not None)
    assert z.type != operand.type
    assert (y.quantization is None) is (position is None)
    if position is not None:
        operand.type = y.type = given.subgraphs[0].tensors[-2].type
        assert not mend_unread_results(given)


def test_results_of_floats_stay() -> None:
    graph = Graph()
    graph.builtin("UNPACK", [graph.input("x", [2, 2])], [graph.output("y", [2])])
    assert not mend_unread_results(loaded(graph))


def rotated(*sizes: int, named: int | None = None) -> tuple[Any, Graph]:
    """RESHAPE to rows, a product with a matrix, and RESHAPE back, behind another one."""
    graph, fixed = Graph(), [1 if size < 0 else size for size in sizes]
    x = graph.input("x", fixed, signature=sizes)
    rows, product = graph.tensor("rows", [1, sizes[-1]]), graph.tensor("product", [1, sizes[-1]])
    before = graph.tensor("x_prerotate_shape", [2], np.int32, value=[1, sizes[-1]])
    after = graph.tensor("x_postrotate_shape", [len(sizes)], np.int32, value=fixed)
    other = graph.tensor("other", [len(sizes)], np.int32, value=fixed)
    graph.builtin("RESHAPE", [x, other], [graph.output("z", fixed)])
    graph.builtin("RESHAPE", [x, before], [rows])
    graph.builtin("FULLY_CONNECTED", [rows, rows, -1], [product])
    graph.builtin("RESHAPE", [product, after], [graph.output("y", fixed)])
    given = loaded(graph)
    if named is not None:
        given.signatureDefs[0].outputs[1].tensorIndex = named
    return given, graph


def values(given: Any, name: str) -> list[list[int]]:
    """The constants of a name, in their order."""
    tensors = [tensor for tensor in given.subgraphs[0].tensors if tensor.name == name.encode()]
    return [
        np.frombuffer(bytes(given.buffers[tensor.buffer].data), np.int32).tolist()
        for tensor in tensors
        if tensor.buffer
    ]


def test_rotations_of_one_open_dimension() -> None:
    given, graph = rotated(3, -1, 8)
    assert mend_rotations(given)
    assert values(given, "x_prerotate_shape") == [[1, 8], [-1, 8]]
    assert values(given, "x_postrotate_shape") == [[3, 1, 8], [3, -1, 8]]
    first, *_, last = given.subgraphs[0].operators[1:]
    assert values(given, "other") == [[3, 1, 8]]
    assert [first.inputs[1], last.inputs[1]] == [len(graph.tensors), len(graph.tensors) + 1]
    tensors = given.subgraphs[0].tensors
    signatures = [tensors[index].shapeSignature for index in (first.outputs[0], last.inputs[0], last.outputs[0])]
    assert signatures == [[-1, 8], [-1, 8], [3, -1, 8]]


def test_rotations_of_several_open_dimensions() -> None:
    given, _ = rotated(-1, -1, 8)
    assert mend_rotations(given)
    reshaped, reads, before, _, after = ops_of(given, 0)
    assert reshaped == "RESHAPE: x, other -> z"
    assert reads == "SHAPE: x -> x_postrotate_shape"
    assert before == "RESHAPE: x, x_prerotate_shape -> rows"
    assert after == "RESHAPE: product, x_postrotate_shape -> y"
    (shape,) = [
        op
        for op in given.subgraphs[0].operators
        if op.builtinOptions is not None and hasattr(op.builtinOptions, "outType")
    ]
    tensor = given.subgraphs[0].tensors[shape.outputs[0]]
    assert (shape.builtinOptions.outType, [*tensor.shape]) == (tensor.type, [3])


def test_rotations_of_known_sizes_and_what_signatures_name() -> None:
    assert not mend_rotations(rotated(3, 4, 8)[0])
    given, graph = rotated(3, 4, 8, named=0)
    assert mend_rotations(given)
    assert names(given, [entry.tensorIndex for entry in given.signatureDefs[0].outputs]) == ["z", "y"]
    given, graph = rotated(3, 4, 8, named=1)
    assert not mend_rotations(given)
    graph.outputs.append(0)
    given = loaded(graph)
    assert not mend_rotations(given)


def halved(*, weights: str = "FLOAT16", bias: Any = (1.0, -65504.0), kind: str = "CONV_2D") -> tuple[Any, Graph]:
    graph = Graph()
    x, sizes = graph.input("x", [1, 1, 1, 2]), graph.tensor("sizes", [4], np.int32, value=[1, 1, 1, 2])
    stored, real = (
        graph.tensor("stored", [2, 1, 1, 2], weights, value=np.ones([2, 1, 1, 2])),
        graph.tensor("w", [2, 1, 1, 2]),
    )
    b = graph.tensor("b", [2], value=bias)
    graph.builtin("DEQUANTIZE", [stored], [real])
    operands = [sizes, real, x, b] if kind == "TRANSPOSE_CONV" else [x, real, b]
    for name in "yz":
        graph.builtin(kind, operands, [graph.output(name, [1, 1, 1, 2])])
    return loaded(graph), graph


@pytest.mark.parametrize("kind", ["CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"])
def test_biases_become_float16(kind: str) -> None:
    given, graph = halved(kind=kind)
    bias = given.subgraphs[0].tensors[4]
    old = bias.buffer
    assert halve_biases(given)
    assert ops_of(given, 0)[:2] == ["DEQUANTIZE: bias_4 -> b", "DEQUANTIZE: stored -> w"]
    assert len(given.subgraphs[0].operators) == 4
    half = given.subgraphs[0].tensors[-1]
    assert np.frombuffer(bytes(given.buffers[half.buffer].data), np.float16).tolist() == [1.0, -65504.0]
    assert (bias.buffer, given.buffers[old].data) == (0, None)
    assert len(graph.tensors) + 1 == len(given.subgraphs[0].tensors)


@pytest.mark.parametrize("case", ["weights", "large", "fully connected", "read", "an output", "a computed one"])
def test_biases_that_stay(case: str) -> None:
    given, graph = halved(
        weights="FLOAT32" if case == "weights" else "FLOAT16",
        bias=(1.0, 65536.0) if case == "large" else (1.0, 2.0),
        kind="FULLY_CONNECTED" if case == "fully connected" else "CONV_2D",
    )
    if case == "read":
        graph.builtin("ABS", [4], [graph.output("abs", [2])])
        given = loaded(graph)
    if case == "an output":
        graph.outputs.append(4)
        given = loaded(graph)
    if case == "a computed one":
        given.buffers[given.subgraphs[0].tensors[4].buffer].data = None
    before = ops_of(given, 0)
    assert not halve_biases(given)
    assert ops_of(given, 0) == before


def test_a_buffer_that_others_use_keeps_its_data() -> None:
    given, _ = halved()
    tensors = given.subgraphs[0].tensors
    tensors[1].buffer = tensors[4].buffer
    old = tensors[4].buffer
    assert halve_biases(given)
    assert given.buffers[old].data is not None


def data_of(given: Any) -> list[bytes]:
    """The bytes of all tensors."""
    data = [given.buffers[tensor.buffer].data for one in given.subgraphs for tensor in one.tensors]
    return [b"" if content is None else bytes(content) for content in data]


def test_equal_buffers() -> None:
    graph, other = Graph(), Graph()
    for made in (graph, other):
        for name, value in (("a", [1.0, 2]), ("b", [1.0, 2]), ("c", [2.0, 1])):
            made.tensor(name, [2], value=value)
        made.tensor("empty", [0], value=[])
    given = loaded(graph, other)
    add_metadata(given, "m", np.frombuffer(np.array([1, 2], np.float32).tobytes(), np.uint8))
    before = data_of(given)
    entry = given.metadata[-1].buffer
    assert share_buffers(given)
    assert data_of(given) == before
    buffers = [tensor.buffer for one in given.subgraphs for tensor in one.tensors]
    assert len({*buffers}) == 4  # two of numbers, and two empty ones
    assert buffers[0] == buffers[1] == buffers[4] == buffers[5]
    assert entry not in buffers
    assert given.buffers[entry].data is not None
    assert sum(buffer.data is not None and len(buffer.data) > 0 for buffer in given.buffers) == 3
    assert not share_buffers(given)
