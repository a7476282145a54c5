# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""How originals are called: LiteRT models in a process of their own, others in TensorFlow's; both under their names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.job import ConversionJob
from litefuse.conversion.verify import reference as module
from litefuse.conversion.verify.model_process import ModelCalls, ModelJob
from litefuse.conversion.verify.original import Call, OriginalJob
from litefuse.conversion.verify.reference import Names, Reference, is_litert, name_and_content, opened, path_of
from litefuse.errors import EngineCrashError, InterpreterError, LitefuseError
from litefuse.litert.metadata.description import Finish
from litefuse.litert.metadata.finish import finish_file
from litefuse.support.options.forms import CompositeForms
from litefuse.support.result import ConversionResult
from tests.frontends.saved_model.model_writer import write
from tests.litert.runtime.models import Graph, model, unary

CALL = Call("serve", {"x": np.ones(2, np.float32)})
RESULT = {"y": np.zeros(2, np.float32)}
OUTPUTS = {"serve": ("y",)}
CONVERTED = ConversionResult(SimpleNamespace(source="model", size=9), Path("model.tflite"), SimpleNamespace())  # pyright: ignore[reportArgumentType]


def file_of(*ops: str) -> bytes:
    graph = Graph()
    value = graph.input("x", (2,))
    for op in ops:
        result = graph.output("y", (2,)) if op == ops[-1] else graph.tensor(op, (2,))
        graph.builtin(op, [value], [result])
        value = result
    return model(graph, signatures={"serve": 0})


JOB = ModelJob(file_of("EXP", "NEG"), custom_ops=("kernel.so",), signatures=("other",), times=3)


