"""Formulas for the sizes of what ops compute."""

from __future__ import annotations

import pytest

from litefuse.ir.call_graph import functions, operations
from litefuse.ir.mlir import ir, mlir_context
from litefuse.tensor_lists.size_rules import NUMBERS, RULES
from litefuse.tensor_lists.sizes import Arithmetic, Broadcast, Number, Size, SizeOf, Sizes, Unknown

_SIGNS = {"AddV2": "+", "Sub": "-", "Mul": "*", "FloorDiv": "/"}


def _no_copies(value: ir.Value, call: ir.OpView) -> ir.Value:
    raise Unknown("no loops here")


def _text(size: Size) -> str:
    """``x0`` is dimension 0 of the argument x, ``n`` the scalar n, ``p[1]`` an element of the vector p."""
    match size:
        case int():
            return str(size)
        case SizeOf(value, axis):
            return f"{_name(value)}{axis}"
        case Number(value, index):
            return _name(value) if index is None else f"{_name(value)}[{index}]"
        case Arithmetic(name, a, b):
            return f"({_text(a)} {_SIGNS[name]} {_text(b)})"
        case Broadcast(_, sizes):
            return " | ".join(map(_text, sizes))


def _name(value: ir.Value) -> str:
    if isinstance(value.owner, ir.Block):
        return "xynp"[ir.BlockArgument(value).arg_number]
    return f"<{value.owner.name}>"


# Ops of x: [?, ?, 3], y: [?, 3], the scalar n and the vector p of two integers. The last one's sizes are asked for.
_CASES = [
    ('"tf.Tanh"(%x) : (tensor<?x?x3xf32>) -> tensor<?x?x3xf32>', "x0 x1 3"),
    ('"tf.AddV2"(%x, %y) : (tensor<?x?x3xf32>, tensor<?x3xf32>) -> tensor<?x?x3xf32>', "x0 x1 | y0 3"),
    ('"tf.AddV2"(%x, %x) : (tensor<?x?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x?xf32>', "x0 x1 3"),
    (
        (
            '"tf.MatMul"(%y, %y) {transpose_a = true, transpose_b = false} : (tensor<?x3xf32>, tensor<?x3xf32>) '
            "-> tensor<?x?xf32>"
        ),
        "3 3",
    ),
    (
        (
            '"tf.MatMul"(%y, %y) {transpose_a = false, transpose_b = true} : (tensor<?x3xf32>, tensor<?x3xf32>) '
            "-> tensor<?x?xf32>"
        ),
        "y0 y0",
    ),
    (
        (
            '"tf.BatchMatMulV2"(%x, %y) {adj_x = false, adj_y = true} : (tensor<?x?x3xf32>, tensor<?x3xf32>) -> '
            "tensor<?x?x?xf32>"
        ),
        "x0 x1 y0",
    ),
    (
        '"tf.Einsum"(%x, %y) {equation = "abc,dc->dab"} : (tensor<?x?x3xf32>, tensor<?x3xf32>) -> tensor<?x?x?xf32>',
        "y0 x0 x1",
    ),
    ('"tf.Transpose"(%x, %120) : (tensor<?x?x3xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>', "x1 3 x0"),
    ('"tf.ExpandDims"(%y, %m1) : (tensor<?x3xf32>, tensor<i32>) -> tensor<?x?x?xf32>', "y0 3 1"),
    ('"tf.Pack"(%y, %y) {axis = 1 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x?x?xf32>', "y0 2 3"),
    (
        '"tf.ConcatV2"(%x, %x, %one) : (tensor<?x?x3xf32>, tensor<?x?x3xf32>, tensor<i32>) -> tensor<?x?x3xf32>',
        "x0 (x1 + x1) 3",
    ),
    (
        '"tf.Split"(%one, %x) : (tensor<i32>, tensor<?x?x3xf32>) -> (tensor<?x?x3xf32>, tensor<?x?x3xf32>)',
        "x0 (x1 / 2) 3",
    ),
    ('"tf.Sum"(%x, %one) {keep_dims = false} : (tensor<?x?x3xf32>, tensor<i32>) -> tensor<?x?xf32>', "x0 3"),
    ('"tf.Sum"(%x, %one) {keep_dims = true} : (tensor<?x?x3xf32>, tensor<i32>) -> tensor<?x?x?xf32>', "x0 1 3"),
    (
        (
            '"tf.GatherV2"(%x, %p, %one) {batch_dims = 0 : i64} : (tensor<?x?x3xf32>, tensor<2xi32>, '
            "tensor<i32>) -> tensor<?x?x?xf32>"
        ),
        "x0 2 3",
    ),
    ('"tf.Pad"(%y, %pads) : (tensor<?x3xf32>, tensor<2x2xi32>) -> tensor<?x?xf32>', "(y0 + 3) 3"),
    ('"tf.Tile"(%y, %p) : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>', "(y0 * p[0]) (3 * p[1])"),
    ('"tf.Fill"(%p, %zero) : (tensor<2xi32>, tensor<f32>) -> tensor<?x?xf32>', "p[0] p[1]"),
    ('"tf.Reshape"(%x, %m13) : (tensor<?x?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>', "(x0 * x1) 3"),
    (
        '"tf.Squeeze"(%x) {squeeze_dims = [1]} : (tensor<?x?x3xf32>) -> tensor<?x?xf32>',
        "x0 3",
    ),
    (
        (
            '"tf.StridedSlice"(%x, %n1, %n2, %n3) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : '
            "i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<?x?x3xf32>, tensor<1xi32>, "
            "tensor<1xi32>, tensor<1xi32>) -> tensor<?x?xf32>"
        ),
        "x1 3",
    ),
    (
        (
            '"tf.StridedSlice"(%x, %n1, %n2, %n3) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : '
            "i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<?x?x3xf32>, tensor<1xi32>, "
            "tensor<1xi32>, tensor<1xi32>) -> tensor<?x?x?xf32>"
        ),
        "<tf.StridedSlice>0 x1 3",
    ),
    (
        (
            '"tf.Conv2D"(%image, %kernel) {strides = [1, 2, 1, 1], padding = "VALID", data_format = "NHWC", '
            "dilations = [1, 1, 1, 1]} : (tensor<?x?x?x2xf32>, tensor<3x3x2x4xf32>) -> tensor<?x?x?x4xf32>"
        ),
        "x0 ((x1 + -1) / 2) 1 4",
    ),
    ('"tf.MatrixInverse"(%x) : (tensor<?x?x3xf32>) -> tensor<?x?x3xf32>', "<tf.MatrixInverse>0 <tf.MatrixInverse>1 3"),
]


