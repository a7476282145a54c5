# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""What a quantized file computes with real numbers: exactly, with its roundings, with moved weights, and in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.verify.quantized import float_copy
from litefuse.conversion.verify.quantized.float_copy import CUT, FloatCopy, Steps, is_quantized_file, steps_of
from litefuse.errors import LitefuseError
from litefuse.litert.differences.compared_model import ComparedModel
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.models import Graph, model


def scaled(graph: Graph, index: int, scales: Sequence[float], zeros: Sequence[int] | None = None, axis: int = 0) -> int:
    parameters = schema.QuantizationParametersT()
    parameters.scale, parameters.zeroPoint = [*scales], [*(zeros or [0] * len(scales))]
    parameters.quantizedDimension = axis
    graph.tensors[index][0].quantization = parameters
    return index


def side_of(*graphs: Graph, **signatures: int) -> ComparedModel:
    return ComparedModel.of(model(*graphs, signatures=signatures or {"serve": 0}))


def called(content: bytes, signature: str = "serve", **inputs: Any) -> dict[str, Any]:
    runner = Interpreter(content).get_signature_runner(signature)
    return {name: np.array(value).tolist() for name, value in runner(**inputs).items()}


def f32(*values: float) -> Any:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("dtype", "is_constant", "scale", "expected"),
    [
        (np.float32, True, None, False),
        (np.float16, True, None, True),
        ("BFLOAT16", True, None, True),
        (np.float16, False, None, False),
        (np.int8, False, 0.5, True),
        (np.int8, True, None, False),
    ],
)
def test_files_with_rounded_numbers(dtype: Any, *, is_constant: bool, scale: float | None, expected: bool) -> None:
    graph = Graph()
    graph.builtin("ABS", [graph.input("x", (2,))], [graph.output("y", (2,))])
    given = graph.tensor("given", (2,), dtype, value=[1, 2] if is_constant else None)
    if scale is not None:
        scaled(graph, given, [scale])
    assert is_quantized_file(model(graph, signatures={"serve": 0})) is expected


def test_steps_of_computed_integers() -> None:
    """Those of one scale; constants and int32 have none."""
    graph = Graph()
    for name, dtype, scales in (
        *(("a", np.int8, [0.5]), ("b", np.uint8, [0.5]), ("c", np.int16, [0.25])),
        *(("per channel", np.int8, [0.5, 0.25]), ("zero", np.int8, [0.0]), ("infinite", np.int8, [np.inf])),
        ("wide", np.int32, [0.5]),
    ):
        scaled(graph, graph.tensor(name, (2,), dtype), scales, [3] * len(scales))
    scaled(graph, graph.tensor("constant", (2,), np.int8, value=[1, 2]), [0.5])
    graph.tensor("plain", (2,), np.int8)
    assert steps_of(side_of(graph), 0) == {
        0: Steps(0.5, -65.5, 62.0),
        1: Steps(0.5, -1.5, 126.0),
        2: Steps(0.25, -8192.75, 8191.0),
    }


def chain(*, integers_out: bool = False) -> Graph:
    """``y = tanh(x)`` of int8 in steps of a quarter, and of 1/128; the integers are outputs where that is asked for."""
    graph = Graph()
    x = graph.input("x", (4,))
    q = scaled(graph, graph.tensor("q", (4,), np.int8), [0.25], [1])
    t = scaled(graph, (graph.output if integers_out else graph.tensor)("t", (4,), np.int8), [1 / 128])
    graph.builtin("QUANTIZE", [x], [q])
    graph.builtin("TANH", [q], [t])
    if not integers_out:
        graph.builtin("DEQUANTIZE", [t], [graph.output("y", (4,))])
    return graph


X: Any = f32(0.1, 0.4, -0.7, 100)


@pytest.mark.parametrize("integers_out", [False, True])
def test_without_and_with_roundings(*, integers_out: bool) -> None:
    """Results are rounded where the file's are, and are clipped to what its integers stand for."""
    side, name = side_of(chain(integers_out=integers_out)), "t" if integers_out else "y"
    exact, rounded = (FloatCopy(side, 0, rounded=rounded) for rounded in (False, True))
    assert called(exact.content(), x=X)[name] == pytest.approx(np.tanh(X), abs=1e-5)
    steps: Any = np.round(np.clip(X, -32.25, 31.5) / 0.25) * 0.25
    expected: Any = np.clip(np.round(np.tanh(steps) * 128) / 128, -1, 127 / 128)
    assert called(rounded.content(), x=X)[name] == pytest.approx(expected, abs=1e-6)
    assert exact.given == rounded.given == {}
    places = exact.computed
    assert [*places] == ([1, 2] if integers_out else [1, 2, 3])
    assert places[1] == 0
    assert called(exact.content(), x=X) == called(exact.content(), x=X)


