"""Benchmarks of whole models, in processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import litefuse
from litefuse.conversion.verify.model_process import run_with_kernels
from litefuse.errors import InterpreterError, LimitError, LitefuseError, MissingKernelError, ModelCrashError
from litefuse.support.report.text import sections_text
from litefuse.tools.benchmarking.benchmark_sections import benchmark_sections
from litefuse.tools.benchmarking.measurement import Benchmark
from litefuse.tools.benchmarking.node_calls import NodeJob
from litefuse.tools.benchmarking.operators_alone import AloneJob
from tests.every import every
from tests.litert.runtime.kernels import Double
from tests.litert.runtime.models import Graph, model
from tests.tools.benchmarking.models import activated, composed, loop, several_signatures

KERNELS = """
import litefuse

@litefuse.custom_op("Stop")
class Stop(litefuse.CustomOp):
    def prepare(self, x):
        return x

    def invoke(self, inputs, outputs):
        {code}
"""


def measured(*models: Any, **options: Any) -> Benchmark:
    return litefuse.benchmark(*models, **{"repeat": 3, "warm_up": 1, "seconds": 60.0, **options})


def test_a_model_with_a_custom_op(tmp_path: Path) -> None:
    path = tmp_path / "mödel.tflite"
    path.write_bytes(composed())
    steps: list[str] = []
    found = measured(path, custom_ops=[Double], threads=2, on_step=steps.append)
    assert [each for each in steps if "time" in each] == [
        "time the ops",
        "time the operators of XNNPACK",
        "time the ops one by one",
    ]
    (measurement,) = found.measurements
    assert (measurement.model, measurement.signature, measurement.threads) == (str(path), "serve", 2)
    assert measurement.inputs[0].shape == (4, 8)
    assert measurement.warm.count == 3
    assert measurement.warm.minimum <= measurement.seconds == measurement.warm.p50 <= measurement.warm.maximum
    assert measurement.memory.file == path.stat().st_size
    assert [(op.subgraph, op.op, op.kind, op.kernel, op.partition) for op in measurement.ops] == [
        (0, 0, "MUL", "XNNPACK", 0),
        (0, 1, "ADD", "XNNPACK", 0),
        (0, 2, "Double", "Python", None),
        (0, 3, "TANH", "XNNPACK", 1),
        (0, 4, "ADD", "XNNPACK", 1),
    ]
    assert every(each.split for each in measurement.partitions)
    assert measurement.explained_by_op is not None
    assert 0 < measurement.explained_by_op <= 1 + 1e-9
    assert found.ratio is None
    assert found.versions["litefuse"] == litefuse.__version__
    assert json.loads(json.dumps(found.to_json()))["measurements"][0]["ops"][2]["kind"] == "Double"
    assert "Double" in str(found)


def test_two_models_in_turn() -> None:
    found = measured(activated(), composed(), custom_ops=[Double], ops=False)
    assert [len(each.ops) for each in found.measurements] == [0, 0]
    assert found.ratios["serve"].pairs == 3
    assert found.ratio == found.ratios["serve"].median > 0
    # Contents have no names of their own.
    assert [each.model for each in found.measurements] == ["model content", "model content (the other)"]


def test_all_signatures_or_some() -> None:
    found = measured(several_signatures(), ops=False, shapes={"n": (1, 5)})
    assert [each.signature for each in found.measurements] == ["double", "tanh"]
    assert found.measurements[0].inputs[0].shape == (1, 5)
    (one,) = measured(several_signatures(), ops=False, signatures=["double"]).measurements
    assert (one.signature, one.inputs[0].dtype, one.inputs[0].shape) == ("double", "int32", (1, 32))


def test_a_loop_on_given_inputs() -> None:
    (measurement,) = measured(loop(4), inputs={"i": np.array(1, np.int32), "x": np.zeros(3, np.float32)}).measurements
    assert not measurement.drawn
    assert [(op.subgraph, op.op, op.runs) for op in measurement.ops] == [(0, 0, 1), (1, 0, 4), (2, 0, 3), (2, 1, 3)]


def test_strings_and_no_signature() -> None:
    graph = Graph()
    text = graph.input("text", (2,), object)
    graph.builtin(
        "RESHAPE", [text, graph.tensor("shape", (2,), np.int32, value=[1, 2])], [graph.output("y", (1, 2), object)]
    )
    (measurement,) = measured(model(graph)).measurements
    assert measurement.signature is None
    assert (measurement.inputs[0].dtype, measurement.inputs[0].shape) == ("string", (2,))
    assert [op.kind for op in measurement.ops] == ["RESHAPE"]


def test_reals_are_quantized_for_a_model_of_integers(tmp_path: Path) -> None:
    from ai_edge_litert import schema_py_generated as schema

    graph = Graph()
    x = graph.input("x", (4,), np.int8)
    y = graph.output("y", (4,), np.int8)
    for index in (x, y):
        parameters = schema.QuantizationParametersT()
        parameters.scale, parameters.zeroPoint = [0.5], [0]
        graph.tensors[index][0].quantization = parameters
    graph.builtin("ADD", [x, x], [y])
    (measurement,) = measured(model(graph), inputs={"x": np.zeros(4, np.float32)}, ops=False).measurements
    assert measurement.inputs[0].dtype == "int8"


def stopping(folder: Path, code: str) -> dict[str, Any]:
    kernels = folder / "kernels.py"
    kernels.write_text(KERNELS.format(code=code))
    return {"kernels": [str(kernels)]}


def test_a_kernel_that_ends_the_process(tmp_path: Path) -> None:
    with pytest.raises(ModelCrashError, match="died"):
        measured(composed("Stop"), **stopping(tmp_path, "import os; os.kill(os.getpid(), 9)"))


def test_a_kernel_that_does_not_end(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match="timeout"):
        measured(composed("Stop"), limits=1.5, **stopping(tmp_path, "import time; time.sleep(600)"))


@pytest.mark.parametrize(
    ("content", "options", "error", "text"),
    [
        (b"", {}, InterpreterError, "the model is empty"),
        (b"TFL3", {}, InterpreterError, "this is not a LiteRT model"),
        (b"\0" * 4 + b"TFL3" + b"\xff" * 40, {}, InterpreterError, "not a LiteRT model"),
        (activated()[:200], {}, InterpreterError, "damaged"),
        (activated(), {"signatures": ["other"]}, InterpreterError, "no signature 'other'"),
        (activated(), {"shapes": {"z": (1,)}}, InterpreterError, "no input 'z'"),
        (activated(), {"signatures": []}, LitefuseError, "no signature is named"),
        (activated(), {"threads": 0}, LitefuseError, "not 0 threads"),
        (activated(), {"seconds": float("nan")}, LitefuseError, "nan seconds"),
        (several_signatures(), {"inputs": {"x": np.zeros(2)}}, LitefuseError, "inputs are for one signature"),
        (composed("Nowhere"), {}, MissingKernelError, "Nowhere"),
    ],
)
def test_what_is_refused(content: bytes, options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        measured(content, **options)


def test_there_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InterpreterError, match="no such file"):
        measured(tmp_path / "none.tflite")


def refusing(monkeypatch: pytest.MonkeyPatch, refused: Callable[[object], bool]) -> None:
    """Has the processes die that are asked what is refused."""

    def run(target: str, argument: object, where: str, *more: Any) -> object:
        if refused(argument):
            raise ModelCrashError("the process died", where=where, step="time the ops")
        return run_with_kernels(target, argument, where, *more)

    monkeypatch.setattr("litefuse.tools.benchmarking.subject.run_with_kernels", run)


def test_what_cannot_be_found_out_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, lambda argument: isinstance(argument, AloneJob))
    (measurement,) = measured(activated()).measurements
    (partition,) = measurement.partitions
    assert partition.reason == "XNNPACK could not run single ops: the process died"
    assert len(partition.operators) == 3
    assert measurement.explained_by_op == 0.0
    assert measurement.explained is not None
    assert measurement.explained > 0
    assert "not split" in sections_text(benchmark_sections(measured(activated()), details=True))


def test_ops_are_timed_without_the_operators_of_xnnpack(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, lambda argument: isinstance(argument, NodeJob) and argument.operators)
    (measurement,) = measured(activated()).measurements
    assert measurement.partitions[0].reason == "XNNPACK did not report the times of its operators"


def test_a_model_whose_ops_cannot_be_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, lambda argument: isinstance(argument, NodeJob))
    (measurement,) = measured(activated()).measurements
    assert measurement.ops == ()
    assert measurement.explained is None
    assert measurement.notes[-1] == "The ops could not be timed: the process died."
