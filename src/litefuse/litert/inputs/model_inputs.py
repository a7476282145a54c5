"""Describes the inputs of a LiteRT model's signatures, and draws calls of them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError
from litefuse.litert.inputs.drawer import LEVELS, OTHER_NUMBERS, Drawer, Manner
from litefuse.litert.inputs.flow import Flow, Trace, Value
from litefuse.litert.inputs.kinds import asks_for_nan, numbers_of
from litefuse.litert.inputs.rules import rule_of
from litefuse.litert.inputs.uses import Box, Domain, Rows, Use, Words
from litefuse.litert.runtime.flatbuffer import content_of, damage_reported
from litefuse.litert.runtime.model_reader import Model, Signature

__all__ = ["LEVELS", "OTHER_NUMBERS", "Manner", "ModelInputs", "Tables", "signatures_to_call"]

# The bytes of a constant that is a weight, rather than sizes and the like.
_LARGE_BYTES = 1 << 16


class Tables(NamedTuple):
    """The tables of a model.

    Attributes:
        keys: The keys of each hash table.
        shapes: The shapes of constants and variables.
        numbers: The numbers among its constants that are not weights.
        asks_for_nan: Whether it tells NaN or infinities from numbers.
    """

    keys: tuple[tuple[bytes | int, ...], ...] = ()
    shapes: frozenset[tuple[int, ...]] = frozenset()
    numbers: tuple[float, ...] = ()
    asks_for_nan: bool = False

    def more_keys(self, known: tuple[bytes | int, ...]) -> tuple[bytes | int, ...]:
        """Returns further keys of the tables that have some of the known keys; of all tables where none has."""
        own = set(known)
        alike = [keys for keys in self.keys if not own.isdisjoint(keys)] or self.keys
        return tuple(dict.fromkeys(key for keys in alike for key in keys if key not in own))

    def more_rows(self, count: int, row: tuple[int, ...]) -> int:
        """Returns the row count of a table with more than ``count`` such rows; 0 if none has, or one has as many."""
        if (count, *row) in self.shapes:
            return 0
        return max((shape[0] for shape in self.shapes if shape[1:] == row and shape[0] > count), default=0)


class ModelInputs:
    """The inputs of a model's signatures, by the flow of values through its graphs.

    Attributes:
        signatures: The inputs of each signature, by key and name. A model without signatures has one with an empty key:
            that of its first subgraph, with the names of tensors.
        unranked: The inputs of each signature that may be of any rank.
        tables: The contents of its tables, and its constants.
        moving: The outputs of each signature that depend on inputs of it or of others, through variables.

    Args:
        content: The content of a valid ``.tflite`` file: bytes or a memory map.
    """

    def __init__(self, content: Any) -> None:
        model = Model(content)
        signatures = model.signatures or {"": _of_first_graph(model)}
        self.signatures = {key: _domains(model, signature) for key, signature in signatures.items()}
        self.unranked = {key: _unranked(model, signature) for key, signature in signatures.items()}
        named = {
            _root(key, name): domain for key, domains in self.signatures.items() for name, domain in domains.items()
        }
        flow = Flow(model, named, rule_of)
        self.moving: dict[str, frozenset[str]] = {}
        for _ in range(2 if len(signatures) > 1 else 1):  # what one writes, another reads
            for key, signature in signatures.items():
                self.moving[key] = _follow(flow, key, signature)
        constants = model.constant_shapes(), tuple(numbers_of(model))
        self.tables = Tables(tuple(flow.keys.values()), *constants, asks_for_nan(model))

    @classmethod
    def of_file(cls, file: str | os.PathLike[str] | bytes) -> ModelInputs:
        """Reads a file, or its content.

        Raises:
            InterpreterError: The model is damaged.
        """
        where = "model content" if isinstance(file, bytes) else os.fspath(file)
        with content_of(file) as data, damage_reported(where):
            return cls(data)

    def shapes(
        self, signature: str, *, batch: int, size: int, given: Mapping[str, tuple[int, ...]] | None = None
    ) -> dict[str, tuple[int, ...]]:
        """Returns shapes of a signature's inputs.

        Args:
            signature: The signature's key.
            batch: The first dimension, if it is dynamic.
            size: The other dynamic dimensions.
            given: Shapes of some inputs; those of other inputs are left alone.

        Raises:
            InterpreterError: A shape does not fit its input.
        """
        shapes: dict[str, tuple[int, ...]] = {}
        for name, domain in self.signatures[signature].items():
            sizes = domain.shape
            usual = tuple(known if known is not None else size if axis else batch for axis, known in enumerate(sizes))
            shapes[name] = usual if given is None else given.get(name, usual)
            if name in self.unranked[signature]:
                continue
            if len(shapes[name]) != len(sizes) or any(
                known not in {None, one} for known, one in zip(sizes, shapes[name], strict=True)
            ):
                raise InterpreterError(
                    f"the shape {list(shapes[name])} does not fit the input {name!r}, which is {domain}"
                )
        return shapes

    def widen(self, tables: Tables) -> None:
        """Adds words to draw that another model, which is to compute the same, knows as well."""
        for domains in self.signatures.values():
            for domain in domains.values():
                domain.uses = {(box, _widened(use, tables)): None for box, use in domain.uses}

    def beyond(self, signature: str, tables: Tables) -> Iterator[tuple[str, Box, Rows, int]]:
        """Finds the rows that a table of another model has and this model's table lacks.

        Yields:
            The input that picks them, the part of it, the rows that there are, and how many there should be.
        """
        for name, domain in self.signatures[signature].items():
            for box, use in domain.uses:
                if isinstance(use, Rows) and use.count and use.row is not None:
                    more = tables.more_rows(use.count, use.row)
                    if more:
                        yield name, box, use, more

    def drawer(self, signature: str, random: Random) -> Drawer:
        return Drawer(self.signatures[signature].values(), random)

    def calls(
        self, *, batch: int = 1, size: int = 7, seed: int = 0, manner: Manner | None = None
    ) -> dict[str, dict[str, npt.NDArray[Any]]]:
        """Draws one call of each signature, by its key: arrays of the dtypes that the file has.

        A model may refuse them: the graph does not always determine what is legal. Then other sizes may be tried, and
        ``Manner(limit=each)`` with the ``LEVELS``.

        Args:
            batch: The first dimension of inputs, if it is dynamic.
            size: The other dynamic dimensions.
            seed: The seed of the values.
            manner: How they are drawn.
        """
        random = Random(seed)
        return {
            key: self.drawer(key, random).draw(self.shapes(key, batch=batch, size=size), manner)
            for key in self.signatures
        }


def _widened(use: Use, tables: Tables) -> Use:
    return replace(use, keys=(*use.keys, *tables.more_keys(use.keys))) if isinstance(use, Words) else use


def _of_first_graph(model: Model) -> Signature:
    graph = model.graphs[0]
    return Signature(
        0,
        {graph.tensor(index).name: index for index in graph.inputs},
        {graph.tensor(index).name: index for index in graph.outputs},
    )


def _domains(model: Model, signature: Signature) -> dict[str, Domain]:
    graph = model.graphs[signature.graph]
    domains: dict[str, Domain] = {}
    for name, index in signature.inputs.items():
        tensor = graph.tensor(index)
        dtype = np.dtype(np.float32) if tensor.dtype is None else tensor.dtype
        scale = tensor.scale if dtype.kind in "iu" else 0.0
        domains[name] = Domain(name, dtype, tensor.shape, scale, tensor.zero)
    return domains


def _unranked(model: Model, signature: Signature) -> frozenset[str]:
    graph = model.graphs[signature.graph]
    return frozenset(name for name, index in signature.inputs.items() if not graph.tensor(index).ranked)


def signatures_to_call(path: Path, inputs: ModelInputs) -> list[str]:
    """Returns the signatures to try: of a large model, whose calls take long, small ones that have all its weights.

    Args:
        path: The model.
        inputs: The inputs of its signatures.
    """
    from litefuse.litert.runtime.interpreter import without_large_copies

    if not without_large_copies(path):
        return list(inputs.signatures)
    called: list[str] = []
    known: set[int] = set()
    with content_of(path) as content:
        model = Model(content)
        for key in sorted(inputs.signatures, key=lambda key: sum(map(_elements, inputs.signatures[key].values()))):
            graph = model.graphs[model.signatures[key].graph if key else 0]
            operands = {operand for op in graph.ops for operand in op.inputs if operand >= 0}
            weights = {graph.buffer(index) for index in operands if graph.stored_bytes(index) >= _LARGE_BYTES}
            if not called or weights - known or any(op.callees for op in graph.ops):
                called.append(key)
                known |= weights
    return called


def _elements(domain: Domain) -> int:
    return math.prod(size or 1 for size in domain.shape)


def _root(signature: str, name: str) -> str:
    """Returns the name of an input among the roots of values."""
    return f"{signature}/{name}"


def _follow(flow: Flow, key: str, signature: Signature) -> frozenset[str]:
    """Notes the uses of a signature's inputs; returns the outputs that depend on any input."""
    graph = flow.model.graphs[signature.graph]
    names = {index: _root(key, name) for name, index in signature.inputs.items()}
    arguments = [
        Value((Trace(names[index], axes=tuple(range(len(graph.tensor(index).shape)))),), frozenset({names[index]}))
        if index in names
        else Value()
        for index in graph.inputs
    ]
    results = dict(zip(graph.outputs, flow.run(graph, arguments), strict=True))
    return frozenset(
        name
        for name, index in signature.outputs.items()
        if any(not root.startswith("\0") for root in results[index].roots)
    )
