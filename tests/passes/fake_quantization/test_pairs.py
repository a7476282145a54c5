# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""Fake quantization, as nodes and as formulas, and the pairs that take its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

from litefuse.ir.constants import tensor_constant
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import run_passes
from litefuse.passes.fake_quantization.pairs import NodesFound, PairFakeQuantization
from tests.passes.fake_quantization.expressions import f32, module_of, returned

V: TypeAlias = Any  # ir.Value
Build: TypeAlias = "Callable[..., Any]"


def c(value: Any, dtype: Any = np.float32) -> V:
    return value if isinstance(value, ir.Value) else tensor_constant(ir.DenseElementsAttr.get(np.array(value, dtype)))


def op(name: str, *operands: Any, shape: Sequence[int] | None = None, **attributes: Any) -> V:
    values = [c(operand) for operand in operands]
    shaped = next((value for value in values if not isinstance(value.owner, ir.Operation | ir.OpView)), values[0])
    return create_value(f"tf.{name}", shaped.type if shape is None else f32(*shape), values, attributes)


def paired(build: Build, shape: Sequence[int] = (3,), arguments: int = 1) -> tuple[str, NodesFound]:
    nodes = NodesFound()
    with mlir_context(), ir.Location.name("node"):
        module = module_of([f32(*shape)] * arguments, build)
        run_passes(module, [PairFakeQuantization(nodes)])
        (text,) = returned(module)
        return text, nodes


def after(build: Build, shape: Sequence[int] = (3,), arguments: int = 1) -> str:
    text, nodes = paired(build, shape, arguments)
    assert not nodes.left
    assert nodes.pairs == text.count("dequantize(")
    return text


Step: TypeAlias = "tuple[str, *tuple[Any, ...]]"


def formula(x: V, before: Sequence[Step], behind: Sequence[Step]) -> V:
    """Steps, a rounding and more steps; ``None`` among a step's operands stands for the value."""
    for name, *operands in [*before, ("Round",), *behind]:
        given = [x if operand is None else operand for operand in operands]
        x = op(name, *(given if None in operands else [x, *given]), shape=ir.ShapedType(x.type).shape)
    return x


BYTES: list[Step] = [("ClipByValue", -128.0, 127.0)]


@pytest.mark.parametrize(
    ("before", "behind", "expected"),
    [
        ([("RealDiv", 0.25), *BYTES], [("Mul", 0.25)], "@0.25"),
        ([("Mul", 4.0, None), *BYTES], [("Mul", 0.25, None)], "@0.25"),
        ([("Mul", 2.0), ("Mul", 2.0), *BYTES], [("Mul", 0.5), ("Identity",), ("RealDiv", 2.0)], "@0.25"),
        ([("ClipByValue", -32.0, 31.75), ("Mul", 4.0)], [("Mul", 0.25)], "@0.25"),
        ([("Mul", 4.0)], [("Mul", 0.25), ("ClipByValue", -32.0, 31.75)], "@0.25"),
        ([("Mul", 4.0)], [*BYTES, ("Mul", 0.25)], "@0.25"),
        ([("Mul", 4.0), ("Maximum", -128.0)], [("Mul", 0.25), ("Minimum", 31.75, None)], "@0.25"),
        ([("Mul", 4.0), ("ClipByValue", 0.0, 255.0)], [("Mul", 0.25)], "@0.25:-128"),
        (
            [("Mul", 4.0), ("ClipByValue", -400.0, 400.0), ("ClipByValue", -128.0, 127.0)],
            [("Mul", 0.25), ("ClipByValue", -99.0, 99.0)],
            "@0.25",
        ),
        ([*BYTES], [], "@1"),
        ([("Mul", 4.0), *([("Identity",)] * 13), *BYTES], [("Mul", 0.25)], "@0.25"),
        ([("Mul", 4.0), *BYTES], [("Mul", 0.2500005)], "@0.25"),
    ],
)
def test_formulas(before: list[Step], behind: list[Step], expected: str) -> None:
    assert after(lambda x: formula(x, before, behind)) == f"dequantize(quantize(x){expected})"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ([("Mul", 4.0)], [("Mul", 0.25)]),
        ([("Mul", 4.0), ("Minimum", 127.0)], [("Mul", 0.25)]),
        ([("Mul", 4.0), ("ClipByValue", -129.0, 127.0)], [("Mul", 0.25)]),
        ([("Mul", 4.0), ("ClipByValue", 5.0, 5.0)], [("Mul", 0.25)]),
        ([("Mul", 4.0)], [("Mul", 0.25), ("ClipByValue", -32.1, 31.75)]),
        ([("Mul", 4.0)], [("Mul", 0.25), ("ClipByValue", [-32.0, -32, -16], 31.75)]),
    ],
)
def test_no_formulas(before: list[Step], behind: list[Step]) -> None:
    text, nodes = paired(lambda x: formula(x, before, behind))
    assert "quantize" not in text
    assert nodes == NodesFound()


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ([("Mul", 4.0)], [("Mul", 0.250005)]),
        ([("Mul", 4.0)], [("Mul", 0.5)]),
        ([("Mul", -4.0)], [("Mul", -0.25)]),
        ([("RealDiv", 0.0)], [("Mul", 0.25)]),
        ([("RealDiv", 4.0, None)], [("Mul", 0.25)]),
        ([("Mul", [[4.0], [2], [1]])], [("Mul", [[0.25], [0.5], [1]])]),
        ([("ClipByValue", -30.0, 30.0), ("Mul", [4.0, 8])], [("Mul", 0.25)]),
        ([("Mul", 4.0), *([("Identity",)] * 14)], [("Mul", 0.25)]),
    ],
)
def test_what_does_not_belong_to_a_formula(before: list[Step], behind: list[Step]) -> None:
    text = after(lambda x: formula(x, [*before, *BYTES], behind), (3, 2))
    assert "@1)" in text
    assert text.startswith("Mul(dequantize(quantize(")


