# ruff: noqa: E501  (MLIR does not wrap)
"""What a fusion says about its self-check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.conversion.verify.self_check import self_check
from litefuse.errors import FusionError
from litefuse.fusions.builder import Builder
from litefuse.fusions.composite import Composite
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.fusions.composites.outcome import Outcome
from litefuse.fusions.fusion import Fusion, find_fusion
from litefuse.ir.mlir import ir, mlir_context

# |x|, which is x where x is not negative
ABS = """
func.func private @composite(%x: tensor<?xf32>) -> tensor<?xf32> attributes {tf._implements = "composite"} {
  %0 = "tf.Abs"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


class Relu(Fusion):
    """The same as the absolute value for positive arguments only."""

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.op("tfl.relu", composite.args, composite.result_types)


class OfPositive(Relu):
    sizes: ClassVar[list[int]] = []

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        assert composite.arg_types[0].shape == (None,)
        self.sizes.append(size)
        return [random.uniform(1, 2, size).astype(np.float32)]


class Wide(Relu):
    """Numpy's own dtype, of inputs that show the difference."""

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        return [random.normal(size=size)]


class Misfit(Relu):
    given: ClassVar[list[npt.NDArray[Any]]] = []

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        return self.given


class Failing(Relu):
    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        raise ZeroDivisionError("nothing")


class Placeholder(Relu):
    unchecked = "the body says nothing"


def fuse(text: str, fusion: Fusion) -> Outcome:
    def find(_: object) -> Fusion:
        return fusion

    outcomes: list[Outcome] = []
    with mlir_context():
        module = ir.Module.parse(text)
        FuseComposites(outcomes, self_check, find).run(module)
    (outcome,) = outcomes
    return outcome


TWO = """
func.func private @composite(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) attributes {tf._implements = "composite"} {
  %0 = "tf.Abs"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = "tf.Neg"(%0) : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
"""


def with_open(*indices: int) -> Fusion:
    class Twice(Fusion):
        """The absolute value twice, which is wrong of the second result."""

        open_results = indices

        def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
            (value,) = b.op("tfl.abs", composite.args, composite.result_types[:1])
            return [value, value]

    return Twice()


def test_open_results_are_not_compared() -> None:
    compared = fuse(TWO, with_open())
    assert "the relative error of result 1 (float32[" in (compared.reason or "")
    assert "result 1" in (fuse(TWO, with_open(0)).reason or "")
    right = fuse(TWO, with_open(1))
    assert (right.kind, right.error, right.unchecked) == ("fused", 0.0, None)
    assert fuse(TWO, with_open(0, 1)).unchecked == "the values of all its results are left open"
    with pytest.raises(FusionError, match=r"open_results is \(2,\), the indices of results; the composite has 2"):
        fuse(TWO, with_open(2))


class Answering(Fusion):
    verdict: ClassVar[Any] = None
    results: ClassVar[Any] = None

    def verify(self, composite: Composite) -> str | None:
        return self.verdict

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return self.results


@pytest.mark.parametrize(
    ("verdict", "results", "message"),
    [
        (True, None, "verify returned True; it returns the reason not to fuse"),
        ("", None, "verify returned ''; it returns the reason not to fuse"),
        (None, None, "rewrite returned None; it returns the values"),
        (None, [1], r"rewrite returned \[1\]; it returns the values"),
    ],
)
def test_answers_that_are_none(monkeypatch: pytest.MonkeyPatch, verdict: object, results: object, message: str) -> None:
    monkeypatch.setattr(Answering, "verdict", verdict)
    monkeypatch.setattr(Answering, "results", results)
    with pytest.raises(FusionError, match=rf"fusion Answering \(.*\), composite 'composite'.*{message}"):
        fuse(ABS, Answering())


class OfType(Fusion):
    """A replacement with results of its own type."""

    unchecked = "the body says nothing"

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.custom("Any", composite.args, [ir.Type.parse(f"tensor<{self.kind}>")], {})


@pytest.mark.parametrize(
    ("kind", "composite", "reason"),
    [
        ("2x3xf32", "2x3xf32", None),
        ("2x?xf32", "2x3xf32", None),
        ("?x3xf32", "2x?xf32", None),
        ("*xf32", "2x3xf32", None),
        ("2x3xf32", "*xf32", None),
        ("f32", "f32", None),
        ("2x4xf32", "2x3xf32", "float32[2,4], the composite's float32[2,3]"),
        ("?x4xf32", "2x3xf32", "float32[?,4], the composite's float32[2,3]"),
        ("2xf32", "2x3xf32", "float32[2], the composite's float32[2,3]"),
        ("2x3x1xf32", "2x3xf32", "float32[2,3,1], the composite's float32[2,3]"),
        ("f32", "1xf32", "float32[], the composite's float32[1]"),
        ("2x3xi32", "2x3xf32", "int32[2,3], the composite's float32[2,3]"),
        ("*xi32", "2x3xf32", "int32[*], the composite's float32[2,3]"),
    ],
)
def test_a_replacement_has_the_types_of_the_composite(kind: str, composite: str, reason: str | None) -> None:
    text = ABS.replace("?xf32", composite)
    outcome = fuse(text, OfType(kind))
    assert (outcome.reason or "").partition("; see OfType (")[0] == (
        f"result 0 of the replacement is {reason}" if reason else ""
    )
    assert outcome.kind == ("inlined" if reason else "fused")


class Unknown(Fusion):
    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.op("tfl.no_such_op", composite.args, composite.result_types)


def test_an_op_that_there_is_not() -> None:
    outcome = fuse(ABS, Unknown())
    assert outcome.kind == "inlined"
    assert f"unknown op 'tfl.no_such_op'. LiteRT's builtin ops are tfl.add and the like; see {__file__}, line " in (
        outcome.reason or ""
    )


class OfSeven(Fusion):
    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.op("tfl.reshape", [*composite.args, b.constant(np.array([7], np.int32))], composite.result_types)


def test_a_replacement_that_does_not_run() -> None:
    outcome = fuse(ABS, OfSeven())
    assert outcome.kind == "inlined"
    assert (outcome.reason or "").startswith("the fused op does not run: ")


def test_random_inputs_find_the_difference() -> None:
    outcome = fuse(ABS, Relu())
    assert (outcome.kind, outcome.unchecked) == ("inlined", None)
    assert "it computes something else" in (outcome.reason or "")


def test_inputs_of_the_fusion() -> None:
    OfPositive.sizes.clear()
    outcome = fuse(ABS, OfPositive())
    assert (outcome.kind, outcome.error, outcome.unchecked) == ("fused", 0.0, None)
    assert OfPositive.sizes[:3] == [1, 3, 3]
    assert {*OfPositive.sizes[3:]} <= {130, 2, 3, 1}, "the others are for as long as there is time"


def test_inputs_of_another_float_are_cast() -> None:
    outcome = fuse(ABS, Wide())
    assert (outcome.kind, outcome.unchecked) == ("inlined", None)
    assert "it computes something else" in (outcome.reason or "")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "check_inputs gave 0 arrays for 1 arguments"),
        ([np.zeros((2, 2), np.float32)], r"gave float32 \[2, 2\] for argument 0, which is float32\[\?\]"),
        ([np.zeros(2, np.complex64)], r"gave complex64 \[2\] for argument 0"),
    ],
)
def test_inputs_that_do_not_fit_are_an_error(
    monkeypatch: pytest.MonkeyPatch, given: list[npt.NDArray[Any]], message: str
) -> None:
    monkeypatch.setattr(Misfit, "given", given)
    with pytest.raises(FusionError, match=f"fusion Misfit.*{message}"):
        fuse(ABS, Misfit())