class Processes:
    """What is asked of other processes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.jobs: list[Any] = []
        self.results: list[Any] = [[RESULT]]
        self.ops: tuple[str, ...] = ("EXP", "ABS", "NEG")
        self.steps: list[str] = []
        monkeypatch.setattr(module, "run_job", self.run_job)
        monkeypatch.setattr(module, "run_in_worker", self.run_in_worker)
        monkeypatch.setattr(module, "run_alone", self.run_alone)

    def run_job(self, job: ModelJob, where: str, announce: Callable[[str], None]) -> ModelCalls:
        self.jobs.append((job, where))
        announce("run")
        return ModelCalls([], self.results, {}, {})

    def run_in_worker(self, target: str, job: ConversionJob, announce: Callable[[str], None]) -> None:
        self.jobs.append(job)
        announce("convert")
        job.output.write_bytes(file_of(*self.ops))
        assert target == "litefuse.conversion.run:run_job"

    def run_alone(self, target: str, job: Any, **options: Any) -> Any:
        self.jobs.append(job)
        options.pop("announce")("load")
        assert options["imported"] == "tensorflow"
        assert options["environment"]["CUDA_VISIBLE_DEVICES"] == "-1"
        if isinstance(self.results, Exception):
            raise self.results
        return target.rpartition(":")[2], self.results

    def opened(self, original: object, *, side_effects: bool = True, **more: Any) -> AbstractContextManager[Reference]:
        tags = more.get("tags")
        return opened(original, tags, JOB, allow_side_effects=side_effects, announce=self.steps.append)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    return Processes(monkeypatch)


def test_a_litert_model_is_called_with_kernels_of_its_own(processes: Processes) -> None:
    content = file_of("ABS")
    with processes.opened(content) as original:
        assert original.call([[CALL], [CALL]], OUTPUTS) == [[RESULT]]
        assert original.moves is not None
        assert original.moves([[CALL]], OUTPUTS) == [[RESULT]]
        assert (original.name, original.file) == ("model content", content)
        assert original.tables.numbers == ()
    (first, where), (second, _) = processes.jobs
    assert (first.model, first.signatures, first.custom_ops, first.moves) == (content, ("serve",), (), None)
    assert (first.times, where, second.moves) == (3, "model content", "all")
    assert (first.rounds, second.rounds) == (((CALL,), (CALL,)), ((CALL,),))
    assert processes.steps == ["call the original: run", "run"]


def test_the_layers_of_a_litert_model(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr(module, "litert_original", lambda *arguments: given.append(arguments) or "look")
    with processes.opened(file_of("ABS")) as original:
        assert original.look(OUTPUTS) == "look"
    ((job, name),) = given
    assert (job.model, job.signatures, name) == (file_of("ABS"), ("serve",), "model content")


def test_a_saved_model_is_called_in_tensorflow(processes: Processes, tmp_path: Path) -> None:
    folder = write(tmp_path / "model")
    with processes.opened(folder, tags=["serve"]) as original:
        assert original.call([[CALL]], OUTPUTS) == ("call_original", [[RESULT]])
        assert original.tables.shapes
        assert (original.name, original.file) == (str(folder), None)
    with processes.opened(folder) as original:
        original.call([[CALL], [CALL]], OUTPUTS)
    assert processes.jobs == [
        OriginalJob(folder, ("serve",), ((CALL,),), OUTPUTS),
        OriginalJob(folder, None, ((CALL,), (CALL,)), OUTPUTS),
    ]
    assert processes.steps == ["load"] * 2


def test_side_effects_are_refused_before_the_call(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise LitefuseError("it writes files")

    monkeypatch.setattr(module, "refuse_side_effects", refuse)
    folder = write(tmp_path / "model")
    with processes.opened(folder, side_effects=False) as original, pytest.raises(LitefuseError, match="writes"):
        original.call([[CALL]], OUTPUTS)
    assert not processes.jobs
    with processes.opened(folder) as original:
        original.call([[CALL]], OUTPUTS)
    assert processes.jobs


def test_a_process_that_dies_is_told_of(processes: Processes, tmp_path: Path) -> None:
    processes.results = EngineCrashError("exit code 3")  # pyright: ignore[reportAttributeAccessIssue]
    with processes.opened(write(tmp_path / "model")) as original, pytest.raises(LitefuseError) as raised:
        original.call([[CALL]], OUTPUTS)
    assert raised.value.message == "the process that ran the original died: exit code 3"
    assert raised.value.where == str(tmp_path / "model")
    assert isinstance(raised.value.__cause__, EngineCrashError)


def test_the_layers_of_a_saved_model(processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "observation_of_original", lambda *arguments: arguments)
    folder, seen = write(tmp_path / "model"), SimpleNamespace()
    with processes.opened(folder) as original:
        look_into: Any = original.look(OUTPUTS)
        assert look_into([CALL], seen, tmp_path) == ("observe_original", [[RESULT]])
    assert processes.jobs == [(OriginalJob(folder, None, (), OUTPUTS), [CALL], seen, tmp_path)]


def test_rounding_of_an_original_is_that_of_its_own_ops(processes: Processes, tmp_path: Path) -> None:
    """Of a file without fusions; where that has no op that the file lacks, the file's own rounding says it."""
    folder = write(tmp_path / "model")
    with processes.opened(folder, tags=["serve"]) as original:
        assert original.moves is not None
        assert original.moves([[CALL, CALL]], OUTPUTS) == [[RESULT]]
        conversion, (job, where) = processes.jobs
        for processes.ops in (("EXP",), ("NEG", "EXP")):
            assert original.moves([[CALL, CALL]], OUTPUTS) == [[{}, {}]]
        assert len(processes.jobs) == 4
    options = conversion.options
    assert (conversion.source, options.signatures, options.graph.tags) == (folder, ("serve",), ("serve",))
    assert (options.allow_custom_ops, options.dtypes, options.checks.fusions) == (True, "narrow", False)
    assert (options.composites, options.rnn) == (CompositeForms("inline"), "loop")
    assert (options.graph.inputs, options.graph.outputs) == (None, None)
    assert (job.model, job.signatures, job.moves) == (str(conversion.output), ("serve",), "ops")
    assert (job.rounds, job.custom_ops, where) == (((CALL, CALL),), JOB.custom_ops, str(folder))
    assert processes.steps == ["call the original: convert", "run", *["call the original: convert"] * 2]


def test_rounding_of_a_frozen_graph(processes: Processes, tmp_path: Path) -> None:
    """Its signature has no name of its own: the tensors say what is called."""
    path = tmp_path / "graph.pb"
    path.write_bytes(b"")
    with processes.opened(path) as original:
        assert original.moves is not None
        original.moves([[CALL]], OUTPUTS)
    options = processes.jobs[0].options
    assert (options.graph.inputs, options.graph.outputs) == (("x",), ("y",))
    assert (options.signatures, options.graph.tags) == (None, None)


