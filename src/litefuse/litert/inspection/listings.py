"""Sections that list all operators, all tensors, or the bytes of a LiteRT model, or the nodes of a SavedModel.

Lines have 80 columns at most: long names lose their middle, unless everything is asked for.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from litefuse.litert.inspection.facts import (
    LiteRTModelFacts,
    NodeFacts,
    OperatorFacts,
    StoredTensor,
)
from litefuse.litert.inspection.tensor_sections import quantization_text
from litefuse.support.report.printable import one_line, shortened
from litefuse.support.report.sections import Section, count_of

__all__ = ["node_sections", "operator_sections", "size_sections", "stored_tensor_sections"]

_COLUMNS = 80
_LISTED_LAYERS = 40
_LISTED_TENSORS = 20
_LISTED_OPERANDS = 8
# Values of options that say nothing; the others are worth a place.
_USUAL: tuple[Any, ...] = (None, False, "NONE", "DEFAULT", dict[str, Any]())
_USUAL_BY_KEY: Mapping[str, Any] = {
    "pot_scale_int16": True,
    "quantized_bias_type": "FLOAT32",
    **dict.fromkeys(("dilation_w_factor", "dilation_h_factor", "dilation_d_factor"), 1),
    **dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0),
    **dict.fromkeys(("cell_clip", "proj_clip"), 0.0),
}


def operator_sections(facts: LiteRTModelFacts, *, everything: bool = False) -> list[Section]:
    """Returns a section for each subgraph with its operators: name, layer, types of operands and results, options.

    Args:
        facts: The facts.
        everything: Whether names, operands and options are in full.
    """
    tensors = {(tensor.subgraph, tensor.index): tensor for tensor in facts.tensors}
    by_graph: defaultdict[int, list[OperatorFacts]] = defaultdict(list)
    for operator in facts.operators:
        by_graph[operator.subgraph].append(operator)
    sections: list[Section] = []
    for number, subgraph in enumerate(facts.subgraphs):
        operators = by_graph[number]
        lines = _Lines(len(str(len(operators))), everything)
        for operator in operators:
            lines.add(str(operator.index), _operator_lines(operator, tensors, lines))
        sections.append(lines.section(f"Ops of {_graph_title(number, subgraph.name)}: {len(operators):,}"))
    return sections


def stored_tensor_sections(facts: LiteRTModelFacts, *, everything: bool = False) -> list[Section]:
    """Returns a section for each subgraph with its tensors: name, type, role, bytes, scales and zero points.

    Args:
        facts: The facts.
        everything: Whether names are in full.
    """
    by_graph: defaultdict[int, list[StoredTensor]] = defaultdict(list)
    for tensor in facts.tensors:
        by_graph[tensor.subgraph].append(tensor)
    sections: list[Section] = []
    for number, subgraph in enumerate(facts.subgraphs):
        tensors = by_graph[number]
        given = frozenset(subgraph.input_indices)
        lines = _Lines(len(str(len(tensors))), everything)
        for tensor in tensors:
            size = f", {count_of(tensor.size, 'byte')}" if tensor.size else ""
            quantization = "" if tensor.quantization is None else f", {quantization_text(tensor.quantization)}"
            roles = (
                *([", constant"] if tensor.is_constant else []),
                *([", variable"] if tensor.is_variable else []),
                *([", input"] if tensor.index in given else []),
                *([", output"] if tensor.index in subgraph.output_indices else []),
            )
            lines.add(
                str(tensor.index),
                [lines.name(tensor.name), *lines.wrapped(f"{_type(tensor)}{''.join(roles)}{size}{quantization}")],
            )
        sections.append(lines.section(f"Tensors of {_graph_title(number, subgraph.name)}: {len(tensors):,}"))
    return sections


def size_sections(facts: LiteRTModelFacts, *, everything: bool = False) -> list[Section]:
    """Returns the bytes by layer and dtype, which add up to the file, and the largest tensors.

    Args:
        facts: The facts.
        everything: Whether all layers and all constants are listed, with their whole names.
    """
    sizes = facts.sizes
    if sizes is None:
        return []
    layers = sizes.layers if everything else sizes.layers[:_LISTED_LAYERS]
    left = len(sizes.layers) - len(layers)
    rows = [(layer.layer or "(no layer)", layer.dtype, layer.bytes) for layer in layers]
    if left:
        rows.append((f"({left:,} more)", "", sum(layer.bytes for layer in sizes.layers[len(layers) :])))
    parts = [
        ("metadata", sizes.metadata),
        ("associated files", sizes.files),
        ("buffers that nothing reads", sizes.unread),
        ("structure: ops, tensors, names", sizes.structure),
    ]
    rows += [(f"({name})", "", size) for name, size in parts if size]
    constants = sorted((tensor for tensor in facts.tensors if tensor.size), key=lambda each: -each.size)
    shared = {(constant.buffer): constant for constant in reversed(constants)}  # one value counts once
    constants = [constant for constant in constants if shared[constant.buffer] is constant]
    listed = constants if everything else constants[:_LISTED_TENSORS]
    return [
        Section(
            f"Bytes by layer and dtype: {facts.size:,}",
            _sized([(name, dtype, size) for name, dtype, size in rows], facts.size, everything=everything),
            headings=("layer", "dtype", "bytes", "share"),
            right=frozenset({2, 3}),
            note="--all lists them all" if left else "",
        ),
        Section(
            "Largest tensors" if len(listed) < len(constants) else f"Constants: {len(constants):,}",
            _sized([(each.name, _type(each), each.size) for each in listed], facts.size, everything=everything),
            headings=("tensor", "type", "bytes", "share"),
            right=frozenset({2, 3}),
        ),
    ]


def node_sections(nodes: Iterable[NodeFacts], *, everything: bool = False) -> list[Section]:
    """Returns a section for each function of a SavedModel with its nodes.

    Args:
        nodes: The nodes.
        everything: Whether names are in full.
    """
    by_function: defaultdict[str, list[NodeFacts]] = defaultdict(list)
    for node in nodes:
        by_function[node.function].append(node)
    sections: list[Section] = []
    for function, found in by_function.items():
        width = max(len(each.op) for each in found)
        rows = [
            (each.op, one_line(each.name) if everything else shortened(one_line(each.name), _COLUMNS - 4 - width))
            for each in found
        ]
        sections.append(Section(f"Nodes of {one_line(function)}: {len(found):,}", rows))
    return sections


class _Lines:
    """A table of numbered entries, each of several lines."""

    def __init__(self, width: int, everything: bool) -> None:
        self._width = _COLUMNS - 4 - width
        self._everything = everything
        self._rows: list[tuple[str, str]] = []

    def name(self, text: str, taken: int = 0) -> str:
        """Makes a name fit a line of which some columns are taken."""
        text = one_line(text) or "(no name)"
        return text if self._everything else shortened(text, self._width - taken)

    def operands(self, items: Sequence[str]) -> str:
        """Lists operands, or the first of many."""
        if self._everything or len(items) <= _LISTED_OPERANDS:
            return ", ".join(items)
        return f"{', '.join(items[:_LISTED_OPERANDS])} and {len(items) - _LISTED_OPERANDS:,} more"

    def options(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Lists options, without those that have their usual value."""
        for key, value in options.items():
            if self._everything or not _is_usual(key, value):
                yield self._option(key, value)

    def _option(self, key: str, value: Any) -> str:
        text = f"{one_line(key)}={one_line(value if isinstance(value, str) else repr(value))}"
        return text if self._everything else shortened(text, 2 * self._width)

    def wrapped(self, text: str) -> list[str]:
        """Breaks a text into lines."""
        return textwrap.wrap(text, self._width, break_on_hyphens=False)

    def joined(self, items: Iterable[str]) -> list[str]:
        """Joins items with commas, on as few lines as they need; one that is longer than a line is broken."""
        found: list[str] = []
        for item in items:
            if found and len(found[-1]) + len(item) + 3 <= self._width:
                found[-1] += f", {item}"
            else:
                found[-1:] = [*(f"{each}," for each in found[-1:]), item]
        return [line for each in found for line in self.wrapped(each)]

    def add(self, number: str, lines: Iterable[str]) -> None:
        """Adds an entry."""
        self._rows += (("" if position else number, line) for position, line in enumerate(lines))

    def section(self, title: str) -> Section:
        return Section(title, self._rows, right=frozenset({0}))


