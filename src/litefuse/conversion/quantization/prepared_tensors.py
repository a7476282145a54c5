"""Ranges of tensors that LiteRT computes once, while it prepares a model, which calibration observes nothing of.

What depends on constants and shapes alone, such as a class token that is repeated by the batch, it keeps between calls.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Graph, Model

__all__ = ["derived_of_constants", "ranges_of_prepared", "read_once"]

# The ops whose results depend on the shapes of their operands alone.
_OF_SHAPES = frozenset({"RANK", "SHAPE"})


def ranges_of_prepared(
    path: Path, interpreter: Any, signature: str, known: Container[str]
) -> dict[str, dict[str, npt.NDArray[np.float32]]]:
    """Returns the ranges of a signature's tensors that depend on constants and shapes alone.

    Args:
        path: A LiteRT model.
        interpreter: An interpreter of it, which has run the signature.
        signature: The signature.
        known: The names of the tensors whose ranges are known.
    """
    ranges: dict[str, dict[str, npt.NDArray[np.float32]]] = {}
    with content_of(path) as content:
        model = Model(content)
        number = model.signatures[signature].graph
        graph = model.graphs[number]
        for index in derived_of_constants(graph):
            tensor = graph.tensor(index)
            if tensor.dtype != np.float32 or tensor.name in known:
                continue
            values = interpreter.get_tensor(index, number)
            if values.size:
                ranges[tensor.name] = {
                    "min": values.min(keepdims=True).ravel(),
                    "max": values.max(keepdims=True).ravel(),
                }
    return ranges


def read_once(path: Path) -> set[str]:
    """Returns the names of the tensors that depend on constants and shapes alone, and that one operand reads.

    A file that cannot be read has none: litert-quantizer says what is wrong with it.
    """
    found: set[str] = set()
    with content_of(path) as content, suppress(struct.error, IndexError, ValueError):
        for graph in Model(content).graphs:
            readers = Counter(operand for op in graph.ops for operand in op.inputs) + Counter(graph.outputs)
            found |= {graph.tensor(index).name for index in derived_of_constants(graph) if readers[index] == 1}
    return found


def derived_of_constants(graph: Graph) -> Iterator[int]:
    """Yields the results of ops of builtin kinds that depend on constants and shapes alone, in the order of the ops.

    Args:
        graph: A subgraph.
    """
    derived: set[int] = set()
    for op in graph.ops:
        if op.custom or op.callees:
            continue
        operands = () if op.name in _OF_SHAPES else op.inputs
        if all(operand < 0 or operand in derived or graph.is_constant(operand) for operand in operands):
            yield from op.outputs
            derived.update(op.outputs)
