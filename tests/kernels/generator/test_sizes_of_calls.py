"""Kernels are measured with the shapes that the model calls composites with; and all of it ends in time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.errors import InterpreterError, LimitError, LitefuseError
from litefuse.kernels.generator import generate
from litefuse.kernels.generator.body import read_bodies
from litefuse.kernels.generator.called_shapes import CallsJob, known_shapes, shapes_of_calls
from litefuse.kernels.generator.generate import generate_kernels
from litefuse.kernels.generator.graph import NotGenerated
from litefuse.kernels.generator.kernel import kernel_source
from litefuse.kernels.generator.trial import Trial, TrialJob
from litefuse.support.processes.limits import ProcessLimits, processes_limited
from tests.litert.runtime.models import Graph, model

FUZZ = Path(__file__).parents[3] / "fuzz" / "corpus" / "generator"
ROWS, OPEN = (2, 8), (-1, 8)


def doubled(signature: tuple[int, ...]) -> bytes:
    """A model that calls a composite of open rows with its input and, twice as large, with that twice."""
    main, body = Graph(), Graph()
    x = main.input("x", ROWS, signature=signature)
    twice = main.tensor("twice", (4, 8), signature=OPEN)
    main.builtin("CONCATENATION", [x, x], [twice], axis=0)
    for name, given in (("one", x), ("two", twice)):
        main.composite("Body", [given], [main.output(name, ROWS, signature=OPEN)], {}, 1)
    x = body.input("x", ROWS, signature=OPEN)
    body.builtin("ADD", [x, body.tensor("more", (), value=1.0)], [body.output("y", ROWS, signature=OPEN)])
    return model(main, body, signatures={"serve": 0})


def test_the_largest_call_is_that_which_counts() -> None:
    called = shapes_of_calls(CallsJob(doubled(OPEN), "m", None, {"x": (5, 8)}))
    assert called == {("Body", 1): {"x0": (10, 8)}}
    assert shapes_of_calls(CallsJob(doubled(OPEN), "m", 3, {})) == {("Body", 1): {"x0": (6, 8)}}


def test_sizes_are_those_of_the_model_where_it_has_them() -> None:
    assert known_shapes(doubled(ROWS), "m", lambda _: None) == {("Body", 1): {"x0": (4, 8)}}
    assert known_shapes(doubled(OPEN), "m", lambda _: None) == {}
    assert known_shapes(doubled(OPEN), "m", lambda _: None, are_given=True) == {("Body", 1): {"x0": (2, 8)}}


@pytest.mark.parametrize(
    ("shapes", "kind", "message"),
    [({"z": (1, 8)}, LitefuseError, "no input is called 'z'"), ({"x": (1, 9)}, InterpreterError, "does not fit")],
)
def test_shapes_that_are_not_the_models_are_refused(shapes: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        shapes_of_calls(CallsJob(doubled(OPEN), "m", None, shapes))


def test_a_trial_measures_with_the_shapes_of_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[TrialJob] = []

    def run(_: str, job: TrialJob, __: Any) -> Trial:
        jobs.append(job)
        return Trial(problem="not run")

    def build(folder: Path, _: Any) -> Path:
        return folder / "none.so"

    monkeypatch.setattr(generate, "run_in_worker", run)
    monkeypatch.setattr(generate, "build_kernels", build)
    called = {("Body", 1): {"x0": (4, 8)}}
    for given in (called, None):
        assert generate_kernels(doubled(OPEN), None, tmp_path, model="m", called=given).declined == {"Body": "not run"}
    assert [job.measured for job in jobs] == [{"x0": (4, 8)}, None]


def test_the_time_is_that_of_all_steps(tmp_path: Path) -> None:
    with processes_limited(ProcessLimits(timeout=1e-9)), pytest.raises(LimitError, match="timeout"):
        generate_kernels(doubled(OPEN), None, tmp_path, model="m")
    assert not [*tmp_path.iterdir()]


def test_composites_that_double_are_declined_in_time() -> None:
    content = (FUZZ / "composites_that_double.tflite").read_bytes()
    begun = time.process_time()
    (bodies,) = read_bodies(content, "m").values()
    with pytest.raises(NotGenerated, match="within too many ops"):
        kernel_source("Mutant", bodies, "Mutant", "m")
    assert time.process_time() - begun < 30


def test_loops_within_loops_are_declined_in_time() -> None:
    """64 turns of 64 turns, and so on."""
    graphs = [Graph() for _ in range(6)]
    main, body, condition, *steps = graphs
    main.composite("Loops", [main.input("x", ())], [main.output("y", ())], {}, 1)
    for level, graph in enumerate([body, *steps]):
        last = level == len(steps)
        x = graph.input("x", ())
        count = -1 if graph is body else graph.input("count", (), np.int32)
        made = graph.output("y", ())
        if last:
            graph.builtin("ABS", [x], [made])
        else:
            first, after = graph.tensor("first", (), np.int32, value=0), graph.tensor("after", (), np.int32)
            graph.builtin("WHILE", [x, first], [made, after], condSubgraphIndex=2, bodySubgraphIndex=level + 3)
        if graph is not body:
            more = graph.tensor("more", (), np.int32, value=1)
            graph.builtin("ADD", [count, more], [graph.output("next", (), np.int32)])
    condition.input("x", ())
    count = condition.input("count", (), np.int32)
    most = condition.tensor("most", (), np.int32, value=60)
    condition.builtin("LESS", [count, most], [condition.output("goes_on", (), np.bool_)])
    (bodies,) = read_bodies(model(*graphs, signatures={"serve": 0}), "m").values()
    with pytest.raises(NotGenerated, match="more than 8,192 ops"):
        kernel_source("Loops", bodies, "Loops", "m")
