"""Calls of a composite and its replacement, of which functions in Python stand for both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify.check_calls import Body, Call, Calls, Draw, Refusal, first_line
from litefuse.conversion.verify.standalone import StandaloneModel
from litefuse.errors import InterpreterError
from litefuse.fusions.composites.outcome import CheckResult, CheckTerms
from litefuse.litert.inputs.drawer import Manner
from litefuse.litert.inputs.kinds import Kind
from tests.litert.runtime.models import Graph, model

USUAL = Kind("normal numbers", Manner(), 3)
NAN = Kind("NaN", Manner(), 3, undefined=True)


def content() -> bytes:
    graph = Graph()
    graph.builtin("TANH", [graph.input("x0", (2,))], [graph.output("y0", (2,))])
    return model(graph, signatures={"serve": 0})


CONTENT = content()


def body(*results: Any, for_kernels: bool = True) -> Body:
    """A function that gives results, or raises; for each call another one, and then the last one."""
    left = [*results]

    def run(**_: Any) -> dict[str, Any]:
        result = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(result, Exception):
            raise result
        values: Any = (result,) if hasattr(result, "dtype") else result
        return {f"y{index}": value for index, value in enumerate(values)}

    return Body(StandaloneModel(CONTENT, for_kernels), run)


def f32(*numbers: Any) -> Any:
    return np.array(numbers, np.float32)


def draw(kind: Kind = USUAL, *, usual: bool = True) -> Draw:
    return Draw(7, {"x0": f32(1, 2)}, kind, usual)


def calls(expected: Any, computed: Any, *, asks_for_nan: bool = False, **terms: Any) -> Calls:
    return Calls({1: body(expected)}, body(computed), CheckTerms(1 / 64, **terms), asks_for_nan=asks_for_nan)


def call_of(expected: Any, computed: Any, kind: Kind = USUAL, *, usual: bool = True, **more: Any) -> tuple[Calls, Call]:
    both = calls(expected, computed, **more)
    call = both.once(draw(kind, usual=usual))
    assert isinstance(call, Call)
    return both, call


@pytest.mark.parametrize(
    ("computed", "agrees", "error", "problem"),
    [
        (f32(1, 4), True, 0.0, None),
        (f32(1, 4.0625), True, 1 / 64, None),
        (f32(1, 4.125), False, 1 / 32, "the relative error is 0.031, and 2e-02 is allowed: 4.125 for 4 at [1]"),
        (f32(1, np.nan), False, np.inf, "the relative error is inf, and 2e-02 is allowed: nan for 4 at [1]"),
        (f32(1, 4, 4), False, None, "result 0 is float32[3], the composite's float32[2]"),
    ],
)
def test_one_result(computed: Any, agrees: bool, error: float | None, problem: str | None) -> None:
    both, call = call_of(f32(1, 4), computed)
    assert both.agrees(call) is agrees
    assert both.verdict(call) == CheckResult(error, problem)


def test_the_worst_of_several_results() -> None:
    expected, computed = (f32(1, 4), f32(2), f32(1)), (f32(1.125, 4), f32(2.5), f32(1))
    both, call = call_of(expected, computed)
    assert both.verdict(call).problem == (
        "the relative error of result 1 (float32[1]) is 0.25, and 2e-02 is allowed: 2.5 for 2 at [0]"
    )
    both, call = call_of(expected, computed, open_results=(0, 1))
    assert both.verdict(call) == CheckResult(0.0)
    both, call = call_of((f32(1), f32(2)), (f32(1), f32(2, 2)), open_results=(1,))
    assert both.verdict(call).problem == "result 1 is float32[2], the composite's float32[1]"


@pytest.mark.parametrize(
    ("count", "expected", "computed", "agrees"),
    [
        (np.array(2), f32(1, 2, 3), f32(1, 2, np.nan), True),
        (np.array(2), f32(1, 2, 3), f32(1, 3, 3), False),
        (np.array([1, 0]), f32([[1], [2]], [[3], [4]]), f32([[1], [9]], [[9], [9]]), True),
        (np.array([1, 1]), f32([[1], [2]], [[3], [4]]), f32([[1], [9]], [[9], [9]]), False),
        (f32(2), f32([[1, 1], [2, 2], [3, 3]]), f32([[1, 1], [2, 2], [9, 9]]), True),
    ],
)
def test_results_up_to_a_count(count: Any, expected: Any, computed: Any, agrees: bool) -> None:
    both, call = call_of((expected, count), (computed, count), counts={0: 1})
    assert both.agrees(call) is agrees


def test_another_dtype() -> None:
    both = calls((f32(1), f32(1)), (f32(1), np.ones(1)))
    assert both.once(draw()) == CheckResult(problem="result 1 is float64[1], the composite's float32[1]")


@pytest.mark.parametrize(
    ("expected", "computed", "kind", "usual", "asks", "result"),
    [
        # What the composite leaves undefined is only noted, unless it is usual numbers, or it asks for NaN.
        (f32(1, np.inf), f32(1, 2), USUAL, False, False, CheckResult(0.0, note="2 for inf at [1]")),
        (f32(1, np.inf), f32(1, 2), NAN, False, False, CheckResult(0.0, note="2 for inf at [1]")),
        (f32(1, np.inf), f32(1, 2), NAN, False, True, None),
        (f32(1, np.inf), f32(1, 2), USUAL, True, False, None),
        # As is what differs where arguments are NaN.
        (f32(1, 4), f32(1, 5), NAN, False, False, CheckResult(0.0, note="5 for 4 at [1]")),
        (f32(1, 4), f32(1, 4.0625), NAN, False, False, CheckResult(1 / 64)),
        (f32(1, 4), f32(1, 5), NAN, False, True, None),
        (f32(1, 4), f32(1, 5), USUAL, False, False, None),
    ],
)
def test_what_is_undefined(
    expected: Any, computed: Any, kind: Kind, usual: bool, asks: bool, result: CheckResult | None
) -> None:
    both, call = call_of(expected, computed, kind, usual=usual, asks_for_nan=asks)
    verdict = both.verdict(call)
    if result is None:
        assert verdict.problem is not None
    else:
        assert verdict == result


def test_notes_name_results() -> None:
    both, call = call_of((f32(1), f32(np.nan), f32(np.inf)), (f32(1), f32(3), f32(4)), usual=False)
    assert both.verdict(call).note == "3 for nan at [0] of result 1 (float32[1])"


ERROR = ValueError("no such axis:\nmore")
REFUSED = "its kernel does not run on random inputs: no such axis: more"


@pytest.mark.parametrize(
    ("expected", "computed", "kind", "kernel", "result"),
    [
        (ERROR, f32(1), USUAL, "", Refusal("the composite does not run on random inputs: no such axis:\nmore")),
        (f32(1), ERROR, USUAL, "", CheckResult(problem="the fused op does not run: no such axis: more")),
        (
            f32(1),
            ERROR,
            USUAL,
            "My",
            Refusal(REFUSED, of_kernel=True),
        ),
        (f32(1), ERROR, NAN, "My", Refusal(REFUSED)),
        (f32(1), ERROR, NAN, "", Refusal(REFUSED)),
        (f32(1), InterpreterError("no kernel"), USUAL, "My", CheckResult(unchecked="no kernel")),
    ],
)
def test_what_does_not_run(expected: Any, computed: Any, kind: Kind, kernel: str, result: Any) -> None:
    assert calls(expected, computed, kernel=kernel).once(draw(kind)) == result


def test_first_lines() -> None:
    assert first_line(ERROR) == "no such axis"
    assert first_line(KeyError()) == "KeyError"


@pytest.mark.parametrize(
    ("results", "moved"),
    [
        ([f32(4), f32(4)], False),
        ([f32(4), f32(4.0625)], False),
        ([f32(4), f32(4.125)], True),
        ([f32(4), f32(4, 5)], False),
        ([f32(4), np.ones(1)], False),
        ([f32(4), f32(np.nan)], True),
        ([f32(np.nan), f32(np.nan)], False),
    ],
)
def test_results_that_move(results: list[Any], moved: bool) -> None:
    both = Calls({1: body(*results)}, body(f32(1)), CheckTerms(1 / 64), asks_for_nan=False)
    for _ in results:
        both.once(draw())
    assert both.moved is moved
    unseen = Calls({1: body(*results)}, body(f32(1)), CheckTerms(1 / 64, open_results=(0,)), asks_for_nan=False)
    for _ in results:
        unseen.once(draw())
    assert not unseen.moved


def test_bodies_of_several_sizes() -> None:
    one = calls(f32(1), f32(1))
    assert [one.size(size) for size in (1, 2, 130)] == [1, 2, 130]
    bodies = {size: body(f32(size)) for size in (1, 3)}
    bodies[3] = Body(StandaloneModel(content() + b"0", True), bodies[3].run)
    several = Calls(bodies, body(f32(1)), CheckTerms(0.1), asks_for_nan=False)
    assert [several.size(size) for size in (1, 2, 3, 130)] == [1, 1, 3, 3]
    assert [several.body(size)({})["y0"].tolist() for size in (1, 3, 130)] == [[1], [3], [1]]


class Rounded:
    """Rounding that gives spreads, one after the other."""

    any_may_come_first = False
    resized = False

    def __init__(self, *spreads: Any) -> None:
        self.given = list[Any]()
        self._spreads = spreads

    def spreads(self, _: Any, expected: Any) -> Any:
        for spread in self._spreads:
            self.given.append(expected)
            yield {"y0": spread}


def allowed(both: Calls, call: Call, monkeypatch: pytest.MonkeyPatch, *roundings: Rounded) -> Call:
    left = [*roundings]

    def take(_: Body) -> Rounded:
        return left.pop(0)

    monkeypatch.setattr(both, "_rounding", take)
    both.allow_for_rounding(call)
    return call


def test_what_rounding_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spreads grow until nothing differs: first runs of the body come before those of the fused op, then all others."""
    both, call = call_of(f32(1, 4), f32(1, 4.5))
    rounding = Rounded(f32(0, 16), f32(9, 32), f32(0, 64))
    assert both.agrees(allowed(both, call, monkeypatch, rounding))
    assert len(rounding.given) == 2
    assert call.spread["y0"].tolist() == [9, 32]
    assert call.errors["y0"].error == 0.5 / 32

    fused = Body(StandaloneModel(CONTENT, False), body(f32(1, 4.5)).run)
    both = Calls({1: body(f32(1, 4))}, fused, CheckTerms(1 / 64), asks_for_nan=False)
    call = both.once(draw())
    assert isinstance(call, Call)
    first, second = Rounded(*[f32(0, 0)] * 8, f32(0, 64)), Rounded(*[f32(0, 0)] * 9)
    assert both.agrees(allowed(both, call, monkeypatch, first, second))
    assert (len(first.given), len(second.given)) == (9, 6)
    assert [given["y0"].tolist() for given in first.given[:1]] == [[1, 4]]
    assert second.given[0] is None


