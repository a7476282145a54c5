from __future__ import annotations

import os
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import litefuse
from litefuse.conversion.verify import written_file
from litefuse.conversion.verify.file_check import CHECK_FILE, FileCall, FileCheckJob, check_in_worker, deadly_op
from litefuse.conversion.verify.written_file import check_job, check_written_file
from litefuse.errors import FileCheckError, KernelError, LimitError
from litefuse.litert.runtime import interpreter
from litefuse.litert.runtime.transfer import kernel_by_value
from litefuse.support.plug_ins.entry_points import PlugIn
from litefuse.support.processes.limits import ProcessLimits, processes_limited
from litefuse.tools.demo import SAVED_MODEL
from tests.litert.runtime.kernels import register_anything
from tests.litert.runtime.models import Graph, model


def written(folder: Path, graph: Graph) -> Path:
    path = folder / "model.tflite"
    path.write_bytes(model(graph, signatures={"serve": 0}))
    return path


def chain(*ops: str, size: int = 2) -> Graph:
    """``x [2]`` through ops of one operand each."""
    graph = Graph()
    value = graph.input("x", (size,))
    for number, op in enumerate(ops):
        place = graph.output if number == len(ops) - 1 else graph.tensor
        result = place(f"after/{op}/{number}", (size,))
        (graph.builtin if op.isupper() else graph.custom)(op, [value], [result])
        value = result
    return graph


def reversed_over_nothing() -> Graph:
    """LiteRT dies of REVERSE_V2 without axes: the second op of three."""
    graph = Graph()
    x, axes = graph.input("x", (2, 3)), graph.tensor("axes", (0,), np.int32, value=np.zeros(0, np.int32))
    before, between, y = graph.tensor("before", (2, 3)), graph.tensor("layer/turned", (2, 3)), graph.output("y", (2, 3))
    graph.builtin("ABS", [x], [before])
    graph.builtin("REVERSE_V2", [before, axes], [between])
    graph.builtin("ABS", [between], [y])
    return graph


def test_a_file_that_runs(tmp_path: Path) -> None:
    steps: list[str] = []
    path = written(tmp_path, chain("ABS", "NEG"))
    called = check_written_file(path)
    assert called.problem is None
    assert [key for key, _ in called.seconds] == [key for key, _ in check_written_file(path).seconds] != []
    assert check_written_file(path, xnnpack=False) == FileCall()
    assert check_in_worker(FileCheckJob(path, {}, None), "", steps.append).problem is None
    assert steps == [CHECK_FILE]


def test_a_file_that_never_ends_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litefuse.conversion.verify.file_check._SECONDS", 2.0)
    condition, body, whole = Graph(), Graph(), Graph()
    condition.input("c", ())
    condition.outputs.append(condition.tensor("go", (), np.bool_, value=np.array(True)))
    inner, after = body.input("b", ()), body.output("after", ())
    body.builtin("ABS", [inner], [after])
    x, y = whole.input("x", ()), whole.output("y", ())
    whole.builtin("WHILE", [x], [y], condSubgraphIndex=1, bodySubgraphIndex=2)
    path = tmp_path / "model.tflite"
    path.write_bytes(model(whole, condition, body, signatures={"serve": 0}))
    reason = check_in_worker(FileCheckJob(path, {}, None), "", lambda _: None).problem
    assert reason == "it ran for more than 2 seconds; try it with litefuse run"
    with processes_limited(ProcessLimits(timeout=1)), pytest.raises(LimitError, match="timeout"):
        check_in_worker(FileCheckJob(path, {}, None), "", lambda _: None)


