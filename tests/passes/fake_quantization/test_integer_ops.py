# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""What becomes of ops between DEQUANTIZE and QUANTIZE, written as expressions of what functions return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

from litefuse.ir.constants import pseudo_constant
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import Pass, run_passes
from litefuse.passes.fake_quantization.constants import quantized_bias
from litefuse.passes.fake_quantization.grid import NotCovered, Uniform, quantized_type
from litefuse.passes.fake_quantization.integer_boundary import IntegerBoundary
from litefuse.passes.fake_quantization.integer_ops import IntegerOps, UncoveredOp
from tests.passes.fake_quantization.expressions import f32, module_of, returned

V: TypeAlias = Any  # ir.Value
Build: TypeAlias = "Callable[..., Any]"

X = Uniform((0.5,), (0,))
Y = Uniform((2.0,), (3,))
NONE: Any = {"fused_activation_function": "NONE"}
DENSE: Any = {**NONE, "keep_num_dims": False, "weights_format": "DEFAULT"}


def c(value: Any, dtype: Any = np.float32) -> V:
    return pseudo_constant(ir.DenseElementsAttr.get(np.array(value, dtype)))


def op(name: str, *operands: V, shape: Sequence[int] | None = None, **attributes: Any) -> V:
    kind = operands[0].type if shape is None else f32(*shape)
    return create_value(f"tfl.{name}", kind, operands, attributes)


def q(value: V, uniform: Uniform = Y) -> V:
    kind = quantized_type(value.type, uniform)
    return create_value("tfl.quantize", kind, [value], {"qtype": ir.TypeAttr.get(kind)})


def d(value: V) -> V:
    return create_value("tfl.dequantize", f32(*ir.ShapedType(value.type).shape), [value])


def both(function: Callable[[V], V], value: V) -> list[V]:
    return [function(value), value]


def pair(value: Any, uniform: Uniform = X) -> V:
    return d(q(value if isinstance(value, ir.Value) else c(value), uniform))


def dense(x: V, w: V, bias: V | None = None, **attributes: Any) -> V:
    none = create_value("tfl.no_value", ir.Type.parse("none"), [], {"value": ir.UnitAttr.get()})
    rows, channels = ir.ShapedType(x.type).shape[0], ir.ShapedType(w.type).shape[0]
    operands = [x, w, none if bias is None else bias]
    return op("fully_connected", *operands, shape=(rows, channels), **{**DENSE, **attributes})


def became(
    build: Build, *arguments: Uniform | None, shape: Sequence[int] = (2,), then: Sequence[Pass] = (), **options: Any
) -> tuple[list[str], list[UncoveredOp]]:
    """What a function returns after the pass, and the ops that stay in floats."""
    left: list[UncoveredOp] = []
    with mlir_context(), ir.Location.name("node"):
        kinds = [f32(*shape) if one is None else quantized_type(f32(*shape), one) for one in arguments]

        def floats(*given: V) -> Any:
            return build(*(d(value) if one else value for value, one in zip(given, arguments, strict=True)))

        module = module_of(kinds, floats)
        run_passes(module, [IntegerOps(left, **options), *then])
        return returned(module), left


def one(build: Build, *arguments: Uniform | None, **options: Any) -> str:
    (text,), left = became(build, *arguments, **options)
    assert not left
    return text


def reason(build: Build, *arguments: Uniform | None, **options: Any) -> tuple[str, str]:
    """The op that stays in floats, and why."""
    _, (left,) = became(build, *arguments, **options)
    assert left.node.startswith("node")
    return left.op, left.reason


CHANNELS = Uniform((0.5, 0.25), (0, 0), 0)
NOT_THE_SAME = "its operands have different scales"


def test_steps_that_change() -> None:
    assert one(lambda x: q(x, X), X) == "x@0.5"
    assert one(lambda x: q(x, Uniform((0.5,), (1,))), X) == "quantize(x@0.5)@0.5:1"
    assert one(lambda x: q(x, X), CHANNELS) == "quantize(dequantize(x@0.5|0.25))@0.5"
    assert one(q, None) == "quantize(x)@2:3"