def test_failure_of_the_inputs_is_an_error_of_the_fusion() -> None:
    with pytest.raises(
        FusionError,
        match=r"fusion Failing.*check_inputs failed: ZeroDivisionError: nothing \(.*test_check.py, line \d+, in check_inputs\)",
    ):
        fuse(ABS, Failing())


def test_placeholder_is_not_checked() -> None:
    outcome = fuse(ABS, Placeholder())
    assert (outcome.kind, outcome.fused_into, outcome.error) == ("fused", "RELU", None)
    assert outcome.unchecked == "the body says nothing"


def test_the_body_is_run_though_the_engine_knows_the_annotation() -> None:
    # The engine fuses an annotated entry function itself; the check would compare the op with itself.
    text = """
func.func private @composite(%table: tensor<10x4xf32>, %ids: tensor<3xi32>) -> tensor<3x4xf32> attributes {tf._implements = "embedding_matmul"} {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.GatherV2"(%table, %ids, %axis) {batch_dims = 0 : i64} : (tensor<10x4xf32>, tensor<3xi32>, tensor<i32>) -> tensor<3x4xf32>
  %1 = "tf.Neg"(%0) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
"""
    fusion = find_fusion("embedding_matmul")
    assert fusion is not None
    outcome = fuse(text, fusion)
    assert outcome.kind == "inlined"
    assert "it computes something else" in (outcome.reason or "")
