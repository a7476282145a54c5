"""The delegate of a library, with registrations that lack functions, and all that the runtime shows a kernel."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import interpreter as litert
from flatbuffers import flexbuffers

from litefuse.litert.cpp.compiler import build_library
from tests.litert.runtime.models import Graph, model

SOURCE = Path(__file__).with_name("data") / "registrations.cc"
OPTIONS = {"size": 3, "name": "mañana"}
X = np.array([[1, -2, 3]], np.float32)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("registrations") / "lib.so"
    build_library(path, [SOURCE], kit=["delegate.cc", "trial.cc"])
    return path


def interpreter(library: Path, content: bytes) -> Any:
    made = litert.Interpreter(model_content=content, experimental_delegates=[litert.load_delegate(str(library))])
    made.allocate_tensors()
    return made


def one_op(op: str, options: Any = b"", *, outputs: int = 1, size: int = 3) -> bytes:
    graph = Graph()
    x = graph.input("x", X.shape)
    made = [graph.output("y", (1, size)), *(graph.tensor(f"unread_{i}", (1, size)) for i in range(outputs - 1))]
    graph.custom(op, [x], made, options)
    return model(graph)


def call(runner: Any, x: Any = X) -> list[list[float]]:
    runner.set_tensor(0, x)
    runner.invoke()
    return runner.get_tensor(1).tolist()


def test_prepare_and_invoke_alone(library: Path) -> None:
    runner = interpreter(library, one_op("Double"))
    assert call(runner) == [[2, -4, 6]]
    runner.resize_tensor_input(0, (2, 3))
    runner.allocate_tensors()
    assert call(runner, np.concatenate([X, X + 1])) == [[2, -4, 6], [4, -2, 8]]


def test_invoke_alone_with_outputs_that_nothing_reads(library: Path) -> None:
    runner = interpreter(library, one_op("Fill", outputs=3))
    assert call(runner) == call(runner) == [[7, 7, 7]]


def test_temporaries_are_planned_in_every_kind_of_memory(library: Path) -> None:
    graph = Graph()
    x = graph.input("x", X.shape, signature=[-1, 3])
    y, z = graph.output("y", X.shape), graph.output("z", X.shape)
    graph.custom("Reverse", [x], [y])
    graph.custom("Reverse", [y], [z])
    runner = interpreter(library, model(graph))
    for calls in range(3):  # the persistent temporaries count them
        assert call(runner) == [[3 + calls, -2 + calls, 1 + calls]]
        assert runner.get_tensor(2).tolist() == [[1 + 2 * calls, -2 + 2 * calls, 3 + 2 * calls]]
    larger = np.arange(600, dtype=np.float32).reshape(200, 3)
    runner.resize_tensor_input(0, larger.shape)
    runner.allocate_tensors()
    for calls in range(2):
        np.testing.assert_array_equal(call(runner, larger), larger.reshape(-1)[::-1].reshape(200, 3) + calls)
        np.testing.assert_array_equal(runner.get_tensor(2), larger + 2 * calls)


@pytest.mark.parametrize("options", [b"", OPTIONS, b"\1\0\xff"])
def test_options_are_there_in_each_function(library: Path, options: Any) -> None:
    data = options if isinstance(options, bytes) else bytes(flexbuffers.Dumps(options))
    runner = interpreter(library, one_op("See", options, size=5))
    assert call(runner) == call(runner) == [[sum(data), sum(data), sum(data), len(data), 0]]


def test_attributes_of_a_composite_are_its_options(library: Path) -> None:
    main, body = Graph(), Graph()
    x, y = main.input("x", X.shape), main.output("y", (1, 5))
    main.composite("See", [x], [y], OPTIONS, 1)
    body.builtin("ABS", [body.input("x", (1, 5))], [body.output("y", (1, 5))])
    data = bytes(flexbuffers.Dumps(OPTIONS))
    assert call(interpreter(library, model(main, body))) == [[*[sum(data)] * 3, len(data), 1]]


def test_a_variable_tensor_keeps_its_value(library: Path) -> None:
    graph = Graph()
    x, state, y = graph.input("x", X.shape), graph.tensor("state", X.shape), graph.output("y", X.shape)
    graph.tensors[state][0].isVariable = True
    graph.custom("Accumulate", [x, state], [y])
    made = litert.Interpreter(model_content=model(graph), experimental_delegates=[litert.load_delegate(str(library))])
    made.allocate_tensors()
    for calls in range(1, 4):
        made.set_tensor(0, X)
        made.invoke()
        np.testing.assert_array_equal(made.get_tensor(y), X * calls)
    made.reset_all_variables()
    made.invoke()
    np.testing.assert_array_equal(made.get_tensor(y), X)


@pytest.mark.parametrize(
    ("op", "message"),
    [("FailToInit", "Failed to initialize kernel"), ("NoInvoke", "the kernel NoInvoke has no function invoke")],
)
def test_a_kernel_that_cannot_run_is_an_error(library: Path, op: str, message: str) -> None:
    with pytest.raises((RuntimeError, ValueError), match=message):
        interpreter(library, one_op(op))


@pytest.mark.parametrize("op", ["NoGetter", "Nothing"])
def test_an_entry_without_a_registration_is_no_kernel(library: Path, op: str) -> None:
    with pytest.raises(RuntimeError, match=f"unresolved custom op: {op}"):
        interpreter(library, one_op(op))


def test_what_a_kernel_throws_is_an_error_that_names_it(library: Path) -> None:
    runner = interpreter(library, one_op("Throw"))
    with pytest.raises(RuntimeError, match=r"(?s)the kernel Throw throws.*\(Throw\) failed to invoke"):
        call(runner)


def test_kernels_in_the_body_of_a_loop_and_in_two_signatures(library: Path) -> None:
    main, condition, body, other = Graph(), Graph(), Graph(), Graph()
    n, x = main.input("n", ()), main.input("x", X.shape)
    main.builtin(
        "WHILE", [n, x], [main.output("m", ()), main.output("y", X.shape)], condSubgraphIndex=1, bodySubgraphIndex=2
    )
    left = condition.input("n", ())
    condition.input("x", X.shape)
    zero = condition.tensor("zero", (), value=0.0)
    condition.builtin("GREATER", [left, zero], [condition.output("more", (), np.bool_)])
    left, turned = body.input("n", ()), body.input("x", X.shape)
    one = body.tensor("one", (), value=1.0)
    body.builtin("SUB", [left, one], [body.output("less", ())])
    body.custom("Reverse", [turned], [body.output("y", X.shape)])
    other.custom("Reverse", [other.input("x", X.shape)], [other.output("y", X.shape)])
    content = model(main, condition, body, other, signatures={"loop": 0, "once": 3})
    made = litert.Interpreter(model_content=content, experimental_delegates=[litert.load_delegate(str(library))])
    loop, once = made.get_signature_runner("loop"), made.get_signature_runner("once")
    # Each turn adds how many there were before it; the runtime plans the loop's memory anew in each call.
    assert loop(n=np.array(3, np.float32), x=X)["y"].tolist() == [[6, 1, 4]]
    assert once(x=X)["y"].tolist() == [[3, -2, 1]]
    assert once(x=X)["y"].tolist() == [[4, -1, 2]]
    assert loop(n=np.array(2, np.float32), x=X)["y"].tolist() == [[2, -1, 4]]


def test_many_interpreters_in_threads(library: Path) -> None:
    content = one_op("Reverse")
    wrong: list[list[list[float]]] = []

    def work() -> None:
        for _ in range(20):
            runner = interpreter(library, content)
            for calls in range(3):
                found = call(runner)
                if found != [[3 + calls, -2 + calls, 1 + calls]]:
                    wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