def test_scales_for_channels() -> None:
    steps = [("Mul", [4.0, 8, 2]), *BYTES], [("Mul", [0.25, 0.125, 0.5])]
    _, nodes = paired(lambda x: formula(x, *steps))
    ((_, reason),) = nodes.left
    assert reason == "LiteRT's ops take one scale for all channels of what is not constant"
    of_weights = after(lambda _: formula(c([1.0, 1.07, 300]), [("Mul", 4.0), *BYTES], [("Mul", 0.25)]))
    assert of_weights == "dequantize([4, 4, 127]@0.25)"


@pytest.mark.parametrize(
    "estimate",
    [
        lambda x, value: op("AddV2", x, op("StopGradient", op("Sub", value, x))),
        lambda x, value: op("AddV2", op("Sub", value, x), x),
        lambda x, value: op("AddV2", x, op("AddV2", op("Neg", x), value)),
        lambda x, value: op("AddV2", op("Relu", x), op("Sub", value, op("Relu", x))),
    ],
)
def test_estimators(estimate: Build) -> None:
    written = after(lambda x: estimate(x, formula(x, [("Mul", 4.0), *BYTES], [("Mul", 0.25)])))
    assert written == "dequantize(quantize(x)@0.25)"


def test_what_is_no_estimator() -> None:
    def rounded(x: V) -> V:
        return formula(x, [("Mul", 4.0), *BYTES], [("Mul", 0.25)])

    pair = "dequantize(quantize(x)@0.25)"
    assert after(lambda x, y: op("AddV2", x, op("Sub", rounded(x), y)), arguments=2) == f"AddV2(x, Sub({pair}, x1))"
    assert after(lambda x: op("Sub", x, op("Sub", rounded(x), x))) == f"Sub(x, Sub({pair}, x))"
    assert after(lambda x: op("AddV2", x, op("Sub", x, rounded(x)))) == f"AddV2(x, Sub(x, {pair}))"
    assert (
        after(lambda x: op("AddV2", op("Abs", x), op("Sub", rounded(x), op("Abs", x))))
        == f"AddV2(Abs(x), Sub({pair}, Abs(x)))"
    )


ARGS: dict[str, Any] = {"min": -8.0, "max": 7.0, "num_bits": 4, "narrow_range": False}


