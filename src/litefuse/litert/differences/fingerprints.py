"""Fingerprints of what operators compute: those of equal ones are equal, wherever they are in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from litefuse.litert.differences.compared_model import ComparedModel
from litefuse.litert.inspection.facts import OperatorFacts, StoredTensor

__all__ = ["Fingerprints", "own_options"]

_SUBGRAPHS = ("subgraph", "branch_subgraph_indices", "called_computations")


def own_options(operator: OperatorFacts) -> dict[str, Any]:
    """Returns the options of an operator without the indices of subgraphs, which are their places in the file."""
    return {
        key: value
        for key, value in operator.options.items()
        if key not in _SUBGRAPHS and not key.endswith("subgraph_index")
    }


class Fingerprints:
    """The fingerprints of the operators of a file.

    An operator's is made from its name, version, options, the types of its results, what its subgraphs compute, and
    the fingerprints of its inputs: of constants their values, of inputs of the subgraph their positions.

    Args:
        side: The file.
    """

    def __init__(self, side: ComparedModel) -> None:
        self._side = side
        self._graphs: dict[int, tuple[bytes, tuple[bytes, ...]]] = {}

    def operators(self, graph: int) -> tuple[bytes, ...]:
        """Returns the fingerprints of the operators of a subgraph, in their order."""
        return self._of(graph)[1]

    def _of(self, graph: int) -> tuple[bytes, tuple[bytes, ...]]:
        """Returns the fingerprint of a subgraph, and those of its operators."""
        if graph not in self._graphs:
            side, values = self._side, dict[int, bytes]()
            tensors = side.tensors[graph]
            for position, index in enumerate(side.inputs(graph)):
                values[index] = _hash("input", position, self._type(tensors[index]))
            found: list[bytes] = []
            for operator in side.operators[graph]:
                inputs = [self._value(tensors, values, index) for index in operator.inputs]
                made = _hash(
                    operator.name,
                    operator.version,
                    json.dumps(own_options(operator), sort_keys=True),
                    *(self._of(callee)[0] for callee in operator.callees),
                    *inputs,
                    *(self._type(tensors[index]) for index in operator.outputs if index >= 0),
                )
                found.append(made)
                for position, index in enumerate(operator.outputs):
                    values[index] = _hash(made, position)
            outputs = [self._value(tensors, values, index) for index in side.outputs(graph)]
            self._graphs[graph] = _hash(*outputs, *sorted(found)), tuple(found)
        return self._graphs[graph]

    def _value(self, tensors: list[StoredTensor], values: Mapping[int, bytes], index: int) -> bytes:
        if index < 0:
            return b""
        if index not in values:
            tensor = tensors[index]
            content = (
                self._side.digest(tensor.buffer) if tensor.is_constant else "variable" if tensor.is_variable else ""
            )
            return _hash(content, self._type(tensor))
        return values[index]

    def _type(self, tensor: StoredTensor) -> bytes:
        scales = self._side.scales(tensor)
        parts = () if scales is None else (scales.scales.tobytes(), scales.zeros.tobytes(), scales.axis, scales.block)
        return _hash(tensor.dtype, tensor.shape, *parts)


def _hash(*parts: Any) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.digest()
