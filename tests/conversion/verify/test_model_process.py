# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""The calls that the process of a model makes: given ones, samples, drawn ones, and how far rounding moves them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

import litefuse
from litefuse.conversion.quantization.dataset import Sample
from litefuse.conversion.verify import model_process as module
from litefuse.conversion.verify.model_process import ModelCalls, ModelJob, call_model, run_job
from litefuse.conversion.verify.original import Call
from litefuse.errors import LitefuseError
from litefuse.litert.inputs.model_inputs import Tables
from litefuse.litert.runtime.transfer import kernel_by_value
from tests.litert.runtime.models import Graph, model


def negated(*names: str, shape: Sequence[int] = (2,), op: str = "NEG", dtype: Any = np.float32) -> Graph:
    """``y = -x``, of the first of its inputs."""
    graph, sizes = Graph(), [1 if size < 0 else size for size in shape]
    inputs = [graph.input(name, sizes, dtype, signature=shape) for name in names or ("x",)]
    y = graph.output("y", sizes, dtype, signature=shape)
    (graph.builtin if op.isupper() else graph.custom)(op, inputs[:1], [y])
    return graph


ONE = model(negated(), signatures={"serve": 0})
TWO = model(negated("a", "b"), negated("c"), signatures={"first": 0, "second": 1})


def x(*values: float) -> Any:
    return np.array(values, np.float32)


def called(content: bytes, **options: Any) -> tuple[ModelCalls, list[str]]:
    steps: list[str] = []
    return call_model(ModelJob(content, **options), steps.append), steps


def results(calls: ModelCalls) -> list[list[list[float]]]:
    return [[outputs["y"].tolist() for outputs in of_round] for of_round in calls.results]


def test_calls_that_are_given() -> None:
    rounds = ((Call("first", {"a": x(1, 2), "b": x(0, 0)}), Call("second", {"c": x(3, 4)})), ())
    calls, steps = called(TWO, rounds=rounds)
    assert results(calls) == [[[-1, -2], [-3, -4]], []]
    assert calls.rounds == [list(of_round) for of_round in rounds]
    assert calls.outputs == {"first": ("y",), "second": ("y",)}
    assert calls.moving == {"first": {"y"}, "second": {"y"}}
    assert (calls.coverage, calls.limit, calls.beyond) == ((), None, ())
    assert [steps[0], steps[-1]] == ["load the model", "close the model"]
    assert "invoke, signature 'first'" in steps


def test_inputs_of_one_signature() -> None:
    """Each is for several calls."""
    calls, _ = called(ONE, inputs=({"x": x(1, 2)}, {"x": x(3, 4)}), times=2)
    assert results(calls) == [[[-1, -2], [-1, -2], [-3, -4], [-3, -4]]]
    with pytest.raises(LitefuseError, match="inputs are for one signature") as raised:
        called(TWO, inputs=({"c": x(1, 2)},))
    assert raised.value.hint == "Name it; the model has first, second."
    assert results(called(TWO, inputs=({"c": x(1, 2)},), signatures=("second",))[0]) == [[[-1, -2]]]


def test_samples_of_all_signatures() -> None:
    """Those of signatures that are not called, too."""
    samples = (
        Sample("second", {None: x(1, 2)}),
        Sample("first", {"a": x(3, 4), "b": x(0, 0)}),
        Sample("second", {"c": x(5, 6)}),
    )
    calls, _ = called(TWO, samples=samples)
    assert [call.signature for call in calls.rounds[0]] == ["first", "second", "second"]
    assert results(calls) == [[[-3, -4], [-1, -2], [-5, -6]]]
    assert results(called(TWO, samples=samples, signatures=("second",))[0]) == [[[-1, -2], [-5, -6]]]
    assert [ModelJob(ONE, **given).is_given for given in ({}, {"samples": samples}, {"inputs": ()})] == [  # pyright: ignore[reportArgumentType]
        *(False, True, True)
    ]


