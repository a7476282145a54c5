# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""One formula of a user's finds a layer in the spellings of Keras, Hugging Face, JAX and PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import litefuse
from litefuse.fusions.fusion import called_formulas, take_formulas
from litefuse.fusions.recognizers.pattern import (
    Pattern,
    concat,
    erf,
    interleaved,
    one_of,
    op,
    parts,
    rsqrt,
    sqrt,
    square,
    tanh,
)
from litefuse.fusions.recognizers.recognize import RecognizeComposites
from litefuse.fusions.recognizers.recognizer import registered_recognizers
from litefuse.ir.annotations import read_annotation
from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.ir.passes import run_passes
from litefuse.ir.types import TensorType, ranked_tensor_type
from tests.fusions.recognizers.test_layers import GELUS, RMS_NORMS, ROTARY, Build, Ops, V, neg, rotated_pairs, whole


@pytest.fixture(autouse=True)
def nothing_else() -> Iterator[None]:
    """Forgets what a test registers."""
    before = dict(called_formulas())
    yield
    take_formulas(before)


def recognized(
    formula: Callable[..., Any], build: Build, shape: tuple[int | None, ...] = (None, 4, 8)
) -> dict[str, Any] | str | None:
    """The attributes of the composite that the formula finds; otherwise what came closest."""
    litefuse.recognizer("mine")(formula)
    with mlir_context(), ir.Location.unknown():
        module = ir.Module.create()
        kind = ranked_tensor_type(TensorType("float32", shape))
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", ir.FunctionType.get([kind], []))
        block = main.add_entry_block()
        with ir.InsertionPoint(block):
            result = build(Ops(), block.arguments[0])
            func.ReturnOp([result])
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([kind], [result.type]))
        recognize = RecognizeComposites([], recognizers=registered_recognizers())
        run_passes(module, [recognize])
        annotations = [read_annotation(function) for function in functions(module).values()]
        composites = [annotation for annotation in annotations if annotation is not None]
        ((_, count, closest),) = recognize.tried
        assert count == len(composites)
        return dict(composites[0].attributes) if composites else closest


def rope(x: Pattern, cos: Pattern, sin: Pattern) -> Pattern:
    a, b = parts(x, 2)
    c, d = x[..., ::2], x[..., 1::2]
    return one_of(
        x * cos + one_of(concat([-b, a]), interleaved(-d, c)) * sin,
        concat([a * cos - b * sin, b * cos + a * sin]),
        interleaved(c * cos - d * sin, d * cos + c * sin),
    )


def of_pairs(o: Ops, x: V) -> Sequence[V]:
    """The first and the second of each pair of neighbors, by an axis of pairs."""
    pairs = o.b.reshape(x, [*o.b.sizes(x)[:2], 4, 2])
    return [o.b.reshape(o.b.slice(pairs, 3, at, at + 1), [*o.b.sizes(x)[:2], 4]) for at in (0, 1)]


def in_keras(o: Ops, x: V) -> V:
    """Of halves that are stacked, and reshaped."""
    a, b = o.halves(x)
    turned = o.b.reshape(o.b.stack([neg(o, b), a], 2), [*o.b.sizes(x)[:2], 8])
    return whole(o, x, turned)


def by_minus_one(o: Ops, x: V) -> V:
    a, b = o.halves(x)
    return whole(o, x, o.join(o.mul(b, -1.0), a))


def split(o: Ops, x: V) -> V:
    kinds = [([None, 4, 4], "float32")] * 2
    a, b = o.b.ops("Split", [o.c(2, "int32"), x], kinds, num_split=2)
    return o.join(*rotated_pairs(o, a, b))


def other_order(o: Ops, x: V) -> V:
    a, b = o.halves(x)
    turned = o.join(neg(o, b), a)
    return o.add(o.mul(o.c(np.ones(8) * 0.5), turned), o.mul(o.c(np.ones(8) * 0.25), x))


ROPES: dict[str, Build] = {
    **{how: build for how, (build, *_) in ROTARY.items()},
    "Keras": in_keras,
    "times -1": by_minus_one,
    "split": split,
    "another order": other_order,
    "pairs on an axis": lambda o, x: o.interleave(*rotated_pairs(o, *of_pairs(o, x))),
}


@pytest.mark.parametrize("how", ROPES)
def test_rotary_embedding(how: str) -> None:
    assert recognized(rope, ROPES[how]) == {}


def test_another_rotation_is_none() -> None:
    def wrong(o: Ops, x: V) -> V:
        a, b = o.halves(x)
        return whole(o, x, o.join(neg(o, a), b))

    text = recognized(rope, wrong)
    assert isinstance(text, str)
    assert "is not" in text


