"""Which of the layers that are found become composites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import litefuse
from litefuse.conversion.pipeline.layer_naming import LayerNaming
from litefuse.fusions.fusion import called_fusions, take_fusions
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import run_passes
from litefuse.litert.targets import TargetTraits
from litefuse.passes.legalize.composite_ops import emit_composite_ops
from litefuse.support.options.forms import CompositeForms, RequiredComposites
from litefuse.support.report import LayerReport
from litefuse.support.target_traits import stricter

_TEXT = """
func.func public @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %axis = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %epsilon = "tf.Const"() {value = dense<1.0e-6> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.Square"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("model/norm/square")
  %1 = "tf.Mean"(%0, %axis) {keep_dims = true} : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x1xf32>
  %2 = "tf.AddV2"(%1, %epsilon) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %3 = "tf.Rsqrt"(%2) : (tensor<2x1xf32>) -> tensor<2x1xf32> loc("model/norm/rsqrt")
  %4 = "tf.Mul"(%x, %3) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32> loc("model/norm/mul")
  return %4 : tensor<2x4xf32>
}
"""
_CPU = TargetTraits("LiteRT")


@pytest.fixture(autouse=True)
def nothing_else() -> Iterator[None]:
    """Forgets what a test registers."""
    before = dict(called_fusions())
    yield
    take_fusions(before)


def became(
    forms: Any = "fuse", traits: TargetTraits = _CPU, *, only_cpu: bool = True, required: tuple[str, ...] = ()
) -> tuple[LayerReport, ...]:
    with mlir_context():
        module = ir.Module.parse(_TEXT)
        naming = LayerNaming(CompositeForms.of(forms), traits, only_cpu, RequiredComposites.of(required), None)
        before = str(module)
        modified = run_passes(module, naming.passes())
        assert modified or str(module) == before
        run_passes(module, [emit_composite_ops])
        return naming.layers(module)


def report(outcome: str) -> tuple[LayerReport, ...]:
    return (LayerReport("odml.rms_norm", "RMS normalization", "model/norm", outcome),)


def test_nobody_asks() -> None:
    assert became() == ()
    assert became("keep") == ()  # a form for all composites is for those that the author marked
    assert became({"other": "keep"}) == ()


def test_named_for_another_target() -> None:
    assert became(only_cpu=False) == report("inlined")


@pytest.mark.parametrize("pattern", ["odml.rms_norm", "odml.*"])
def test_form_is_chosen(pattern: str) -> None:
    assert became({pattern: "keep"}) == report("STABLEHLO_COMPOSITE")
    assert became({pattern: "custom"}) == report("odml.rms_norm")
    assert became({pattern: "inline"}) == report("inlined")
    assert became({pattern: "fuse"}) == report("inlined: no fusion is registered for 'odml.rms_norm'")


def test_required() -> None:
    assert became(required=("odml.rms_norm",)) == report("inlined: no fusion is registered for 'odml.rms_norm'")


def test_target_takes_composites() -> None:
    takes = TargetTraits("a chip", composites=frozenset({"odml.rms_norm"}))
    assert became(traits=takes, only_cpu=False) == report("STABLEHLO_COMPOSITE")
    assert became({"odml.*": "inline"}, takes, only_cpu=False) == report("inlined")
    # Of two targets, both must.
    assert stricter([takes, _CPU]).composites == frozenset()
    assert stricter([takes, takes]).composites == {"odml.rms_norm"}


def test_fusion_is_registered() -> None:
    @litefuse.fusion("odml.rms_norm")
    class Norm(litefuse.Fusion):  # pyright: ignore[reportUnusedClass]
        def rewrite(self, composite: Any, b: Any) -> Any:
            return b.custom("MyNorm", composite.args, composite.result_types, composite.attributes)

    assert became() == report("MyNorm")
