"""Calls with kinds of numbers: those that the original refuses, and how far rounding moves the outputs of others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest

from litefuse.conversion.verify import against_original
from litefuse.conversion.verify.model_process import ModelCalls, ModelJob, call_model
from litefuse.conversion.verify.original import Arrays, Call
from litefuse.errors import LitefuseError
from litefuse.litert.inputs.drawer import Manner
from litefuse.litert.inputs.kinds import Kind
from tests.litert.runtime.models import Graph, model

JOB = ModelJob(b"")
KIND = Kind("zeros", Manner(scale=0), 2)
USUAL = Call("serve", {"x": np.ones(1)})
OUTPUTS: Arrays = {"y": np.ones(1)}


@pytest.mark.parametrize(("stateful", "left"), [(False, [0, 2]), (True, [0])])
def test_what_the_original_refuses_is_left_out(
    monkeypatch: pytest.MonkeyPatch, *, stateful: bool, left: list[int]
) -> None:
    monkeypatch.setattr(against_original, "_keeps_state", {JOB: stateful}.get)
    kinds = [Call("serve", {"x": np.full(1, number)}, kind=KIND) for number in range(3)]
    ran = ModelCalls([[USUAL], kinds], [[OUTPUTS], [OUTPUTS] * 3], {"serve": ("y",)}, {})
    ran, wanted = against_original.without_refused(JOB, ran, [[OUTPUTS], [OUTPUTS, {}, OUTPUTS]])
    assert [call.inputs["x"].item() for call in ran.rounds[1]] == left
    assert ran.rounds[0] == [USUAL]
    assert [*map(len, ran.results)] == [*map(len, wanted)] == [1, len(left)]


def test_without_any_kind_that_it_takes_the_round_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against_original, "_keeps_state", {JOB: False}.get)
    ran = ModelCalls([[USUAL], [USUAL._replace(kind=KIND)]], [[OUTPUTS], [OUTPUTS]], {"serve": ("y",)}, {})
    ran, wanted = against_original.without_refused(JOB, ran, [[OUTPUTS], [{}]])
    assert (len(ran.rounds), ran.results, wanted) == (1, [[OUTPUTS]], [[OUTPUTS]])


@pytest.mark.parametrize(("moves", "moved"), [("ops", []), ("all", ["y"])])
def test_arguments_move_where_ops_cannot_unless_these_alone_are_to(
    moves: Literal["ops", "all"], moved: list[str]
) -> None:
    graph = Graph()
    graph.builtin("CAST", [graph.input("x", (4,))], [graph.output("y", (4,), np.float16)])  # of too few digits
    call = Call("serve", {"x": np.ones(4, np.float32)}, kind=KIND)
    job = ModelJob(model(graph, signatures={"serve": 0}), rounds=((call,),), moves=moves)
    assert [*call_model(job, lambda _: None).results[0][0]] == moved


def ran_with_moves(
    monkeypatch: pytest.MonkeyPatch, *runs: list[float] | Exception, stateful: bool = False, usual: float = 1.0
) -> tuple[dict[int, Arrays], list[list[float]]]:
    """The spreads of calls of kinds 1 to 3, of which the last two differ, and what each run with moves was given."""
    monkeypatch.setattr(against_original, "_keeps_state", {JOB: stateful}.get)
    calls = [USUAL, *(Call("serve", {"x": np.full(1, number)}, kind=KIND) for number in range(1, 4))]
    results: list[Arrays] = [{"y": np.full(1, value)} for value in (usual, 1.0, 1.5, 2.0)]
    wanted: list[Arrays] = [{"y": np.ones(1)}] * 4
    given: list[list[float]] = []
    left = [*runs]

    def moves(rounds: Any, _: Any = None) -> Any:
        given.append([call.inputs["x"].item() for call in rounds[0]])
        run = left.pop(0)
        if isinstance(run, Exception):
            raise run
        return [[{"y": np.full(1, spread), "z": np.ones(1)} for spread in run]]

    def run_job(job: ModelJob, *_: Any) -> Any:
        assert job.moves
        return ModelCalls(list(map(list, job.rounds or ())), moves(job.rounds), {}, {})

    monkeypatch.setattr(against_original, "run_job", run_job)
    reference: Any = SimpleNamespace(moves=moves)
    ran = ModelCalls([calls[:2], calls[2:]], [results[:2], results[2:]], {"serve": ("y",)}, {})
    return against_original.spreads_of(JOB, "model", ran, [wanted[:2], wanted[2:]], reference), given


def test_both_models_are_moved_where_calls_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """The original where the model's moves do not explain it; what moves most counts."""
    spreads, given = ran_with_moves(monkeypatch, [1e6, 1.0], [1e6])
    assert given == [[2, 3], [3]]
    assert spreads == {1: {}, 2: {"y": np.full(1, 1e6)}, 3: {"y": np.full(1, 1e6)}}
    spreads, given = ran_with_moves(monkeypatch, [1e6, 1e6])
    assert given == [[2, 3]]
    spreads, given = ran_with_moves(monkeypatch, LitefuseError("it crashed"), [1.0, 1e6])
    assert (given, spreads[2]["y"].item(), spreads[1]) == ([[2, 3], [2, 3]], 1.0, {})


def test_models_with_state_are_moved_from_the_first_call_on(monkeypatch: pytest.MonkeyPatch) -> None:
    _, given = ran_with_moves(monkeypatch, [1.0, 1e6, 1.0], [1.0, 1.0, 1.0], stateful=True)
    assert given == [[1, 2, 3], [1, 2, 3]]


def test_outputs_that_differ_on_usual_numbers_are_not_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ran_with_moves(monkeypatch, usual=2.0) == ({1: {}, 2: {}, 3: {}}, [])