def test_one_quantize_for_each_type_of_a_value() -> None:
    texts, _ = became(lambda x: (q(x), q(x), q(x, X)), None)
    assert texts == ["quantize(x)@2:3", "quantize(x)@2:3", "quantize(x)@0.5"]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x, _: op("maximum", x, c([3.0, -64])), "maximum(x@0.5, [6, -128]@0.5)@0.5"),
        (lambda x, _: op("minimum", c(63.5), x, shape=[2]), "minimum(127@0.5, x@0.5)@0.5"),
        (lambda x, y: op("maximum", x, y), "maximum(x@0.5, x1@0.5)@0.5"),
        (
            lambda x, y: op("select", c([True, False], np.bool_), x, y, shape=[2]),
            "select([True, False], x@0.5, x1@0.5)@0.5",
        ),
        (lambda x, _: op("pack", x, x, shape=[2, 2], values_count=2, axis=0), "pack(x@0.5, x@0.5)@0.5"),
    ],
)
def test_ops_that_keep_a_scale(build: Build, expected: str) -> None:
    assert one(build, X, X) == f"dequantize({expected})"


def test_several_results_keep_a_scale() -> None:
    def build(x: V) -> list[V]:
        split = ir.Operation.create(
            "tfl.split",
            [f32(1)] * 2,
            [c(0, np.int32), x],
            {"num_splits": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 2)},
        )
        return [*split.results]

    texts, _ = became(build, X)
    assert texts == [f"dequantize(split(0, x@0.5)@0.5#{number})" for number in range(2)]


def test_rows_of_a_table_have_its_scale() -> None:
    def build(table: V) -> V:
        return op("gather", table, c([1], np.int32), shape=[1, 2], axis=0, batch_dims=0)

    table = [[0.5, 1], [2, -3]]
    assert one(lambda: build(pair(table))) == "dequantize(gather([[1, 2], [4, -6]]@0.5, [1])@0.5)"
    assert reason(lambda: build(c(table))) == ("GATHER", NOT_THE_SAME)


@pytest.mark.parametrize(
    ("build", "name", "why"),
    [
        (lambda x, y: op("maximum", x, y), "MAXIMUM", NOT_THE_SAME),
        (
            lambda x, _: op("maximum", x, c([3.0, 64])),
            "MAXIMUM",
            "a constant operand is not in the range of the others",
        ),
        (
            lambda x, _: op("maximum", x, c([3.0, -64.5])),
            "MAXIMUM",
            "a constant operand is not in the range of the others",
        ),
        (
            lambda x, _: op("maximum", x, c([3.0, np.inf])),
            "MAXIMUM",
            "a constant operand is not in the range of the others",
        ),
        (lambda x, _: op("sin", x), "SIN", "LiteRT's op has no int8 form that is used"),
        (lambda x, _: op("tanh", c([1.0])), "TANH", "an operand has no fake quantization"),
        (lambda x, y: op("add", x, y, **NONE), "ADD", "its result has no fake quantization"),
        (
            lambda x, y: q(op("mean", c([1.0, 2]), c([0], np.int32), shape=[], keep_dims=False)),
            "MEAN",
            "a constant operand has no fake quantization",
        ),
    ],
)
def test_what_stays_in_floats(build: Build, name: str, why: str) -> None:
    assert reason(build, X, Y) == (name, why)


def test_nothing_stays_in_floats() -> None:
    why = "a constant operand has no fake quantization"
    assert reason(lambda x: q(op("add", x, c(np.zeros([0])), **NONE)), X, shape=(0,)) == ("ADD", why)


def test_channels_stay_in_floats() -> None:
    assert reason(lambda x: op("tanh", x), CHANNELS) == ("TANH", "an operand has a scale for each channel")


