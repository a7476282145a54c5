"""Layers and what they are compared with: errors, where they arise, and what they reach."""

from __future__ import annotations

import pkgutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify.layers.comparison import (
    compared,
    faults_of_outputs,
    litert_original,
    look_into,
    observation_of_original,
    worst_call,
)
from litefuse.conversion.verify.layers.layers import NO_NAME, Layer, Layers
from litefuse.conversion.verify.layers.model_values import Observation, Seen, values_file
from litefuse.conversion.verify.layers.observed_copy import LayerGraph, LayerTensor
from litefuse.conversion.verify.layers.original_values import Candidate, Match
from litefuse.conversion.verify.model_process import ModelJob
from litefuse.conversion.verify.original import Call, OriginalJob
from litefuse.conversion.verify.quantized.judge import Judged, OpJudgement
from litefuse.conversion.verify.verification import OutputVerdict
from litefuse.errors import LitefuseError
from tests.litert.runtime.models import Graph, model

TOLERANCE = 1 / 64


def verdict(error: float, call: int) -> OutputVerdict:
    return OutputVerdict("serve", "y", "float32", (1,), error, call)


@pytest.mark.parametrize(
    ("verdicts", "number"),
    [
        ([], 1),
        ([verdict(0.1, 2), verdict(0.2, 3)], 3),
        ([verdict(0.0, 4), verdict(0.0, 5)], 1),
        ([verdict(np.inf, 0), verdict(0.2, 3)], 3),
        ([verdict(np.inf, 0)], 1),
        ([verdict(1e-9, 1), verdict(0.0, 2)], 1),
    ],
)
def test_the_call_whose_layers_are_compared(verdicts: list[OutputVerdict], number: int) -> None:
    assert worst_call(verdicts) == number


def graph_of(
    *operands: tuple[int, ...], outputs: tuple[int, ...] = (), stored: frozenset[int] = frozenset()
) -> LayerGraph:
    """Tensors 1, 2, ... of these operands; 0 is the input."""
    tensors = tuple(
        LayerTensor(index, f"t{index}", f"OP{index}", 0, 1, given, "float32", True)
        for index, given in enumerate(operands, 1)
    )
    return LayerGraph(0, outputs, stored, {index: f"y{index}" for index in outputs}, tensors)


CHAIN = graph_of((0,), (1,), (2,), outputs=(3,))


def layers_of(
    folder: Path,
    graph: LayerGraph,
    errors: dict[int, float],
    judged: Judged | None = None,
    *,
    changes: dict[int, float] | None = None,
) -> dict[str, Layer]:
    """The layers, whose values are 1 and as much more as their errors; those without errors have no names."""
    seen: dict[int, Seen] = {}
    matches: dict[int, Match] = {}
    results: dict[str, Any] = {}
    for tensor in graph.tensors:
        seen[tensor.index] = Seen((2,), "float32", (changes or {}).get(tensor.index, 0.0))
        error = errors.get(tensor.index)
        np.save(values_file(folder, tensor.index), np.array([1, 1 + (error or 0.0)], np.float32))
        if error is not None and tensor.index in graph.outputs:
            results[graph.results[tensor.index]] = np.ones(2, np.float32)
        elif error is not None:
            file = folder / f"original{tensor.index}.npy"
            np.save(file, np.ones(2, np.float32))
            matches[tensor.index] = Match((Candidate(f"node{tensor.index}", file),), certain=True)
    layers = compared(Observation(graph, seen), folder, matches, results, TOLERANCE, judged)
    assert [layer.tensor for layer in layers] == [tensor.name for tensor in graph.tensors]
    return {layer.tensor: layer for layer in layers}


def test_where_an_error_arises(tmp_path: Path) -> None:
    layers = layers_of(tmp_path, CHAIN, {1: 1 / 64, 2: 1 / 8, 3: 1 / 4})
    assert [(layer.error, layer.added, layer.differs, layer.reaches) for layer in layers.values()] == [
        (1 / 64, 1 / 64, False, False),
        (1 / 8, 1 / 8 - 1 / 64, True, True),
        (1 / 4, 1 / 8, True, True),
    ]
    assert [(layer.name, layer.original, layer.output, layer.shape) for layer in layers.values()] == [
        ("node1", "node1", "", (2,)),
        ("node2", "node2", "", (2,)),
        ("y3", "", "y3", (2,)),
    ]


def test_an_error_that_goes_away(tmp_path: Path) -> None:
    layers = layers_of(tmp_path, CHAIN, {1: 1 / 8, 2: 0, 3: 1 / 4})
    assert [(layer.added, layer.reaches) for layer in layers.values()] == [(1 / 8, False), (0, False), (1 / 4, True)]


