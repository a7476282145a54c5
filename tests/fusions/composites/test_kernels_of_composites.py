"""Kernels that stand for the body of a composite are compared with it, unless it computes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify.self_check import self_check
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.fusions.composites.outcome import Outcome
from litefuse.ir.mlir import ir, mlir_context
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.support.options.forms import CompositeForm, CompositeForms


class Right(CustomOp):
    """The absolute value."""

    def prepare(self, x: TensorSpec) -> TensorSpec:
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = np.abs(inputs[0])


class Wrong(Right):
    """Beyond 1, it is too large by a sixth."""

    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = np.abs(inputs[0]) + np.where(np.abs(inputs[0]) > 1, 0.17, 0)


def composite(*ops: str, fusable: bool = False) -> str:
    """The text of a composite of one argument and one result, ``%y``."""
    marked = '{attributes = {tfl_fusable_op = true}, name = "mine"}' if fusable else '"mine"'
    body = "\n".join(ops)
    return f"""
func.func private @mine(%x: tensor<?x2xf32>) -> tensor<?x2xf32> attributes {{tf._implements = {marked}}} {{
{body}
return %y : tensor<?x2xf32>
}}
"""


ABS = '%y = "tf.Abs"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>'
SHAPE = '%s = "tf.Shape"(%x) : (tensor<?x2xf32>) -> tensor<2xi32>'
ZERO = '%z = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>'
FILL = '%y = "tf.Fill"(%s, %z) : (tensor<2xi32>, tensor<f32>) -> tensor<?x2xf32>'


def fuse(text: str, form: CompositeForm = "fuse", *, check: bool = True, check_custom_ops: bool = False) -> Outcome:
    outcomes: list[Outcome] = []
    with mlir_context():
        module = ir.Module.parse(text)
        forms = CompositeForms.of({"mine": form})
        FuseComposites(outcomes, self_check if check else None, forms=forms, check_custom_ops=check_custom_ops).run(
            module
        )
    (outcome,) = outcomes
    return outcome


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> dict[str, type[CustomOp]]:
    registered: dict[str, type[CustomOp]] = {}
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", registered)
    return registered


@pytest.mark.parametrize(("form", "fusable"), [("keep", False), ("custom", False), ("fuse", True)])
def test_a_kernel_is_compared_with_the_body_that_it_stands_for(
    kernels: dict[str, type[CustomOp]], form: CompositeForm, fusable: bool
) -> None:
    text = composite(ABS, fusable=fusable)
    without = fuse(text, form)
    assert (without.kind, without.error) == ("fused", None)
    assert (without.unchecked or "").startswith("no kernel for it here")
    kernels["mine"] = Right
    right = fuse(text, form)
    assert (right.kind, right.error, right.unchecked) == ("fused", 0.0, None)
    kernels["mine"] = Wrong
    wrong = fuse(text, form)
    assert wrong.kind == "inlined"
    assert (wrong.reason or "").startswith("with the kernel for it here, it computes something else")
    left = fuse(text, form, check=False)
    assert (left.kind, left.error, left.unchecked) == ("fused", None, "the check of fusions is off")


PLACEHOLDERS = {
    "a constant": ('%y = "tf.Const"() {value = dense<0.0> : tensor<1x2xf32>} : () -> tensor<?x2xf32>',),
    "zeros": (SHAPE, ZERO, FILL),
    "zeros like the argument": ('%y = "tf.ZerosLike"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>',),
    "the argument": ('%y = "tf.Identity"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>',),
}
COMPUTING = {
    "of an argument": (ABS,),
    "random": (SHAPE, '%y = "tf.RandomUniform"(%s) : (tensor<2xi32>) -> tensor<?x2xf32>'),
    "with a shape beside": (
        *(SHAPE, ZERO, FILL.replace("%y", "%f"), ABS.replace("%y", "%a")),
        '%y = "tf.AddV2"(%f, %a) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>',
    ),
}


@pytest.mark.parametrize("form", ["keep", "custom"])
@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_a_placeholder_is_no_specification(kernels: dict[str, type[CustomOp]], name: str, form: CompositeForm) -> None:
    kernels["mine"] = Wrong
    outcome = fuse(composite(*PLACEHOLDERS[name]), form)
    assert (outcome.kind, outcome.error, outcome.unchecked) == ("fused", None, "its body is a placeholder")


def test_a_placeholder_is_a_specification_where_the_user_says_so(kernels: dict[str, type[CustomOp]]) -> None:
    kernels["mine"] = Wrong
    text = composite(*PLACEHOLDERS["the argument"], fusable=True)
    assert "it computes something else" in (fuse(text, check_custom_ops=True).reason or "")


@pytest.mark.parametrize("name", COMPUTING)
def test_a_body_that_computes_is_no_placeholder(kernels: dict[str, type[CustomOp]], name: str) -> None:
    kernels["mine"] = Wrong
    assert fuse(composite(*COMPUTING[name]), "custom").unchecked != "its body is a placeholder"


def test_a_composite_within_another_is_compared_with_it(kernels: dict[str, type[CustomOp]]) -> None:
    kernels["mine"] = Right
    inner = composite(ABS).replace("mine", "inner")
    call = '%y = "tf.PartitionedCall"(%x) {config = "", config_proto = "", executor_type = "", f = @inner} : '
    outer = composite(f"{call}(tensor<?x2xf32>) -> tensor<?x2xf32>")
    serve = outer.replace(' attributes {tf._implements = "mine"}', "").replace("private @mine", "@serve")
    texts = [inner + outer + serve.replace("@inner", "@mine")]
    other = outer.replace("mine", "other")
    texts.append(texts[0] + other + serve.replace("@inner", "@other").replace("@serve", "@second"))

    def outcomes(text: str = texts[0]) -> dict[str, Outcome]:
        found: list[Outcome] = []
        with mlir_context():
            forms = CompositeForms.of({"mine": "custom", "other": "custom"})
            FuseComposites(found, self_check, forms=forms).run(ir.Module.parse(text))
        return {each.name: each for each in found}

    assert [(each.kind, each.fused_into, each.error) for each in outcomes().values()] == [
        ("fused", "the composite around it", 0.0),
        ("fused", "mine", 0.0),
    ]
    two = outcomes(texts[1])  # of which one is compared
    assert (two["mine"].error, two["other"].unchecked) == (0.0, "no kernel for it here")
    assert (two["inner"].error, two["inner"].unchecked) == (None, "no kernel for it here")
    del kernels["mine"]
    assert {each.unchecked for each in outcomes().values()} == {"no kernel for it here"}
    kernels["mine"] = Wrong
    assert {name: each.kind for name, each in outcomes().items()} == {"inner": "inlined", "mine": "inlined"}
