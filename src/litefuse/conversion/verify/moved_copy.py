"""Copies a LiteRT model with moves before and behind its ops, see ``litefuse.conversion.verify.moves``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from litefuse.conversion.verify.moves import ARITHMETIC, MOVED, Move, kind_of_move
from litefuse.ir.custom_options import encode_options
from litefuse.litert.runtime.model_reader import Graph, Model, Op
from litefuse.litert.runtime.schema_objects import custom_code, flatbuffer_of, made, objects_of, tensor_like

__all__ = ["moved_copy"]


def moved_copy(content: Any) -> bytes:
    """Returns a copy of a model with moved ops; float32 alone is moved.

    Args:
        content: The content of a valid ``.tflite`` file.
    """
    model, facts = objects_of(content), Model(content)
    model.operatorCodes.append(custom_code(Move.op_name))
    for graph, known in zip(model.subgraphs, facts.graphs, strict=True):
        moving = _Moving(graph, known, len(model.operatorCodes) - 1)
        for op, own in zip(graph.operators or (), known.ops, strict=True):
            moving.add(op, own)
        graph.operators = moving.operators
    return bytes(flatbuffer_of(model))


class _Moving:
    """Moves the ops of a subgraph.

    Attributes:
        operators: The ops of the copy.
    """

    def __init__(self, graph: Any, known: Graph, code: int) -> None:
        self.operators: list[Any] = []
        self._graph, self._known, self._code = graph, known, code

    def add(self, op: Any, own: Op) -> None:
        """Adds an op, with moves before and behind it."""
        name = "CUSTOM" if own.custom else "STABLEHLO_COMPOSITE" if own.composite else own.name
        operands = [index for index in own.inputs if self._is_real(index)]
        op.inputs, op.outputs = list(own.inputs), list(own.outputs)
        if name in MOVED - ARITHMETIC:
            for place, index in enumerate(own.inputs):
                if index in operands and not self._known.is_constant(index):
                    op.inputs[place] = self._like(index)
                    self._move(index, op.inputs[place], operands, kind_of_move(name, operand=True))
        self.operators.append(op)
        if name in MOVED:
            for place, index in enumerate(own.outputs):
                if self._is_real(index):
                    op.outputs[place] = self._like(index)
                    self._move(op.outputs[place], index, operands, kind_of_move(name, operand=False))

    def _is_real(self, index: int) -> bool:
        tensor = self._known.tensor(index) if index >= 0 else None
        return tensor is not None and tensor.dtype == np.float32 and not tensor.is_variable

    def _like(self, index: int) -> int:
        like: Any = self._graph.tensors[index]
        self._graph.tensors.append(tensor_like(like))
        return len(self._graph.tensors) - 1

    def _move(self, source: int, target: int, others: Sequence[int], options: dict[str, Any]) -> None:
        op = made("Operator", opcodeIndex=self._code, inputs=[source, *others], outputs=[target])
        op.customOptions = np.frombuffer(encode_options(options), np.uint8)
        self.operators.append(op)