def test_what_is_not_compared_hands_errors_on(tmp_path: Path) -> None:
    """The ops in between may be wrong as well; the largest error of all operands counts."""
    graph = graph_of((0,), (0,), (1, 2), (3, 0), (4,), outputs=(5,))
    layers = layers_of(tmp_path, graph, {1: 1 / 8, 2: 1 / 32, 5: 1 / 4})
    assert layers["t5"].added == 1 / 8
    assert layers["t5"].through == ("OP4 t4", "OP3 t3")
    assert layers["t1"].reaches
    assert layers["t3"].problem == NO_NAME
    assert (layers["t3"].error, layers["t3"].added) == (None, None)
    assert layers["t1"].through == ()


def test_stored_values_last(tmp_path: Path) -> None:
    graph = graph_of((0,), (0,), outputs=(1,), stored=frozenset({2}))
    layers = layers_of(tmp_path, graph, {1: 0, 2: 1 / 4})
    assert layers["t2"].reaches
    without = graph_of((0,), (0,), outputs=(1,))
    assert not layers_of(tmp_path, without, {1: 0, 2: 1 / 4})["t2"].reaches


def test_what_cannot_be_seen(tmp_path: Path) -> None:
    layers = layers_of(tmp_path, CHAIN, {1: 0, 2: 0, 3: 0}, changes={1: 1 / 64, 2: 1 / 63})
    assert [layer.problem for layer in layers.values()] == ["", "looking at it changes the outputs by 0.016", ""]
    assert [layer.change for layer in layers.values()] == [1 / 64, 1 / 63, 0]
    (unseen,) = compared(Observation(graph_of((0,)), {}), tmp_path, {}, {}, TOLERANCE)
    assert unseen.problem == "it has no values that can be read"


@pytest.mark.parametrize(
    ("originals", "certain", "problem", "error", "node"),
    [
        ([[1.0, 1]], False, "", 0, "a"),
        ([[1.0, 2]], False, "it may be another step of the node", None, "a"),
        ([[1.0, 2]], True, "", 0.5, "a"),
        ([[1.0, 2], [1.0, 1]], False, "", 0, "b"),
        ([[1.0, 2, 3]], True, "its shape or dtype is not the original's", None, "a"),
        ([[True, False]], True, "its shape or dtype is not the original's", None, "a"),
        ([[1.0, 2, 3], [[1.0], [1.0]]], True, "", 0, "b"),
    ],
)
def test_candidates(
    tmp_path: Path, originals: list[Any], certain: bool, problem: str, error: float | None, node: str
) -> None:
    """The nearest of them counts; one that may be another value is it only if it is equal."""
    np.save(values_file(tmp_path, 1), np.ones(2, np.float32))
    candidates: list[Candidate] = []
    for name, values in zip("ab", originals, strict=False):
        np.save(tmp_path / f"{name}.npy", np.array(values))
        candidates.append(Candidate(name, tmp_path / f"{name}.npy"))
    observation = Observation(graph_of((0,)), {1: Seen((2,), "float32", 0.0)})
    (layer,) = compared(observation, tmp_path, {1: Match(tuple(candidates), certain)}, {}, TOLERANCE)
    assert (layer.problem, layer.error, layer.original) == (problem, error, node)
    assert layer.differs is (error is not None and error > 0)
    assert layer.original_dtype == ("" if error is None else "float64")


def test_faults_of_quantized_ops(tmp_path: Path) -> None:
    """What quantization explains counts in the place of the tolerance."""
    graph = graph_of((0,), (1,), (2,), (0,), outputs=(3,))
    judged = Judged({}, {}, {1: OpJudgement(0.5), 2: OpJudgement(7.0, "wrong"), 4: OpJudgement(9.0, "unused")})
    layers = layers_of(tmp_path, graph, {1: 1 / 4, 3: 1 / 4, 4: 0}, judged)
    assert [(layer.differs, layer.reaches, layer.excess, layer.fault) for layer in layers.values()] == [
        (False, False, 0.5, ""),
        (True, True, 7.0, "wrong"),
        (False, False, None, ""),
        (True, False, 9.0, "unused"),
    ]
    assert layers["t2"].through == ()
    assert {name: layer.tensor for name, layer in faults_of_outputs(graph, [*layers.values()]).items()} == {"y3": "t2"}


def test_the_first_fault_that_each_output_is_computed_from() -> None:
    graph = graph_of((0,), (0,), (2, 1), (3,), (0,), outputs=(3, 4, 5))
    layers = [Layer(f"t{index}", "OP", fault="wrong" if index in {1, 2, 4} else "") for index in range(1, 6)]
    assert {name: layer.tensor for name, layer in faults_of_outputs(graph, layers).items()} == {"y3": "t1", "y4": "t1"}