def args(x: V, low: float, high: float, bits: int = 8, *, narrow: bool = False) -> V:
    return op("FakeQuantWithMinMaxArgs", x, min=low, max=high, num_bits=bits, narrow_range=narrow)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: args(x, 0.0, 255.0), "quantize(x)@1:-128"),
        (lambda x: args(x, -127.0, 127.0, narrow=True), "quantize(x)@1"),
        (lambda x: args(x, -126.0, 127.0, narrow=True), "quantize(x)@0.996063:-1"),
        (lambda x: args(x, 0.0, 127.0, 7), "quantize(Relu(x))@1"),
        (lambda x: args(op("Relu", x), 0.0, 127.0, 7), "quantize(Relu(x))@1"),
        (lambda x: args(op("Sigmoid", x), 0.0, 15.0, 4), "quantize(Sigmoid(x))@1:112"),
        (lambda x: args(x, -8.0, 7.0, 4), "quantize(Minimum(x, 7.0))@1:-120"),
        (lambda x: op("FakeQuantWithMinMaxArgs", x), "quantize(x)@0.0470588"),
    ],
)
def test_nodes_of_what_is_not_constant(build: Build, expected: str) -> None:
    assert after(build) == f"dequantize({expected})"


VALUES = [[1.2, -2.3], [63.4, 0]]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: args(c(VALUES), -127.0, 127.0, narrow=True), "dequantize(quantize([[1.0, -2.0], [63.0, 0.0]])@1)"),
        (lambda: args(c(VALUES), -64.0, 63.5), "dequantize(quantize([[1.0, -2.5], [63.5, 0.0]])@0.5)"),
        (lambda: args(c([[250.0], [0.2]]), 0.0, 255.0), "dequantize(quantize([[250.0], [0.0]])@1:-128)"),
        (
            lambda: op(
                "FakeQuantWithMinMaxVarsPerChannel",
                VALUES,
                [-127.0, -63.5],
                [127.0, 63.5],
                num_bits=8,
                narrow_range=True,
            ),
            "dequantize(quantize([[1.0, -2.5], [63.0, 0.0]])@1|0.5)",
        ),
        (
            lambda: op(
                "FakeQuantWithMinMaxVarsPerChannel",
                np.ones((1, 3, 1, 2)),
                [-127.0, -63.5],
                [127.0, 63.5],
                num_bits=8,
                narrow_range=True,
            ),
            "dequantize(quantize([[[[1.0, 1.0]], [[1.0, 1.0]], [[1.0, 1.0]]]])@1|0.5)",
        ),
        (
            lambda: op(
                "QuantizeAndDequantizeV2",
                VALUES,
                -127.0,
                127.0,
                signed_input=True,
                num_bits=8,
                range_given=True,
                narrow_range=True,
                axis=-1,
            ),
            "dequantize(quantize([[1.0, -2.0], [63.0, 0.0]])@1)",
        ),
        (
            lambda: op(
                "QuantizeAndDequantizeV3",
                [[127.0, 1], [0, 63.5]],
                0.0,
                0.0,
                c(8, np.int32),
                signed_input=True,
                range_given=False,
                narrow_range=True,
                axis=1,
            ),
            "dequantize(quantize([[127.0, 1.0], [0.0, 63.5]])@1|0.5)",
        ),
        (
            lambda: op(
                "QuantizeAndDequantizeV3",
                [[127.0, 1], [0, 63.5]],
                0.0,
                0.0,
                c(8, np.int32),
                signed_input=True,
                range_given=False,
                narrow_range=True,
                axis=-1,
            ),
            "dequantize(quantize([[127.0, 1.0], [0.0, 64.0]])@1)",
        ),
    ],
)
def test_nodes_of_constants(build: Build, expected: str) -> None:
    assert after(lambda _: build()) == expected


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (lambda x: args(x, -1.0, 1.0, 9), "it has 9 bits, and int8 has 8"),
        (
            lambda x: op("FakeQuantWithMinMaxVars", x, op("Min", x, c([0], np.int32), shape=[]), 1.0),
            "its range is computed in each call",
        ),
        (
            lambda x: op("QuantizeAndDequantizeV2", x, -1.0, 1.0, axis=0, range_given=True),
            "its channels are axis 0, not the last one",
        ),
        (
            lambda x: op("QuantizeAndDequantizeV2", x, -1.0, 1.0, axis=-1, range_given=False),
            "its range is that of the data, in each call",
        ),
        (
            lambda x: op("QuantizeAndDequantizeV2", np.zeros((0, 2)), -1.0, 1.0, axis=-1, range_given=False),
            "it is empty",
        ),
        (
            lambda x: op(
                "QuantizeAndDequantizeV3",
                x,
                -1.0,
                1.0,
                op("Cast", op("Sum", x, c([0, 1], np.int32), shape=[]), shape=[]),
            ),
            "its number of bits is computed in each call",
        ),
    ],
)
def test_nodes_that_stay(build: Build, why: str) -> None:
    text, nodes = paired(build, (2, 2))
    assert "quantize(" not in text
    ((_, reason),) = nodes.left
    assert (reason, nodes.pairs) == (why, 0)


