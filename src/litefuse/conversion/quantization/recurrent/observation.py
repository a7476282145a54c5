"""The ranges inside LSTM ops, computed on what the ops get in a model's calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from ai_edge_litert.interpreter import OpResolverType

from litefuse.conversion.quantization.recurrent.operands import CELL_STATE, INPUT, OUTPUT_STATE, LstmNumbers
from litefuse.conversion.quantization.recurrent.reference import InnerRanges, inner_ranges
from litefuse.conversion.quantization.samples import Calls
from litefuse.litert.export.editor import GraphEditor
from litefuse.litert.runtime.interpreter import Interpreter

__all__ = ["observed_ranges"]


def observed_ranges(
    path: Path,
    ops: Mapping[int, list[Any]],
    graphs: Mapping[int, GraphEditor],
    signatures: Mapping[str, int],
    calls: Calls,
) -> dict[str, InnerRanges]:
    """Returns the ranges inside LSTM ops over all calls, by the names of the ops' outputs.

    Args:
        path: The model in floating point.
        ops: The ops of each graph.
        graphs: The graphs.
        signatures: The graph of each signature.
        calls: The calls.
    """
    found: dict[str, InnerRanges] = {}
    for signature, of_signature in calls.items():
        graph = graphs.get(signatures[signature])
        if graph is None or not ops.get(signatures[signature]):
            continue
        # Without delegates, each op's result is kept as it was.
        interpreter: Any = Interpreter(
            path,
            experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            experimental_preserve_all_tensors=True,
        )
        runner: Any = interpreter.get_signature_runner(signature)
        each = [(op, LstmNumbers.of(graph, op)) for op in ops[signatures[signature]]]
        for inputs in of_signature:
            runner(**inputs)

            def read(index: int, where: int = signatures[signature], interpreter: Any = interpreter) -> Any:
                return interpreter.get_tensor(index, where)

            for op, numbers in each:
                ranges = inner_ranges(numbers, read(op.inputs[INPUT]), *_states(graph, op, read))
                name = graph.name(op.outputs[0])
                found[name] = ranges.widened(found[name]) if name in found else ranges
    return found


def _states(graph: GraphEditor, op: Any, read: Any) -> Iterator[npt.NDArray[np.float32]]:
    """Yields the states before the first step: the op has changed their memory, so it is computed once more."""
    for position in (OUTPUT_STATE, CELL_STATE):
        shape = read(op.inputs[position]).shape
        producer = graph.producer(op.inputs[position])
        if producer is None:
            yield np.zeros(shape, np.float32)
        elif graph.kind(producer) == "FILL":
            yield np.full(shape, read(producer.inputs[1]), np.float32)
        else:  # BROADCAST_TO
            yield np.broadcast_to(read(producer.inputs[0]), shape).astype(np.float32)
