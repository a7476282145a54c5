"""LiteRT's own XNNPACK delegate, of an interpreter of the smallest model that it takes."""

from __future__ import annotations

from typing import Any

from litefuse.tools.benchmarking.nodes import NodeObserver

__all__ = ["XnnpackDelegate"]


class XnnpackDelegate:
    """The delegate as LiteRT makes it by default, which lives as long as this object.

    Args:
        threads: How many threads it uses.

    Attributes:
        address: The address of the ``TfLiteDelegate``; 0 if LiteRT has no XNNPACK here.
    """

    def __init__(self, threads: int) -> None:
        from ai_edge_litert.interpreter import Interpreter

        observer = NodeObserver([("x", "y")])
        self._interpreter: Any = Interpreter(
            model_content=_sum_model(), num_threads=threads, experimental_delegates=[observer]
        )
        self._observer = observer
        self._interpreter.allocate_tensors()
        self.address = next((node.delegate for node in observer.nodes()), 0)


def _sum_model() -> bytes:
    """Returns a model of one ADD of float32."""
    from ai_edge_litert import schema_py_generated as schema

    from litefuse.litert.runtime.schema_objects import flatbuffer_of

    tensors: list[Any] = []
    for name in ("x", "y"):
        tensor: Any = schema.TensorT()
        tensor.name, tensor.shape, tensor.type, tensor.buffer = name, [1], schema.TensorType.FLOAT32, 0
        tensors.append(tensor)
    operator: Any = schema.OperatorT()
    operator.inputs, operator.outputs = [0, 0], [1]
    operator.builtinOptionsType, operator.builtinOptions = schema.BuiltinOptions.AddOptions, schema.AddOptionsT()
    graph: Any = schema.SubGraphT()
    graph.tensors, graph.inputs, graph.outputs, graph.operators = tensors, [0], [1], [operator]
    code: Any = schema.OperatorCodeT()
    code.builtinCode, code.version = schema.BuiltinOperator.ADD, 1
    model: Any = schema.ModelT()
    model.version, model.buffers, model.operatorCodes, model.subgraphs = 3, [schema.BufferT()], [code], [graph]
    return bytes(flatbuffer_of(model))
