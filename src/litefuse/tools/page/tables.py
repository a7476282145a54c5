"""The facts of a page as tables, which can be read without a script."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from litefuse.litert.inspection.facts import SignatureFacts, TensorFacts
from litefuse.support.report.html import escaped
from litefuse.support.report.sections import shape_text
from litefuse.tools.page.content import Content
from litefuse.tools.page.converted import Place


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        html: Its content, escaped.
        number: Whether it is a number.
        share: The length of the bar beside it, from 0 to 1; None for none.
        judgement: The class of its judgement; may be empty.
    """

    html: str
    number: bool = False
    share: float | None = None
    judgement: str = ""

    def __str__(self) -> str:
        classes = " ".join(filter(None, ("number" if self.number else "", self.judgement)))
        bar = "" if self.share is None else f' <span class="bar"><i style="width:{self.share:.0%}"></i></span>'
        return f"<td{_class(classes)}>{self.html}{bar}</td>"


def table(headings: Sequence[str], rows: Iterable[Sequence[Cell | str]], *, numbers: Sequence[int] = ()) -> str:
    """Returns a table; strings are escaped.

    Args:
        headings: The headings of its columns.
        rows: Its rows.
        numbers: The columns of numbers, whose headings are at the right.
    """
    head = "".join(
        f'<th scope="col"{_class("number" if column in numbers else "")}>{escaped(heading)}</th>'
        for column, heading in enumerate(headings)
    )
    body = "".join(
        f"<tr>{''.join(str(cell if isinstance(cell, Cell) else Cell(escaped(cell))) for cell in row)}</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table class="data"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def layer_link(name: str, text: str = "") -> Cell:
    """Returns a cell with the name of a layer or node, which leads to it in the graph."""
    if not name:
        return Cell("")
    shown = escaped(text or name)
    return Cell(f'<a class="name" href="{anchor(name)}" data-layer="{escaped(name)}">{shown}</a>')


def count(number: float) -> Cell:
    """Returns a cell with a count."""
    return Cell(f"{number:,.0f}", number=True)


def milliseconds(seconds: float | None, most: float = 0.0) -> Cell:
    """Returns a cell with a time, and a bar if the longest is given."""
    if seconds is None:
        return Cell("", number=True)
    value = seconds * 1e3
    # Ops of small models take less than a microsecond: two digits are shown of whatever it is.
    places = min(1 - math.floor(math.log10(value)), 9) if 0 < value < 0.1 else 3
    shown = f"{value:,.{places}f}"
    return Cell(shown, number=True, share=seconds / most if most else None)


def error(content: Content, value: float | None, places: Iterable[Place]) -> Cell:
    """Returns a cell with the error of ops, judged by the tolerance, or by what quantization explains."""
    if value is None:
        return Cell("", number=True)
    only = next((measure.only for measure in content.measures if measure.name == "error"), None)
    tolerance = content.verification.tolerance if content.verification is not None else 0.0
    good = value <= tolerance if only is None else only.isdisjoint(places)
    return Cell(f"{value:.2g}", number=True, judgement="good" if good else "bad")


@dataclass
class _Layer:
    ops: int = 0
    before: set[Place] = field(default_factory=set[Place])
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    size: float = 0.0
    seconds: float | None = None
    error: float | None = None
    places: set[Place] = field(default_factory=set[Place])


def layers_table(content: Content) -> str:
    """Returns a row for each layer of the file: nodes before, ops after, bytes, time, error."""
    layers: defaultdict[str, _Layer] = defaultdict(_Layer)
    measures = {measure.name: measure.values for measure in content.measures}
    for graph_number, graph in enumerate(content.converted.model.graphs):
        for number, node in enumerate(graph.nodes):
            if node.mark in {"input", "output"}:
                continue
            place = graph_number, number
            layer = layers[node.layer]
            layer.ops += 1
            layer.places.add(place)
            layer.kinds[node.op] = layer.kinds.get(node.op, 0) + 1
            layer.before.update(content.links.get(place, ()))
            layer.size += measures.get("bytes", {}).get(place, 0)
            if (seconds := measures.get("time", {}).get(place)) is not None:
                layer.seconds = (layer.seconds or 0.0) + seconds
            if (ops_error := measures.get("error", {}).get(place)) is not None:
                layer.error = max(layer.error or 0.0, ops_error)
    most = max((layer.seconds or 0.0 for layer in layers.values()), default=0.0)
    with_original = content.original is not None
    timed, compared = "time" in measures, "error" in measures
    headings = ["layer", *(["nodes before"] if with_original else []), "ops after", "which", "bytes"]
    headings += [*(["ms"] if timed else []), *(["error"] if compared else [])]
    rows = [
        [
            layer_link(name) if name else Cell("<i>of no layer</i>"),
            *([count(len(layer.before))] if with_original else []),
            count(layer.ops),
            ", ".join(f"{number} {kind}" if number > 1 else kind for kind, number in layer.kinds.items()),
            count(layer.size),
            *([milliseconds(layer.seconds, most)] if timed else []),
            *([error(content, layer.error, layer.places)] if compared else []),
        ]
        for name, layer in layers.items()
    ]
    return table(headings, rows, numbers=[column for column in range(1, len(headings)) if headings[column] != "which"])


def ops_table(content: Content) -> str:
    """Returns a row for each op of the file."""
    measures = {measure.name: measure.values for measure in content.measures}
    kinds = content.kinds
    several = len(content.converted.model.graphs) > 1
    timed, compared = "time" in measures, "error" in measures
    headings = [*(["subgraph"] if several else []), "op", "kind", "result", "name", "bytes"]
    headings += [*(["ms"] if timed else []), *(["error"] if compared else [])]
    headings += [kind.name for kind in kinds]
    rows: list[list[Cell | str]] = []
    for (subgraph, index), place in content.converted.ops.items():
        graph = content.converted.model.graphs[place[0]]
        node = graph.nodes[place[1]]
        first = node.name.split(";")[0]
        rows.append(
            [
                *([f"{subgraph} {graph.title}"] if several else []),
                count(index),
                node.op,
                next((text for name, text in node.facts if name.startswith("result")), ""),
                layer_link(first),
                count(content.converted.constant_bytes.get(place, 0)),
                *([milliseconds(measures["time"].get(place))] if timed else []),
                *([error(content, measures["error"].get(place), [place])] if compared else []),
                *(kind.classes[kind.values[place]] if place in kind.values else "" for kind in kinds),
            ]
        )
    return table(
        headings,
        rows,
        numbers=[column for column, name in enumerate(headings) if name in {"op", "bytes", "ms", "error"}],
    )


def time_tables(content: Content) -> str:
    """Returns the times by kind of op, and those of delegates' partitions, for each signature that was measured."""
    parts: list[str] = []
    for measurement in content.measurements:
        kinds: defaultdict[str, list[float]] = defaultdict(list)
        for op in measurement.ops:
            if op.seconds is not None:
                kinds[op.kind].append(op.seconds)
        ordered = sorted(kinds.items(), key=lambda entry: -sum(entry[1]))
        whole = measurement.profiled or 0.0
        signature = f": {measurement.signature}" if len(content.measurements) > 1 else ""
        if ordered:
            most = sum(ordered[0][1])
            rows = [
                [
                    kind,
                    count(len(seconds)),
                    milliseconds(sum(seconds), most),
                    Cell(f"{sum(seconds) / whole:.1%}" if whole else "", number=True),
                ]
                for kind, seconds in ordered
            ]
            parts.append(f"<h3>By kind of op{escaped(signature)}</h3>")
            parts.append(table(["kind", "ops", "ms", "of a call"], rows, numbers=[1, 2, 3]))
        if measurement.partitions:
            rows = [
                [
                    count(partition.index),
                    partition.delegate,
                    count(len(partition.ops)),
                    milliseconds(partition.seconds),
                    partition.reason,
                ]
                for partition in measurement.partitions
            ]
            parts.append(f"<h3>By partition of a delegate{escaped(signature)}</h3>")
            parts.append(table(["partition", "delegate", "ops", "ms", ""], rows, numbers=[0, 2, 3]))
    return "".join(parts)


def signatures_table(signatures: Sequence[SignatureFacts]) -> str:
    """Returns a row for each input and output of signatures."""
    rows = [
        [signature.key, kind, layer_link(tensor.name), tensor.dtype, shape_text(tensor.shape), _quantized(tensor)]
        for signature in signatures
        for kind, tensors in (("input", signature.inputs), ("output", signature.outputs))
        for tensor in tensors
    ]
    return table(["signature", "", "name", "dtype", "shape", "quantized"], rows)


def _quantized(tensor: TensorFacts) -> str:
    return "" if tensor.scale is None else f"scale {tensor.scale:.6g}, zero point {tensor.zero_point}"


def anchor(name: str) -> str:
    """Returns the address, within the page, of a layer or node of the file: the script reads it when the page opens.

    Args:
        name: Its name, which may hold anything.
    """
    return f"#after={quote(name, safe='/:;,', errors='replace')}"
