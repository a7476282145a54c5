"""Outputs that nothing reads, for which the runtime plans no memory, and outputs that a kernel must not write."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert import interpreter as litert

import litefuse
from litefuse.errors import InterpreterError
from litefuse.kernels import PACK, PYTHON_ONLY, native_library
from litefuse.litert.runtime.interpreter import Interpreter
from tests.every import every
from tests.kernels.pack.calls import CALLS, Call
from tests.kernels.pack.one_op import FORMS
from tests.litert.runtime.models import Graph, model

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

NATIVE = sorted(PACK.keys() - PYTHON_ONLY)
KERNELS = [(op, form) for op in sorted(PACK) for form in FORMS if form == "numpy" or op in NATIVE]


def model_of(op: str, call: Call, read: Collection[int], *, as_composite: bool = False) -> tuple[bytes, list[int]]:
    """A model of the op, of whose outputs only some are outputs of the model; and the tensors of its inputs.

    A sum beside the op keeps the model from being empty, and stands behind it: its memory is used again.
    """
    graph, body = Graph(), Graph()
    inputs = [
        graph.input(f"input_{place}", array.shape, np.dtype(object) if array.dtype.kind == "S" else array.dtype)
        for place, array in enumerate(call.inputs)
    ]
    number = graph.input("number", (64,))
    outputs = [
        graph.output(f"output_{place}", [], dtype) if place in read else graph.tensor(f"output_{place}", [], dtype)
        for place, dtype in enumerate(call.outputs)
    ]
    if as_composite:
        graph.composite(op, inputs, outputs, call.options, 1)
        body.builtin("ADD", [body.input("x", (1,))] * 2, [body.tensor("y", (1,))])
        body.outputs += [body.input(f"y_{place}", (1,), dtype) for place, dtype in enumerate(call.outputs)]
    else:
        graph.custom(op, inputs, outputs, call.options)
    graph.builtin("ADD", [number, number], [graph.output("sum", (64,))])
    return model(graph, *([body] if as_composite else [])), inputs


def results(interpreter: Any, call: Call, inputs: list[int], read: Collection[int]) -> list[list[npt.NDArray[Any]]]:
    """The outputs that are read, of each of two calls in a row."""
    interpreter.allocate_tensors()
    answers: list[list[npt.NDArray[Any]]] = []
    *found, total = interpreter.get_output_details()
    number = interpreter.get_input_details()[len(inputs)]["index"]
    for turn in range(2):
        for tensor, array in zip(inputs, call.inputs, strict=True):
            interpreter.set_tensor(tensor, array)
        interpreter.set_tensor(number, np.full(64, turn, np.float32))
        interpreter.invoke()
        answers.append([interpreter.get_tensor(each["index"]) for each in found])
        assert interpreter.get_tensor(total["index"]).tolist() == [2 * turn] * 64
    assert len(found) == len(read)
    return answers


@pytest.mark.parametrize(("op", "form"), KERNELS)
def test_every_kernel_with_each_subset_of_its_outputs_read(op: str, form: str) -> None:
    call = CALLS[op]
    places = range(len(call.outputs))
    custom_ops = [PACK[op]] if form == "numpy" else None

    def read(subset: Collection[int], *, as_composite: bool = False) -> list[list[npt.NDArray[Any]]]:
        content, inputs = model_of(op, call, subset, as_composite=as_composite)
        return results(Interpreter(content, custom_ops=custom_ops), call, inputs, subset)

    whole = read(places)[0]
    assert every(array.size for array in whole)
    for size in range(len(places) + 1):
        for subset in itertools.combinations(places, size):
            for answer in (*read(subset), *read(subset, as_composite=True)):
                for place, array in zip(subset, answer, strict=True):
                    np.testing.assert_array_equal(array, whole[place])


@pytest.mark.skipif("native" not in FORMS, reason="litefuse was installed without its native kernels")
@pytest.mark.parametrize("op", NATIVE)
def test_the_stock_interpreter_with_no_output_read(op: str) -> None:
    call = CALLS[op]
    content, inputs = model_of(op, call, ())
    delegate = litert.load_delegate(str(native_library()))

    assert results(litert.Interpreter(model_content=content, experimental_delegates=[delegate]), call, inputs, ()) == [
        [],
        [],
    ]


def raw(op: str, outputs: str) -> bytes:
    """A model of the op whose outputs are not what they should be."""
    call = CALLS[op]
    graph = Graph()
    tensors = [graph.input(f"input_{place}", array.shape, array.dtype) for place, array in enumerate(call.inputs)]
    good = [graph.output(f"output_{place}", [], dtype) for place, dtype in enumerate(call.outputs)]
    constant = graph.tensor("constant", (1,), call.outputs[0], value=np.zeros(1, call.outputs[0]))
    wrong = {"absent": -1, "constant": constant, "an input": tensors[0], "the same": good[0]}[outputs]
    place = 0 if outputs == "constant" else 1
    graph.outputs.remove(good[place])
    good[place] = wrong
    graph.custom(op, tensors, good, call.options)
    return model(graph)


@pytest.mark.skipif("native" not in FORMS, reason="litefuse was installed without its native kernels")
@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ("absent", "output 1 is absent"),
        ("constant", "output 0 is a constant"),
        ("an input", "unresolved custom op"),  # a circle, of which the runtime offers nothing to a delegate
        ("the same", "outputs 0 and 1 are one tensor"),
    ],
)
def test_outputs_that_a_kernel_must_not_write_are_refused(outputs: str, message: str) -> None:
    """By the kernels themselves, whose runtime may not be litefuse's interpreter, which looks at the model before."""
    delegate = litert.load_delegate(str(native_library()))

    with pytest.raises((RuntimeError, ValueError), match=message):
        litert.Interpreter(
            model_content=raw("MaxPoolWithArgmax", outputs), experimental_delegates=[delegate]
        ).allocate_tensors()


def test_a_python_kernel_refuses_an_absent_output() -> None:
    delegate = litefuse.delegate(PACK["MaxPoolWithArgmax"])

    with pytest.raises((RuntimeError, ValueError), match="leaves out an output"):
        litert.Interpreter(model_content=raw("MaxPoolWithArgmax", "absent"), experimental_delegates=[delegate])


@pytest.mark.parametrize(
    ("outputs", "message"), [("absent", "lacks its output 1"), ("constant", "which is a constant")]
)
def test_litefuses_interpreter_refuses_the_model(outputs: str, message: str) -> None:
    with pytest.raises(InterpreterError, match=message):
        Interpreter(raw("MaxPoolWithArgmax", outputs))