def test_an_op_that_the_runtime_refuses_is_named(tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.input("x", (2, 3)), graph.input("y", (2, 4))
    before, z = graph.tensor("before", (2, 3)), graph.output("layer/sum", (2, 3))
    graph.builtin("ABS", [x], [before])
    graph.builtin("SUB", [before, y], [z])
    with pytest.raises(FileCheckError) as caught:
        check_written_file(written(tmp_path, graph))
    assert "at the op SUB(float32[2,3], float32[2,4]) at 'layer/sum'" in caught.value.message
    assert "--no-check-file" in caught.value.hint


@pytest.mark.parametrize("ops", [("ABS", "Absent"), ("Absent",)])
def test_what_has_no_kernel_is_not_called(tmp_path: Path, ops: tuple[str, ...]) -> None:
    reason = check_written_file(written(tmp_path, chain(*ops))).problem
    assert reason is not None
    assert "no kernel for the custom ops Absent" in reason


def test_the_op_that_the_runtime_dies_at_is_found(tmp_path: Path) -> None:
    site = deadly_op(FileCheckJob(written(tmp_path, reversed_over_nothing()), {}, None))
    assert site is not None
    assert (site.op, site.names, site.operands) == ("REVERSE_V2", ("layer/turned",), ("float32[2,3]", "int32[0]"))


def test_a_file_that_nothing_dies_of_has_no_such_op(tmp_path: Path) -> None:
    assert deadly_op(FileCheckJob(written(tmp_path, chain("ABS", "NEG")), {}, None)) is None


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
def test_a_model_that_asks_for_much_memory_is_kept(tmp_path: Path) -> None:
    """A small file: 3.6 GB are made of two sizes."""
    graph = Graph()
    sizes = graph.tensor("sizes", (2,), np.int32, value=np.array([30_000, 30_000], np.int32))
    value, y = graph.input("x", ()), graph.output("y", (1, 1), signature=(-1, -1))
    graph.builtin("FILL", [sizes, value], [y])
    reason = check_in_worker(FileCheckJob(written(tmp_path, graph), {}, None), "", lambda _: None).problem
    assert reason is not None
    assert "memory" in reason or "GiB" in reason


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
def test_a_refusal_under_a_limit_of_memory_may_be_for_want_of_it(tmp_path: Path) -> None:
    with processes_limited(ProcessLimits(memory=400 << 20)):
        good = FileCheckJob(written(tmp_path, chain("ABS", "NEG")), {}, None)
        assert check_in_worker(good, "", lambda _: None).problem is None
        graph = Graph()
        graph.builtin("SUB", [graph.input("x", (2, 3)), graph.input("y", (2, 4))], [graph.output("z", (2, 3))])
        reason = check_in_worker(FileCheckJob(written(tmp_path, graph), {}, None), "", lambda _: None).problem
    assert reason is not None
    assert "within the limit memory" in reason


# The file of a conversion. The demo has a custom op that the kernels here are for.


class Kernel(litefuse.CustomOp):
    def prepare(self, *inputs: litefuse.TensorSpec, **options: object) -> litefuse.TensorSpec:
        return inputs[0]


def converted(
    kernel: type[litefuse.CustomOp], monkeypatch: pytest.MonkeyPatch, *, check: bool = True
) -> litefuse.Report:
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})
    litefuse.custom_op("my_custom_fused_op")(kernel)
    return litefuse.convert(SAVED_MODEL, checks=litefuse.Checks(file=check)).report


def test_the_report_says_why_a_file_was_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})
    check = litefuse.convert(SAVED_MODEL).report.file_check
    assert check is not None
    assert not check.ran
    assert "my_custom_fused_op" in (check.reason or "")
    assert litefuse.convert(SAVED_MODEL, checks=litefuse.Checks(file=False)).report.file_check is None


def test_a_kernel_that_dies_keeps_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Dying(Kernel):
        def invoke(self, inputs: object, outputs: object, **options: object) -> None:
            os.abort()

    with pytest.raises(FileCheckError, match=r"LiteRT crashes on it \(SIGABRT\), at the op my_custom_fused_op"):
        converted(Dying, monkeypatch)
    report = converted(Dying, monkeypatch, check=False)
    assert report.file_check is None
    compared = "not compared: the process that ran its kernel on random inputs died (SIGABRT)"
    assert compared in {composite.compared for composite in report.composites}


def test_a_kernel_that_never_returns_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(Kernel):
        def invoke(self, inputs: object, outputs: object, **options: object) -> None:
            left = signal.alarm(1)  # what there is already, sooner
            while left:
                pass
            raise ValueError("nobody waits for it")

    report = converted(Endless, monkeypatch, check=False)
    compared = "not compared: the process that ran its kernel on random inputs took longer than 600 s"
    assert compared in {composite.compared for composite in report.composites}


def test_a_kernel_that_refuses_inputs_keeps_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(Kernel):
        def invoke(self, inputs: object, outputs: object, **options: object) -> None:
            raise ValueError("these are no words")

    report = converted(Refusing, monkeypatch)
    compared = " ".join(composite.compared for composite in report.composites)
    assert "not compared: its kernel does not run on random inputs:" in compared
    assert "these are no words" in compared
    check = report.file_check
    assert check is not None
    assert not check.ran
    assert "my_custom_fused_op" in (check.reason or "")
    assert "these are no words" in (check.reason or "")