@pytest.mark.parametrize("is_file", [False, True])
def test_names_that_were_changed(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_file: bool
) -> None:
    """The original is asked for its own, and its results have the model's."""
    renamed = tmp_path / "renamed.tflite"
    renamed.write_bytes(file_of("EXP", "NEG"))
    finish_file(renamed, Finish.of(None, {"x": "picture", "serve:y": "score"}))
    monkeypatch.setattr(module, "observation_of_original", lambda *arguments: arguments)
    monkeypatch.setattr(
        module, "litert_original", lambda job, _: lambda *arguments: processes.jobs.append((job, *arguments)) or "seen"
    )
    given = Call("serve", {"picture": CALL.inputs["x"]})
    processes.ops = ("EXP", "ABS")
    original = file_of("ABS") if is_file else write(tmp_path / "model")
    with opened(original, None, ModelJob(str(renamed)), allow_side_effects=True) as reference:
        assert reference.moves is not None
        assert reference.moves([[given]], {"serve": ("score",)}) == [[{"score": RESULT["y"]}]]
        assert processes.jobs[-1][0].rounds == ((CALL,),)
        monkeypatch.setattr(processes, "run_alone", None)
        monkeypatch.setattr(module, "run_alone", lambda _, job, **__: processes.jobs.append(job) or [[RESULT]])
        assert reference.call([[given]], {"serve": ("score",)}) == [[{"score": RESULT["y"]}]]
        called = processes.jobs[-1]
        assert (called[0] if is_file else called).rounds == ((CALL,),)
        look: Any = reference.look({"serve": ("score",)})
        assert look([given], SimpleNamespace(), tmp_path) == ("seen" if is_file else [[RESULT]])
        job, (call,), *_ = processes.jobs[-1]
        assert call.inputs.keys() == {"x"}
        assert (job.signatures if is_file else job.outputs) == (("serve",) if is_file else OUTPUTS)


def test_names_of_two_files(tmp_path: Path) -> None:
    """A name counts that both had before; one that the original lacks stays."""

    def named(file: str, names: dict[str, str], *outputs: str) -> str:
        graph = Graph()
        x = graph.input("x", (2,))
        for output in outputs:
            graph.builtin("NEG", [x], [graph.output(output, (2,))])
        path = tmp_path / file
        path.write_bytes(model(graph, signatures={"serve": 0, "again": 0}))
        finish_file(path, Finish.of(None, names))
        return str(path)

    ours = named("ours", {"serve:y": "a", "again:y": "b", "serve:only": "c"}, "y", "only", "same")
    theirs = named("theirs", {"serve:y": "d", "again:same": "e"}, "y", "same")
    record = Names.of(ours, theirs).record
    assert record == {"serve": {"outputs": {"a": "d"}}, "again": {"outputs": {"b": "y", "same": "e"}}}


def test_what_is_a_litert_model(tmp_path: Path) -> None:
    named, content, folder = tmp_path / "named.tflite", tmp_path / "content", tmp_path / "folder.tflite"
    named.write_bytes(b"damaged")
    content.write_bytes(file_of("ABS"))
    folder.mkdir()
    (tmp_path / "other").write_bytes(b"other")
    assert [is_litert(path) for path in (named, str(content), b"", CONVERTED)] == [True] * 4
    assert [is_litert(path) for path in (folder, tmp_path / "none.tflite", tmp_path / "other", object())] == [False] * 4


def test_names_for_messages(tmp_path: Path) -> None:
    assert name_and_content(b"content") == ("model content", b"content")
    assert name_and_content(tmp_path) == name_and_content(str(tmp_path)) == (str(tmp_path), str(tmp_path))
    assert name_and_content(CONVERTED) == (repr(CONVERTED), "model.tflite")
    assert path_of("model") == path_of(Path("model")) == Path("model")
    assert path_of(b"model") is path_of(CONVERTED) is None


@pytest.mark.parametrize("content", [b"", b"\0" * 40, b"no model at all, but a text"])
@pytest.mark.parametrize("is_file", [False, True])
def test_what_is_no_litert_model(processes: Processes, tmp_path: Path, content: bytes, *, is_file: bool) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    with pytest.raises(InterpreterError) as raised, processes.opened(path if is_file else content):
        raise AssertionError
    assert raised.value.where == (str(path) if is_file else "model content")


def test_a_content_with_another_identifier(processes: Processes, tmp_path: Path) -> None:
    content = unary("Anything")
    for data in (content, content[:4] + b"TFL4" + content[8:]):
        (tmp_path / "model.tflite").write_bytes(data)
        for original in (data, tmp_path / "model.tflite"):
            if data is content:
                with processes.opened(original) as reference:
                    assert reference.file is not None
                continue
            with pytest.raises(InterpreterError), processes.opened(original):
                raise AssertionError


def test_a_model_that_would_crash_the_runtime(processes: Processes) -> None:
    graph = Graph()
    graph.builtin("ADD", [graph.input("x", (2,))], [graph.output("y", (2,))])
    content = model(graph, signatures={"serve": 0})
    with pytest.raises(InterpreterError, match="1 inputs of at least 2") as raised, processes.opened(content):
        raise AssertionError
    assert raised.value.where == "model content"