@pytest.mark.parametrize(("scale", "same"), [(0.5, True), (0.4999999, True), (0.499, False), (0.6, True)])
def test_averages_are_in_the_steps_of_the_operand(scale: float, same: bool) -> None:
    pool: Any = {**NONE, "padding": "VALID"} | dict.fromkeys(
        ("filter_height", "filter_width", "stride_h", "stride_w"), 1
    )
    texts, left = became(lambda x: q(op("average_pool_2d", x, **pool), Uniform((scale,), (0,))), X, shape=(1, 2, 2, 1))
    assert len(left) == (not same)
    assert ("dequantize" not in texts[0]) == same


WEIGHTS = [[1.0, -2], [4, 63.5]]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: dense(x, pair(WEIGHTS)), "fully_connected(x@0.5, [[2, -4], [8, 127]]@0.5)"),
        (
            lambda x: dense(x, pair(WEIGHTS), c([1.0, -0.6])),
            "fully_connected(x@0.5, [[2, -4], [8, 127]]@0.5, [4, -2]@0.25 i32)",
        ),
        (
            lambda x: dense(x, pair([[1.0, -2], [1, 2]], CHANNELS), c([0.5, 0.5])),
            "fully_connected(x@0.5, [[2, -4], [4, 8]]@0.5|0.25, [2, 4]@0.25|0.125 i32)",
        ),
        (lambda x: dense(x, pair([[3.5, -4]])), "fully_connected(x@0.5, [[7, -8]]@0.5 i4)"),
        (lambda x: dense(x, pair([[4.0, -4]])), "fully_connected(x@0.5, [[8, -8]]@0.5)"),
        (lambda x: dense(x, pair([[3.5, -4.5]])), "fully_connected(x@0.5, [[7, -9]]@0.5)"),
    ],
)
def test_products(build: Build, expected: str) -> None:
    assert one(lambda x: q(build(x)), X, shape=(1, 2)) == f"{expected}@2:3"


def test_weights_of_convolutions_stay_int8() -> None:
    conv: Any = {**NONE, "padding": "VALID"} | dict.fromkeys(
        ("dilation_h_factor", "dilation_w_factor", "stride_h", "stride_w"), 1
    )
    w = np.ones((1, 1, 1, 1))
    text = one(lambda x: q(op("conv_2d", x, pair(w), c([0.5]), shape=(1, 1, 1, 1), **conv)), X, shape=(1, 1, 1, 1))
    assert text == "conv_2d(x@0.5, [[[[2]]]]@0.5, [2]@0.25 i32)@2:3"
    assert one(lambda x: q(dense(x, pair([[1.0, 2]]))), X, shape=(1, 2), int4=False).endswith("[[2, 4]]@0.5)@2:3")


def test_the_operands_of_transposed_convolutions() -> None:
    def build(x: V) -> V:
        operands = [c([1, 1, 1, 1], np.int32), pair(np.ones((1, 1, 1, 1))), x, c([0.5])]
        return q(op("transpose_conv", *operands, shape=(1, 1, 1, 1), padding="VALID", stride_h=1, stride_w=1, **NONE))

    assert one(build, X, shape=(1, 1, 1, 1)) == "transpose_conv([1, 1, 1, 1], [[[[2]]]]@0.5, x@0.5, [2]@0.25 i32)@2:3"


def test_biases_beyond_int32() -> None:
    """The least and the largest integers are in; a step beyond, and what is no number, is not."""
    uniform = Uniform((1.0,), (0,))
    ends: Any = np.array([-(2.0**31), 2**31 - 1])
    assert quantized_bias(ends, 1.0, uniform)[0].tolist() == [-(2**31), 2**31 - 1]
    for beyond in ([-1, 0], [0, 1], [np.nan, 0]):
        with pytest.raises(NotCovered, match="too large for int32"):
            quantized_bias(ends + beyond, 1.0, uniform)


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (lambda x, y: q(dense(x, c(WEIGHTS))), "its weights have no fake quantization"),
        (lambda x, y: q(dense(x, y)), "its weights are not constant"),
        (
            lambda x, y: q(dense(x, pair(WEIGHTS, Uniform((0.5,), (1,))))),
            "its weights need a zero point, which int8 kernels do not take",
        ),
        (
            lambda x, y: q(dense(x, pair(WEIGHTS), op("reshape", y, c([4], np.int32), shape=[4]))),
            "its bias is not constant",
        ),
        (lambda x, y: dense(x, pair(WEIGHTS)), "its result has no fake quantization"),
        (lambda x, y: both(q, dense(x, pair(WEIGHTS))), "its result is used without fake quantization, too"),
        (
            lambda x, y: q(dense(x, pair(WEIGHTS)), Uniform((0.5, 0.25), (0, 0), 1)),
            "its result is used without fake quantization, too",
        ),
        (
            lambda x, y: q(dense(x, pair(WEIGHTS)), Uniform((0.5,), (0,), None, 4)),
            "its result is used without fake quantization, too",
        ),
    ],
)
def test_products_that_stay_in_floats(build: Build, why: str) -> None:
    assert reason(build, X, X, shape=(2, 2)) == ("FULLY_CONNECTED", why)