@pytest.mark.parametrize(("op", "expected"), _CASES, ids=lambda text: text.split("(")[0].strip('"'))
def test_sizes_of_results(op: str, expected: str) -> None:
    count = ":2" if op.startswith('"tf.Split"') else ""
    text = f"""
    func.func @main(%x: tensor<?x?x3xf32>, %y: tensor<?x3xf32>, %n: tensor<i32>, %p: tensor<2xi32>) {{
      %120 = "tf.Const"() {{value = dense<[1, 2, 0]> : tensor<3xi32>}} : () -> tensor<3xi32>
      %m1 = "tf.Const"() {{value = dense<-1> : tensor<i32>}} : () -> tensor<i32>
      %one = "tf.Const"() {{value = dense<1> : tensor<i32>}} : () -> tensor<i32>
      %zero = "tf.Const"() {{value = dense<0.0> : tensor<f32>}} : () -> tensor<f32>
      %pads = "tf.Const"() {{value = dense<[[1, 2], [0, 0]]> : tensor<2x2xi32>}} : () -> tensor<2x2xi32>
      %m13 = "tf.Const"() {{value = dense<[-1, 3]> : tensor<2xi32>}} : () -> tensor<2xi32>
      %n1 = "tf.Const"() {{value = dense<[0]> : tensor<1xi32>}} : () -> tensor<1xi32>
      %n2 = "tf.Const"() {{value = dense<[1]> : tensor<1xi32>}} : () -> tensor<1xi32>
      %n3 = "tf.Const"() {{value = dense<[1]> : tensor<1xi32>}} : () -> tensor<1xi32>
      %kernel = "tf.Const"() {{value = dense<0.0> : tensor<3x3x2x4xf32>}} : () -> tensor<3x3x2x4xf32>
      %two = "tf.Const"() {{value = dense<[-1]> : tensor<1xi32>}} : () -> tensor<1xi32>
      %first = "tf.Const"() {{value = dense<0> : tensor<i32>}} : () -> tensor<i32>
      %shape = "tf.Shape"(%x) : (tensor<?x?x3xf32>) -> tensor<3xi32>
      %dims = "tf.ConcatV2"(%shape, %two, %first) : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      %image = "tf.Reshape"(%x, %dims) : (tensor<?x?x3xf32>, tensor<4xi32>) -> tensor<?x?x?x2xf32>
      %result{count} = {op}
      return
    }}
    """
    with mlir_context():
        module = ir.Module.parse(text)
        by_symbol = functions(module)
        result = list(operations(by_symbol["main"]))[-2].results[0]
        sizes = Sizes(by_symbol, RULES, NUMBERS, {}, _no_copies)
        found = [_text(sizes.size(result, axis)) for axis in range(ir.ShapedType(result.type).rank)]
        assert " ".join(found) == expected
