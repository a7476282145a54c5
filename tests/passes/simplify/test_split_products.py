# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false
"""Products that split a dimension or sum over two: the same numbers before and after, and no computed shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.ir.attributes import attribute_value
from litefuse.ir.call_graph import functions, operations
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import run_passes
from litefuse.passes.simplify.simplify import Simplify

PRODUCT = "{adj_x = false, adj_y = false}"


def const(name: str, *shape: int) -> str:
    values = np.random.default_rng(0).integers(-9, 10, shape).astype(np.float32)
    return literal(name, str(values.tolist()), f"{'x'.join(map(str, (*shape, 'f32')))}")


def literal(name: str, values: str, kind: str) -> str:
    return f'%{name} = "tf.Const"() {{value = dense<{values}> : tensor<{kind}>}} : () -> tensor<{kind}>\n'


def shape_of(value: str, kind: str, *tail: int) -> str:
    """``%to``: the first two sizes of a value, and then these."""
    masks = ", ".join(f"{mask}_mask = 0 : i64" for mask in ("begin", "end", "ellipsis", "new_axis", "shrink_axis"))
    rank, count = kind.count("x"), len(tail)
    one = "tensor<1xi32>"
    return (
        literal("zero", "0", "1xi32")
        + literal("two", "2", "1xi32")
        + literal("one", "1", "1xi32")
        + literal("axis", "0", "i32")
        + literal("tail", str(list(tail)), f"{count}xi32")
        + f'%s = "tf.Shape"({value}) : (tensor<{kind}>) -> tensor<{rank}xi32>\n'
        + f'%n = "tf.StridedSlice"(%s, %zero, %two, %one) {{{masks}}} : '
        + f"(tensor<{rank}xi32>, {one}, {one}, {one}) -> tensor<2xi32>\n"
        + '%to = "tf.ConcatV2"(%n, %tail, %axis) : '
        + f"(tensor<2xi32>, tensor<{count}xi32>, tensor<i32>) -> tensor<{2 + count}xi32>\n"
    )


ORDER = literal("order", "[0, 2, 1, 3]", "4xi32")
TRANSPOSED = '%y = "tf.Transpose"(%r, %order) : (tensor<?x?x2x3xf32>, tensor<4xi32>) -> tensor<?x2x?x3xf32>\n'
X3, X4, Y3, Y4 = "?x?x4xf32", "?x2x?x3xf32", "?x?x5xf32", "?x2x?x3xf32"

SPLIT_BY_EINSUM = (
    const("w", 4, 2, 3)
    + const("b", 2, 3)
    + '%p = "tf.Einsum"(%x, %w) {equation = "abc,cde->abde"} : (tensor<?x?x4xf32>, tensor<4x2x3xf32>) '
    "-> tensor<?x?x2x3xf32>\n"
    '%r = "tf.AddV2"(%p, %b) : (tensor<?x?x2x3xf32>, tensor<2x3xf32>) -> tensor<?x?x2x3xf32>\n' + ORDER + TRANSPOSED
)
SPLIT_BY_RESHAPE = (
    const("w", 6, 4)
    + const("b", 6)
    + const("scale")
    + '%p = "tf.BatchMatMulV2"(%x, %w) {adj_x = false, adj_y = true} : (tensor<?x?x4xf32>, tensor<6x4xf32>) '
    "-> tensor<?x?x6xf32>\n"
    '%q = "tf.Mul"(%scale, %p) : (tensor<f32>, tensor<?x?x6xf32>) -> tensor<?x?x6xf32>\n'
    '%u = "tf.AddV2"(%q, %b) : (tensor<?x?x6xf32>, tensor<6xf32>) -> tensor<?x?x6xf32>\n'
    + shape_of("%x", X3, 2, 3)
    + '%r = "tf.Reshape"(%u, %to) : (tensor<?x?x6xf32>, tensor<4xi32>) -> tensor<?x?x2x3xf32>\n'
    + ORDER
    + TRANSPOSED
)
HEADS = ORDER + '%t = "tf.Transpose"(%x, %order) : (tensor<?x2x?x3xf32>, tensor<4xi32>) -> tensor<?x?x2x3xf32>\n'
MERGE_BY_EINSUM = (
    HEADS
    + const("w", 3, 2, 5)
    + const("b", 5)
    + '%p = "tf.Einsum"(%t, %w) {equation = "abcd,dce->abe"} : (tensor<?x?x2x3xf32>, tensor<3x2x5xf32>) '
    "-> tensor<?x?x5xf32>\n"
    '%r = "tf.BiasAdd"(%p, %b) {data_format = "NHWC"} : (tensor<?x?x5xf32>, tensor<5xf32>) -> tensor<?x?x5xf32>\n'
    '%y = "tf.Relu"(%r) : (tensor<?x?x5xf32>) -> tensor<?x?x5xf32>\n'
)
MERGE_BY_RESHAPE = (
    HEADS
    + const("w", 5, 6)
    + shape_of("%t", "?x?x2x3xf32", 6)
    + '%r = "tf.Reshape"(%t, %to) : (tensor<?x?x2x3xf32>, tensor<3xi32>) -> tensor<?x?x6xf32>\n'
    '%y = "tf.BatchMatMulV2"(%r, %w) {adj_x = false, adj_y = true} : (tensor<?x?x6xf32>, tensor<5x6xf32>) '
    "-> tensor<?x?x5xf32>\n"
)
MERGE_UNTRANSPOSED = (
    ORDER
    + const("w", 2, 3, 5)
    + '%y = "tf.Einsum"(%x, %w) {equation = "abcd,cde->abe"} : (tensor<?x?x2x3xf32>, tensor<2x3x5xf32>) '
    "-> tensor<?x?x5xf32>\n"
)

CASES = {
    "split by einsum": (SPLIT_BY_EINSUM, X3, Y4, {"BatchMatMulV2", "AddV2", "Transpose"}),
    "split by reshape": (SPLIT_BY_RESHAPE, X3, Y4, {"BatchMatMulV2", "AddV2", "Mul", "Transpose"}),
    "merge by einsum": (MERGE_BY_EINSUM, X4, Y3, {"Conv2D", "AddV2", "Relu", "Sum"}),
    "merge by reshape": (MERGE_BY_RESHAPE, X4, Y3, {"Conv2D", "Sum"}),
    "merge untransposed": (MERGE_UNTRANSPOSED, "?x?x2x3xf32", Y3, {"Conv2D", "Sum"}),
}


def function(body: str, argument: str, result: str) -> ir.Module:
    returned = f"return %y : tensor<{result}>"
    return ir.Module.parse(f"func.func @main(%x: tensor<{argument}>) -> tensor<{result}> {{\n{body}{returned}\n}}")


def inferred(module: ir.Module) -> ir.Module:
    """The first run moves what is done with the parts to before the split, the second one splits the product."""
    run_passes(module, [Simplify(), Simplify()])
    return module


def names(module: ir.Module) -> list[str]:
    """The ops on what the function is given."""
    (found,) = functions(module).values()
    known: set[ir.Value] = set(found.entry_block.arguments)
    used: list[str] = []
    for op in operations(found):
        if any(operand in known for operand in op.operands) and op.results:
            known.update(op.results)
            used.append(op.name.removeprefix("tf."))
    return used


def evaluate(module: ir.Module, x: Any) -> Any:
    """What the function computes, by numpy."""
    (found,) = functions(module).values()
    values: dict[ir.Value, Any] = {found.entry_block.arguments[0]: x}
    for op in operations(found):
        operands = [values[operand] for operand in op.operands]
        attributes = {name: attribute_value(op.attributes[name]) for name in op.attributes}
        if not op.results:
            return operands[0]
        values[op.results[0]] = KERNELS[op.name.removeprefix("tf.")](operands, attributes)
    raise AssertionError("it returns nothing")


def convolve(operands: list[Any], attributes: dict[str, Any]) -> Any:
    image, kernel = operands
    assert (attributes["strides"], attributes["padding"]) == ([1, 1, 1, 1], "VALID")
    rows, columns = kernel.shape[:2]
    windows = np.lib.stride_tricks.sliding_window_view(image, (rows, columns), (1, 2))
    return np.einsum("nhwcij,ijco->nhwo", windows, kernel)


def multiply(operands: list[Any], attributes: dict[str, Any]) -> Any:
    a, b = operands
    a = np.swapaxes(a, -1, -2) if attributes["adj_x"] else a
    return a @ (np.swapaxes(b, -1, -2) if attributes["adj_y"] else b)


KERNELS: dict[str, Any] = {
    "AddV2": lambda o, _: o[0] + o[1],
    "BatchMatMulV2": multiply,
    "BiasAdd": lambda o, _: o[0] + o[1],
    "ConcatV2": lambda o, _: np.concatenate(o[:-1], int(o[-1])),
    "Const": lambda _, a: np.array(a["value"]),
    "Conv2D": convolve,
    "Einsum": lambda o, a: np.einsum(a["equation"], *o),
    "Mul": lambda o, _: o[0] * o[1],
    "Pack": lambda o, _: np.stack(o),
    "Relu": lambda o, _: np.maximum(o[0], 0),
    "Reshape": lambda o, _: o[0].reshape(o[1]),
    "Shape": lambda o, _: np.array(o[0].shape, np.int32),
    "StridedSlice": lambda o, a: o[0][int(o[1][0])] if a["shrink_axis_mask"] else o[0][int(o[1][0]) : int(o[2][0])],
    "Sum": lambda o, a: np.sum(o[0], tuple(o[1]), keepdims=a["keep_dims"]),
    "Transpose": lambda o, _: np.transpose(o[0], o[1]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_numbers(case: str) -> None:
    """Small integers: sums in another order are the same."""
    body, argument, result, expected = CASES[case]
    with mlir_context():
        before, after = function(body, argument, result), inferred(function(body, argument, result))
        assert set(names(after)) == expected
        for batch, length in ((1, 5), (3, 2), (2, 1)):
            opened = iter((batch, length))
            shape = [next(opened) if size == "?" else int(size) for size in argument.split("x")[:-1]]
            x = np.random.default_rng(batch).integers(-9, 10, shape).astype(np.float32)
            np.testing.assert_array_equal(evaluate(after, x), evaluate(before, x))


def test_a_matrix_that_is_no_constant_stays() -> None:
    body = (
        '%m = "tf.Einsum"(%x, %x) {equation = "abc,abd->cd"} : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) '
        "-> tensor<4x4xf32>\n"
        f'%p = "tf.BatchMatMulV2"(%x, %m) {PRODUCT} : (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>\n'
        + shape_of("%x", X3, 2, 2)
        + '%r = "tf.Reshape"(%p, %to) : (tensor<?x?x4xf32>, tensor<4xi32>) -> tensor<?x?x2x2xf32>\n'
        + ORDER
        + TRANSPOSED.replace("x3x", "x2x")
    )
    with mlir_context():
        module = inferred(function(body, X3, "?x2x?x2xf32"))
        assert "Reshape" in names(module)
        x = np.random.default_rng(0).integers(-9, 10, (3, 2, 4)).astype(np.float32)
        np.testing.assert_array_equal(evaluate(module, x), evaluate(function(body, X3, "?x2x?x2xf32"), x))


@pytest.mark.parametrize("dtype", ["f64", "i32"])
def test_other_dtypes_are_not_convolved(dtype: str) -> None:
    body, argument, result = (part.replace("f32", dtype) for part in (MERGE_UNTRANSPOSED, "?x?x2x3xf32", Y3))
    body = body.replace(".0", "") if dtype == "i32" else body
    with mlir_context():
        assert "Conv2D" not in names(inferred(function(body, argument, result)))


def test_a_size_that_is_known_needs_none_of_it() -> None:
    with mlir_context():
        fixed = [part.replace("?x?", "?x7").replace("?x2x?", "?x2x7") for part in (MERGE_BY_EINSUM, X4, Y3)]
        assert "Conv2D" not in names(inferred(function(*fixed)))