@pytest.mark.parametrize("where", ["itself", "behind", "within"])
def test_sizes_that_values_of_inputs_decide_about_are_not_judged(tmp_path: Path, where: str) -> None:
    graph = Graph()
    x, sizes = graph.input("x", (2, 35)), graph.input("sizes", (2,), np.int32)
    if where == "within":
        condition, y = graph.input("condition", (), np.bool_), graph.output("y", (70, 1), signature=(-1, -1))
        graph.builtin("IF", [condition, x, sizes], [y], thenSubgraphIndex=1, elseSubgraphIndex=2)
    else:
        reshaped = graph.tensor("reshaped", (70, 1)) if where == "behind" else graph.output("reshaped", (70, 1))
        graph.builtin("RESHAPE", [x, sizes], [reshaped])
        if where == "behind":
            graph.builtin("ADD", [reshaped, x], [graph.output("y", (2, 35))])
    path = tmp_path / "model.tflite"
    callee = Graph()
    inner = [callee.input("a", (2, 35)), callee.input("b", (2,), np.int32)]
    callee.builtin("RESHAPE", inner, [callee.output("c", (70, 1))])
    path.write_bytes(model(graph, *([callee] * 2 if where == "within" else []), signatures={"serve": 0}))
    reason = check_written_file(path).problem
    assert reason is not None
    assert "values of its inputs decide about sizes at the op RESHAPE" in reason


def test_sizes_that_shapes_of_inputs_decide_about_are_judged(tmp_path: Path) -> None:
    """The ids are looked up, and only the shape of what is found decides."""
    graph = Graph()
    ids, table = graph.input("ids", (3,), np.int32), graph.tensor("table", (9, 4), value=np.zeros((9, 4), np.float32))
    rows, shape = graph.tensor("rows", (3, 4)), graph.tensor("shape", (2,), np.int32)
    wide, summed = graph.tensor("wide", (3, 4)), graph.output("sum", (3, 4))
    graph.builtin("GATHER", [ids, table][::-1], [rows])
    graph.builtin("SHAPE", [rows], [shape], outType=2)
    graph.builtin("RESHAPE", [rows, shape], [wide])
    graph.builtin("SUB", [wide, graph.input("y", (3, 5))], [summed])
    with pytest.raises(FileCheckError, match="SUB"):
        check_written_file(written(tmp_path, graph))


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (1, 32), (1, 60), (1, 224), (3, 7)])
def test_a_file_that_takes_one_size_alone_is_called_with_it(tmp_path: Path, shape: tuple[int, int]) -> None:
    graph = Graph()
    sizes = graph.tensor("sizes", (2,), np.int32, value=shape)
    graph.builtin("RESHAPE", [graph.input("x", (1, 1), signature=(-1, -1)), sizes], [graph.output("y", shape)])
    assert check_written_file(written(tmp_path, graph)).problem is None


# How a file is called: its sizes, its times, and what the errors of kernels say of it.


def open_sizes(*shape: int, dtype: Any = np.float32) -> Graph:
    graph = Graph()
    sizes = [1 if size < 0 else size for size in shape]
    x, y = graph.input("x", sizes, dtype, signature=shape), graph.output("y", sizes, dtype, signature=shape)
    graph.custom("Anything", [x], [y])
    return graph


SIZES = [(1, 7), (1, 32), (1, 60), (1, 224), (1, 1), (3, 7)]


@pytest.mark.parametrize(
    ("shape", "most", "sizes"),
    [
        ((-1, -1), 224, SIZES),
        ((-1, -1), 223, [size for size in SIZES if size[1] < 224]),
        ((-1, -1), 1, [(1, 7), (1, 1), (3, 7)]),
        ((2, 3), 1, [(2, 3)]),
        ((2, -1), 1000, [(2, size) for _, size in SIZES]),
    ],
)
def test_sizes_that_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], most: int, sizes: Any
) -> None:
    """Each with four limits of integers."""
    monkeypatch.setattr(written_file, "_MOST_ELEMENTS", most)
    tried: list[tuple[int, ...]] = []

    def refusing(x: Any) -> Any:
        tried.append(x.shape)
        raise ValueError(f"it is {len(tried) if -1 not in shape else 'refused'}")

    register_anything(monkeypatch, refusing)
    problem = check_written_file(written(tmp_path, open_sizes(*shape)), xnnpack=False).problem or ""
    assert tried == [size for size in sizes for _ in range(4)]
    assert problem.endswith("ValueError: it is refused" if -1 in shape else "ValueError: it is 1")


