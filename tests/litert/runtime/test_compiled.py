"""Kernels that numba compiles."""

# Kernels take what they are given; what they read from self is an attribute of its view.

from __future__ import annotations

import pickle
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import KernelError
from litefuse.litert.runtime import custom_op as module
from litefuse.litert.runtime.compiled import compiled
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec, custom_op, find_kernel
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.transfer import kernel_by_value
from tests.litert.runtime.models import DTYPES, Graph, model, unary

if TYPE_CHECKING:
    import numpy.typing as npt

LIMIT = 200_000_000_000  # of turns in a loop that waits: minutes, which no machine is too busy for; then the test fails


def run(op: type[CustomOp], content: bytes, *inputs: npt.ArrayLike) -> list[npt.NDArray[Any]]:
    interpreter = Interpreter(content, custom_ops=[op])
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.resize_tensor_input(detail["index"], np.shape(value))
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], np.asarray(value, detail["dtype"]))
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


class RowSums(CustomOp):
    """The sums of rows, in a loop that numpy would be slow at."""

    op_name = "RowSums"

    def prepare(self, x: TensorSpec) -> TensorSpec:
        assert x.shape is not None
        return TensorSpec(x.shape[:1], x.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        for row in range(inputs[0].shape[0]):
            total = inputs[0][row, 0]
            for column in range(1, inputs[0].shape[1]):
                total += inputs[0][row, column]
            outputs[0][row] = total


@pytest.mark.parametrize("name", ["FLOAT32", "FLOAT64", "INT8", "INT32", "UINT8", "UINT64", "COMPLEX64", "COMPLEX128"])
def test_dtypes(name: str) -> None:
    x = np.arange(6).reshape(2, 3).astype(DTYPES[name])
    (result,) = run(compiled(RowSums), unary("RowSums", dtype=name, output_shape=(2,)), x)
    assert result.dtype == x.dtype
    assert result.tolist() == [3, 12]


@pytest.mark.parametrize("name", ["BOOL", "INT16", "INT64", "UINT16", "UINT32"])
def test_dtypes_that_are_copied(name: str) -> None:
    @compiled
    class Reverse(CustomOp):
        op_name = "Reverse"

        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Any) -> None:
            outputs[0][...] = inputs[0][:, ::-1]

    x = np.array([[0, 1, 1], [1, 0, 0]]).astype(DTYPES[name])
    np.testing.assert_array_equal(run(Reverse, unary("Reverse", dtype=name), x)[0], x[:, ::-1])


def test_it_is_compiled_when_the_model_is_prepared_and_again_for_another_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.dispatcher import Dispatcher

    compiled_for: list[Any] = []
    compile_: Any = Dispatcher.compile

    def compile_and_note(dispatcher: Any, types: Any) -> Any:
        compiled_for.append(types)
        return compile_(dispatcher, types)

    monkeypatch.setattr(Dispatcher, "compile", compile_and_note)

    @compiled
    class Twice(CustomOp):
        op_name = "Twice"

        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Any) -> None:
            outputs[0][...] = inputs[0] * 2

    interpreter = Interpreter(unary("Twice"), custom_ops=[Twice])
    interpreter.allocate_tensors()
    before = len(compiled_for)
    assert before >= 1
    for shape in ((2, 3), (4, 1), (0, 2)):
        interpreter.resize_tensor_input(0, shape)
        interpreter.allocate_tensors()
        x = np.random.default_rng(0).random(shape, np.float32)
        interpreter.set_tensor(0, x)
        planned = len(compiled_for)
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(1), x * 2)
        assert len(compiled_for) == planned, "compiled in invoke"