def test_inputs_of_integers() -> None:
    graph = Graph()
    x = scaled(graph, graph.input("x", (3,), np.int8), [0.25])
    graph.builtin("DEQUANTIZE", [x], [graph.output("y", (3,))])
    side = side_of(graph)
    assert called(FloatCopy(side, 0).content(), x=f32(0.1, 0.2, 9))["y"] == pytest.approx([0.1, 0.2, 9])
    assert called(FloatCopy(side, 0, rounded=True).content(), x=f32(0.1, 0.2, 99))["y"] == [0, 0.25, 31.75]


def test_parts_that_take_given_values() -> None:
    graph = chain()
    graph.builtin("SHAPE", [1], [graph.output("shape", (1,), np.int32)], outType=2)
    graph.builtin("NEG", [3], [graph.output("z", (4,))])
    side = side_of(graph, chain(), serve=0, other=1)
    copy = FloatCopy(side, 0, cuts=[0, 1, 3])
    content = copy.content()
    assert copy.given.keys() == {0, 1, 3}
    made = called(content, CUT, **{"0": X, "1": f32(1, 2, 3, 4), "3": f32(5, 6, 7, 8)})
    results = {index: made.get(str(place)) for index, place in copy.computed.items()}
    assert results[2] == pytest.approx(np.tanh([1, 2, 3, 4]), rel=1e-5)
    assert results[3] == results[2]
    assert results[5] == [-5, -6, -7, -8]
    assert results[4] is None  # no real number
    assert Interpreter(content).get_signature_list().keys() == {CUT}
    of_other = FloatCopy(side, 1)
    assert called(of_other.content(), "other", x=X)["y"] == pytest.approx(np.tanh(X), abs=1e-5)
    assert called(of_other.content(), x=X)["y"] == pytest.approx(np.tanh(X), abs=1e-5)
    rounded = FloatCopy(side, 1, rounded=True).content()  # in all graphs
    assert called(rounded, x=X)["y"] == called(rounded, "other", x=X)["y"] != pytest.approx(np.tanh(X), abs=1e-5)


WEIGHTS: Any = np.array([[127, -64, 3], [-127, 1, 0]], np.int8)


def dense(
    weights: Any = WEIGHTS,
    scales: Sequence[float] = (0.5, 0.25),
    bias: tuple[Any, Sequence[float]] | None = None,
    x_scale: float | None = None,
) -> Graph:
    """``y = weights * x + bias``, of integers where the input has a scale."""
    graph = Graph()
    x = graph.input("x", (1, 3), np.float32 if x_scale is None else np.int8)
    w = graph.tensor("w", (2, 3), weights.dtype, value=weights)
    if weights.dtype == np.int8:
        scaled(graph, w, scales)
    b = -1
    if bias is not None:
        b = graph.tensor("b", (2,), bias[0].dtype, value=bias[0])
        scaled(graph, b, bias[1])
    y = graph.output("y", (1, 2), np.float32 if x_scale is None else np.int8)
    if x_scale is not None:
        scaled(graph, x, [x_scale])
        scaled(graph, y, [1.0])
    graph.builtin("FULLY_CONNECTED", [x, w, b], [y])
    return graph


def real(scales: Sequence[float] = (0.5, 0.25)) -> Any:
    return WEIGHTS * f32(*scales)[:, None]


def test_weights_are_what_their_integers_stand_for() -> None:
    copy, eye = FloatCopy(side_of(dense()), 0), np.eye(3, dtype=np.float32)
    seen: Any = np.array([called(copy.content(), x=row[None])["y"][0] for row in eye]).T
    np.testing.assert_allclose(seen, real(), rtol=1e-6)
    moved = copy.content(np.random.default_rng(1))
    seen = np.array([called(moved, x=row[None])["y"][0] for row in eye]).T
    off = np.abs(seen - real()) / f32(0.5, 0.25)[:, None]
    assert 0.3 < off.max() < 0.5
    assert off.min() < 0.3
    assert called(copy.content(), x=eye[:1])["y"][0] == pytest.approx(real()[:, 0])


def test_weights_of_half_precision() -> None:
    weights = np.array([[0.1, -2, 3], [5, 0.3, -7]], np.float16)
    x = np.ones((1, 3), np.float32)
    made = called(FloatCopy(side_of(dense(weights)), 0).content(), x=x)["y"][0]
    assert made == pytest.approx(weights.astype(np.float32).sum(1), rel=1e-6)


def test_weights_that_two_ops_share() -> None:
    graph = dense()
    graph.builtin("FULLY_CONNECTED", [0, 1, -1], [graph.output("z", (1, 2))])
    made = called(FloatCopy(side_of(graph), 0).content(np.random.default_rng(1)), x=np.ones((1, 3), np.float32))
    assert made["y"] == made["z"]


