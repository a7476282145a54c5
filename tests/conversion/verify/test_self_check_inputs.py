# ruff: noqa: E501  (MLIR does not wrap)
"""Fusions that are wrong for a few values of their arguments only, or whose results do not change."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from litefuse.fusions.builder import Builder
from litefuse.fusions.composite import Composite
from litefuse.ir.mlir import ir
from tests.conversion.verify.test_self_check import fuse

_Rewrite = Callable[[Composite, Builder], Sequence[ir.Value]]


def lookup(rows: int, ids: str, result: str) -> str:
    """A composite that looks rows up in a table."""
    return f"""
func.func private @composite(%ids: tensor<{ids}xi32>, %table: tensor<{rows}x4xf32>) -> tensor<{result}x4xf32> attributes {{tf._implements = "composite"}} {{
  %axis = "tf.Const"() {{value = dense<0> : tensor<i32>}} : () -> tensor<i32>
  %0 = "tf.GatherV2"(%table, %ids, %axis) : (tensor<{rows}x4xf32>, tensor<{ids}xi32>, tensor<i32>) -> tensor<{result}x4xf32>
  return %0 : tensor<{result}x4xf32>
}}
"""


def gather(b: Builder, composite: Composite, ids: ir.Value) -> Sequence[ir.Value]:
    zero = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 0)
    return b.op("tfl.gather", [composite.args[1], ids], composite.result_types, {"axis": zero, "batch_dims": zero})


def right(composite: Composite, b: Builder) -> Sequence[ir.Value]:
    return gather(b, composite, composite.args[0])


def clipped(low: int, high: int) -> _Rewrite:
    def rewrite(composite: Composite, b: Builder) -> Sequence[ir.Value]:
        ids = composite.args[0]
        for name, limit in (("tfl.minimum", high), ("tfl.maximum", low)):
            (ids,) = b.op(name, [ids, b.constant(np.array(limit, np.int32))], [ids.type])
        return gather(b, composite, ids)

    return rewrite


def without(row: int) -> _Rewrite:
    """The row before it in place of one row."""

    def rewrite(composite: Composite, b: Builder) -> Sequence[ir.Value]:
        ids = composite.args[0]
        kind = ir.RankedTensorType(ids.type)
        truth = ir.RankedTensorType.get(kind.shape, ir.IntegerType.get_signless(1))
        (is_it,) = b.op("tfl.equal", [ids, b.constant(np.array(row, np.int32))], [truth])
        (one,) = b.op("tfl.cast", [is_it], [ids.type])
        none = {"fused_activation_function": ir.StringAttr.get("NONE")}
        return gather(b, composite, b.op("tfl.sub", [ids, one], [ids.type], none)[0])

    return rewrite


@pytest.mark.parametrize(("ids", "result"), [("?", "?"), ("?x?", "?x?"), ("2x64", "2x64"), ("3", "3")])
@pytest.mark.parametrize("rewrite", [clipped(0, 9), clipped(0, 29998), clipped(1, 29999)])
def test_ids_are_those_of_the_table(ids: str, result: str, rewrite: _Rewrite) -> None:
    text = lookup(30_000, ids, result)
    assert fuse(text, right).error == 0
    outcome = fuse(text, rewrite)
    assert outcome.kind == "inlined"
    assert outcome.reason is not None
    assert "it computes something else" in outcome.reason


@pytest.mark.parametrize("ids", ["?", "?x?", "2x64"])
@pytest.mark.parametrize("row", [1, 17_000, 29_999])
def test_every_row_is_picked(ids: str, row: int) -> None:
    assert fuse(lookup(30_000, ids, ids), without(row)).kind == "inlined"


@pytest.mark.parametrize("rewrite", [right, clipped(0, 9)])
def test_ids_that_no_table_has_are_given_unless_the_interface_takes_none(rewrite: _Rewrite) -> None:
    """The body makes zeros of them, and LiteRT's op refuses them."""
    text = """
func.func private @composite(%ids: tensor<?xi32>, %table: tensor<20x4xf32>) -> tensor<?x4xf32> attributes {tf._implements = "composite"} {
  %rows = "tf.Const"() {value = dense<20> : tensor<i32>} : () -> tensor<i32>
  %on = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %off = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.OneHot"(%ids, %rows, %on, %off) {axis = -1 : i64} : (tensor<?xi32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<?x20xf32>
  %1 = "tf.MatMul"(%0, %table) : (tensor<?x20xf32>, tensor<20x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
"""
    assert fuse(text, rewrite).kind == "inlined"
    assert fuse(text, rewrite, ids_in_range=True).kind == ("fused" if rewrite is right else "inlined")


def test_a_small_table_that_is_a_whole_number_of_calls() -> None:
    for row in range(1, 12):
        assert fuse(lookup(12, "", "").replace("<xi32", "<i32").replace("<x4", "<4"), without(row)).kind == "inlined"


def test_results_that_stand_still_are_not_checked() -> None:
    text = """
func.func private @composite(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {tf._implements = "composite"} {
  %small = "tf.Const"() {value = dense<1.0e-36> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.Tanh"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = "tf.Mul"(%0, %small) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
"""

    def nothing(composite: Composite, b: Builder) -> Sequence[ir.Value]:
        none = {"fused_activation_function": ir.StringAttr.get("NONE")}
        return b.op("tfl.sub", [composite.args[0], composite.args[0]], composite.result_types, none)

    outcome = fuse(text, nothing)
    assert outcome.error is None
    assert outcome.unchecked is not None
    assert "do not change" in outcome.unchecked
    assert "check_inputs" in outcome.unchecked


def test_results_that_move_with_large_numbers_are_checked() -> None:
    text = """
func.func private @composite(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {tf._implements = "composite"} {
  %far = "tf.Const"() {value = dense<40.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.Sub"(%x, %far) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %1 = "tf.Relu"(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
"""

    def nothing(composite: Composite, b: Builder) -> Sequence[ir.Value]:
        none = {"fused_activation_function": ir.StringAttr.get("NONE")}
        return b.op("tfl.sub", [composite.args[0], composite.args[0]], composite.result_types, none)

    assert fuse(text, nothing).kind == "inlined"
