# ruff: noqa: E501  (MLIR does not wrap)
"""Fusions that are right, slightly wrong, stateful or impossible, against their composites."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from litefuse.conversion.pipeline.lowering import Lowering, State
from litefuse.conversion.verify.self_check import self_check
from litefuse.frontends.saved_model import DataType, Table
from litefuse.fusions.builder import Builder
from litefuse.fusions.composite import Composite
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.fusions.composites.outcome import Outcome
from litefuse.fusions.fusion import Fusion
from litefuse.ir.mlir import ir, mlir_context
from litefuse.passes.weights import Weights

ABS = """
func.func private @composite(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {tf._implements = "composite"} {
  %0 = "tf.PartitionedCall"(%x) {f = @inner, config = "", config_proto = "", executor_type = ""} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func private @inner(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = "tf.Neg"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = "tf.Maximum"(%x, %0) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
"""


def fuse(
    text: str,
    rewrite: Callable[[Composite, Builder], Sequence[ir.Value]],
    tolerance: float = 1e-5,
    state: State | None = None,
    *,
    ids_in_range: bool = False,
) -> Outcome:
    """Fuses the composite of a module with conversion code, self-checked."""
    limit, in_range = tolerance, ids_in_range
    lowering = Lowering((), state, Weights(sys.maxsize)) if state is not None else None

    class Trial(Fusion):
        tolerance = limit
        ids_in_range = in_range

        def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
            return rewrite(composite, b)

    def trial(_: object) -> Fusion:
        return Trial()

    outcomes: list[Outcome] = []
    with mlir_context():
        module = ir.Module.parse(text)
        FuseComposites(outcomes, partial(self_check, lowering=lowering), trial).run(module)
        module.operation.verify()
        body = re.search(r"func private @composite.*?\n  }", str(module), re.DOTALL)
        assert body is not None
        assert ("tfl." in body[0]) == (outcomes[0].kind == "fused"), "the body does not agree with the outcome"
    (outcome,) = outcomes
    return outcome


def unary(name: str) -> Callable[[Composite, Builder], Sequence[ir.Value]]:
    return lambda composite, b: b.op(name, composite.args, composite.result_types)


def test_a_right_fusion_is_applied_with_its_error() -> None:
    outcome = fuse(ABS, unary("tfl.abs"))
    assert (outcome.kind, outcome.fused_into, outcome.error) == ("fused", "ABS", 0.0)


@pytest.mark.parametrize("name", ["tfl.relu", "tfl.square", "tfl.neg"])
def test_a_wrong_fusion_is_not(name: str) -> None:
    outcome = fuse(ABS, unary(name))
    assert outcome.kind == "inlined"
    assert outcome.reason is not None
    assert "it computes something else: the relative error is" in outcome.reason


def test_the_tolerance_is_the_fusions_own() -> None:
    text = ABS.replace('"tf.Neg"', '"tf.Tanh"').replace("tf.Maximum", "tf.AddV2")

    def nearly(composite: Composite, b: Builder) -> Sequence[ir.Value]:
        (x,) = composite.args
        # tanh(tanh(x)) in place of tanh(x): wrong by up to a fifth
        (tanh,) = b.op("tfl.tanh", b.op("tfl.tanh", [x], [x.type]), [x.type])
        fused = {"fused_activation_function": ir.StringAttr.get("NONE")}
        return b.op("tfl.add", [x, tanh], [x.type], fused)

    assert fuse(text, nearly).kind == "inlined"
    assert fuse(text, nearly, tolerance=0.5).kind == "fused"


def test_what_cannot_be_compared_is_said() -> None:
    text = ABS.replace("?x4", "*")
    outcome = fuse(text, unary("tfl.abs"))
    assert outcome.kind == "fused"
    assert outcome.error is None
    assert outcome.unchecked is not None


def test_what_is_too_large_to_compare_is_said() -> None:
    outcome = fuse(ABS.replace("?x4", "?x40000000"), unary("tfl.abs"))
    assert outcome.kind == "fused"
    assert outcome.unchecked == "its arguments have 40 million elements"


def test_a_composite_that_cannot_run_alone_is_said() -> None:
    text = ABS.replace('"tf.Neg"', '"tf.Spence"')
    outcome = fuse(text, unary("tfl.abs"))
    assert outcome.kind == "fused"
    assert outcome.unchecked is not None
    assert "LiteRT has no op for Spence" in outcome.unchecked


def test_integers_must_be_equal() -> None:
    text = """
func.func private @composite(%x: tensor<2x?xi32>) -> tensor<2x?xi32> attributes {tf._implements = "composite"} {
  %0 = "tf.AddV2"(%x, %x) : (tensor<2x?xi32>, tensor<2x?xi32>) -> tensor<2x?xi32>
  return %0 : tensor<2x?xi32>
}
"""

    def twice(composite: Composite, b: Builder) -> Sequence[ir.Value]:
        (x,) = composite.args
        return b.op("tfl.add", [x, x], [x.type], {"fused_activation_function": ir.StringAttr.get("NONE")})

    def squared(composite: Composite, b: Builder) -> Sequence[ir.Value]:
        (x,) = composite.args
        return b.op("tfl.mul", [x, x], [x.type], {"fused_activation_function": ir.StringAttr.get("NONE")})

    assert fuse(text, twice).kind == "fused"
    assert fuse(text, squared).kind == "inlined"


def test_a_custom_op_without_a_kernel_is_not_checked() -> None:
    outcome = fuse(ABS, lambda composite, b: b.custom("NobodyHasIt", composite.args, composite.result_types, {}))
    assert (outcome.kind, outcome.fused_into, outcome.error) == ("fused", "NobodyHasIt", None)
    assert outcome.unchecked is not None
    assert "NobodyHasIt" in outcome.unchecked


def test_state_is_left_to_the_whole_model() -> None:
    text = """
func.func private @composite(%x: tensor<2xf32>) -> tensor<2xf32> attributes {tf._implements = "composite"} {
  %h = "tf.VarHandleOp"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  "tf.AssignVariableOp"(%h, %x) {validate_shape = false} : (tensor<!tf_type.resource<tensor<2xf32>>>, tensor<2xf32>) -> ()
  return %x : tensor<2xf32>
}
"""
    outcome = fuse(text, unary("tfl.abs"))
    assert outcome.unchecked is not None
    assert "it writes the variables 'v' (AssignVariableOp in composite)" in outcome.unchecked


def _twice(composite: Composite, b: Builder) -> Sequence[ir.Value]:
    x = composite.args[-1]
    return b.op("tfl.add", [x, x], composite.result_types, {"fused_activation_function": ir.StringAttr.get("NONE")})


@pytest.mark.parametrize("factor", [2.0, 2.001])
def test_a_variable_that_only_others_write_has_its_first_value(factor: float) -> None:
    text = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %h = "tf.VarHandleOp"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  "tf.AssignVariableOp"(%h, %x) {validate_shape = false} : (tensor<!tf_type.resource<tensor<2xf32>>>, tensor<2xf32>) -> ()
  %0 = "tf.PartitionedCall"(%x) {f = @composite, config = "", config_proto = "", executor_type = ""} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @composite(%x: tensor<2xf32>) -> tensor<2xf32> attributes {tf._implements = "composite"} {
  %h = "tf.VarHandleOp"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  %v = "tf.ReadVariableOp"(%h) : (tensor<!tf_type.resource<tensor<2xf32>>>) -> tensor<2xf32>
  %0 = "tf.Mul"(%x, %v) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""

    def value(name: str) -> ir.Attribute:
        assert name == "v"
        return ir.DenseElementsAttr.get(np.full(2, factor, np.float32))

    outcome = fuse(text, _twice, state=State(value, {}))
    assert outcome.unchecked is None
    assert (outcome.kind, outcome.error) == (("fused", 0.0) if factor == 2 else ("inlined", None))


@pytest.mark.parametrize("found", [2, 3])
def test_a_table_is_filled(found: int) -> None:
    text = """
func.func private @composite(%x: tensor<?xf32>) -> tensor<?xf32> attributes {tf._implements = "composite"} {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", use_node_name_sharing = false, key_dtype = !tf_type.string, value_dtype = i64} : () -> tensor<!tf_type.resource>
  %key = "tf.Const"() {value = dense<"b"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %default = "tf.Const"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %n = "tf.LookupTableFindV2"(%t, %key, %default) : (tensor<!tf_type.resource>, tensor<!tf_type.string>, tensor<i64>) -> tensor<i64>
  %f = "tf.Cast"(%n) : (tensor<i64>) -> tensor<f32>
  %0 = "tf.Mul"(%x, %f) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
    entries = np.array([b"a", b"b"], object), np.array([1, found])
    table = Table(0, "t", DataType.STRING, DataType.INT64, lambda: entries)
    no_variables: dict[str, ir.Attribute] = {}
    outcome = fuse(text, _twice, state=State(no_variables.__getitem__, {"t": table}))
    assert outcome.unchecked is None
    assert (outcome.kind, outcome.error) == (("fused", 0.0) if found == 2 else ("inlined", None))


@pytest.mark.parametrize("off", [False, True])
def test_infinities_hide_no_other_difference(off: bool) -> None:
    def log(composite: Composite, b: Builder) -> Sequence[ir.Value]:
        (x,) = composite.args
        none = {"fused_activation_function": ir.StringAttr.get("NONE")}
        (relu,) = b.op("tfl.relu", [x], [x.type])
        (twice,) = b.op("tfl.add", [relu, relu], [x.type], none)
        return b.op("tfl.log", [twice if off else relu], [x.type])

    infinite = ABS.replace('"tf.Neg"(%x)', '"tf.Relu"(%x)').replace('"tf.Maximum"(%x, %0)', '"tf.Log"(%0)')
    infinite = re.sub(r'("tf.Log"\(%0\) : )\(.*?, (.*?)\)', r"\1(\2)", infinite)
    assert fuse(infinite, log).kind == ("inlined" if off else "fused")