def test_clipping_keeps_the_scale_of_its_operand() -> None:
    assert one(lambda x: op("relu", x), Y) == "dequantize(relu(x@2:3)@2:3)"
    assert one(lambda x: op("relu", x), X) == "dequantize(relu(x@0.5)@0.5)"


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: op("add", x, c([2.5, 2.5]), **NONE), "add(x@0.5, [127, 127]@0.019685)@2:3"),
        (lambda x: op("sub", x, c(-2.5), **NONE), "sub(x@0.5, -127@0.019685)@2:3"),
        (lambda x: op("mul", x, c([0.0, 0]), **NONE), "mul(x@0.5, [0, 0]@1)@2:3"),
        (lambda x: op("add", x, c([1.0, 2]), **NONE), "add(x@0.5, [0, 127]@0.00784314:-128)@2:3"),
        (lambda x: op("add", x, c([-1.0, -2]), **NONE), "add(x@0.5, [-1, -128]@0.00784314:127)@2:3"),
        (lambda x: op("add", x, c([-255.0, 255]), **NONE), "add(x@0.5, [-128, 127]@2)@2:3"),
        (lambda x: op("add", x, pair([1.0, 2], Uniform((1.0,), (5,))), **NONE), "add(x@0.5, [6, 7]@1:5)@2:3"),
        (lambda x: op("mul", x, c([0.0, 2 * 255 / 64]), **NONE), "mul(x@0.5, [-128, 127]@0.03125:-128)@2:3"),
        (lambda x: op("mean", x, c([0], np.int32), shape=[], keep_dims=False), "mean(x@0.5, [0])@2:3"),
    ],
)
def test_rescaled_operands(build: Build, expected: str) -> None:
    assert one(lambda x: q(build(x)), X) == expected


@pytest.mark.parametrize("operation", ["add", "mul"])
def test_constants_in_steps_larger_than_those_of_the_result(operation: str) -> None:
    """A product's are as much larger as its factor, at most 64 here."""
    largest = {"add": 2 * 255, "mul": 2 * 255 / 64}[operation]
    assert one(lambda x: q(op(operation, x, c([0.0, -largest]), **NONE)), X)
    why = "a constant operand has no fake quantization, and needs more than 8 bits"
    assert reason(lambda x: q(op(operation, x, c([0.0, largest * 1.001]), **NONE)), X) == (operation.upper(), why)