def test_several_inputs_and_outputs_options_and_self() -> None:
    @compiled(fastmath=False)
    class Everything(CustomOp):
        op_name = "Everything"

        def prepare(self, a: TensorSpec, b: TensorSpec, c: TensorSpec | None = None, *, taps: list[int]) -> Any:
            assert a.shape is not None
            self.total = sum(taps)
            self.table = np.arange(3, dtype=np.float32)
            self.absent = c is None
            return TensorSpec(a.shape, a.dtype), TensorSpec((2,), np.int64)

        def invoke(
            self,
            inputs: Any,
            outputs: Any,
            *,
            taps: Any,
            scale: float,
            flag: bool,
            mode: str,
            names: Any,
            ratios: Any,
            offset: int = 5,
        ) -> None:
            if mode == "SAME" and flag and names[1] == "b" and self.absent:
                outputs[0][...] = inputs[0] * scale + self.table[2] + self.total
            outputs[1][0] = len(taps) + taps[1] + inputs[1][0]
            outputs[1][1] = offset + int(ratios[0] * 2)

    options = {
        "taps": [1, 2, 3],
        "scale": 0.5,
        "flag": True,
        "mode": "SAME",
        "names": ["a", "b"],
        "ratios": [1.5, 2.5],
        "unused": 1,
    }
    graph = Graph()
    a, b = graph.input("a", (2,)), graph.input("b", (1,), np.int32)
    y, z = graph.output("y", (2,)), graph.output("z", (2,), np.int64)
    graph.custom("Everything", [a, b, -1], [y, z], options)
    first, second = run(Everything, model(graph), [2, 4], [7])
    assert first.tolist() == [9.0, 10.0]
    assert second.tolist() == [12, 8]


def test_a_kernel_inside_others_and_twice_in_a_model() -> None:
    graph = Graph()
    x = graph.input("x", (2, 3))
    sums, y = graph.tensor("s", (2,)), graph.output("y", (2,))
    graph.custom("RowSums", [x], [sums])
    graph.builtin("ADD", [sums, sums], [y])
    graph.outputs.append(sums)
    y, sums = run(compiled(RowSums), model(graph), [[1, 2, 3], [4, 5, 6]])
    assert (y.tolist(), sums.tolist()) == ([12, 30], [6, 15])


class Wait(CustomOp):
    """Sets ``board[mine]`` and counts until somebody sets ``board[other]``; the result is whether that happened."""

    op_name = "Wait"
    board: npt.NDArray[np.int64]

    def prepare(self, x: TensorSpec, *, mine: int, other: int) -> TensorSpec:
        self.shared = Wait.board
        return TensorSpec((2,), np.int64)

    def invoke(self, inputs: Any, outputs: Any, *, mine: int, other: int) -> None:
        self.shared[mine] = 1  # pyright: ignore[reportIndexIssue]
        outputs[0][0] = 0
        outputs[0][1] = 0
        while self.shared[other] == 0 and outputs[0][1] < LIMIT:
            outputs[0][1] += 1
        outputs[0][0] = self.shared[other]


def waiting(mine: int, other: int) -> Interpreter:
    content = unary("Wait", {"mine": mine, "other": other}, output_shape=(2,), output_dtype=np.int64)
    interpreter = Interpreter(content, custom_ops=[compiled(Wait)])
    interpreter.allocate_tensors()
    return interpreter


def test_other_python_threads_run_meanwhile() -> None:
    Wait.board = np.zeros(2, np.int64)
    interpreter = waiting(0, 1)

    def answer() -> None:
        while Wait.board[0] == 0:
            time.sleep(0.001)
        Wait.board[1] = 1

    thread = threading.Thread(target=answer)
    thread.start()
    interpreter.invoke()
    seen, turns = interpreter.get_tensor(1).tolist()
    Wait.board[0] = 1
    thread.join()
    assert seen == 1
    assert turns < LIMIT


def test_two_interpreters_compute_at_the_same_time() -> None:
    Wait.board = np.zeros(2, np.int64)
    interpreters = [waiting(0, 1), waiting(1, 0)]
    threads = [threading.Thread(target=interpreter.invoke) for interpreter in interpreters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [interpreter.get_tensor(1)[0] for interpreter in interpreters] == [1, 1]


def test_exceptions_leave_the_interpreter() -> None:
    @compiled
    class Refuse(CustomOp):
        op_name = "Refuse"

        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Any) -> None:
            if inputs[0][0, 0] < 0:
                raise ValueError("negative")
            outputs[0][...] = inputs[0]

    with pytest.raises(ValueError, match=r"^negative\ncustom op Refuse, node .y.$"):
        run(Refuse, unary("Refuse"), -np.ones((2, 3)))
    np.testing.assert_array_equal(run(Refuse, unary("Refuse"), np.ones((2, 3)))[0], np.ones((2, 3)))


