"""Sections that list the parts of models: signatures, operators, tensors, bytes.

Lines have 80 columns at most: long names lose their middle, unless everything is asked for.
"""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from litefuse.litert.inspection.facts import (
    FileSizes,
    OperatorFacts,
    QuantizationFacts,
    SignatureFacts,
    StoredTensor,
    SubgraphFacts,
    TensorFacts,
)
from litefuse.support.report.printable import one_line, shortened
from litefuse.support.report.sections import Section, count_of, shape_text

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
# How many quantized tensors are listed, unless all are asked for.
_LISTED_QUANTIZED = 12


def signature_sections(signatures: Sequence[SignatureFacts]) -> list[Section]:
    """Returns a section for each signature with its inputs and outputs."""
    if not signatures:
        return [Section("Signatures: none")]
    return [
        Section(f"Signature {signature.key}", tensor_rows(signature.inputs, signature.outputs))
        for signature in signatures
    ]


def tensor_rows(inputs: Sequence[TensorFacts], outputs: Sequence[TensorFacts]) -> list[tuple[str, ...]]:
    """Returns the rows of a section with inputs and outputs: names and types."""
    return [
        (role, tensor_name(tensor), f"{tensor.dtype} {shape_text(tensor.shape)}{_scale_text(tensor)}")
        for role, tensors in (("in", inputs), ("out", outputs))
        for tensor in tensors
    ]


def tensor_name(tensor: TensorFacts | StoredTensor) -> str:
    """Returns the name of a tensor, or else its index."""
    return tensor.name or f"tensor {tensor.index}"


def _scale_text(tensor: TensorFacts) -> str:
    return "" if tensor.scale is None else f", scale {tensor.scale:g}, zero point {tensor.zero_point}"


def attribute_text(attributes: Mapping[str, Any]) -> str:
    """Returns attributes or options as ``name=value``."""
    return ", ".join(f"{name}={value!r}" for name, value in attributes.items())


_Part = TypeVar("_Part", OperatorFacts, StoredTensor)


def _by_subgraph(parts: Iterable[_Part]) -> Mapping[int, list[_Part]]:
    groups: defaultdict[int, list[_Part]] = defaultdict(list)
    for part in parts:
        groups[part.subgraph].append(part)
    return groups


def operator_sections(
    subgraphs: Sequence[SubgraphFacts],
    operators: Iterable[OperatorFacts],
    tensors: Iterable[StoredTensor],
    *,
    everything: bool = False,
) -> list[Section]:
    """Returns a section for each subgraph with its operators: name, layer, types of operands and results, options."""
    known = {(tensor.subgraph, tensor.index): tensor for tensor in tensors}
    groups = _by_subgraph(operators)
    sections: list[Section] = []
    for number, subgraph in enumerate(subgraphs):
        lines = _Lines(len(str(len(groups[number]))), everything)
        for operator in groups[number]:
            lines.add(str(operator.index), _operator_lines(operator, known, lines))
        sections.append(lines.section(f"Ops of {_graph_title(number, subgraph.name)}: {len(groups[number]):,}"))
    return sections


def stored_tensor_sections(
    subgraphs: Sequence[SubgraphFacts], tensors: Iterable[StoredTensor], *, everything: bool = False
) -> list[Section]:
    """Returns a section for each subgraph with its tensors: name, type, role, bytes, scales and zero points."""
    groups = _by_subgraph(tensors)
    sections: list[Section] = []
    for number, subgraph in enumerate(subgraphs):
        given = frozenset(subgraph.input_indices)
        lines = _Lines(len(str(len(groups[number]))), everything)
        for tensor in groups[number]:
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
        sections.append(lines.section(f"Tensors of {_graph_title(number, subgraph.name)}: {len(groups[number]):,}"))
    return sections