def test_undefined_numbers_are_not_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for asks, expected in ((False, 0), (True, 1)):
        both, call = call_of(f32(1, 4), f32(1, 5), NAN, usual=False, asks_for_nan=asks)
        rounding = Rounded(f32(0, 999))
        allowed(both, call, monkeypatch, rounding)
        assert len(rounding.given) == expected
    both, call = call_of(f32(1, 4), f32(1, 5, 6), NAN, usual=False)
    rounding = Rounded(f32(0, 999))
    rounding.resized = True
    assert not allowed(both, call, monkeypatch, rounding).resized
    both, call = call_of(f32(1, 4), f32(1, 5, 6))
    assert allowed(both, call, monkeypatch, Rounded(f32(0, 0))).resized


@pytest.mark.parametrize(
    ("usual", "first", "agrees"), [(False, True, True), (True, True, False), (False, False, False)]
)
def test_of_what_saturates_any_may_come_first(
    monkeypatch: pytest.MonkeyPatch, usual: bool, first: bool, agrees: bool
) -> None:
    both, call = call_of(f32(1, 4), f32(1, 9), usual=usual)
    rounding = Rounded(f32(0, 0))
    rounding.any_may_come_first = first
    assert both.agrees(allowed(both, call, monkeypatch, rounding)) is agrees