def test_code_that_does_not_compile() -> None:
    @compiled
    class Unknown(CustomOp):
        op_name = "Unknown"

        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Any) -> None:
            outputs[0][...] = inputs[0].no_such_thing()

    interpreter = Interpreter(unary("Unknown"), custom_ops=[Unknown])
    with pytest.raises(KernelError, match=r"Unknown: numba cannot compile invoke: (.|\n)*no_such_thing"):
        interpreter.allocate_tensors()


@pytest.mark.parametrize(
    ("name", "message"),
    [("BFLOAT16", "numba has no bfloat16"), ("FLOAT16", "numba has no float16"), ("STRING", "numba has no strings")],
)
def test_dtypes_that_numba_lacks(name: str, message: str) -> None:
    interpreter = Interpreter(unary("RowSums", dtype=name, output_shape=(2,)), custom_ops=[compiled(RowSums)])
    with pytest.raises(KernelError, match=f"{message}, which tensor 'x' is of"):
        interpreter.allocate_tensors()


def test_sizes_that_depend_on_data() -> None:
    @compiled
    class Open(RowSums):
        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(None, x.dtype)

    interpreter = Interpreter(unary("RowSums", output_shape=(2,)), custom_ops=[Open])
    with pytest.raises(KernelError, match="prepare returned no shape for an output"):
        interpreter.allocate_tensors()


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    interpreter = Interpreter(unary("RowSums", output_shape=(2,)), custom_ops=[compiled(RowSums)])
    with pytest.raises(KernelError, match=r"(?s)RowSums: numba must compile.*pip install 'litefuse\[numba\]'"):
        interpreter.allocate_tensors()


def test_options_must_be_named() -> None:
    class Wild(RowSums):
        def invoke(self, inputs: Any, outputs: Any, **attributes: Any) -> None: ...

    with pytest.raises(KernelError, match="name each option"):
        compiled(Wild)


def test_a_missing_option_is_named() -> None:
    with pytest.raises(KernelError, match="does not give the option 'mine', 'other'"):
        Interpreter(unary("Wait", output_shape=(2,), output_dtype=np.int64), custom_ops=[compiled(Wait)])


@pytest.mark.parametrize("outer", [True, False])
def test_registered_in_either_order(outer: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_registered", {})

    class Sums(RowSums):
        """Sums."""

    decorated = custom_op("Sums")(compiled(Sums)) if outer else compiled(custom_op("Sums")(Sums))
    assert find_kernel("Sums") is decorated
    assert decorated.form == "compiled"
    assert (decorated.__name__, decorated.__doc__, Sums.form) == ("Sums", "Sums.", "numpy")
    assert run(decorated, unary("Sums", output_shape=(2,)), np.ones((2, 3)))[0].tolist() == [3, 3]


def test_it_goes_to_the_process_that_runs_the_model(tmp_path: Path) -> None:
    # As in a notebook: a definition that no other process can import, compiled here already.
    scale = 2.0

    @compiled
    class Scaled(RowSums):
        """The sums of rows, scaled."""

        def invoke(self, inputs: Any, outputs: Any, *, more: float = 1.5) -> None:
            for row in range(inputs[0].shape[0]):
                outputs[0][row] = inputs[0][row].sum() * scale * more

    content = unary("RowSums", output_shape=(2,))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    (here,) = run(Scaled, content, x)
    assert here.tolist() == [9, 36]
    (there,) = run(pickle.loads(kernel_by_value(Scaled)), content, x)
    assert there.tolist() == [9, 36]
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    inputs = {detail["name"]: x for detail in Interpreter(content, custom_ops=[Scaled]).get_input_details()}
    found = litefuse.benchmark(path, inputs=inputs, custom_ops=[Scaled], repeat=1, warm_up=1, ops=False)
    assert found.measurements[0].warm.count == 1