@pytest.mark.parametrize("how", GELUS)
def test_gelu(how: str) -> None:
    def gelu(x: Pattern) -> Pattern:
        c = (2 / np.pi) ** 0.5
        cubic = one_of(x * x * x, x**3, square(x) * x) * 0.044715
        inner = one_of((x + cubic) * c, x * c * (square(x) * 0.044715 + 1))
        scaled, half = one_of(x / 2**0.5, x * 0.5**0.5), 0.5 * x
        return one_of(
            half * (1 + one_of(tanh(inner), erf(scaled))),
            half + half * erf(scaled),
            half * op("Erfc", x * -(0.5**0.5)),
        )

    assert recognized(gelu, GELUS[how][0]) == {}


@pytest.mark.parametrize("how", RMS_NORMS)
def test_rms_norm(how: str) -> None:
    def rms_norm(x: Pattern, axis: Pattern, *, epsilon: Pattern) -> Pattern:
        mean = op("Mean", square(x), axis, keep_dims=True) + epsilon
        return one_of(x * rsqrt(mean), x / sqrt(mean))

    found = recognized(rms_norm, RMS_NORMS[how])
    assert isinstance(found, dict)
    assert found["epsilon"] == pytest.approx(1e-6)


@pytest.mark.parametrize(
    ("begin", "end", "stride"), [(0, 3, 1), (3, 8, 1), (2, 7, 1), (1, 8, 2), (0, 8, 2), (0, 7, 2), (1, 8, 3)]
)
def test_slices(begin: int, end: int, stride: int) -> None:
    def build(o: Ops, x: V) -> V:
        return o.b.unary("Sin", o.b.slice(x, 2, begin, end, stride))

    sine = lambda x: op("Sin", x[..., begin:end:stride])  # noqa: E731
    assert recognized(sine, build) == {}
    assert recognized(lambda x: op("Sin", x[..., begin - 8 : end - 8 or None : stride]), build) == {}
    assert recognized(lambda x: op("Sin", x[..., begin + 1 : end : stride]), build) != {}
    assert recognized(lambda x: op("Sin", x[..., begin : end - stride : stride]), build) != {}
    assert recognized(lambda x: op("Sin", x[..., begin : end : stride + 1]), build) != {}


def test_bounds_of_the_model_are_attributes() -> None:
    def halves(o: Ops, x: V, split: int = 3) -> V:
        return o.join(neg(o, o.b.slice(x, 2, split, 8)), o.b.slice(x, 2, 0, 3))

    def turned(x: Pattern, *, h: Pattern) -> Pattern:
        return concat([-x[..., h:], x[..., :h]])

    assert recognized(turned, halves) == {"h": 3}
    assert recognized(turned, lambda o, x: halves(o, x, 4)) != {"h": 3}


def test_slices_that_cut_other_dimensions() -> None:
    def sine(x: Pattern) -> Pattern:
        return op("Sin", x[..., :4])

    def build(o: Ops, x: V) -> V:
        return o.b.unary("Sin", o.b.slices(x, {1: (0, 3, 1), 2: (0, 4, 1)}))

    assert recognized(sine, build) != {}


@pytest.mark.parametrize("index", [0, slice(0, 2), (slice(None), 0), (..., 1), (..., slice(None), slice(0, 1))])
def test_other_indices_are_refused(index: Any) -> None:
    with pytest.raises(litefuse.LitefuseError, match=r"sliced along its last dimension: x\[\.\.\., begin:end:step\]"):
        recognized(lambda x: op("Sin", x[index]), neg)


def test_alternatives_that_do_not_use_an_argument() -> None:
    def scaled(x: Pattern, scale: Pattern) -> Pattern:
        return one_of(tanh(tanh(x)), tanh(x) * scale)

    text = recognized(scaled, lambda o, x: o.b.unary("Tanh", o.b.unary("Tanh", x)))
    assert isinstance(text, str)
    assert "it is computed without scale" in text


def test_alternatives_match_in_any_order() -> None:
    def formula(x: Pattern, y: Pattern, z: Pattern) -> Pattern:
        return one_of(tanh(x), tanh(y) * op("Sin", z)) * op("Cos", x)

    def build(o: Ops, x: V) -> V:
        first, second, third = (o.b.unary(name, x) for name in ("Sin", "Cos", "Tanh"))
        return o.mul(o.mul(first, second), third)

    assert recognized(formula, build) == {}
