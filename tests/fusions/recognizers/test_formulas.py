# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

import litefuse
from litefuse.errors import FusionError
from litefuse.fusions.fusion import called_formulas, take_formulas
from litefuse.fusions.recognizers.pattern import Pattern, erf, sigmoid, tanh
from litefuse.fusions.recognizers.recognize import RecognizeComposites
from litefuse.fusions.recognizers.recognizer import registered_recognizers
from litefuse.ir.annotations import read_annotation
from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import run_passes

if TYPE_CHECKING:
    from litefuse.ir.types import TensorType

_TEXT = """
func.func public @main(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %slope = "tf.Const"() {value = dense<2.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.Sigmoid"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = "tf.Mul"(%0, %slope) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %2 = "tf.Tanh"(%1) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2, %0 : tensor<?x4xf32>, tensor<?x4xf32>
}
"""


@pytest.fixture(autouse=True)
def nothing_else() -> Iterator[None]:
    """Forgets what a test registers."""
    before = dict(called_formulas())
    yield
    take_formulas(before)


def recognized(text: str = _TEXT) -> tuple[dict[str, Mapping[str, Any]], list[tuple[str, int, str | None]]]:
    """The annotations that there are then, with their attributes, and what became of each recognizer."""
    with mlir_context():
        module = ir.Module.parse(text)
        run_pass = RecognizeComposites([], recognizers=registered_recognizers())
        run_passes(module, [run_pass])
        annotations = [read_annotation(function) for function in functions(module).values()]
        return {each.name: each.attributes for each in annotations if each is not None}, run_pass.tried


def test_keyword_only_parameters_are_attributes() -> None:
    @litefuse.recognizer("steep")
    def steep(x: Pattern, *, slope: Pattern) -> Pattern:
        return tanh(slope * sigmoid(x))

    assert recognized() == ({"steep": {"slope": 2.5}}, [("steep", 1, None)])
    assert litefuse.recognizer("again")(steep) is steep


def test_check_says_why_not() -> None:
    @litefuse.recognizer("steep")
    class Steep(litefuse.Recognizer):  # pyright: ignore[reportUnusedClass]
        def formula(self, x: Pattern, *, slope: Pattern) -> Pattern:  # pyright: ignore[reportIncompatibleMethodOverride]
            return tanh(slope * sigmoid(x))

        def check(self, arguments: Sequence[TensorType], attributes: Mapping[str, Any]) -> str | None:
            return f"x is {arguments[0]}" if attributes["slope"] > 2 else None

    found, tried = recognized()
    assert found == {}
    assert tried == [("steep", 0, "tf.Tanh: x is float32[?,4]")]


def test_closest_attempt() -> None:
    @litefuse.recognizer("steep")
    def steep(x: Pattern) -> Pattern:  # pyright: ignore[reportUnusedFunction]
        return tanh(3.0 * sigmoid(x))

    found, ((name, count, closest),) = recognized()
    assert (found, name, count) == ({}, "steep", 0)
    assert "(Const) is not 3" in str(closest)


def test_first_recognizer_wins() -> None:
    @litefuse.recognizer("outer")
    def outer(x: Pattern, *, slope: Pattern) -> Pattern:  # pyright: ignore[reportUnusedFunction]
        return tanh(slope * sigmoid(x))

    @litefuse.recognizer("inner")
    def inner(x: Pattern) -> Pattern:  # pyright: ignore[reportUnusedFunction]
        return tanh(x)

    assert list(recognized()[0]) == ["outer"]


def test_errors() -> None:
    with pytest.raises(FusionError, match="any number of arguments"):
        litefuse.recognizer("any")(lambda *values: erf(values[0]))
    with pytest.raises(FusionError, match="neither a function nor a subclass"):
        litefuse.recognizer("three")(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(FusionError, match=r"needs its composite's name\nWrite @litefuse.recognizer\(\"name\"\)"):
        litefuse.recognizer(test_errors)  # pyright: ignore[reportArgumentType]
    litefuse.recognizer("no pattern")(lambda x: 3)  # pyright: ignore[reportUnknownLambdaType]
    with pytest.raises(FusionError, match="the formula gives 3, which is not a pattern"):
        recognized()


def test_a_formula_computes_something() -> None:
    litefuse.recognizer("nothing")(lambda x: x)  # pyright: ignore[reportUnknownLambdaType]
    with pytest.raises(
        FusionError, match=r"recognizer 'nothing', .*: the formula computes nothing: it gives one of its"
    ):
        recognized()