def weights(*shape: int) -> V:
    return args(c(np.ones(shape)), -127.0, 127.0, narrow=True)


CONV: Any = {"padding": "SAME", "strides": [1, 1, 1, 1], "data_format": "NHWC"}
PAIR = "dequantize(quantize({})@{})"


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: op("Conv2D", x, weights(1, 1, 2, 3), shape=(1, 1, 2, 3), **CONV), "@1|1|1)"),
        (lambda x: op("DepthwiseConv2dNative", x, weights(1, 1, 2, 1), **CONV), "@1|1)"),
        (lambda x: op("DepthwiseConv2dNative", x, weights(1, 1, 2, 2), shape=(1, 1, 2, 4), **CONV), "@1)"),
        (
            lambda x: op("MatMul", op("Reshape", x, c([2, 2], np.int32), shape=[2, 2]), weights(2, 3), shape=[2, 3]),
            "@1)",
        ),
        (lambda x: op("Mul", x, weights(1, 1, 1, 2)), "@1)"),
    ],
)
def test_steps_of_the_weights_of_products(build: Build, expected: str) -> None:
    assert expected in after(build, (1, 1, 2, 2))


@pytest.mark.parametrize("name", ["AddV2", "Mul", "RealDiv", "Sub"])
def test_integers_are_stored_where_the_engine_would_scale_them(name: str) -> None:
    def scaled(x: V, by: Any) -> V:
        return op("Conv2D", op(name, x, by), weights(1, 1, 2, 1), shape=(1, 1, 2, 1), **CONV)

    stored = "dequantize([[[[1], [1]]]]@1)"
    assert stored in after(lambda x: scaled(x, 2.0), (1, 1, 2, 2))
    assert "dequantize(quantize(" in after(lambda x: scaled(x, [2.0, 3]), (1, 1, 2, 2))
    assert "dequantize(quantize(" in after(lambda x: scaled(x, x), (1, 1, 2, 2))


def test_biases_are_rounded_alone() -> None:
    def product(x: V) -> V:
        return op("MatMul", x, np.ones((3, 3)))

    def bias() -> V:
        return args(c([1.4, 2, 3]), -127.0, 127.0, narrow=True)

    builds: list[Build] = [
        lambda x: op("AddV2", product(x), bias()),
        lambda x: op("BiasAdd", op("Identity", product(x)), bias()),
    ]
    for build in builds:
        text, nodes = paired(build, (3, 3))
        assert "[1.0, 2.0, 3.0]" in text
        assert "quantize" not in text
        assert nodes == NodesFound(1)
    assert "quantize" in after(lambda x: op("AddV2", x, bias()), (3, 3))
    assert "quantize" in after(lambda x: op("Mul", product(x), bias()), (3, 3))


def test_channels_behind_a_reshape() -> None:
    """The pair stands behind a reshape, unless that changes the channels."""

    def build(x: V, *shape: int) -> V:
        both = op(
            "FakeQuantWithMinMaxVarsPerChannel", VALUES, [-127.0, -63.5], [127.0, 63.5], num_bits=8, narrow_range=True
        )
        return op("Reshape", both, c(shape, np.int32), shape=shape)

    assert after(lambda x: build(x, 1, 2, 2, 1)) == "dequantize(quantize([[[[1.0], [-2.5]], [[63.0], [0.0]]]])@1|0.5)"
    assert after(lambda x: build(x, 4)) == "Reshape(dequantize(quantize([[1.0, -2.5], [63.0, 0.0]])@1|0.5), [4])"
