"""What leaves the interpreter when a kernel fails."""

# Kernels take what they are given.

from __future__ import annotations

import gc
import logging
import signal
import sys
import time
import traceback
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter as StockInterpreter

from litefuse.errors import InterpreterError, KernelError
from litefuse.kernels import PACK
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.delegate import delegate
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.kernels import Double, Scale
from tests.litert.runtime.models import Graph, model, unary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from litefuse.litert.runtime.outputs import Outputs


def kernel(prepare: Callable[..., Any] | None = None, invoke: Callable[..., Any] | None = None) -> type[CustomOp]:
    """A kernel of ``Op`` with these methods; without one, it has one input and one output that is like it."""

    class Op(CustomOp):
        op_name = "Op"

        def prepare(self, x: TensorSpec) -> Any:
            return TensorSpec(x.shape, x.dtype) if prepare is None else prepare(x)

        def invoke(self, inputs: Any, outputs: Outputs) -> Any:
            return outputs[0].fill(0) if invoke is None else invoke(inputs, outputs)

    return Op


def fail(*_: Any) -> Any:
    raise LookupError("100% wrong, %s and %n")


def test_prepare_raises() -> None:
    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(prepare=fail)])

    with pytest.raises(LookupError, match="100% wrong, %s and %n") as caught:
        interpreter.allocate_tensors()

    assert "fail" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert caught.value.__cause__ is None
    with pytest.raises(LookupError):
        interpreter.allocate_tensors()


def test_invoke_raises_the_very_exception_and_the_interpreter_lives_on() -> None:
    error = LookupError("this one")
    broken = True

    def invoke(inputs: Any, outputs: Outputs) -> None:
        if broken:
            raise error
        outputs[0][...] = 1

    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(invoke=invoke)])
    interpreter.allocate_tensors()

    for _ in range(2):
        with pytest.raises(LookupError) as caught:
            interpreter.invoke()
        assert caught.value is error
    broken = False
    interpreter.invoke()
    assert (interpreter.get_tensor(1) == 1).all()


def test_the_cause_and_the_context_are_the_kernels_own() -> None:
    def invoke(inputs: Any, outputs: Outputs) -> None:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("outer") from error

    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(invoke=invoke)])
    interpreter.allocate_tensors()

    with pytest.raises(ValueError, match="outer") as caught:
        interpreter.invoke()

    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__context__ is caught.value.__cause__


def test_an_exception_does_not_keep_the_interpreter() -> None:
    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(invoke=fail)])
    interpreter.allocate_tensors()
    gone = weakref.ref(interpreter)
    gc.disable()
    try:
        try:
            interpreter.invoke()
        except LookupError:
            del interpreter
        assert gone() is None
    finally:
        gc.enable()


def test_a_signature_runner_raises_it_too() -> None:
    graph = Graph()
    graph.custom("Op", [graph.input("x", (2,))], [graph.output("y", (2,))])
    runner = Interpreter(model(graph, signatures={"f": 0}), custom_ops=[kernel(invoke=fail)]).get_signature_runner("f")

    with pytest.raises(LookupError, match="100% wrong"):
        runner(x=np.zeros(2, np.float32))


def test_the_constructor_of_a_kernel_raises() -> None:
    class Op(kernel()):
        def __init__(self) -> None:
            raise LookupError("no weights")

    with pytest.raises(LookupError, match="no weights"):
        Interpreter(unary("Op"), custom_ops=[Op])


def test_what_loading_raises_for_a_kernel_is_the_kernels(caplog: pytest.LogCaptureFixture) -> None:
    class Op(kernel()):
        @classmethod
        def decode_options(cls, data: bytes) -> dict[str, Any]:
            raise ValueError("no options")

    with pytest.raises(ValueError, match=r"^no options\ncustom op Op, node .y.$"):
        Interpreter(unary("Op"), custom_ops=[Op])
    with pytest.raises(RuntimeError, match="ValueError: no options"):
        StockInterpreter(model_content=unary("Op"), experimental_delegates=[delegate(Op)])
    assert "no options" in caplog.text


def test_the_stock_interpreter_gets_a_message_and_the_log_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    kernels = delegate(kernel(invoke=fail))
    interpreter = StockInterpreter(model_content=unary("Op"), experimental_delegates=[kernels])
    interpreter.allocate_tensors()

    with (
        caplog.at_level(logging.ERROR, "litefuse"),
        pytest.raises(RuntimeError, match=r"custom op Op, node 'y': LookupError: 100% wrong, %s and %n"),
    ):
        interpreter.invoke()

    assert isinstance(kernels.failure, LookupError)
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[1] is kernels.failure
    assert "in fail" in caplog.text


def test_litefuse_logs_nothing_that_it_raises(caplog: pytest.LogCaptureFixture) -> None:
    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(invoke=fail)])
    interpreter.allocate_tensors()

    with pytest.raises(LookupError):
        interpreter.invoke()

    assert not caplog.records


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_interrupts_in_a_kernel(interrupt: type[BaseException]) -> None:
    def invoke(inputs: Any, outputs: Outputs) -> None:
        raise interrupt

    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(invoke=invoke)])
    interpreter.allocate_tensors()

    with pytest.raises(interrupt):
        interpreter.invoke()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer that interrupts")
