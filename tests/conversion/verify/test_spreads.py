"""Calls with kinds of numbers: those that the original refuses, and how far rounding moves the outputs of others."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from litefuse.conversion.verify import against_original
from litefuse.conversion.verify.model_process import ModelCalls, ModelJob, call_model
from litefuse.conversion.verify.original import Arrays, Call
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
