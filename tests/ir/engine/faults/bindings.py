"""The Python bindings of the engine and of the runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from litefuse.ir.mlir import converter_api_ext, ir
from tests.ir.engine.faults.graph import WrittenGraph
from tests.ir.engine.faults.reproducer import alone, is_refused, reproducer

_STRING = "!tf_type.string"


@reproducer
def too_few_names() -> bool:
    graph = WrittenGraph("f32", "f32")
    graph.returns(graph.op("tfl.add", graph.inputs, "f32", fused_activation_function="NONE"))
    converter_api_ext.set_signature(graph.function, "main", ["x"], ["y"])
    return True


@reproducer
def too_many_names() -> bool:
    graph = WrittenGraph("f32")
    graph.returns(*graph.inputs)
    return is_refused(
        "SmallVector unable to grow", converter_api_ext.set_signature, graph.function, "main", ["x", "y"], ["z"]
    )


@reproducer
def complex_constants() -> bool:
    try:
        ir.DenseElementsAttr.get(np.array([1 + 2j], np.complex64))
    except ValueError:
        return True
    return False


@reproducer
def complex_attributes() -> bool:
    op = ir.Operation.parse(
        '"tf.Const"() {value = dense<(1.0, 2.0)> : tensor<complex<f32>>} : () -> tensor<complex<f32>>'
    )
    try:
        op.attributes["value"]
    except TypeError:
        return True
    return False


@reproducer
def unsigned_arrays() -> bool:
    return str(ir.DenseElementsAttr.get(np.array([1], np.uint8)).type) == "tensor<1xi8>"


@reproducer
def paths_of_bytes() -> bool:
    graph = WrittenGraph("f32")
    graph.returns(graph.op("tfl.sin", graph.inputs, "f32"))
    try:
        converter_api_ext.export_flatbuffer_to_file(graph.module.operation, "/nowhere/\udcff.tflite")
    except TypeError:
        return True
    return False


def _of_string() -> tuple[Interpreter, int]:
    graph = WrittenGraph(_STRING)
    graph.returns(graph.op("tfl.reshape", [*graph.inputs, graph.constant([1])], f"1x{_STRING}"))
    interpreter = Interpreter(model_content=graph.model())
    interpreter.allocate_tensors()
    return interpreter, int(interpreter.get_input_details()[0]["index"])


@alone
def scalar_object() -> bool:
    interpreter, place = _of_string()
    interpreter.set_tensor(place, np.array(b"ab", object))
    return bool(interpreter.get_tensor(place) != b"ab")


@reproducer
def scalar_characters() -> bool:
    interpreter, place = _of_string()
    interpreter.set_tensor(place, np.array("ab"))
    return bool(interpreter.get_tensor(place) != b"ab")


@reproducer
def result_without_elements() -> bool:
    graph = WrittenGraph("3xi1")
    graph.returns(graph.op("tfl.where", graph.inputs, "?x1xi64"))
    return is_refused("Invalid tensor size", graph.run, [False] * 3)


def _unresolved(name: bytes) -> Interpreter:
    graph = WrittenGraph("f32")
    options = {"custom_code": "NoSuchOp", "custom_option": ir.Attribute.parse('#tfl<const_bytes : "0x">')}
    content = graph.returns(graph.op("tfl.custom", graph.inputs, "f32", **options)).model()
    return Interpreter(model_content=content.replace(b"NoSuchOp", name))


@reproducer
def message_that_is_no_text() -> bool:
    try:
        _unresolved(b"NoSuch\xffp").allocate_tensors()
    except UnicodeDecodeError:
        return True
    except RuntimeError as error:
        return not str(error)  # as in Python 3.11.2
    return False


@reproducer
def repeated_messages() -> bool:
    interpreter = _unresolved(b"NoSuchOp")
    counts: list[int] = []
    for _ in range(2):
        try:
            interpreter.allocate_tensors()
        except RuntimeError as error:
            counts.append(str(error).count("Encountered unresolved custom op"))
    return counts == [1, 2]


@reproducer
def input_that_is_called_self() -> bool:
    graph = WrittenGraph("f32")
    graph.returns(graph.op("tfl.sin", graph.inputs, "f32"))
    converter_api_ext.set_signature(graph.function, "main", ["self"], ["y"])
    runner: Any = Interpreter(model_content=graph.model()).get_signature_runner()
    try:
        runner(self=np.ones((), np.float32))
    except TypeError:
        return True
    return False
