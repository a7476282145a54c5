"""Call graph of the functions that signatures reach, from the SavedModel's messages: ops, calls, annotations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from litefuse.frontends.saved_model import DataType
from litefuse.frontends.saved_model.dtypes import shape_from_proto
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NodeDef
from litefuse.frontends.saved_model.model import ANNOTATIONS
from litefuse.frontends.saved_model.nodes import functions_in
from litefuse.litert.inspection.saved_model_facts import AnnotatedFunction, NodeFacts

_CALL = "PartitionedCall"


@dataclass(frozen=True)
class FunctionGraph:
    """The functions of a library that some root functions reach.

    Attributes:
        library: The functions by name.
        reached: The reached functions, roots included, in the order of discovery.
        call_sites: For each function, the nodes in reached functions that call it, as ``function/node``.
        op_counts: The number of each op in the reached functions.
    """

    library: Mapping[str, FunctionDef]
    reached: tuple[str, ...]
    call_sites: Mapping[str, tuple[str, ...]]
    op_counts: Mapping[str, int] = field(default_factory=dict[str, int])

    @classmethod
    def of(cls, library: Mapping[str, FunctionDef], roots: Iterable[str]) -> FunctionGraph:
        """Follows the calls from ``roots``."""
        reached: dict[str, None] = {}
        waiting = list(roots)
        call_sites: dict[str, list[str]] = defaultdict(list)
        counts: Counter[str] = Counter()
        while waiting:
            name = waiting.pop()
            if name in reached or name not in library:
                continue
            reached[name] = None
            for node in library[name].node_def:
                # A node may name the function that it calls as its op.
                counts[_CALL if node.op in library else node.op] += 1
                for callee in dict.fromkeys(callees(node, library)):
                    call_sites[callee].append(f"{name}/{node.name}")
                    waiting.append(callee)
        return cls(
            library,
            tuple(reached),
            {name: tuple(sites) for name, sites in call_sites.items()},
            dict(counts.most_common()),
        )

    def nodes(self) -> Iterator[NodeFacts]:
        """Yields the nodes of the reached functions."""
        for name in self.reached:
            for node in self.library[name].node_def:
                yield NodeFacts(name, node.name, node.op)

    def annotated(self) -> list[AnnotatedFunction]:
        """Returns all functions of the library that are annotated as composites, reached or not."""
        functions: list[AnnotatedFunction] = []
        for name, function in self.library.items():
            key = next((key for key in ANNOTATIONS if key in function.attr), None)
            if key is None:
                continue
            value = function.attr[key]
            if value.WhichOneof("value") == "func":
                title = value.func.name
                attributes = {name: attribute_value(attribute) for name, attribute in sorted(value.func.attr.items())}
            else:
                title, attributes = str(attribute_value(value)), dict[str, Any]()
            functions.append(AnnotatedFunction(title, attributes, name, self.call_sites.get(name, ())))
        return functions


def callees(node: NodeDef, library: Mapping[str, FunctionDef]) -> Iterator[str]:
    """Yields the functions that a node names, those that it calls as its op first; they need not be in the library."""
    if node.op in library:
        yield node.op
    for name, value in node.attr.items():
        if not name.startswith("_"):
            yield from (function.name for function in functions_in(value))


def attribute_value(value: AttrValue) -> Any:
    """Converts an attribute to a JSON-compatible value: types and functions by name, shapes as lists."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind != "list":
        return _scalar(kind, getattr(value, kind))
    for item_kind in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
        items = getattr(value.list, item_kind)
        if len(items):
            return [_scalar(item_kind, item) for item in items]
    return []


def _scalar(kind: str, value: Any) -> Any:
    if kind == "s":
        try:
            return value.decode()
        except UnicodeDecodeError:
            return f"0x{value.hex()}"
    if kind == "type":
        return str(DataType.from_proto(value))
    if kind == "shape":
        shape = shape_from_proto(value)
        return None if shape is None else list(shape)
    if kind == "func":
        return value.name
    if kind == "tensor":
        return f"{DataType.from_proto(value.dtype)} tensor"
    return value