def test_what_is_wanted_of_the_original(tmp_path: Path) -> None:
    tensors = (
        LayerTensor(1, "a", "SPLIT", 1, 2, (0,), "float32", True),
        LayerTensor(2, "b", "RESHAPE", 0, 1, (1, 7), "float32", True),
        LayerTensor(3, "c", "TANH", 0, 1, (2,), "float32", True),
        LayerTensor(4, "unseen", "TANH", 0, 1, (2,), "float32", True),
    )
    graph = LayerGraph(0, (3,), frozenset(), {3: "y"}, tensors)
    seen = {index: Seen((2, 3), "float32", 0.0) for index in (1, 2, 3)}
    job = OriginalJob(tmp_path, ("serve",), (), {"serve": ("y",), "other": ("z",)})
    calls = [Call("serve", {})]
    asked = observation_of_original(job, calls, Observation(graph, seen), tmp_path)
    assert asked.job == OriginalJob(tmp_path, ("serve",), (tuple(calls),), {"serve": ("y",)})
    first, second = asked.wanted
    assert (first.index, first.name, first.position, first.count) == (1, "a", 1, 2)
    assert (first.kind, first.steps, first.copied) == ("numbers", frozenset({2}), None)
    assert (second.steps, second.copied) == (frozenset({3, 4}), 1)


def chain(op: str, inner: str = "inner") -> bytes:
    """The hyperbolic tangent of what an op makes."""
    graph = Graph()
    x, made, y = graph.input("x", (2,)), graph.tensor(inner, (2,)), graph.output("y", (2,))
    graph.builtin(op, [x], [made])
    graph.builtin("TANH", [made], [y])
    return model(graph, signatures={"serve": 0})


CALLS = [Call("serve", {"x": np.full(2, number, np.float32)}) for number in (-2, 1, -1, 3)]


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs models here, where processes would take seconds."""

    def announce(_: str) -> None:
        pass

    def run(target: str, job: Any, *_: Any) -> Any:
        try:
            return pkgutil.resolve_name(target)(job, announce)
        except struct.error as error:
            raise LitefuseError(str(error)) from error

    monkeypatch.setattr("litefuse.conversion.verify.layers.comparison.run_model", run)
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})  # which the job replaces, in this process


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(("number", "error"), [(1, 0.0), (2, 2.0), (3, 0.0), (4, 2.0)])
def test_layers_of_one_call(number: int, error: float) -> None:
    """The call is one of a round; layers of another file have the same names."""
    expected = [{"y": np.tanh(np.abs(call.inputs["x"]))} for call in CALLS]
    original = litert_original(ModelJob(chain("ABS")), "original")
    layers = look_into(ModelJob(chain("NEG")), "model", [CALLS[:1], CALLS[1:]], expected, number, TOLERANCE, original)
    assert (layers.signature, layers.call, layers.problem, layers.judged) == ("serve", number, "", False)
    inner, y = layers.layers
    assert (inner.error, inner.original, inner.differs, inner.reaches) == (error, "inner", error > 0, error > 0)
    assert (y.output, y.differs) == ("y", error > 0)


@pytest.mark.usefixtures("in_process")
def test_layers_that_cannot_be_compared() -> None:
    """Those of other names have nothing beside them; a file without names, or an original that fails, says so."""
    original = litert_original(ModelJob(chain("ABS")), "original")
    expected = [{"y": np.zeros(2, np.float32)}]

    def looked(content: bytes, look: Any = original) -> Any:
        return look_into(ModelJob(content), "model", [CALLS[:1]], expected, 1, TOLERANCE, look)

    for name in ("other", ""):
        assert [layer.problem for layer in looked(chain("NEG", name)).layers] == [NO_NAME, ""]

    def fail(*_: Any) -> Any:
        raise LitefuseError("it is away")

    assert looked(chain("NEG"), fail).problem == "The layers of the original cannot be looked at: it is away."
    assert not looked(chain("NEG"), fail).layers
    damaged = looked(b"nothing")
    assert damaged.problem.startswith("The layers of the model cannot be looked at: ")


def test_the_first_layer_that_differs() -> None:
    """It reaches an output if one does; the error grows most where most is added."""
    lost = Layer("lost", "OP", error=0.3, added=0.1, differs=True)
    reaching = Layer("reaching", "OP", error=0.5, added=0.2, differs=True, reaches=True)
    last = Layer("last", "OP", error=0.5, added=0.0, differs=True, reaches=True)
    right = Layer("right", "OP", error=0.0, added=0.0)
    for layers, first, step in (
        ((right, lost, reaching, last), reaching, reaching),
        ((lost, last), last, lost),
        ((lost, right), lost, lost),
        ((right, Layer("unknown", "OP")), None, None),
    ):
        looked_at = Layers("serve", 1, layers)
        assert (looked_at.first, looked_at.largest_step) == (first, step)
        assert len(looked_at.compared) == len(layers) - (first is None)
        told = looked_at.to_json()
        assert (told["compared"], told["tensors"]) == (len(looked_at.compared), len(layers))
        assert told["first"] == (None if first is None else first.to_json())