def test_an_interrupt_while_the_runtime_works_before_a_kernel() -> None:
    """The signal is handled when the callback is entered, outside of anything that a ``try`` in it could catch."""
    size = 1000
    graph = Graph()
    x = graph.input("x", (size, size))
    product = graph.tensor("product", (size, size))
    graph.builtin("BATCH_MATMUL", [x, x], [product])
    for _ in range(20):
        previous, product = product, graph.tensor("product", (size, size))
        graph.builtin("BATCH_MATMUL", [previous, x], [product])
    graph.custom("Double", [product], [graph.output("y", (size, size))])
    calls: list[int] = []

    class Called(Double):
        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            calls.append(1)
            super().invoke(inputs, outputs)

    interpreter = Interpreter(model(graph), custom_ops=[Called])
    interpreter.allocate_tensors()
    interpreter.invoke()
    start = time.process_time()
    interpreter.invoke()
    duration = time.process_time() - start
    assert calls
    calls.clear()

    # Both are the time that this process computes: how much of it a busy machine lets it have makes no difference.
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_PROF, duration / 3)
        with pytest.raises(KeyboardInterrupt):
            interpreter.invoke()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert not calls


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, r"prepare returned None, not a TensorSpec or a sequence of them"),
        ([(2, 3)], r"not a TensorSpec or a sequence"),
        ([], r"the node has 1 outputs, but prepare returned 0"),
        (TensorSpec((2, 3), np.int32), r"output 0 \('y'\) is float32 in the model, but prepare returned int32"),
        (TensorSpec((2, -3), np.float32), r"output 0 \('y'\) cannot have the shape \[2, -3\]"),
        (TensorSpec((2**20, 2**20, 2**20, 2**20), np.float32), r"the runtime cannot give tensor 'y' the shape"),
    ],
)
def test_prepare_answers_wrongly(answer: Any, message: str) -> None:
    def prepare(_: TensorSpec) -> Any:
        return answer

    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(prepare)])

    with pytest.raises(KernelError, match=rf"^custom op Op, node 'y': .*{message}") as error:
        interpreter.allocate_tensors()
    assert f"Op ({__file__}:" in error.value.hint


def test_invoke_returns_something() -> None:
    def invoke(inputs: Any, outputs: Outputs) -> Any:
        return inputs[0]

    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(invoke=invoke)])
    interpreter.allocate_tensors()

    with pytest.raises(KernelError, match=r"^custom op Op, node 'y': invoke returned ndarray, but it returns nothing"):
        interpreter.invoke()


@pytest.mark.parametrize(
    ("value", "got"),
    [(np.ones((3, 2), np.float32), r"float32\[3, 2\]"), (np.ones((2, 3)), r"float64\[2, 3\]"), (7.0, r"float64\[\]")],
)
def test_invoke_assigns_wrongly(value: Any, got: str) -> None:
    def invoke(inputs: Any, outputs: Outputs) -> None:
        outputs[0] = value

    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(invoke=invoke)])
    interpreter.allocate_tensors()

    message = rf"^custom op Op, node 'y': output 0 \('y'\) is float32\[2, 3\], but invoke assigned {got}$"
    with pytest.raises(KernelError, match=message):
        interpreter.invoke()


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        (np.float32, None, r"invoke did not assign output 0 \('y'\)"),
        (np.float32, np.ones(3), r"output 0 \('y'\) is float32\[3\], but invoke assigned float64\[3\]"),
        (object, None, r"invoke did not assign output 0 \('y'\)"),
        (object, np.array([1.5], object), r"output 'y': 1.5 is neither bytes nor str"),
    ],
)
def test_a_dynamic_output_is_assigned_wrongly(dtype: Any, value: Any, message: str) -> None:
    def invoke(inputs: Any, outputs: Outputs) -> None:
        if value is not None:
            outputs[0] = value

    def prepare(_: TensorSpec) -> TensorSpec:
        return TensorSpec(None, dtype)

    interpreter = Interpreter(unary("Op", output_dtype=dtype), custom_ops=[kernel(prepare, invoke)])
    interpreter.allocate_tensors()

    for _ in range(2):
        with pytest.raises(KernelError, match=rf"^custom op Op, node 'y': {message}"):
            interpreter.invoke()


def test_an_index_beyond_the_outputs() -> None:
    def invoke(inputs: Any, outputs: Outputs) -> None:
        outputs[1].fill(0)

    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(invoke=invoke)])
    interpreter.allocate_tensors()

    with pytest.raises(IndexError):
        interpreter.invoke()