@pytest.mark.parametrize(
    ("weights", "largest", "is_rounded"),
    [(WEIGHTS, {0: 12.7}, True), (WEIGHTS, {0: 0.0}, False), (WEIGHTS, {1: 12.7}, False), (real(), {0: 12.7}, False)],
)
def test_activations_that_kernels_round(weights: Any, largest: dict[int, float], *, is_rounded: bool) -> None:
    """In each call, to 127 steps, where weights are integers."""
    x = f32(0.13, 0.04, -0.26)[None]
    side = side_of(dense(weights.astype(weights.dtype if weights.dtype == np.int8 else np.float32)))
    exact = (x @ real().T).tolist()
    rounded: Any = ((np.round(x / 0.1) * np.float32(0.1)) @ real().T).tolist()
    made = called(FloatCopy(side, 0, rounded=True, largest=largest).content(), x=x)["y"]
    np.testing.assert_allclose(made, rounded if is_rounded else exact, rtol=1e-5)
    made = called(FloatCopy(side, 0, largest=largest).content(), x=x)["y"]
    np.testing.assert_allclose(made, exact, rtol=1e-5)


@pytest.mark.parametrize(
    ("scales", "factor"),
    [((0.05, 0.025), 1), ((0.05049, 0.0252), 1.009), ((0.1, 0.05), 0.5), ((0.05, 0.05), None)],
)
def test_a_bias_has_the_scale_that_kernels_take_it_to_have(scales: Sequence[float], factor: float | None) -> None:
    """That of the activations by that of the weights, unless its own is the same but for rounding."""
    integers = np.array([100, -40], np.int32)
    graph = dense(bias=(integers, scales), x_scale=0.1)
    made = called(FloatCopy(side_of(graph), 0).content(), x=np.zeros((1, 3), np.float32))["y"][0]
    assert made == pytest.approx(integers * f32(0.05, 0.025) * (factor if factor and factor > 1 else 1), rel=2e-3)


@pytest.mark.parametrize(
    ("op", "data", "place"),
    [
        ("CONV_2D", 0, 2),
        ("DEPTHWISE_CONV_2D", 0, 2),
        ("FULLY_CONNECTED", 0, 2),
        ("TRANSPOSE_CONV", 2, 3),
        ("ADD", 0, 2),
    ],
)
def test_ops_with_biases(op: str, data: int, place: int) -> None:
    graph = Graph()
    w, bias = graph.tensor("w", (2, 3), np.int8, value=WEIGHTS), graph.tensor("b", (2,), np.int32, value=[100, -40])
    x, y = graph.input("x", (1, 3), np.int8), graph.output("y", (1, 2), np.int8)
    for index, scales in ((w, (0.5, 0.25)), (bias, (0.1, 0.1)), (x, (0.1,)), (y, (1.0,))):
        scaled(graph, index, scales)
    inputs = [graph.tensor("sizes", (2,), np.int32, value=[1, 2]), w, -1, -1]
    inputs[data], inputs[place] = x, bias
    graph.builtin(op, inputs[: place + 1], [y])
    copied = ComparedModel.of(FloatCopy(side_of(graph), 0).content())
    taken = copied.tensors[0][copied.operators[0][0].inputs[place]]
    expected = [10, -4] if op == "ADD" else [5, -1]
    assert copied.data(taken.buffer).view(np.float32).tolist() == pytest.approx(expected)


def test_moved_biases() -> None:
    """By half a step of those that the kernel takes them to have."""
    copy = FloatCopy(side_of(dense(bias=(np.array([100, -40], np.int32), (0.1, 0.1)), x_scale=0.1)), 0)
    made = called(copy.content(np.random.default_rng(1)), x=np.zeros((1, 3), np.float32))["y"][0]
    off = np.abs(np.array(made) - [5, -1]) / [0.05, 0.025]
    assert 0.01 < off.min() <= off.max() <= 0.5001


def test_biases_that_are_left() -> None:
    """Of activations in floating point, and those that are absent or have no scale."""
    integers, zero = np.array([100, -40], np.int32), np.zeros((1, 3), np.float32)
    made = called(FloatCopy(side_of(dense(bias=(integers, (0.1, 0.1)))), 0).content(), x=zero)["y"][0]
    assert made == pytest.approx([10, -4])
    assert called(FloatCopy(side_of(dense(x_scale=0.1)), 0).content(), x=zero)["y"] == [[0, 0]]
    short = dense(x_scale=0.1)
    short.operators[0][0].inputs = [0, 1]
    assert FloatCopy(side_of(short), 0).content()


def test_what_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    side = side_of(dense())
    size = sum(len(buffer.data) for buffer in side.objects().buffers if buffer.data is not None) + 4 * WEIGHTS.size
    monkeypatch.setattr(float_copy, "_MOST_BYTES", size)
    FloatCopy(side, 0)
    monkeypatch.setattr(float_copy, "_MOST_BYTES", size - 1)
    with pytest.raises(LitefuseError, match="take more than 2 GB"):
        FloatCopy(side, 0)
