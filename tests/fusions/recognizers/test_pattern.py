from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pytest

from litefuse.fusions.recognizers.matching import Match, Mismatch, match
from litefuse.fusions.recognizers.pattern import (
    Function,
    Pattern,
    Variable,
    concat,
    erf,
    matmul,
    one_of,
    op,
    parts,
    rows,
    sigmoid,
    tanh,
)
from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import ir, mlir_context

_BINARY = "(tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>"
_MASKS = ", ".join(f"{name}_mask = 0 : i64" for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis"))
_SLICE = "(tensor<8xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xf32>"
_UNARY = "(tensor<2x4xf32>) -> tensor<2x4xf32>"


def found(formula: Sequence[Pattern], body: str) -> dict[str, int | str] | str:
    """The argument, or the op, that each variable of the formula is; or what did not match.

    Args:
        formula: The results of the formula.
        body: The ops of a function of %a, %b, %c ``[2, 4]``, %w ``[4, 8]`` and %v ``[8]``, and its return.
    """
    body = textwrap.dedent(body).replace("BINARY", _BINARY).replace("UNARY", _UNARY)
    body = body.replace("_MASKS", _MASKS).replace("_SLICE", _SLICE)
    arguments = "%a: tensor<2x4xf32>, %b: tensor<2x4xf32>, %c: tensor<2x4xf32>, %w: tensor<4x8xf32>, %v: tensor<8xf32>"
    results = body.rsplit(":", 1)[1].strip()
    with mlir_context():
        module = ir.Module.parse(f"func.func @f({arguments}) -> ({results}) {{\n{body}\n}}")
        returned = list(functions(module)["f"].entry_block.operations)[-1].operands
        result = match(formula, list(returned))
        return str(result) if isinstance(result, Mismatch) else _values(result)


def _values(result: Match) -> dict[str, int | str]:
    values: dict[str, int | str] = {}
    for pattern, value in result.values.items():
        if isinstance(pattern, Variable):
            owner = value.owner
            is_argument = isinstance(owner, ir.Block)
            values[str(pattern)] = ir.BlockArgument(value).arg_number if is_argument else owner.name
    return values


def gated() -> Pattern:
    a, b, c = Variable("a"), Variable("b"), Variable("c")
    return sigmoid(a) * tanh(b) + tanh(c)


@pytest.mark.parametrize("swapped", ["", "product", "sum", "both"])
def test_products_and_sums_match_in_any_order(swapped: str) -> None:
    first, second = ("%2, %1" if swapped in {"product", "both"} else "%1, %2"), "%3, %4"
    if swapped in {"sum", "both"}:
        second = "%4, %3"
    body = f"""
        %1 = "tf.Sigmoid"(%b) : UNARY
        %2 = "tf.Tanh"(%c) : UNARY
        %3 = "tf.Mul"({first}) : BINARY
        %4 = "tf.Tanh"(%a) : UNARY
        %5 = "tf.Add"({second}) : BINARY
        %6 = "tf.Identity"(%5) : UNARY
        return %6 : tensor<2x4xf32>"""
    assert found([gated()], body) == {"a": 1, "b": 2, "c": 0}


def test_sums_match_with_any_brackets() -> None:
    body = """
        %1 = "tf.Tanh"(%a) : UNARY
        %2 = "tf.Sigmoid"(%b) : UNARY
        %3 = "tf.AddV2"(%2, %c) : BINARY
        %4 = "tf.Add"(%1, %3) : BINARY
        return %4 : tensor<2x4xf32>"""
    a, b, c = Variable("a"), Variable("b"), Variable("c")
    assert found([sigmoid(a) + b + tanh(c)], body) == {"a": 1, "b": 2, "c": 0}
    assert found([sigmoid(a) + b], body.replace("%1, %3", "%2, %3")) == {"a": 1, "b": "tf.AddV2"}
    assert found([sigmoid(a) + tanh(c)], body) == 'node loc("-":5:6) (AddV2) is not Sigmoid'


def test_squeezed_term_of_a_sum() -> None:
    body = """
        %0 = "tf.Const"() {value = dense<1.0> : tensor<1x4xf32>} : () -> tensor<1x4xf32>
        %1 = "tf.Tanh"(%0) : (tensor<1x4xf32>) -> tensor<1x4xf32>
        %2 = "tf.Squeeze"(%1) {squeeze_dims = []} : (tensor<1x4xf32>) -> tensor<4xf32>
        %3 = "tf.BiasAdd"(%a, %2) {data_format = "NHWC"} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
        return %3 : tensor<2x4xf32>"""
    x, y = Variable("x", lambda value: isinstance(value.owner, ir.Block)), Variable("y")
    assert found([x + tanh(y)], body) == {"x": 0, "y": "tf.Const"}
    assert "(Squeeze) is not Tanh" in str(found([x + tanh(y)], body.replace("1x4", "4x1")))


def test_parts() -> None:
    body = """
        %axis = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
        %m = "tf.MatMul"(%a, %w) {transpose_b = false} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
        %s:2 = "tf.Split"(%axis, %m) : (tensor<i32>, tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
        %1 = "tf.Tanh"(%s#0) : UNARY
        %2 = "tf.Sigmoid"(%s#1) : UNARY
        return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>"""
    x, weight = Variable("x"), Variable("weight")
    first, second = parts(matmul(x, weight), 2)
    assert found([tanh(first), sigmoid(second)], body) == {"x": 0, "weight": 3}
    assert "(Split) is not part 1 of 2" in str(found([tanh(second), sigmoid(first)], body))
    assert "(Split) is not part 0 of 2" in str(
        found([tanh(first), sigmoid(second)], body.replace("dense<-1>", "dense<0>"))
    )


def test_transposing_product_is_another_one() -> None:
    body = """
        %1 = "tf.MatMul"(%a, %b) {transpose_b = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
        return %1 : tensor<2x2xf32>"""
    assert "(MatMul) is not MatMul without transposition" in str(found([matmul(Variable("x"), Variable("y"))], body))


@pytest.mark.parametrize(("begin", "end", "index"), [(0, 4, 0), (4, 8, 1), (4, 9, 1), (-4, 8, 1), (3, 7, None)])
def test_slices_are_parts(begin: int, end: int, index: int | None) -> None:
    body = f"""
        %begin = "tf.Const"() {{value = dense<{begin}> : tensor<1xi32>}} : () -> tensor<1xi32>
        %end = "tf.Const"() {{value = dense<{end}> : tensor<1xi32>}} : () -> tensor<1xi32>
        %one = "tf.Const"() {{value = dense<1> : tensor<1xi32>}} : () -> tensor<1xi32>
        %1 = "tf.StridedSlice"(%v, %begin, %end, %one) {{_MASKS}} : _SLICE
        return %1 : tensor<4xf32>"""
    for position, part in enumerate(parts(Variable("bias"), 2)):
        result = found([part], body)
        assert result == {"bias": 4} if position == index else "(StridedSlice) is not part" in str(result)


def test_copies_are_not_seen() -> None:
    body = """
        %1 = "tf.OnesLike"(%a) : UNARY
        %2 = "tf.Mul"(%a, %1) : BINARY
        %3 = "tf.StopGradient"(%2) : UNARY
        %4 = "tf.Tanh"(%3) : UNARY
        return %4 : tensor<2x4xf32>"""
    x = Variable("x")
    assert found([tanh(x)], body) == {"x": 0}
    assert "(Mul) is not Sigmoid" in str(found([tanh(sigmoid(x))], body.replace("(%a, %1)", "(%b, %1)")))


def test_same_pattern_is_the_same_value() -> None:
    x = Variable("x")
    body = """
        %1 = "tf.Tanh"(%a) : UNARY
        %2 = "tf.Sigmoid"(%b) : UNARY
        %3 = "tf.Mul"(%1, %2) : BINARY
        return %3 : tensor<2x4xf32>"""
    assert found([tanh(x) * sigmoid(x)], body) == "argument 1 is not the same x as elsewhere"
    assert found([tanh(x) * sigmoid(x)], body.replace("%b", "%a")) == {"x": 0}


def test_the_attempt_that_got_furthest_is_told() -> None:
    body = """
        %1 = "tf.Sigmoid"(%b) : UNARY
        %2 = "tf.Relu"(%c) : UNARY
        %3 = "tf.Mul"(%2, %1) : BINARY
        %4 = "tf.Tanh"(%a) : UNARY
        %5 = "tf.Add"(%3, %4) : BINARY
        return %5 : tensor<2x4xf32>"""
    assert found([gated()], body) == 'node loc("-":4:6) (Relu) is not Tanh'


def test_numbers_and_products_of_several() -> None:
    body = """
        %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
        %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
        %root = "tf.Const"() {value = dense<1.41421354> : tensor<f32>} : () -> tensor<f32>
        %1 = "tf.RealDiv"(%a, %root) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
        %2 = "tf.Erf"(%1) : UNARY
        %3 = "tf.AddV2"(%2, %one) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
        %4 = "tf.Mul"(%half, %3) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
        %5 = "tf.Mul"(%4, %a) : BINARY
        return %5 : tensor<2x4xf32>"""
    x = Variable("x")
    assert found([0.5 * x * (1 + erf(x / 2**0.5))], body) == {"x": 0}
    assert "is not 0.25" in str(found([0.25 * x * (1 + erf(x / 2**0.5))], body))
    assert found([0.5 * x * (1 + erf(x / 2**0.5))], body.replace("(%4, %a)", "(%4, %b)")) != {"x": 0}


def test_one_of_and_other_ops_with_attributes() -> None:
    body = """
        %1 = "tf.LeakyRelu"(%a) {alpha = 0.5 : f32} : UNARY
        return %1 : tensor<2x4xf32>"""
    x = Variable("x")
    assert found([one_of(tanh(x), op("LeakyRelu", x, alpha=0.5))], body) == {"x": 0}
    assert "is not LeakyRelu with alpha=0.25" in str(found([op("LeakyRelu", x, alpha=0.25)], body))


def test_a_function_is_the_same_wherever_it_stands() -> None:
    body = """
        %three = "tf.Const"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
        %1 = "tf.AddV2"(%a, %three) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
        %2 = "tf.Relu6"(%1) : UNARY
        %3 = "tf.AddV2"(%three, %b) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
        %4 = "tf.Relu6"(%3) : UNARY
        %5 = "tf.Mul"(%2, %4) : BINARY
        return %5 : tensor<2x4xf32>"""
    f = Function("the activation")
    x = Variable("x", lambda value: isinstance(value.owner, ir.Block))
    y = Variable("y", lambda value: isinstance(value.owner, ir.Block))
    assert found([f(x) * f(y)], body) == {"x": 0, "y": 1}
    assert isinstance(found([f(x) * f(y)], body.replace('"tf.Relu6"(%3)', '"tf.Relu"(%3)')), str)


def test_concatenations_and_rows() -> None:
    body = """
        %axis = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
        %1 = "tf.ConcatV2"(%a, %b, %axis) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<2x8xf32>
        %2:2 = "tf.Unpack"(%c) {axis = 0 : i64} : (tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
        %3 = "tf.Tanh"(%2#1) : (tensor<4xf32>) -> tensor<4xf32>
        return %1, %3 : tensor<2x8xf32>, tensor<4xf32>"""
    x, h, biases = Variable("x"), Variable("h"), Variable("biases")
    first, second = rows(biases, 2)
    assert found([concat([x, h]), tanh(second)], body) == {"x": 0, "h": 1, "biases": 2}
    assert "(Unpack) is not row 0 of 2" in str(found([concat([x, h]), tanh(first)], body))
    assert "(ConcatV2) is not ConcatV2 along the last axis" in str(
        found([concat([x, h])], body.replace("value = dense<1>", "value = dense<0>"))
    )
