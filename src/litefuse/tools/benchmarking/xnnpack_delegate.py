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
    from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS, OP_NUMBERS
    from litefuse.litert.runtime.schema_objects import flatbuffer_of, made, set_options

    tensors = [made("Tensor", name=name, shape=[1], type=DTYPE_NUMBERS["float32"], buffer=0) for name in ("x", "y")]
    operator = made("Operator", inputs=[0, 0], outputs=[1])
    set_options(operator, made("AddOptions"))
    graph = made("SubGraph", tensors=tensors, inputs=[0], outputs=[1], operators=[operator])
    code = made("OperatorCode", builtinCode=OP_NUMBERS["ADD"], version=1)
    model = made("Model", version=3, buffers=[made("Buffer")], operatorCodes=[code], subgraphs=[graph])
    return bytes(flatbuffer_of(model))