def size_sections(
    sizes: FileSizes | None, tensors: Iterable[StoredTensor], total: int, *, everything: bool = False
) -> list[Section]:
    """Returns the bytes by layer and dtype, which add up to the file, and the largest tensors."""
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
    constants = sorted((tensor for tensor in tensors if tensor.size), key=lambda tensor: -tensor.size)
    shared = {(constant.buffer): constant for constant in reversed(constants)}  # one value counts once
    constants = [constant for constant in constants if shared[constant.buffer] is constant]
    listed = constants if everything else constants[:_LISTED_TENSORS]
    return [
        Section(
            f"Bytes by layer and dtype: {total:,}",
            _sized(rows, total, everything=everything),
            headings=("layer", "dtype", "bytes", "share"),
            right=frozenset({2, 3}),
            note="--all lists them all" if left else "",
        ),
        Section(
            "Largest tensors" if len(listed) < len(constants) else f"Constants: {len(constants):,}",
            _sized([(tensor_name(one), _type(one), one.size) for one in listed], total, everything=everything),
            headings=("tensor", "type", "bytes", "share"),
            right=frozenset({2, 3}),
        ),
    ]


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
        texts: list[str] = []
        for item in items:
            if texts and len(texts[-1]) + len(item) + 3 <= self._width:
                texts[-1] += f", {item}"
            else:
                texts[-1:] = [*(f"{text}," for text in texts[-1:]), item]
        return [line for text in texts for line in self.wrapped(text)]

    def add(self, number: str, lines: Iterable[str]) -> None:
        self._rows += (("" if position else number, line) for position, line in enumerate(lines))

    def section(self, title: str) -> Section:
        return Section(title, self._rows, right=frozenset({0}))


def _is_usual(key: str, value: Any) -> bool:
    usual: list[Any] = [*_USUAL, *([_USUAL_BY_KEY[key]] if key in _USUAL_BY_KEY else [])]
    return any(type(other) is type(value) and other == value for other in usual)


def _operator_lines(
    operator: OperatorFacts, tensors: Mapping[tuple[int, int], StoredTensor], lines: _Lines
) -> Iterator[str]:
    title = operator.name + (f" {one_line(operator.composite)}" if operator.composite else "")
    title = lines.name(title)
    room = len(title) + 2
    yield title + (f"  {lines.name(operator.layer, room)}" if operator.layer else "")

    def types(indices: Sequence[int]) -> str:
        operands = [tensors.get((operator.subgraph, index)) for index in indices]
        return lines.operands(["none" if tensor is None else _operand(tensor) for tensor in operands]) or "nothing"

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


def tensor_sections(tensors: Sequence[StoredTensor], *, everything: bool = False) -> list[Section]:
    """Returns the sections: the tensors of each dtype, and those that are quantized."""
    if not tensors:
        return []
    counts = Counter(tensor.dtype for tensor in tensors)
    sizes = Counter[str]()
    for tensor in tensors:
        sizes[tensor.dtype] += tensor.size
    sections = [
        Section(
            f"Tensors: {len(tensors):,}",
            [(f"{count:,}", dtype, f"{sizes[dtype]:,}") for dtype, count in counts.most_common()],
            headings=("tensors", "dtype", "bytes of constants"),
            right=frozenset({0, 2}),
        )
    ]
    quantized = [(tensor, tensor.quantization) for tensor in tensors if tensor.quantization is not None]
    if quantized:
        listed = quantized if everything else quantized[:_LISTED_QUANTIZED]
        left = len(quantized) - len(listed)
        sections.append(
            Section(
                f"Quantized tensors: {len(quantized):,}",
                [_quantized_row(*row) for row in listed],
                headings=("tensor", "dtype", "scale", "zero point", "scales"),
                note=f"and {count_of(left, 'tensor')} more; --all lists them" if left else "",
            )
        )
    return sections


def quantization_text(quantization: QuantizationFacts) -> str:
    """Describes scales and zero points, such as ``scale 0.1 to 0.3, zero point 0 (48 scales, along axis 0)``."""
    count = "" if quantization.count == 1 else f" (scales: {_scales(quantization)})"
    return f"scale {_scale_range(quantization)}, zero point {_range(*map(str, quantization.zero_point))}{count}"


def _quantized_row(tensor: StoredTensor, quantization: QuantizationFacts) -> tuple[str, ...]:
    constant = ", constant" if tensor.size else ""
    return (
        tensor.name,
        f"{tensor.dtype} {shape_text(tensor.shape)}{constant}",
        _scale_range(quantization),
        _range(*map(str, quantization.zero_point)),
        _scales(quantization),
    )


def _scale_range(quantization: QuantizationFacts) -> str:
    return _range(*(f"{scale:.6g}" for scale in quantization.scale))


def _range(least: str, largest: str) -> str:
    return least if least == largest else f"{least} to {largest}"


def _scales(quantization: QuantizationFacts) -> str:
    count = f"{quantization.count:,}"
    if quantization.block is not None:
        return f"{count}, one for each block of {quantization.block}"
    return count if quantization.axis is None else f"{count}, along axis {quantization.axis}"