def test_inputs_that_are_drawn() -> None:
    content = model(negated(shape=(-1, 3)), signatures={"serve": 0})
    calls, steps = called(content, times=2)
    assert [call.inputs["x"].shape for of_round in calls.rounds for call in of_round] == [(1, 3)] * 2 + [(3, 3)] * 2
    np.testing.assert_array_equal(results(calls)[0], [-call.inputs["x"] for call in calls.rounds[0]])
    assert steps[-1] == "close the model"
    assert (calls.moving, calls.limit) == ({"serve": {"y"}}, None)
    again, other = (called(content, times=2, seed=seed)[0].rounds[0][0].inputs["x"] for seed in (0, 1))
    np.testing.assert_array_equal(again, calls.rounds[0][0].inputs["x"])
    assert (other != again).any()
    assert called(content, times=2, shapes={"x": (5, 3)})[0].rounds[0][0].inputs["x"].shape == (5, 3)
    integers = model(negated(dtype=np.int32, op="ABS"), signatures={"serve": 0})
    assert [called(integers, level=level)[0].limit for level in (0, 2)] == [None, 2]


def test_rows_and_words_of_the_original(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph()
    table = graph.tensor("table", (30, 2), value=np.arange(60).reshape(30, 2))
    graph.builtin("GATHER", [table, graph.input("ids", (3,), np.int32)], [graph.output("y", (3, 2))])
    content = model(graph, signatures={"serve": 0})
    calls, _ = called(content, tables=Tables(shapes=frozenset({(40, 2)})))
    assert [(rows.reached, rows.size) for rows in calls.coverage] == [(30, 30)]
    assert [what for _, what in calls.beyond] == ["it refuses rows that the original takes: table has 30 of 40"]
    assert called(content, seconds=-1.0)[0].coverage[0].reached < 30
    assert called(content)[0].beyond == ()
    widened: list[Tables] = []
    monkeypatch.setattr(module.ModelInputs, "widen", lambda _, tables: widened.append(tables))
    called(content, tables=Tables(((b"a",),)))
    assert widened == [Tables(((b"a",),))]


@pytest.mark.parametrize(
    ("tables", "asks", "more"),
    [
        (Tables(), False, set[str]()),
        (Tables(asks_for_nan=True), False, {"NaN and infinities"}),
        (Tables(), True, {"NaN and infinities"}),
        (Tables(numbers=(0.5,)), False, {"numbers at its constants"}),
    ],
)
def test_kinds_of_numbers(tables: Tables, *, asks: bool, more: set[str]) -> None:
    graph = negated(shape=(-1,))
    if asks:
        graph.builtin("NOT_EQUAL", [0, 0], [graph.output("z", (1,), np.bool_, signature=(-1,))])
    content = model(graph, signatures={"serve": 0})
    calls, _ = called(content, kinds=True, times=2, tables=tables)
    names = {call.kind.name for of_round in calls.rounds for call in of_round if call.kind}
    assert {"normal numbers", "zeros"} <= names
    assert names & {"NaN and infinities", "numbers at its constants"} == more
    assert not any(call.kind for of_round in called(content, times=2, tables=tables)[0].rounds for call in of_round)


class Doubled(litefuse.CustomOp):
    op_name = "Doubled"

    def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = 2 * inputs[0]


class Tripled(Doubled):
    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = 3 * inputs[0]


MODULE = """
import litefuse

@litefuse.custom_op("Doubled")
class Quadrupled(litefuse.CustomOp):
    def prepare(self, x):
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs, outputs):
        outputs[0][...] = 4 * inputs[0]
"""


def test_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a job come before registered ones."""
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})
    content = model(negated(op="Doubled"), signatures={"serve": 0})
    doubled, tripled = map(kernel_by_value, (Doubled, Tripled))
    (tmp_path / "kernels.py").write_text(MODULE)
    given: dict[str, Any] = {"inputs": ({"x": x(1, 2)},)}
    for kernels, factor in (
        ({"registered": {"Doubled": doubled}}, 2),
        ({"registered": {"Doubled": doubled}, "custom_ops": (tripled,)}, 3),
        ({"custom_ops": (tripled,)}, 3),
        ({"kernel_modules": (str(tmp_path / "kernels.py"),)}, 4),
    ):
        calls, steps = called(content, **given, **kernels)
        assert results(calls) == [[[factor, 2 * factor]]]
        assert steps[0] == "import the kernels"
    with pytest.raises(LitefuseError, match="Doubled"):
        called(content, **given)


def test_integers_of_a_file() -> None:
    graph = Graph()
    y = graph.output("y", (2,), np.int8)
    parameters = schema.QuantizationParametersT()
    parameters.scale, parameters.zeroPoint = [0.5], [1]
    graph.tensors[y][0].quantization = parameters
    graph.builtin("QUANTIZE", [graph.input("x", (2,))], [y])
    calls, _ = called(model(graph, signatures={"serve": 0}), inputs=({"x": x(1, 2)},))
    assert (results(calls), calls.dtypes) == ([[[1, 2]]], {("serve", "y"): "int8"})


# Movement by rounding.


def test_movement_of_each_call() -> None:
    """In units of relative movement: that of a result is about as large as the result."""
    content = model(negated(op="TANH"), signatures={"serve": 0})
    rounds = (tuple(Call("serve", {"x": x(value, -value)}) for value in (1e-3, 0.5)),)
    for moves in ("ops", "all"):
        (small, large), *others = called(content, rounds=rounds, moves=moves)[0].results
        assert not others
        assert 1e-4 < small["y"].max() < 0.05
        assert 0.05 < large["y"].max() < 10
    assert called(content, rounds=(), moves="ops")[0].results == [[]]


def summed() -> bytes:
    """``y = 1.5 * (total += x)``, of a variable that begins with 0."""
    graph, first = Graph(), Graph()
    for one in (graph, first):
        one.builtin("VAR_HANDLE", [], [one.tensor("v", [1], "RESOURCE")], container="", sharedName="v")
    first.builtin("ASSIGN_VARIABLE", [0, first.tensor("zero", (1,), value=[0.0])], [])
    graph.builtin("CALL_ONCE", [], [], initSubgraphIndex=1)
    given, before, total = graph.input("x", (1,)), graph.tensor("before", (1,)), graph.tensor("total", (1,))
    graph.builtin("READ_VARIABLE", [0], [before])
    graph.builtin("ADD", [before, given], [total])
    graph.builtin("ASSIGN_VARIABLE", [0, total], [])
    graph.builtin("MUL", [total, graph.tensor("factor", (), value=1.5)], [graph.output("y", (1,))])
    return model(graph, first, signatures={"serve": 0})


def test_movement_after_the_calls_before() -> None:
    """The state is that which they leave, without moves."""
    rounds = (tuple(Call("serve", {"x": x(value)}) for value in (1, 1000, 1)),)
    (first, second, third), *_ = called(summed(), rounds=rounds, moves="all")[0].results
    assert 0 < first["y"].item() < 20
    assert 50 < second["y"].item() < 20_000
    assert 50 < third["y"].item() < 20_000


def test_where_any_may_come_first() -> None:
    """Results move without limit where only arguments can be moved, of a function with steps inside."""
    graph = Graph()
    half, rounded = graph.tensor("half", (4,), np.float16), graph.tensor("rounded", (4,))
    graph.builtin("CAST", [graph.input("x", (4,))], [half])
    graph.builtin("CAST", [half], [rounded])
    graph.builtin(
        "ARG_MAX",
        [rounded, graph.tensor("axis", (), np.int32, value=0)],
        [graph.output("z", (), np.int64)],
        outputType=4,
    )
    graph.outputs.insert(0, half)
    content = model(graph, signatures={"serve": 0})
    rounds = ((Call("serve", {"x": x(1, 2, 3, 4)}),),)
    ((spread,), *_) = called(content, rounds=rounds, moves="all")[0].results
    assert {name: value.item() for name, value in spread.items()} == {"half": np.inf, "z": np.inf}
    ((spread,), *_) = called(content, rounds=rounds, moves="ops")[0].results
    assert spread == {}


@pytest.mark.parametrize("sanitized", [set[str](), {"b.so"}, {"modules.so"}])
def test_the_process_of_a_model(monkeypatch: pytest.MonkeyPatch, sanitized: set[str]) -> None:
    """Its environment is for kernels that were built with the address sanitizer, if some were."""
    given: list[Any] = []

    def run_model(*arguments: Any, **options: Any) -> str:
        given.append((*arguments, options))
        return "called"

    monkeypatch.setattr(module, "run_model", run_model)
    monkeypatch.setattr(module, "is_sanitized", sanitized.__contains__)
    monkeypatch.setattr(module, "sanitizer_environment", lambda: {"LD_PRELOAD": "asan"})
    job, steps = ModelJob(ONE, custom_ops=(b"pickled", "a.so", "b.so"), kernel_modules=("modules.so",)), list[str]()
    assert run_job(job, "model.tflite", steps.append) == "called"
    ((target, argument, where, announce, options),) = given
    assert (target, argument, where) == (module.MODEL, job, "model.tflite")
    assert options == {"environment": {"LD_PRELOAD": "asan"} if sanitized else None}
    announce("load")
    assert steps == ["load"]
