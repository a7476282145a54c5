"""Who keeps what alive, and for how long."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter as StockInterpreter

from litefuse.litert.runtime import delegate as delegate_module
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.delegate import delegate
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.process_memory import working_set
from tests.every import every
from tests.litert.runtime.kernels import AddN, Double
from tests.litert.runtime.models import Graph, model, unary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from litefuse.litert.runtime.outputs import Outputs


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    gc.collect()
    live: dict[int, Any] = delegate_module._live  # pyright: ignore[reportPrivateUsage] # noqa: SLF001
    before = len(live)
    yield
    gc.collect()
    assert len(live) == before


class Tracked(Double):
    """Remembers its living instances."""

    instances: ClassVar[weakref.WeakSet[Tracked]] = weakref.WeakSet()

    def __init__(self) -> None:
        self.instances.add(self)


@pytest.fixture
def without_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
def test_kernels_go_with_their_interpreter() -> None:
    interpreter = Interpreter(unary("Double"), custom_ops=[Tracked])
    interpreter.allocate_tensors()
    interpreter.invoke()
    assert len(Tracked.instances) == 1

    del interpreter

    assert not Tracked.instances


@pytest.mark.usefixtures("without_collector")
def test_a_thousand_interpreters_leave_nothing() -> None:
    content = unary("Double", shape=(100, 1000))

    def growth(count: int) -> int:
        before = _resident_bytes()
        for _ in range(count):
            interpreter = Interpreter(content, custom_ops=[Tracked])
            interpreter.allocate_tensors()
            interpreter.invoke()
        return _resident_bytes() - before

    # The allocator takes some pages at times; a leak of one kernel's callbacks would be some kilobytes for each, one of
    # the arena 800 kilobytes, every time.
    assert min(growth(500) for _ in range(4)) < 700_000
    assert not Tracked.instances


def _resident_bytes() -> int:
    if (found := working_set()) is not None:
        return found.total
    import resource

    if sys.platform == "linux":
        with open("/proc/self/statm") as statm:  # noqa: PTH123
            return int(statm.read().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_an_array_may_outlive_the_interpreter() -> None:
    """A view keeps the runtime's interpreter alive without Python's, and with it our callbacks."""
    interpreter = Interpreter(unary("Double"), custom_ops=[Tracked])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.ones((2, 3), np.float32))
    interpreter.invoke()
    view = interpreter.tensor(1)()

    del interpreter
    gc.collect()
    assert view.tolist() == [[2] * 3] * 2
    assert len(Tracked.instances) == 1

    del view
    gc.collect()
    assert not Tracked.instances


def test_the_stock_interpreter_keeps_the_delegate() -> None:
    interpreter = StockInterpreter(model_content=unary("Double"), experimental_delegates=[delegate(Tracked)])
    gc.collect()
    interpreter.allocate_tensors()
    for batch in (1, 4, 2):
        interpreter.resize_tensor_input(0, [batch, 3])
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.ones((batch, 3), np.float32))
        interpreter.invoke()
        assert interpreter.get_tensor(1).shape == (batch, 3)

    del interpreter
    gc.collect()
    assert not Tracked.instances


def test_one_delegate_for_several_interpreters() -> None:
    shared = delegate(AddN, Tracked)
    interpreters = [
        StockInterpreter(model_content=unary("Double", shape=(size,)), experimental_delegates=[shared])
        for size in (1, 2, 3)
    ]
    for interpreter in interpreters:
        interpreter.allocate_tensors()
    for interpreter in reversed(interpreters):
        x = np.full(interpreter.get_input_details()[0]["shape"], 4, np.float32)
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(1), x + x)


def test_interpreters_in_threads() -> None:
    meet = threading.Barrier(4, timeout=600)

    class Meet(CustomOp):
        op_name = "Meet"

        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            meet.wait()  # passes only if all four interpreters are in their kernels at once
            outputs[0][...] = inputs[0] * 2

    content = unary("Meet", shape=(1000,))

    def work(seed: int) -> bool:
        interpreter = Interpreter(content, custom_ops=[Meet])
        interpreter.allocate_tensors()
        generator = np.random.default_rng(seed)
        equal = True
        for _ in range(20):
            x = generator.random(1000, np.float32)
            interpreter.set_tensor(0, x)
            interpreter.invoke()
            equal &= bool((interpreter.get_tensor(1) == 2 * x).all())
        return equal

    with ThreadPoolExecutor(4) as pool:
        assert every(pool.map(work, range(4)))


def test_an_interpreter_made_in_one_thread_and_used_in_another() -> None:
    interpreter = Interpreter(unary("Double"), custom_ops=[Double])
    with ThreadPoolExecutor(1) as pool:
        pool.submit(interpreter.allocate_tensors).result()
    interpreter.set_tensor(0, np.ones((2, 3), np.float32))
    thread = threading.Thread(target=interpreter.invoke)
    thread.start()
    thread.join()

    assert (interpreter.get_tensor(1) == 2).all()


def test_a_kernel_that_runs_another_model() -> None:
    inner = Interpreter(unary("Double"), custom_ops=[Double])
    inner.allocate_tensors()

    class Nested(CustomOp):
        op_name = "Nested"

        def prepare(self, x: TensorSpec) -> TensorSpec:
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Outputs) -> None:
            inner.set_tensor(0, inputs[0])
            inner.invoke()
            outputs[0] = inner.get_tensor(1)

    outer = Interpreter(unary("Nested"), custom_ops=[Nested])
    outer.allocate_tensors()
    outer.set_tensor(0, np.full((2, 3), 3, np.float32))
    outer.invoke()

    assert (outer.get_tensor(1) == 6).all()


def test_many_nodes() -> None:
    graph = Graph()
    last = graph.input("x", (1,))
    for index in range(300):
        previous, last = last, graph.tensor(f"t{index}", (1,))
        graph.custom("AddN", [previous, 0], [last])
    graph.outputs.append(last)
    interpreter = Interpreter(model(graph), custom_ops=[AddN])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.ones(1, np.float32))
    interpreter.invoke()

    assert interpreter.get_tensor(last) == 301


def test_the_process_ends_well_with_interpreters_alive() -> None:
    code = """
import numpy as np
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.kernels import Double
from tests.litert.runtime.models import unary
interpreter = Interpreter(unary("Double"), custom_ops=[Double])
interpreter.allocate_tensors()
interpreter.invoke()
itself = [interpreter]
itself.append(itself)
view = Interpreter(unary("Double"), custom_ops=[Double])
view.allocate_tensors()
view = view.tensor(0)()
"""
    _ends_well(code)


def test_pytest_ends_well_with_interpreters_that_outlive_modules() -> None:
    module, name = __file__.replace("lifetime", "failures"), "test_invoke_raises_the_very_exception"
    test = f"{module}::{name}_and_the_interpreter_lives_on"
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run([sys.executable, "-m", "pytest", *options, test], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def _ends_well(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
