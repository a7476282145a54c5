"""Tables of the ops that targets take: what can be said of a file without a target's software."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from litefuse.litert.runtime.kernel_pack import runs_in_litert
from litefuse.litert.targets.question import Refusal

if TYPE_CHECKING:
    from litefuse.litert.runtime.model_reader import Graph, Model, Op

#: The reason to refuse a custom op.
CUSTOM = "it is a custom op"

_NO_RANKS: Mapping[int, tuple[int, ...]] = MappingProxyType({})
_NO_OPTIONS: Mapping[int, str] = MappingProxyType({})


class Limits(NamedTuple):
    """The limits on one kind of op.

    Attributes:
        version: The highest version of the op; None for any.
        rank: The highest rank of operands and results; None for any.
        ranks: The ranks of single operands, by their positions.
        dtypes: The dtypes of results in floating point or integers, as numpy names them; empty for any.
        constant: The positions of operands that must be constants.
        computed: The positions of operands that must not be constants.
        unset: The builtin options that must be 0, by their field numbers in the schema, and their names.
    """

    version: int | None = None
    rank: int | None = None
    ranks: Mapping[int, tuple[int, ...]] = _NO_RANKS
    dtypes: frozenset[str] = frozenset()
    constant: tuple[int, ...] = ()
    computed: tuple[int, ...] = ()
    unset: Mapping[int, str] = _NO_OPTIONS


_ANY = Limits()


class OpTable(NamedTuple):
    """The ops that a target takes.

    Attributes:
        source: Where the table is from, and of which version of the software.
        ops: The limits on each op by its name; None for all of LiteRT's ops.
        every: Limits on each op, besides its own.
        variables: Whether variable tensors are taken.
        custom: The custom ops that are taken.
        runs_own: Whether the custom ops are taken, too, that LiteRT's interpreter runs by itself.
    """

    source: str
    ops: Mapping[str, Limits] | None = None
    every: Limits = _ANY
    variables: bool = True
    custom: frozenset[str] = frozenset()
    runs_own: bool = False


def refused_by_table(model: Model, table: OpTable) -> Iterator[Refusal]:
    """Yields the ops of a model that a table does not have, or not in this form."""
    for graph in model.graphs:
        if not table.variables:
            yield from (
                Refusal("", "variable tensors are not taken", (tensor.name,))
                for tensor in map(graph.tensor, range(graph.size))
                if tensor.is_variable
            )
        for op in graph.ops:
            names = tuple(graph.tensor(index).name for index in op.outputs if index >= 0)
            for reason in _reasons(graph, op, table):
                yield Refusal(op.name, reason, names)
                break


def _reasons(graph: Graph, op: Op, table: OpTable) -> Iterator[str]:
    if op.custom:
        tensors = [graph.tensor(index) for index in (*op.inputs, *op.outputs) if index >= 0]
        runs = table.runs_own and runs_in_litert(op.name, (str(tensor.dtype) for tensor in tensors))
        if op.name not in table.custom and not runs:
            yield CUSTOM
        return
    if table.ops is not None and op.name not in table.ops:
        yield "no such op"
        return
    for limits in (_ANY if table.ops is None else table.ops[op.name], table.every):
        yield from _beyond(graph, op, limits)


def _beyond(graph: Graph, op: Op, limits: Limits) -> Iterator[str]:
    if limits.version is not None and op.version > limits.version:
        yield f"version {op.version} of the op, and up to {limits.version} is taken"
    tensors = [graph.tensor(index) for index in (*op.inputs, *op.outputs) if index >= 0]
    rank = max((len(tensor.shape) for tensor in tensors), default=0)
    if limits.rank is not None and rank > limits.rank:
        yield f"rank {rank}, and up to {limits.rank} is taken"
    for position, ranks in limits.ranks.items():
        index = op.inputs[position] if position < len(op.inputs) else -1
        if index >= 0 and len(graph.tensor(index).shape) not in ranks:
            taken = " or ".join(map(str, ranks))
            yield f"operand {position} has rank {len(graph.tensor(index).shape)}, and {taken} is taken"
    for index in op.outputs if limits.dtypes else ():
        dtype = graph.tensor(index).dtype if index >= 0 else None
        if dtype is not None and dtype.name not in limits.dtypes:
            yield f"it is of {dtype.name}, and {', '.join(sorted(limits.dtypes))} are taken"
    for positions, constant in ((limits.constant, True), (limits.computed, False)):
        for position in positions:
            index = op.inputs[position] if position < len(op.inputs) else -1
            if index >= 0 and 0 not in graph.tensor(index).shape and graph.is_constant(index) != constant:
                yield f"operand {position} is {'computed' if constant else 'a constant'}"
    for field, name in limits.unset.items():
        if op.option(field):
            yield f"{name} is set"
