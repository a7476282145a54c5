"""Inputs and results of the finders of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

from litefuse.fusions.recognizers.regions import NotRecognized, Region, region_of
from litefuse.ir.builder import Builder
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import func, ir
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import TensorType, tensor_type_of

# Sizes are computed in few steps.
_LONGEST = 12

#: Builds a layer from its definition, with TensorFlow's ops, from the arguments and the attributes; the check of the
#: naming compares the model's own ops with it.
Reference: TypeAlias = "Callable[[Builder, Sequence[Tensor], Mapping[str, Any]], Sequence[ir.Value]]"

#: Builds a layer around its composite, which takes or gives tensors in another form than the model has them: from the
#: module, the name of the layer's node, and the arguments.
Emission: TypeAlias = "Callable[[ir.Module, str, Builder, Sequence[Tensor]], Sequence[ir.Value]]"


class Graph:
    """The ops of a function.

    Attributes:
        function: The function.
        ops: Its ops, in order.
        order: The position of the op that computes each value.
        by_name: The positions of the ops of each name.
        kinds: The dtypes and shapes of types that were met.
    """

    def __init__(self, function: func.FuncOp) -> None:
        self.function = function
        self.ops: list[ir.OpView] = list(function.entry_block.operations)
        self.by_name: dict[str, list[int]] = {}
        for index, op in enumerate(self.ops):
            self.by_name.setdefault(op.name, []).append(index)
        self.kinds: dict[ir.Type, TensorType] = {}
        self._order: dict[ir.Value, int] | None = None

    @property
    def order(self) -> dict[ir.Value, int]:
        if self._order is None:
            self._order = {result: index for index, op in enumerate(self.ops) for result in op.results}
        return self._order

    def named(self, *names: str) -> Iterator[ir.OpView]:
        """Yields the ops of some names, in order."""
        for index in sorted(index for name in names for index in self.by_name.get(name, ())):
            yield self.ops[index]

    def kind(self, value: ir.Value) -> TensorType:
        """Returns the dtype and the shape of a value."""
        kind = self.kinds.get(value.type)
        if kind is None:
            kind = self.kinds[value.type] = tensor_type_of(value)
        return kind

    def region(self, sources: Sequence[ir.Value], results: Sequence[ir.Value]) -> Region:
        """Returns the ops that compute values from others, and from sizes that are known only in a call.

        Raises:
            NotRecognized: They need other values too.
        """
        try:
            return region_of(self.ops, self.order, sources, results)
        except NotRecognized:
            return region_of(self.ops, self.order, [*sources, *self.sizes(sources, results)], results)

    def sizes(self, sources: Sequence[ir.Value], results: Sequence[ir.Value]) -> list[ir.Value]:
        """Returns the sizes that values are computed with, but that are not computed from the given ones."""
        known = dict.fromkeys(sources, True)
        sizes: list[ir.Value] = []
        waiting = [*results]
        seen = {*waiting, *sources}
        while waiting:
            owner = waiting.pop().owner
            for value in () if isinstance(owner, ir.Block) else owner.operands:
                if value in seen:
                    continue
                seen.add(value)
                kind = self.kind(value)
                is_size = kind.dtype in {"int32", "int64"} and kind.rank in {0, 1}
                if is_size and not _is_closed(value, known, _LONGEST):
                    sizes.append(value)
                else:
                    waiting.append(value)
        return sizes


def _is_closed(value: ir.Value, known: dict[ir.Value, bool], steps: int) -> bool:
    """Whether a size is computed from known values alone, in a few steps."""
    if value not in known:
        owner = value.owner
        operands = None if isinstance(owner, ir.Block) or not steps else list(owner.operands)
        known[value] = operands is not None and all(_is_closed(operand, known, steps - 1) for operand in operands)
    return known[value]


@dataclass(frozen=True)
class NamedLayer:
    """A layer that was found in a function.

    Attributes:
        name: The name of its composite: ``odml.rms_norm``.
        kind: What it is, in words: ``RMS normalization``.
        arguments: The values that it is computed from.
        results: Its results.
        attributes: The composite's attributes.
        reference: Builds the layer from its definition.
        vectors: The indices of arguments that the composite takes with one axis; they may have more, of size 1, here.
        note: More about it, for the report.
        core: A value inside, whose node is surely of the layer; None: the first result.
        emit: Builds the layer around its composite; None: the model's own ops are the composite.
        problem: Why it cannot become the composite; None if it can.
    """

    name: str
    kind: str
    arguments: Sequence[ir.Value]
    results: Sequence[ir.Value]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reference: Reference | None = None
    vectors: frozenset[int] = frozenset()
    note: str = ""
    core: ir.Value | None = None
    emit: Emission | None = None
    problem: str | None = None

    @property
    def place(self) -> str:
        """The name of the model's layer, or of a node."""
        place = where(self.results[0])
        return place if "/" in place or self.core is None else where(self.core)


class NearMiss(NamedTuple):
    """Something that is nearly a layer.

    Attributes:
        kind: The kind of layer.
        place: The name of the layer or node.
        reason: What differs.
        matched: How much of it matched, to choose the closest.
    """

    kind: str
    place: str
    reason: str
    matched: int = 0


class LayerFinder(Protocol):
    """Finds layers of some kinds."""

    def find(self, graph: Graph) -> Iterator[NamedLayer | NearMiss]:
        """Yields the layers of a function, and what is nearly one; changes nothing."""
        ...


@dataclass(frozen=True)
class Layer:
    """Outcome of one recognized layer.

    Attributes:
        name: The name of its composite.
        kind: What it is, in words.
        place: The name of the layer in the model, or of the node that gives its result.
        node: The name of the node that gives its result.
        core: The name of a node inside.
        outlined: Whether it became a composite.
        note: More about it.
        problem: Why it did not become a composite, though that was wanted.
    """

    name: str
    kind: str
    place: str
    node: str = ""
    core: str = ""
    outlined: bool = False
    note: str = ""
    problem: str | None = None


def where(value: ir.Value) -> str:
    """Returns the name of the layer that computes a value: the path of its node without the last part."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return f"argument {ir.BlockArgument(value).arg_number}"
    name = node_name(owner.location).partition(";")[0]
    if name.startswith("jit("):  # JAX's name of the whole program
        name = name.partition("/")[2] or name
    return name.rpartition("/")[0] or name or owner.name