def scaled(x: V, operation: str, factor: Any, weights: Any, bias: Any = None, **attributes: Any) -> V:
    product = dense(x, weights, None if bias is None else c(bias), **attributes)
    shape = ir.ShapedType(product.type).shape
    return q(op(operation, product, factor if isinstance(factor, ir.Value) else c(factor), shape=shape, **NONE))


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: scaled(x, "mul", [2.0, -4], pair(WEIGHTS)), "[[2, -4], [-8, -127]]@1|2"),
        (
            lambda x: scaled(x, "mul", [2.0, -4], pair(WEIGHTS), [1.0, 3]),
            "[[2, -4], [-8, -127]]@1|2, [4, -12]@0.5|1 i32",
        ),
        (lambda x: scaled(x, "mul", 2.0, pair(WEIGHTS), [1.0, 3]), "[[2, -4], [8, 127]]@1, [4, 12]@0.5 i32"),
        (lambda x: scaled(x, "add", [2.0, -4], pair(WEIGHTS)), "[[2, -4], [8, 127]]@0.5, [8, -16]@0.25 i32"),
        (lambda x: scaled(x, "sub", [2.0, -4], pair(WEIGHTS), [1.0, 1]), "[[2, -4], [8, 127]]@0.5, [-4, 20]@0.25 i32"),
    ],
)
def test_factors_and_addends_of_products(build: Build, expected: str) -> None:
    bias = "" if "i32" in expected else ", [0, 0]@0.5|1 i32"
    assert one(build, X, shape=(2, 2)) == f"fully_connected(x@0.5, {expected}{bias})@2:3"


@pytest.mark.parametrize(
    "build",
    [
        lambda x: scaled(x, "mul", [2.0, 0], pair(WEIGHTS)),
        lambda x: scaled(x, "mul", [2.0, -4], pair([[1, 2], [-64, 1]])),  # there is no 128
        lambda x: scaled(x, "mul", [[2.0], [4]], pair(WEIGHTS)),  # of other rows
        lambda x: scaled(x, "mul", np.ones((2, 2)), pair(WEIGHTS)),
        lambda x: scaled(x, "mul", x, pair(WEIGHTS)),
        lambda x: scaled(x, "mul", [2.0, 4], pair(WEIGHTS), fused_activation_function="RELU"),
        lambda x: scaled(x, "mul", [2.0, 4], c(WEIGHTS)),
        lambda x: scaled(x, "mul", [2.0, 4], pair(WEIGHTS, Uniform((0.5,), (1,)))),
        lambda x: scaled(x, "mul", [2.0, 4], pair(WEIGHTS, Uniform((0.5, 0.25), (0, 0), 1))),
        lambda x: scaled(x, "maximum", [2.0, 4], pair(WEIGHTS)),
    ],
)
def test_other_factors_are_ops(build: Build) -> None:
    (text,), _ = became(build, X, shape=(2, 2))
    assert "fully_connected(" in text.removeprefix("fully_connected(")


def test_a_product_with_two_uses_has_no_factor() -> None:
    def build(x: V) -> list[V]:
        product = dense(x, pair(WEIGHTS))
        return [q(product), q(op("mul", product, c([2.0, 4]), **NONE))]

    texts, _ = became(build, X, shape=(2, 2))
    assert texts[1].startswith("quantize(mul(fully_connected(")


def test_constants_of_float_ops_are_stored_in_integers() -> None:
    """In one step or one for each channel, as they are; those of QUANTIZE and of results have their own forms."""
    stored = "dequantize([[2, -4], [8, 127]]@0.5)"
    texts, _ = became(lambda: [op("sin", pair(WEIGHTS)), op("cos", pair(WEIGHTS))])
    assert texts == [f"sin({stored})", f"cos({stored})"]
    assert became(lambda: op("sin", pair([[1.0, -2], [1, 2]], CHANNELS)))[0] == [
        "sin(dequantize([[2, -4], [4, 8]]@0.5|0.25))"
    ]
    last = Uniform((0.5, 0.25), (0, 0), 1)
    assert became(lambda: op("sin", pair([[1.0, -2], [1, 2]], last)))[0] == [
        "sin(dequantize([[2, -8], [2, 8]]@0.5|0.25))"
    ]
    assert one(lambda: pair([0.6, -0.6])) == "[0.5, -0.5]"
    assert one(lambda: c([0.6])) == "[0.6000000238418579]"
    assert one(lambda: q(c([0.6, -300]), X)) == "[1, -128]@0.5"


ZERO, LOW = Uniform((1.0,), (-128,)), Uniform((1.0,), (-127,))  # the least number is 0, or -1


