"""Finds the layers of a function, and outlines those that are wanted."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from litefuse.fusions.recognizers.layers.index import FinderEntry
from litefuse.fusions.recognizers.layers.layer import (
    Emission,
    Graph,
    Layer,
    LayerFinder,
    NamedLayer,
    NearMiss,
    Reference,
)
from litefuse.fusions.recognizers.regions import NotRecognized, outline_ops, region_between, value_name
from litefuse.ir.annotations import remove_annotation
from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import function_symbol, update_function_type
from litefuse.ir.constants import int32_constant
from litefuse.ir.mlir import func, ir
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import tensor_type_of

#: Compares two functions of the same arguments; returns how they differ, or None.
Compare: TypeAlias = "Callable[[ir.Module, func.FuncOp, func.FuncOp], str | None]"

# The names of the composites whose arguments LiteRT determines.
_CONTRACT = "odml."
_SMALL_FLOATS = frozenset({"float16", "bfloat16"})


@dataclass(frozen=True)
class LayerSearch:
    """The search for layers in a module.

    Attributes:
        entries: What finds the layers, in this order.
        layers: Filled with one entry for each layer.
        missed: Filled with what is nearly a layer.
        wanted: Whether layers become composites of a name.
        compare: Compares the ops of a layer with its definition; None for no comparison.
    """

    entries: Collection[FinderEntry]
    layers: list[Layer]
    missed: list[NearMiss]
    wanted: Callable[[str], bool]
    compare: Compare | None
    _checked: dict[str, str | None] = field(default_factory=dict[str, "str | None"])

    def name_all(self, module: ir.Module, function: func.FuncOp) -> bool:
        """Finds the layers of a function; returns whether it outlined some."""
        graph = Graph(function)
        layers = sorted(self._layers(graph), key=lambda pair: pair[0])
        outcomes = [
            Layer(layer.name, layer.kind, layer.place, value_name(layer.results[0]), _core(layer), note=layer.note)
            for _, layer in layers
        ]
        modified = False
        # From the last to the first, so that what a layer is computed from is replaced in the call, too.
        for index, (_, layer) in reversed([*enumerate(layers)]):
            if self.wanted(layer.name):
                problem = layer.problem or self._outline(module, function, layer)
                outcomes[index] = replace(outcomes[index], outlined=problem is None, problem=problem)
                modified = True
        self.layers.extend(outcomes)
        return modified

    def _layers(self, graph: Graph) -> Iterator[tuple[int, NamedLayer]]:
        """Yields the layers of a function, none a part of another, with the positions of their last ops."""
        parts: set[int] = set()  # the ops of all layers
        results: set[int] = set()
        for entry in self.entries:
            if entry.anchors.isdisjoint(graph.by_name):
                continue
            for candidate in _finder(entry).find(graph):
                if isinstance(candidate, NearMiss):
                    self.missed.append(candidate)
                    continue
                try:
                    region = graph.region(candidate.arguments, candidate.results)
                except NotRecognized as reason:
                    self.missed.append(NearMiss(candidate.kind, candidate.place, str(reason), 3))
                    continue
                # Layers may share what they compute, such as the statistics of one input.
                own = {graph.order[result] for result in candidate.results}
                if own.isdisjoint(parts) and results.isdisjoint(region.inside):
                    parts |= region.inside
                    results |= own
                    yield region.last, candidate

    def _outline(self, module: ir.Module, function: func.FuncOp, layer: NamedLayer) -> str | None:
        """Outlines a layer; returns why not, if it does not compute what its name says."""
        sizes = _sizes(function, layer)
        if sizes and layer.name.startswith(_CONTRACT):
            return "it needs sizes that the model computes elsewhere, and the composite takes none: fix the shapes"
        arguments = [*_with_vectors(function, layer, sizes), *sizes]
        node = value_name(layer.results[0])
        composite = outline_ops(module, function, layer.name, layer.attributes, arguments, layer.results)
        problem = self._difference(module, composite, layer)
        if problem is not None or layer.emit is not None:
            remove_annotation(composite)
        if problem is None and layer.emit is not None:
            _put_around(module, composite, node, layer.emit)
        return problem

    def _difference(self, module: ir.Module, composite: func.FuncOp, layer: NamedLayer) -> str | None:
        """Returns how an outlined layer differs from its definition; None if it does not."""
        if self.compare is None or layer.reference is None:
            return None
        # Equal layers are compared once.
        text = composite.operation.get_asm().replace(function_symbol(composite), "")
        if text not in self._checked:
            self._checked[text] = _problem(module, composite, layer, layer.reference, self.compare)
        return self._checked[text]


def _put_around(module: ir.Module, function: func.FuncOp, node: str, emit: Emission) -> None:
    """Replaces the ops of an outlined layer by those around its composite."""
    block = function.entry_block
    for op in reversed(list(block.operations)):
        op.operation.erase()
    with ir.InsertionPoint(block), function.location:
        arguments = [Tensor(argument) for argument in block.arguments]
        func.ReturnOp(list(emit(module, node, Builder(), arguments)))
    update_function_type(function)


def _core(layer: NamedLayer) -> str:
    return "" if layer.core is None else value_name(layer.core)


def _sizes(function: func.FuncOp, layer: NamedLayer) -> list[ir.Value]:
    """Returns the sizes that a layer is computed with, beside its arguments."""
    try:
        region_between(function, layer.arguments, layer.results)
    except NotRecognized:
        return Graph(function).sizes(layer.arguments, layer.results)
    return []


def _finder(entry: FinderEntry) -> LayerFinder:
    return getattr(importlib.import_module(f"litefuse.fusions.recognizers.layers.{entry.module}"), entry.cls)()


def _with_vectors(function: func.FuncOp, layer: NamedLayer, sizes: list[ir.Value]) -> list[ir.Value]:
    """Returns a layer's arguments, those that its composite takes as vectors with one axis."""
    arguments = list(layer.arguments)
    region = None
    for index in sorted(layer.vectors):
        value = arguments[index]
        kind = tensor_type_of(value)
        if kind.rank == 1:
            continue
        region = region or region_between(function, [*layer.arguments, *sizes], layer.results)
        readers = [use for use in value.uses if region.position(use.owner) in region.inside]
        owner = value.owner
        after = next(iter(owner.operations)) if isinstance(owner, ir.Block) else _next(owner)
        with ir.InsertionPoint(after), after.location:
            b = Builder()
            vector = b.op(
                "Reshape", [value, int32_constant([-1])], [math.prod(size or 0 for size in kind.sizes)], kind.dtype
            )
            back = b.reshape(vector, [size or 0 for size in kind.sizes])
        for use in readers:
            use.owner.operands[use.operand_number] = back
        arguments[index] = vector
    return arguments


def _next(owner: ir.Operation | ir.OpView) -> ir.OpView:
    ops = list(owner.operation.block.operations)
    return ops[next(index for index, op in enumerate(ops) if op.operation == owner.operation) + 1]


def _problem(
    module: ir.Module, composite: func.FuncOp, layer: NamedLayer, reference: Reference, compare: Compare
) -> str | None:
    """Compares an outlined layer with its definition."""
    with ir.InsertionPoint(composite):
        defined = func.FuncOp(
            f"{function_symbol(composite)}.definition", composite.type, visibility="private", loc=composite.location
        )
    defined.add_entry_block()
    try:
        with ir.InsertionPoint(defined.entry_block), defined.location:
            arguments = [Tensor(argument) for argument in defined.entry_block.arguments[: len(layer.arguments)]]
            func.ReturnOp(list(reference(Builder(), arguments, layer.attributes)))
        update_function_type(defined)
        return compare(module, composite, defined)
    finally:
        defined.operation.erase()
