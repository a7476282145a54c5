"""Finding and opening models, and everything that the stock interpreter offers."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter as StockInterpreter

from litefuse.errors import InterpreterError, KernelError, MissingKernelError
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.kernels import Double, Scale
from tests.litert.runtime.models import Graph, model, unary

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "modèle.tflite"
    path.write_bytes(unary("Double"))
    return path


def works(interpreter: Interpreter) -> bool:
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.ones((2, 3), np.float32))
    interpreter.invoke()
    return bool((interpreter.get_tensor(1) == 2).all())


def test_the_ways_to_give_a_model(path: Path) -> None:
    content = path.read_bytes()

    assert works(Interpreter(path, custom_ops=[Double]))
    assert works(Interpreter(str(path), custom_ops=[Double]))
    assert works(Interpreter(model_path=str(path), custom_ops=[Double]))
    assert works(Interpreter(content, custom_ops=[Double]))
    assert works(Interpreter(model_content=content, custom_ops=[Double]))
    assert works(Interpreter(bytearray(content), custom_ops=[Double]))
    assert works(Interpreter(memoryview(content), custom_ops=[Double]))
    assert works(Interpreter(content, custom_ops=(op for op in [Double]), num_threads=2))


def test_neither_or_both_ways(path: Path) -> None:
    message = "either a path or a model's content"
    with pytest.raises(InterpreterError, match=message):
        Interpreter()
    with pytest.raises(InterpreterError, match=message):
        Interpreter(path, path.read_bytes())
    with pytest.raises(InterpreterError, match=message):
        Interpreter(path.read_bytes(), path.read_bytes())


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(InterpreterError, match=r"absent.tflite: no such file"):
        Interpreter(tmp_path / "absent.tflite")
    with pytest.raises(InterpreterError, match=r"is a folder"):
        Interpreter(tmp_path)
    for name, data in {"empty": b"", "text": b"Hello, this is no model", "zeros": bytes(1000)}.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(InterpreterError, match=rf"{name}: "):
            Interpreter(path)
        with pytest.raises(InterpreterError, match=r"^model content: "):
            Interpreter(data)


def test_truncated_models(tmp_path: Path) -> None:
    content = unary("Double")

    for length in range(1, len(content) - 1):
        with pytest.raises(InterpreterError):
            Interpreter(content[:length], custom_ops=[Double])
    path = tmp_path / "half.tflite"
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InterpreterError, match=r"half.tflite: "):
        Interpreter(path, custom_ops=[Double])


def test_options_of_the_stock_interpreter_are_checked() -> None:
    with pytest.raises(InterpreterError, match="num_threads should >= 1"):
        Interpreter(unary("Double"), custom_ops=[Double], num_threads=0)
    with pytest.raises(TypeError, match="unknown"):
        Interpreter(unary("Double"), custom_ops=[Double], unknown=1)


def unresolved() -> bytes:
    """Three custom ops of which two have no kernel, one of them in another subgraph and twice."""
    first, second = Graph(), Graph()
    for graph in (first, second):
        x, a, y = graph.input("x", (2,)), graph.tensor("a", (2,)), graph.output("y", (2,))
        graph.custom("Double", [x], [a])
        graph.custom("FlexAbsent" if graph is first else "Lost", [a], [y])
    second.custom("Lost", [second.inputs[0]], [second.output("z", (2,))])
    return model(first, second, signatures={"first": 0, "second": 1})


def test_all_unresolved_ops_are_named() -> None:
    interpreter = Interpreter(unresolved(), custom_ops=[Double])
    assert [detail["name"] for detail in interpreter.get_input_details()] == ["x"]

    with pytest.raises(InterpreterError, match=r"no kernel for the custom ops FlexAbsent, Lost\n.*custom_op"):
        interpreter.allocate_tensors()
    with pytest.raises(InterpreterError, match=r"FlexAbsent, Lost"):
        interpreter.get_signature_runner("second")(x=np.zeros(2, np.float32))


def test_an_error_after_one_about_unresolved_ops_is_itself() -> None:
    first, second = Graph(), Graph()
    x, index = first.input("x", (2,), np.int32), first.input("i", (1,), np.int32)
    first.builtin("GATHER", [x, index], [first.output("y", (1,), np.int32)])
    second.custom("Lost", [second.input("x", (2,))], [second.output("y", (2,))])
    interpreter = Interpreter(model(first, second, signatures={"first": 0, "second": 1}))

    with pytest.raises(InterpreterError, match="Lost"):
        interpreter.get_signature_runner("second")(x=np.zeros(2, np.float32))
    with pytest.raises(RuntimeError, match="GATHER"):
        interpreter.get_signature_runner("first")(x=np.zeros(2, np.int32), i=np.array([7], np.int32))


def test_ops_that_the_runtime_resolves_itself_are_no_concern() -> None:
    graph = Graph()
    spectrogram = graph.output("y", (1, 3, 3))
    options = {"window_size": 4, "stride": 2, "magnitude_squared": True}
    graph.custom("AudioSpectrogram", [graph.input("x", (8, 1))], [spectrogram], options)
    interpreter = Interpreter(model(graph), custom_ops=[Double])

    interpreter.allocate_tensors()

    assert interpreter.get_output_details()[0]["shape"].tolist() == [1, 3, 3]


def test_further_delegates_are_offered_the_rest() -> None:
    from litefuse.litert.runtime.delegate import delegate

    graph = Graph()
    x, a, y = graph.input("x", (2, 3)), graph.tensor("a", (2, 3)), graph.output("y", (2, 3))
    graph.custom("Scale", [x], [a], {"factor": 0.5})
    graph.custom("Double", [a], [y])
    interpreter = Interpreter(model(graph), custom_ops=[Scale], experimental_delegates=[delegate(Double)])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.ones((2, 3), np.float32))
    interpreter.invoke()

    assert (interpreter.get_tensor(y) == 1).all()


def test_signatures() -> None:
    first, second = Graph(), Graph()
    for graph in (first, second):
        graph.custom("Double", [graph.input("x", (2,))], [graph.output("y", (2,))])
    interpreter = Interpreter(model(first, second, signatures={"f": 0, "g": 1}), custom_ops=[Double])

    assert interpreter.get_signature_list() == {
        "f": {"inputs": ["x"], "outputs": ["y"]},
        "g": {"inputs": ["x"], "outputs": ["y"]},
    }
    with pytest.raises(InterpreterError, match=r"no signature 'h'\nThe model has: f, g"):
        interpreter.get_signature_runner("h")
    with pytest.raises(InterpreterError, match=r"a signature must be named\nThe model has: f, g"):
        interpreter.get_signature_runner()
    with pytest.raises(InterpreterError, match=r"The model has: none"):
        Interpreter(unary("Double"), custom_ops=[Double]).get_signature_runner()
    with pytest.raises(ValueError, match="number of inputs"):
        interpreter.get_signature_runner("f")()


def test_it_is_the_stock_interpreter() -> None:
    interpreter = Interpreter(unary("Double"), custom_ops=[Double])
    assert isinstance(interpreter, StockInterpreter)
    interpreter.allocate_tensors()

    assert interpreter.num_subgraphs() == 1
    assert [detail["name"] for detail in interpreter.get_tensor_details()] == ["x", "y"]
    interpreter.tensor(0)()[...] = 3
    interpreter.invoke()
    assert (interpreter.tensor(1)() == 6).all()
    interpreter.reset_all_variables()


def test_errors_of_use_stay_those_of_the_stock_interpreter() -> None:
    interpreter = Interpreter(unary("Double"), custom_ops=[Double])
    with pytest.raises(RuntimeError, match="not ready"):
        interpreter.invoke()
    interpreter.allocate_tensors()
    with pytest.raises(ValueError, match="Got value of type"):
        interpreter.set_tensor(0, np.zeros((2, 3), np.int32))
    view = interpreter.tensor(0)()
    with pytest.raises(RuntimeError, match="reference to internal data"):
        interpreter.invoke()
    del view
    interpreter.invoke()


@pytest.mark.parametrize(
    ("inputs", "kind", "message"),
    [
        ({}, ValueError, r"number of inputs.*\nthe input 'x' \(float32 \[\?, 3\]\) is missing$"),
        (
            {"z": np.zeros((2, 3), np.float32)},
            ValueError,
            r"Input name.*\nthe model has no input 'z'\nthe input 'x' .* is m",
        ),
        (
            {"x": np.zeros((2, 3))},
            ValueError,
            r"FLOAT64.*\nthe input 'x' is float64 \[2, 3\]; the model takes float32 \[",
        ),
        ({"x": np.zeros((2, 4), np.float32)}, RuntimeError, r"\nthe input 'x' is float32 \[2, 4\]; the model takes"),
        ({"x": [[1.0, 2.0, 3.0]]}, AttributeError, r"\nthe input 'x' is a list; the model takes an array float32 \["),
    ],
)
def test_inputs_that_do_not_fit_are_named(inputs: dict[str, Any], kind: type[Exception], message: str) -> None:
    graph = Graph()
    x, y = graph.input("x", (1, 3), signature=(-1, 3)), graph.output("y", (1, 3), signature=(-1, 3))
    graph.builtin("ADD", [x, graph.tensor("c", (3,), value=[1, 2, 3])], [y])
    runner = Interpreter(model(graph, signatures={"f": 0})).get_signature_runner()
    with pytest.raises(kind, match=message) as raised:
        runner(**inputs)
    assert type(raised.value) is kind
    assert runner(x=np.zeros((2, 3), np.float32))["y"].tolist() == [[1, 2, 3]] * 2


def test_kernels_are_checked_before_the_model_is_opened() -> None:
    not_a_kernel: Any = object()
    with pytest.raises(KernelError, match="not a subclass of CustomOp"):
        Interpreter(unary("Double"), custom_ops=[not_a_kernel])


def test_kernels_can_be_written_without_importing_the_runtime() -> None:
    code = (
        "import sys, litefuse, litefuse.litert.runtime.custom_op, litefuse.litert.runtime.delegate, litefuse.kernels\n"
        "assert 'ai_edge_litert' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("custom", [False, True])
def test_kernels_are_made_ready_for_models_with_ops_for_them(custom: bool, tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.input("x", (2,), np.float32), graph.output("y", (2,), np.float32)
    graph.custom("Double", [x], [y]) if custom else graph.builtin("ABS", [x], [y])
    path = tmp_path / "model.tflite"
    path.write_bytes(model(graph))
    code = (
        "import sys\n"
        "from litefuse.litert.runtime.interpreter import Interpreter\n"
        "Interpreter(sys.argv[1])\n"
        "print('litefuse.litert.runtime.layout' in sys.modules, 'ai_edge_litert.schema_py_generated' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True, text=True)
    assert ran.stdout.split() == [str(custom)] * 2


@pytest.mark.parametrize(
    "value", [np.array(b"n\xc3\xb6 b"), np.array("nö b"), np.array(b"n\xc3\xb6 b", object), np.array("nö b", object)]
)
@pytest.mark.parametrize("shape", [(), (1,), (2, 1)])
def test_strings_of_every_form(value: Any, shape: tuple[int, ...]) -> None:
    """The stock interpreter takes the address of a scalar object for its bytes."""
    graph = Graph()
    graph.custom("StringUpper", [graph.input("x", shape, object)], [graph.output("y", shape, object)], {"encoding": ""})
    interpreter = Interpreter(model(graph, signatures={"serve": 0}))
    array = value if shape == () else np.full(shape, value)
    expected = np.full(shape, b"N\xc3\xb6 B", object).tolist()

    assert interpreter.get_signature_runner()(x=array)["y"].tolist() == expected
    interpreter.set_tensor(0, array)
    interpreter.invoke()
    assert interpreter.get_tensor(1).tolist() == expected


@pytest.mark.parametrize("value", [b"", b"\0", b"a\0\0", b"\xff\xfe", "", "\N{SNOWMAN}\0"])
@pytest.mark.parametrize("shape", [(), (1,), (2, 1)])
def test_strings_of_objects_arrive_as_their_bytes(value: Any, shape: tuple[int, ...]) -> None:
    graph = Graph()
    graph.custom("StringUpper", [graph.input("x", shape, object)], [graph.output("y", shape, object)], {"encoding": ""})
    interpreter = Interpreter(model(graph, signatures={"serve": 0}))
    array = np.empty(shape, object)
    array.fill(value)
    data = value.encode() if isinstance(value, str) else value

    result = interpreter.get_signature_runner()(x=array)["y"]
    assert result.shape == shape
    assert result.reshape(-1).tolist() == [data.upper()] * result.size


@pytest.mark.parametrize("value", [None, 3, 0.5])
def test_a_scalar_object_that_is_no_string(value: Any) -> None:
    """The stock interpreter reads the address of it."""
    graph = Graph()
    graph.custom("StringUpper", [graph.input("x", (), object)], [graph.output("y", (), object)], {"encoding": ""})
    runner = Interpreter(model(graph, signatures={"serve": 0})).get_signature_runner()
    with pytest.raises(InterpreterError, match=re.escape(f"an input is an object {value!r}")):
        runner(x=np.array(value, object))


def test_results_without_elements() -> None:
    """For which the stock interpreter raises: it has no memory for them."""
    graph = Graph()
    x = graph.input("x", (2, 3), np.bool_)
    graph.builtin("WHERE", [x], [graph.output("places", (0, 2), np.int64, signature=(-1, 2))])
    content = model(graph, signatures={"serve": 0})
    interpreter = Interpreter(content)
    none, some = np.zeros((2, 3), np.bool_), np.eye(2, 3, dtype=np.bool_)
    for given in (none, some, none):
        places = interpreter.get_signature_runner()(x=given)["places"]
        assert places.dtype == np.int64
        assert places.shape == (np.count_nonzero(given), 2)
        assert places.tolist() == np.argwhere(given).tolist()

        interpreter.allocate_tensors()
        interpreter.set_tensor(0, given)
        interpreter.invoke()
        assert interpreter.get_tensor(1).tolist() == places.tolist()
        assert interpreter.get_tensor(1).shape == places.shape


@pytest.mark.parametrize("dtype", [object, np.float32, np.int32])
def test_empty_inputs_and_outputs(dtype: Any) -> None:
    graph = Graph()
    x = graph.input("x", (1, 3), dtype, signature=(-1, 3))
    y = graph.output("y", (1, 3), dtype, signature=(-1, 3))
    if dtype is object:
        graph.custom("StringUpper", [x], [y], {"encoding": ""})
    else:
        graph.builtin("ABS", [x], [y])
    runner = Interpreter(model(graph, signatures={"serve": 0})).get_signature_runner()
    for rows in (0, 2, 0):
        given = np.full((rows, 3), b"AB" if dtype is object else 7, dtype)
        result = runner(x=given)["y"]
        assert result.dtype == given.dtype
        assert result.shape == given.shape
        assert result.tolist() == given.tolist()


def test_a_prepared_call_runs_again_on_the_same_inputs() -> None:
    graph = Graph()
    x = graph.input("x", (1, 2), signature=(-1, 2))
    graph.custom("Double", [x], [graph.output("y", (1, 2), signature=(-1, 2))])
    interpreter = Interpreter(model(graph, signatures={"serve": 0}), custom_ops=[Double])
    call = interpreter.prepare_call("serve", {"x": np.ones((3, 2), np.float32)})
    for _ in range(2):
        call.set_inputs()
        call.invoke()
        assert interpreter.get_tensor(1).tolist() == [[2, 2]] * 3
    without = Interpreter(model(graph), custom_ops=[Double])
    call = without.prepare_call(None, {"x": np.full((1, 2), 4, np.float32)})
    call.set_inputs()
    call.invoke()
    assert without.get_tensor(1).tolist() == [[8, 8]]
    with pytest.raises(MissingKernelError, match="Nowhere"):
        Interpreter(unary("Nowhere")).prepare_call(None, {"x": np.ones((2, 3), np.float32)})