def _is_usual(key: str, value: Any) -> bool:
    usual: list[Any] = [*_USUAL, *([_USUAL_BY_KEY[key]] if key in _USUAL_BY_KEY else [])]
    return any(type(each) is type(value) and each == value for each in usual)


def _operator_lines(
    operator: OperatorFacts, tensors: Mapping[tuple[int, int], StoredTensor], lines: _Lines
) -> Iterator[str]:
    title = operator.name + (f" {one_line(operator.composite)}" if operator.composite else "")
    title = lines.name(title)
    room = len(title) + 2
    yield title + (f"  {lines.name(operator.layer, room)}" if operator.layer else "")

    def types(indices: Sequence[int]) -> str:
        found = [tensors.get((operator.subgraph, index)) for index in indices]
        return lines.operands(["none" if each is None else _operand(each) for each in found]) or "nothing"

    yield from lines.wrapped(f"{types(operator.inputs)} -> {types(operator.outputs)}")
    yield from lines.joined(lines.options(operator.options))


def _operand(tensor: StoredTensor) -> str:
    return _type(tensor) + (" const" if tensor.is_constant else " variable" if tensor.is_variable else "")


def _type(tensor: StoredTensor) -> str:
    return f"{tensor.dtype}[{','.join('?' if size is None else str(size) for size in tensor.shape)}]"


def _graph_title(number: int, name: str) -> str:
    return f"subgraph {number}" + (f" ({shortened(one_line(name), 40)})" if name else "")


class _Sized(NamedTuple):
    name: str
    kind: str
    size: str
    share: str


def _sized(rows: Sequence[tuple[str, str, int]], total: int, *, everything: bool) -> list[_Sized]:
    """Returns rows whose names fit the columns that the others leave."""
    cells = [
        _Sized(one_line(name) or "(no name)", kind, f"{size:,}", f"{size / total:.1%}") for name, kind, size in rows
    ]
    if everything or not cells:
        return cells
    taken = 2 + sum(2 + max(5, *(len(cell[column]) for cell in cells)) for column in (1, 2, 3))
    return [cell._replace(name=shortened(cell.name, max(_COLUMNS - taken, 16))) for cell in cells]