def test_sizes_of_one_of_two_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(x: Any) -> Any:
        if len(x) != 3:
            raise ValueError("it is refused")
        return x

    register_anything(monkeypatch, refusing)
    graph = open_sizes(-1)
    graph.builtin("ABS", [graph.input("z", (2,))], [graph.output("other", (2,))])
    assert check_written_file(written(tmp_path, graph)).problem is None


def test_messages_that_differ_with_the_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(x: Any) -> Any:
        raise ValueError(f"no\n  {x.shape}")

    register_anything(monkeypatch, refusing)
    problem = check_written_file(written(tmp_path, open_sizes(-1, 2))).problem or ""
    assert problem.startswith("none of the sizes that were tried fit its dynamic dimensions: ")
    assert problem.endswith("no (1, 2); give inputs shapes (--shape)")


def test_limits_of_integers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They begin with none; what runs is not tried with others."""
    largest: list[int] = []

    def function(x: Any) -> Any:
        largest.append(int(x.max()))
        if len(largest) < 4:
            raise ValueError("too large")
        return x

    register_anything(monkeypatch, function)
    path = written(tmp_path, open_sizes(50, dtype=np.int32))
    assert check_written_file(path, xnnpack=False) == FileCall()
    assert [min(number, 2) for number in largest] == [2, 2, 1, 0]


def test_an_input_of_any_rank(tmp_path: Path) -> None:
    graph = chain("ABS")
    graph.tensors[0][0].hasRank, graph.tensors[0][0].shape = False, []
    assert check_written_file(written(tmp_path, graph)).problem == (
        "the rank of 'x' is unknown; give inputs shapes (--shape)"
    )


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (KernelError("it lacks\nmore", where="PATH"), "it lacks"),
        (KernelError("it lacks", where="elsewhere"), "elsewhere: it lacks"),
        (MemoryError(), "there is not enough memory for it; try it with litefuse run"),
        (RuntimeError(" \n"), "there is not enough memory for it; try it with litefuse run"),
    ],
)
def test_what_is_said_of_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, problem: str
) -> None:
    path = written(tmp_path, chain("ABS"))
    if isinstance(error, KernelError) and error.where == "PATH":
        error.where = str(path)

    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(written_file, "_called", failing)
    assert check_written_file(path) == FileCall(problem)


def test_no_memory_is_not_tried_with_other_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []

    def function(x: Any) -> Any:
        tried.append(x)
        raise MemoryError

    register_anything(monkeypatch, function)
    problem = check_written_file(written(tmp_path, open_sizes(-1, 2))).problem
    assert (problem, len(tried)) == ("there is not enough memory for it; try it with litefuse run", 1)


@pytest.mark.parametrize("delegate_only", [True, False])
def test_who_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, delegate_only: bool) -> None:
    """The message of LiteRT's own kernels counts, where they refuse it as well."""

    def failing(path: Path, *, xnnpack: bool) -> dict[str, float]:
        if delegate_only and not xnnpack:
            return {}
        raise RuntimeError("of the delegate\n\n  more" if xnnpack else "of the kernels")

    monkeypatch.setattr(written_file, "_called", failing)
    path = written(tmp_path, chain("ABS", "NEG"))
    with pytest.raises(FileCheckError) as raised:
        check_written_file(path)
    assert raised.value.message == (
        "the file was written, but XNNPACK, LiteRT's delegate for this processor, refuses to run it, at the op "
        "ABS(float32[2]) at 'after/ABS/0':\n  of the delegate\n  more"
        if delegate_only
        else "the file was written, but LiteRT refuses to run it:\n  of the kernels"
    )
    if not delegate_only:
        with pytest.raises(FileCheckError, match="LiteRT refuses to run it:\n  of the kernels"):
            check_written_file(path, xnnpack=False)


def test_the_step_that_is_refused(tmp_path: Path) -> None:
    graph = Graph()
    table = graph.tensor("table", (2, 3), value=np.zeros((2, 3), np.float32))
    rows, seven = graph.tensor("rows", (1,), np.int32), graph.tensor("seven", (), np.int32, value=7)
    graph.builtin("MAXIMUM", [graph.input("x", (1,), np.int32), seven], [rows])
    graph.builtin("GATHER", [table, rows], [graph.output("y", (1, 3))])
    path = written(tmp_path, graph)
    for xnnpack in (False, True):
        with pytest.raises(FileCheckError, match="refuses to invoke it, at the op GATHER"):
            check_written_file(path, xnnpack=xnnpack)