def test_options_and_inputs_that_do_not_fit_the_kernel() -> None:
    with pytest.raises(
        KernelError, match=r"(?s)custom op Scale, node 'y': the model does not give the option 'factor'"
    ):
        Interpreter(unary("Scale", {"other": 1}), custom_ops=[Scale])

    graph = Graph()
    x = graph.input("x", (2,))
    graph.custom("Double", [x, x], [graph.output("y", (2,))])
    with pytest.raises(KernelError, match=r"node 'y': the node has 2 inputs, but the kernel's prepare takes 1"):
        Interpreter(model(graph), custom_ops=[Double])


def test_a_kernel_error_without_a_place_gets_one() -> None:
    def prepare(_: TensorSpec) -> Any:
        raise KernelError("strides must be positive")

    interpreter = Interpreter(unary("Op"), custom_ops=[kernel(prepare)])

    with pytest.raises(KernelError, match=r"^custom op Op, node 'y': strides must be positive$"):
        interpreter.allocate_tensors()


def test_a_failure_within_a_loop_leaves_it() -> None:
    main, condition, body = Graph(), Graph(), Graph()
    main.builtin("WHILE", [main.input("x", (1,))], [main.output("y", (1,))], condSubgraphIndex=1, bodySubgraphIndex=2)
    x = condition.input("x", (1,))
    go = condition.output("go", (1,), np.bool_)
    condition.builtin("LESS", [x, condition.tensor("limit", (1,), value=[100])], [go])
    body.custom("Op", [body.input("x", (1,))], [body.output("y", (1,))])

    def invoke(inputs: Any, outputs: Outputs) -> None:
        if inputs[0] == 3:
            raise LookupError("at three")
        outputs[0][...] = inputs[0] + 1

    interpreter = Interpreter(model(main, condition, body), custom_ops=[kernel(invoke=invoke)])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.zeros(1, np.float32))

    with pytest.raises(LookupError, match="at three"):
        interpreter.invoke()


class Bytes(str):
    """A text that a kernel in C reports as these bytes."""

    __slots__ = ("reported",)
    reported: bytes

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return self.reported


def reporting(*messages: bytes) -> Any:
    """A delegate with a kernel that fails with these messages in turn, as one of somebody else's does."""
    left = list(messages)

    class ReportedError(KernelError):
        def __str__(self) -> str:
            text = Bytes("message")
            text.reported = self.reported
            return text

        reported = b""

    def invoke(*_: Any) -> None:
        error = ReportedError("message")
        error.reported = left.pop(0)
        raise error

    return delegate(kernel(invoke=invoke))


def test_messages_of_kernels_that_are_no_text() -> None:
    messages = (b"of another maker: \xff\xfe", "Sch\u00f6n".encode(), b"litefuse kernel Op, node y: \xff is no number")
    interpreter = Interpreter(unary("Op"), experimental_delegates=[reporting(*messages)])
    interpreter.allocate_tensors()
    for kind, message in (
        (InterpreterError, "of another maker: \\xff\\xfe"),
        (InterpreterError, "Sch\u00f6n"),  # the runtime repeats the bytes of the first
        (KernelError, "custom op Op, node 'y': \\xff is no number"),
    ):
        with pytest.raises(kind) as caught:
            interpreter.invoke()
        assert message in str(caught.value)
        assert str(caught.value).count("another maker") == (message.count("another maker"))
        assert isinstance(caught.value.__cause__, UnicodeDecodeError)


def test_messages_of_signature_runners_that_are_no_text() -> None:
    graph = Graph()
    graph.custom("Op", [graph.input("x", (2,))], [graph.output("y", (2,))])
    content = model(graph, signatures={"serve": 0})
    runner = Interpreter(content, experimental_delegates=[reporting(b"\xff")]).get_signature_runner()
    with pytest.raises(InterpreterError, match=r"\\xff"):
        runner(x=np.zeros(2, np.float32))


@pytest.mark.parametrize(
    ("op", "options", "dtype"),
    [
        ("Pack", {"axis": "one"}, "STRING"),  # compared with a number
        ("StringJoin", {"separator": 1.5}, "STRING"),  # joined as if it were bytes
    ],
)
def test_the_packs_kernels_refuse_options_of_other_types(op: str, options: Mapping[str, Any], dtype: str) -> None:
    interpreter = Interpreter(unary(op, options, shape=(2,), dtype=dtype), custom_ops=[PACK[op]])

    def run() -> None:
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.array([b"a", b"b"], object))
        interpreter.invoke()

    with pytest.raises(KernelError, match=r"does not take inputs of these .* or these options: \w+Error: ") as caught:
        run()
    assert caught.value.where == f"custom op {op}, node 'y'"
    assert caught.value.__cause__ is not None


def test_the_packs_kernels_refuse_inputs_that_are_left_out() -> None:
    graph = Graph()
    graph.custom("Erf", [-1], [graph.output("y", (2,))])
    graph.input("x", (2,))

    with pytest.raises(KernelError, match="does not take inputs of these"):
        Interpreter(model(graph), custom_ops=[PACK["Erf"]]).allocate_tensors()