def reshaped(x: V, *shape: int) -> V:
    return op("reshape", x, c(shape, np.int32), shape=shape)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: q(reshaped(x, 1, 2)), "reshape(quantize(x)@2:3, [1, 2])@2:3"),
        (
            lambda x: q(op("concatenation", x, c([1.0]), shape=[3], axis=0, **NONE)),
            "concatenation(quantize(x)@2:3, [3]@2:3)@2:3",
        ),
        (lambda x: q(op("sin", reshaped(x, 1, 2))), "quantize(sin(reshape(x, [1, 2])))@2:3"),
        (lambda x: both(q, reshaped(x, 1, 2)), "quantize(reshape(x, [1, 2]))@2:3"),
        (lambda x: q(reshaped(x, 2), CHANNELS), "quantize(reshape(x, [2]))@0.5|0.25"),
        (lambda x: q(op("relu", x), ZERO), "quantize(x)@1:-128"),
        (lambda x: q(op("relu", reshaped(x, 2)), LOW), "quantize(relu(reshape(x, [2])))@1:-127"),
        (lambda x: q(op("relu", x), LOW), "relu(quantize(x)@1:-127)@1:-127"),  # of an input
        (lambda x: q(op("relu6", x), Uniform((6 / 255,), (-128,))), "quantize(x)@0.0235294:-128"),
        (lambda x: q(op("maximum", x, c(0.4)), ZERO), "quantize(x)@1:-128"),
        (lambda x: q(op("maximum", c(0.4), x, shape=[2]), ZERO), "quantize(x)@1:-128"),
        (lambda x: q(op("maximum", x, c(0.5)), ZERO), "quantize(x)@1:-128"),
        (
            lambda x: q(op("maximum", x, c(0.6)), ZERO),
            "maximum(quantize(x)@1:-128, -127@1:-128)@1:-128",
        ),
        (lambda x: q(op("minimum", x, c(254.5)), ZERO), "quantize(x)@1:-128"),
        (
            lambda x: q(op("minimum", x, c(254.4)), ZERO),
            "minimum(quantize(x)@1:-128, 126@1:-128)@1:-128",
        ),
        (
            lambda x: q(op("maximum", x, c([0.4, 0.4])), ZERO),
            "maximum(quantize(x)@1:-128, [-128, -128]@1:-128)@1:-128",
        ),
        (
            lambda x: q(op("maximum", x, c([[0.0], [0]]), shape=[2, 2]), ZERO),
            "maximum(quantize(x)@1:-128, [[-128], [-128]]@1:-128)@1:-128",
        ),
        (
            lambda x: q(op("maximum", x, c([[0.0]]), shape=[1, 2]), ZERO),
            "maximum(quantize(x)@1:-128, [[-128]]@1:-128)@1:-128",
        ),
    ],
)
def test_quantize_moves_up(build: Build, expected: str) -> None:
    (text, *_), _ = became(build, None)
    assert text == expected


def test_quantize_does_not_move_above_what_keeps_its_own_scale() -> None:
    assert one(lambda x: q(reshaped(x, 1, 2)), X) == "quantize(reshape(x@0.5, [1, 2])@0.5)@2:3"
    joined = one(lambda x, y: q(op("concatenation", x, y, shape=[4], axis=0, **NONE)), X, Y)
    assert joined == "concatenation(quantize(x@0.5)@2:3, x1@2:3)@2:3"


def test_inputs_and_outputs() -> None:
    def build(x: V, y: V, z: V) -> list[V]:
        return [d(q(reshaped(x, 1, 2))), op("sin", y), d(q(y)), pair([1.0]), z, q(d(q(z, X)))]

    boundary = IntegerBoundary(["main"])
    assert became(build, None, None, None, then=[boundary])[0] == [
        "reshape(x@2:3, [1, 2])@2:3",
        "sin(x1)",
        "quantize(x1)@2:3",
        "[1.0]",
        "x2",
        "quantize(quantize(x2)@0.5)@2:3",
    ]
    assert became(lambda x: (q(x), q(x)), None, then=[boundary])[0] == ["x@2:3", "x@2:3"]
    assert became(lambda x: (q(x), q(x, X)), None, then=[boundary])[0] == ["quantize(x)@2:3", "quantize(x)@0.5"]
