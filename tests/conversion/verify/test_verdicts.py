"""Verdicts on outputs, from calls and the evidence that is known of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify.drawn_rounds import Kinds
from litefuse.conversion.verify.moves import Move
from litefuse.conversion.verify.original import Call
from litefuse.conversion.verify.rounding import Rounding
from litefuse.conversion.verify.verdicts import Evidence, Movement, movements, unmoved, verdicts
from litefuse.conversion.verify.verification import Coverage, OutputVerdict
from litefuse.litert.inputs.drawer import Manner
from litefuse.litert.inputs.kinds import Kind
from tests.litert.runtime.models import Graph, model

KIND = Kind("large", Manner(scale=100), 2)


def call(*x: float, key: str = "serve", **more: Any) -> Call:
    return Call(key, {"x": np.array(x, np.float32)}, **more)


def array(*y: float) -> dict[str, Any]:
    return {"y": np.array(y, np.float32)}


@pytest.mark.parametrize(
    ("calls", "outputs", "movement"),
    [
        ([call(1), call(2), call(3)], [array(1), array(2), array(2)], (1, 2)),
        ([call(1), call(1), call(3)], [array(1), array(2), array(2)], (0, 1)),  # the same inputs tell nothing
        ([call(1), call(2, 3), call(3)], [array(1), array(2), array(2)], (1, 1)),  # nor do other shapes
        ([call(1), call(2, key="other"), call(3)], [array(1), array(9), array(1)], (0, 1)),
        ([call(1), call(2)], [array(1), array(1.01)], (0, 1)),  # as far as the error that is allowed
        ([call(1), call(2)], [array(1), array(1.02)], (1, 1)),
        ([call(np.nan), call(np.nan)], [array(1), array(2)], (0, 0)),
        ([call(1), call(2)], [array(100, 1), array(100, 2)], (0, 1)),  # beside a large number
        ([call(1), call(2, kind=KIND)], [array(100, 1), array(100, 2)], (1, 1)),  # but for each by itself
        ([call(1), call(2)], [{}, array(1)], (0, 0)),
    ],
)
def test_movements(calls: list[Call], outputs: list[dict[str, Any]], movement: tuple[int, int]) -> None:
    assert movements(calls, outputs, 0.0101)["serve", "y"] == movement


def test_signatures_without_inputs_move_with_their_state() -> None:
    calls = [Call("read", {}), Call("read", {})]
    assert movements(calls, [array(1), array(2)], 0.01) == {("read", "y"): Movement(1, 1)}


def test_what_depends_on_inputs_and_never_moved() -> None:
    computed = {
        ("a", "y"): Movement(0, 3),
        ("a", "z"): Movement(1, 3),
        ("a", "constant"): Movement(0, 3),
        ("b", "y"): Movement(0, 3),
    }
    assert unmoved(computed, {"a": frozenset({"y", "z"})}) == [("a", "y")]


CALLS = [call(1), call(2), call(3)]
EXPECTED = [array(1, 4), array(2, 4), array(3, 4)]
COVERED = Coverage("serve", "table", 5, 5, sampled=False)


def judged(
    computed: list[dict[str, Any]], calls: list[Call] | None = None, expected: Any = None, **evidence: Any
) -> OutputVerdict:
    known: dict[str, Any] = {
        "tolerance": 1 / 64,
        "moving": {"serve": frozenset({"y"})},
        "coverage": [COVERED],
        "drawn": True,
        "refused": {},
    }
    (verdict,) = verdicts(calls or CALLS, computed, expected or EXPECTED, Evidence(**{**known, **evidence}))
    return verdict


def told(verdict: OutputVerdict) -> tuple[str, str, int]:
    return verdict.verdict, verdict.problem, verdict.call


NEAR = [array(1, 4), array(2, 4.0625), array(3, 4)]
FAR = [array(1, 4), array(2, 4.125), array(3, 4)]
DOUBT = "table: rows covered 4 of 5"


@pytest.mark.parametrize(
    ("computed", "evidence", "expected"),
    [
        (EXPECTED, {}, ("equal", "", 1)),
        (NEAR, {}, ("equal", "", 2)),
        (FAR, {}, ("differs", "", 2)),
        (FAR, {"refused": {"serve": "it refuses"}}, ("differs", "it refuses", 2)),
        (
            EXPECTED,
            {"refused": {"serve": "it refuses"}, "faults": {("serve", "y"): "inside"}},
            ("differs", "it refuses", 1),
        ),
        (EXPECTED, {"faults": {("serve", "y"): "inside"}}, ("differs", "inside", 1)),
        (EXPECTED, {"faults": {("serve", "z"): "inside"}}, ("equal", "", 1)),
        (FAR, {"explained": {("serve", "y"): 0.0105}}, ("equal", "", 2)),
        (FAR, {"explained": {("serve", "y"): 0.0104}}, ("differs", "", 2)),
        (FAR, {"explained": {}}, ("inconclusive", "it is not known what quantization explains", 2)),
        (NEAR, {"explained": {}}, ("equal", "", 2)),
        (EXPECTED, {"coverage": [Coverage("serve", "table", 4, 5, sampled=False)]}, ("inconclusive", DOUBT, 1)),
        (EXPECTED, {"coverage": [Coverage("other", "table", 4, 5, sampled=False)]}, ("equal", "", 1)),
        (EXPECTED, {"moving": {}, "coverage": [Coverage("serve", "table", 4, 5, sampled=False)]}, ("equal", "", 1)),
        (FAR, {"steps": {("serve", "y"): 0.0625}}, ("equal", "", 1)),
        (FAR, {"steps": {("serve", "y"): 0.125}}, ("equal", "", 1)),
        (FAR, {"steps": {("serve", "y"): 0.0621}}, ("differs", "", 2)),
    ],
)
def test_verdicts(computed: list[dict[str, Any]], evidence: dict[str, Any], expected: tuple[str, str, int]) -> None:
    verdict = judged(computed, **evidence)
    assert told(verdict) == expected
    assert (verdict.moved, verdict.comparable, verdict.dtype, verdict.shape) == (2, 2, "float32", (2,))


@pytest.mark.parametrize(
    ("explained", "clipped", "drawn", "verdict"),
    [
        (0.9, 0.0, False, "equal"),
        (0.9, 0.85, False, "differs"),
        (0.9, 0.85, True, "inconclusive"),
        (0.9, 0.3, False, "equal"),  # rounding alone explains it
        (0.2, 0.08, False, "equal"),
    ],
)
def test_what_is_clipped_is_not_silently_equal(explained: float, clipped: float, drawn: bool, verdict: str) -> None:
    output = ("serve", "y")
    far = [array(1, 4), array(2, 5.5), array(3, 4)]
    judgement = judged(far, explained={output: explained}, clipped={output: clipped}, drawn=drawn)
    assert judgement.verdict == verdict
    assert ("are clipped" in judgement.problem) is (verdict != "equal" or clipped == 0.08)


@pytest.mark.parametrize(
    ("drawn", "calls", "verdict"), [(True, 1, "inconclusive"), (False, 1, "equal"), (False, 3, "inconclusive")]
)
def test_what_did_not_move(drawn: bool, calls: int, verdict: str) -> None:
    """Given inputs may be of one call, which cannot move."""
    still = [array(1, 4)] * calls
    judgement = judged(still, CALLS[:calls], still, drawn=drawn)
    assert told(judgement)[:2] == (verdict, "it did not move with the inputs" if verdict == "inconclusive" else "")


def test_an_output_of_one_of_them() -> None:
    lacking = [{**outputs, "z": np.zeros(3, np.int32)} for outputs in EXPECTED]
    evidence = Evidence(0.01, {}, [], True, {})
    for computed, expected, problem in (
        (lacking, EXPECTED, "only the model has it, not the original"),
        (EXPECTED, lacking, "only the original has it, not the model"),
    ):
        first, second = verdicts(CALLS, computed, expected, evidence)
        assert first.verdict == "equal"
        assert (second.name, second.dtype, second.shape, second.error) == ("z", "int32", (3,), np.inf)
        assert told(second) == ("differs", problem, 0)


def test_usual_numbers_count_before_other_kinds() -> None:
    """Other kinds count where usual ones do not differ; and thin calls show no shape."""
    calls = [call(1, thin=True), call(2), call(3, 3, kind=KIND)]
    expected = [array(1), array(1), array(1, 1)]
    differs = judged([array(1), array(1.1), array(1, 2)], calls, expected)
    assert (differs.call, differs.shape) == (2, (1,))
    assert judged([array(1), array(1), array(1, 2)], calls, expected).call == 3
    assert judged([array(1.1), array(1), array(1, 1)], calls, expected).shape == (1,)
    assert judged([array(1.1), array(1), array(1, 1)], calls, expected).call == 1
    spread = judged([array(1), array(1), array(1, 1.05)], calls, expected, spreads={2: {"y": np.full(2, 10.0)}})
    assert spread.verdict == "inconclusive"  # it did not move, but rounding explains 1 of 10
    assert judged([array(1), array(1), array(1, 1.05)], calls, expected).verdict == "differs"


def test_dtypes_of_outputs() -> None:
    texts = [{"y": np.array([b"a"], object)}] * 3
    assert judged(texts, expected=texts).dtype == "string"
    assert judged(EXPECTED, dtypes={("serve", "y"): "int8"}).dtype == "int8"


@pytest.mark.parametrize(("work", "numbers"), [({0: 5}, 5), ({1: 5}, 10), ({2: 5}, 30), ({3: 1, 0: 4}, 22)])
def test_numbers_of_a_call(work: dict[int, int], numbers: int) -> None:
    """Of what is dynamic, the first is the batch."""
    assert Kinds([], work, keeps_state=False).numbers(2, 3) == numbers


UNIT = 2.0**-19


def squared(x: Any) -> dict[str, Any]:
    return {"y": x * x}


def rounding(*results: Any, content: bytes | None = None, **options: Any) -> tuple[Rounding, list[Any]]:
    """One whose moved copy gives results, one after the other, and then the last one."""
    graph = Graph()
    graph.builtin("TANH", [graph.input("x", (2,))], [graph.output("y", (2,))])
    given, left = list[Any](), [*results]

    def run(**_: Any) -> dict[str, Any]:
        given.append((Move.alike, Move.sign))
        result = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(result, Exception):
            raise result
        return {"y": np.array(result, np.float32)}

    return Rounding(content or model(graph, signatures={"serve": 0}), squared, lambda _: run, **options), given


X = {"x": np.array([1, 2], np.float32)}


def test_spreads_grow_with_each_run() -> None:
    """Each second run is of numbers that are not alike, and is made again with an eighth of the moves."""
    moves = [[1 + UNIT, 4], [1 + 8 * UNIT, 4 + 8 * UNIT], [1 + UNIT, 4 + 7 * UNIT], [1 - 2 * UNIT, 4]]
    maker, given = rounding(*moves, timed=False)
    spreads = maker.spreads(X, {"y": np.array([1, 4], np.float32)})
    assert [next(spreads)["y"].tolist() for _ in range(3)] == [[1, 0], [8, 0], [8, 0]]
    assert given == [(True, 1), (False, 1), (False, 1 / 8), (True, 1)]
    assert len([*spreads]) == 37
    assert not maker.resized
    assert not maker.any_may_come_first


def test_results_of_another_shape() -> None:
    maker, _ = rounding([1.0], timed=False)
    assert next(maker.spreads(X, squared(**X)))["y"].tolist() == [np.inf, np.inf]
    assert maker.resized


def test_arguments_move_where_ops_cannot() -> None:
    (spread,) = rounding(RuntimeError("a kernel"), timed=False)[0].spreads(X, squared(**X))
    assert 10 < spread["y"][0] < 40
    assert 40 < spread["y"][1] < 160
    (spread,) = rounding([1, 2])[0].spreads(X, {"y": squared(**X)["y"].astype(np.float16)})
    assert spread["y"].shape == (2,)
    assert not [*rounding(RuntimeError("a kernel"))[0].spreads(X)]


@pytest.mark.parametrize("op", ["ARG_MAX", "TANH"])
@pytest.mark.parametrize("moved", [[1.0, 2], RuntimeError("a kernel")], ids=["ops", "arguments"])
def test_any_may_come_first_of_steps_whose_arguments_move(op: str, moved: Any) -> None:
    graph = Graph()
    operands = [graph.input("x", (2,)), graph.tensor("axis", (), np.int32, value=0)]
    graph.builtin(op, operands[: 1 + (op == "ARG_MAX")], [graph.output("y", (2,))])
    maker, _ = rounding(moved, content=model(graph, signatures={"serve": 0}), timed=False)
    next(maker.spreads(X, squared(**X)))
    assert maker.any_may_come_first is (op == "ARG_MAX" and not isinstance(moved, list))


def test_steps_of_integers_are_told() -> None:
    (told_steps,) = verdicts(
        CALLS[:1], [array(4.25, 4)], [array(4, 4)], Evidence(0.01, {}, [], True, {}, steps={("serve", "y"): 0.125})
    )
    assert (told_steps.problem, told_steps.error) == ("2 steps of its integers apart", 0)
    (one_step,) = verdicts(
        CALLS[:1], [array(4.125, 4)], [array(4, 4)], Evidence(0.01, {}, [], True, {}, steps={("serve", "y"): 0.125})
    )
    assert one_step.problem == "a step apart"