@pytest.mark.parametrize(("seven", "refused"), [(1, False), (7, True)])
def test_of_a_large_file_other_signatures_are_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seven: int, *, refused: bool
) -> None:
    def reshaped(rows: int, given: int) -> Graph:
        graph = Graph()
        shape = graph.tensor("shape", (2,), np.int32, value=np.array([given, 4], np.int32))
        graph.builtin("RESHAPE", [graph.input("x", (rows, 2, 2)), shape], [graph.output("y", (given, 4))])
        return graph

    path = tmp_path / "model.tflite"
    path.write_bytes(model(reshaped(1, 1), reshaped(1 if seven == 1 else 3, seven), signatures={"short": 0, "long": 1}))
    monkeypatch.setattr(interpreter, "_PACKED_BYTES", 0)
    with pytest.raises(FileCheckError, match="refuses to") if refused else nullcontext():
        check_written_file(path)

    def none(*_: Any) -> list[str]:
        return []

    monkeypatch.setattr(written_file, "signatures_to_call", none)
    with pytest.raises(FileCheckError, match="refuses to") if refused else nullcontext():
        check_written_file(path)


def test_when_times_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With XNNPACK, of files that it packs, and where calls are quick."""
    path = written(tmp_path, chain("ABS", "NEG"))
    assert [key for key, _ in check_written_file(path).seconds] == ["serve"]
    monkeypatch.setattr(interpreter, "_PACKED_BYTES", path.stat().st_size)
    assert check_written_file(path).seconds
    monkeypatch.setattr(interpreter, "_PACKED_BYTES", path.stat().st_size - 1)
    assert not check_written_file(path).seconds
    monkeypatch.undo()
    monkeypatch.setattr(written_file, "_QUICK", 0.0)
    assert check_written_file(path) == FileCall()


@pytest.mark.parametrize(
    ("first", "later", "calls", "least"),
    [
        (0.1, [0.001, 0.03], 2, 0.03),
        (0.1, [0.1, 0.006, 0.004, 0.005, 0.005, 0.1], 5, 0.004),
        (0.1, [0.1, 0.009, 0.011, 0.1], 3, 0.009),
        (0.1, [0.1, 0.011, 0.1], 2, 0.011),
        (0.2, [], 0, None),
    ],
)
def test_the_shortest_time(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: float,
    later: list[float],
    calls: int,
    least: float | None,
) -> None:
    """A call is repeated while one more ends within 20 ms, behind one that does not count; none that is slow."""
    now, left = [0.0], [first, *later]

    def function(x: Any) -> Any:
        now[0] += left.pop(0)
        return x

    monkeypatch.setattr(written_file, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    register_anything(monkeypatch, function)
    call = check_written_file(written(tmp_path, open_sizes(3)))
    assert call.problem is None
    assert dict(call.seconds) == ({} if least is None else {"serve": pytest.approx(least)})
    assert len(later) - len(left) == calls


class Copied(litefuse.CustomOp):
    op_name = "Anything"

    def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = inputs[0]


@pytest.mark.parametrize("installed", [False, True])
def test_a_job_brings_its_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, installed: bool) -> None:
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})
    monkeypatch.setattr("litefuse.support.plug_ins.entry_points._found", ())
    path, steps = written(tmp_path, open_sizes(3)), list[str]()
    plug_in = PlugIn("litefuse.kernels", "Anything", f"{__name__}:Copied", "")
    kernels = {} if installed else {"Anything": kernel_by_value(Copied)}
    assert check_job(FileCheckJob(path, {}, ()), steps.append).problem is not None
    assert check_job(FileCheckJob(path, kernels, (plug_in,) * installed), steps.append).problem is None
    assert steps == [CHECK_FILE] * 2
    assert check_job(FileCheckJob(path, kernels, (plug_in,) * installed, xnnpack=False), steps.append) == FileCall()


def test_memory_for_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []

    def limited(more: int) -> Any:
        given.append(more)
        return nullcontext()

    monkeypatch.setattr(written_file, "extra_memory", limited)
    path = written(tmp_path, chain("ABS"))
    check_job(FileCheckJob(path, {}, ()), lambda _: None)
    assert given == [(3 << 29) + 3 * path.stat().st_size]


def test_sizes_of_one_signature_alone_are_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register_anything(monkeypatch, np.copy)
    path = tmp_path / "model.tflite"
    path.write_bytes(model(open_sizes(-1), open_sizes(2), signatures={"open": 0, "closed": 1}))
    assert [key for key, _ in check_written_file(path).seconds] == ["open", "closed"]
