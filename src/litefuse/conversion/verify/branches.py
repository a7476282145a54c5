"""The branches of a LiteRT model that calls take: a comparison says nothing about a branch that no call took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from litefuse.conversion.verify.converted import ConvertedModel
from litefuse.conversion.verify.coverage import Coverage
from litefuse.conversion.verify.layers.graph import layer_graph
from litefuse.conversion.verify.layers.observed import ObservedCopy
from litefuse.conversion.verify.original import Call

__all__ = ["Branches"]


class Branches:
    """The conditions of the IF ops in the subgraphs of signatures, in the watched calls.

    IF ops nested in branches and loops are not covered. The calls run on a copy of the model whose conditions are
    outputs.

    Args:
        converted: The model.
        folder: Where the copy is written.
    """

    def __init__(self, converted: ConvertedModel, folder: Path) -> None:
        self._converted = converted
        self._conditions: dict[str, tuple[int, dict[int, str]]] = {}
        self._taken: dict[tuple[str, int], set[bool]] = {}
        self._model = converted.model
        for number, key in enumerate(converted.specs):
            graph = layer_graph(converted.model, key)
            conditions = {
                tensor.operands[0]: tensor.name for tensor in graph.tensors if tensor.op == "IF" and not tensor.position
            }
            if conditions:
                self._conditions[key] = graph.subgraph, conditions
                self._taken |= {(key, index): set() for index in conditions}
                copy = ObservedCopy(self._model, folder / f"observed_{number}.tflite", graph.subgraph)
                copy.set_outputs([*graph.outputs, *(index for index in conditions if index not in graph.outputs)])
                self._model = str(copy.path)

    @property
    def complete(self) -> bool:
        """Whether every condition was seen both true and false."""
        return all(len(each) == 2 for each in self._taken.values())

    @property
    def coverage(self) -> Sequence[Coverage]:
        """How many of the two branches of each IF op were taken."""
        return [
            Coverage(key, self._conditions[key][1][index], len(taken), 2, sampled=False, kind="branches")
            for (key, index), taken in self._taken.items()
        ]

    def new_round(self) -> Callable[[Call], None]:
        """Returns a function that watches calls, from the initial state of the model.

        The function raises what :meth:`ConvertedModel.call` raises.
        """
        interpreter: Any = self._converted.interpreter(self._model)
        run = self._converted.new_round(interpreter)

        def watch(call: Call) -> None:
            run(call)
            if call.signature in self._conditions:
                subgraph, conditions = self._conditions[call.signature]
                for index in conditions:
                    value = np.array(interpreter.get_tensor(index, subgraph))
                    self._taken[call.signature, index].add(bool(value.any()))

        return watch
