"""The HTML of a page: one document that needs no other file, no server and, for its tables, no script."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from litefuse.support.report import CompositeReport, Report
from litefuse.support.report.answer import fused_of
from litefuse.support.report.conversion_sections import report_sections
from litefuse.support.report.html import SECTIONS_STYLE, escaped, sections_html
from litefuse.support.report.sections import VERDICTS, count_of
from litefuse.tools.page import tables
from litefuse.tools.page.content import Content, Kind, Measure
from litefuse.tools.page.converted import Place
from litefuse.tools.page.folding import folded
from litefuse.tools.page.graph import Graph, Model, Node
from litefuse.tools.page.layout import laid_out
from litefuse.tools.page.treemap import legend, treemap

# The parts of the script, which is one: each has what stands before it.
_SCRIPTS = ("nodes.js", "pane.js", "page.js")
# Longer texts of a node, such as the options of an op with thousands of numbers, are cut.
_LONGEST = 300


def document(content: Content) -> str:
    """Returns the page."""
    style = files("litefuse.tools.page").joinpath("page.css").read_text(encoding="utf-8") + SECTIONS_STYLE
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # Nothing is loaded, and no script runs but this one, whatever the names in the model are.
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"
    title = PurePath(content.converted.facts.source).name
    sections = list(_sections(content))
    links = "".join(f'<a href="#{key}">{escaped(name)}</a>' for key, name, _ in sections)
    data = json.dumps(_data(content), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    body = "".join(f'<section id="{key}"><h2>{escaped(name)}</h2>{html}</section>' for key, name, html in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escaped(title)} - litefuse</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{escaped(title)}</h1>
<nav>{links}</nav>
<div id="search" class="scripted"><input type="search" role="combobox" aria-controls="found" aria-expanded="false"
placeholder="Find a layer, a node or an op (press /)" aria-label="Find a layer, a node or an op" autocomplete="off"
spellcheck="false"><ul id="found" role="listbox"></ul></div>
<span class="scripted"><button type="button" id="keys" aria-label="Help">?</button>
<button type="button" id="theme" aria-label="Light or dark">◐</button></span>
</header>
<main>
{_answers(content)}
{body}
</main>
<dialog id="help"><h2>Keys</h2><p><kbd>/</kbd> find · <kbd>↑</kbd> <kbd>↓</kbd> along edges · <kbd>←</kbd> <kbd>→</kbd>
in a row · <kbd>Enter</kbd> open a layer, function or composite · <kbd>u</kbd> one layer up · <kbd>+</kbd> <kbd>-</kbd>
zoom · <kbd>0</kbd> the whole graph · <kbd>Esc</kbd> select nothing</p><p>Drag or scroll to move, scroll with
<kbd>Ctrl</kbd> to zoom, double-click to open. Layers of the two sides are linked by the names of their nodes.</p>
<form method="dialog"><button>Close</button></form></dialog>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def _script() -> str:
    parts = (files("litefuse.tools.page").joinpath(name).read_text(encoding="utf-8") for name in _SCRIPTS)
    return "".join(['"use strict";\n(() => {\n', *parts, "})();\n"])


def _answers(content: Content) -> str:
    """Returns the answers in short, what is wrong first: what was fused, whether it is equal, size, how fast it is."""
    facts = content.converted.facts
    ops = sum(facts.op_counts.values())
    answers: list[tuple[str, str, str]] = []
    report = content.report
    if report is not None and report.composites:
        fused, whole = fused_of(report.composites)
        answers.append(("good" if fused == whole else "warn", f"{fused} of {whole}", "composites fused"))
    if content.verification is not None:
        verdict = content.verification.verdict
        what = {
            "equal": "to the original",
            "differs": "from the original",
            "inconclusive": "whether it equals the original",
        }
        explained = [output.explained for output in content.verification.outputs if output.explained is not None]
        told = f"{what[verdict]}, error {content.verification.error:.2g}"
        told += f"; quantization explains {max(explained):.2g}" if explained else ""
        answers.append((VERDICTS[verdict] or "", verdict, told))
    elif report is not None and report.file_check is not None:
        ran = report.file_check.ran
        answers.append(("good" if ran else "unclear", "runs" if ran else "not called", "in LiteRT; not verified"))
    answers.append(("", count_of(facts.size, "byte"), "size of the file"))
    answers.append(("", count_of(ops, "op"), "in the file"))
    if content.measurements:
        first = content.measurements[0]
        called = f"a call of {first.signature}" if len(content.measurements) > 1 else "a call"
        answers.append(
            ("", f"{first.seconds * 1e3:.3g} ms", f"{called}, {count_of(first.threads, 'thread')}, this machine")
        )
        if content.benchmark is not None and (ratio := content.benchmark.ratio) is not None:
            answers.append(("", f"{ratio:.2f} times", "as fast as the other file"))
    reports = content.check.reports if content.check is not None else ()
    answers += [(VERDICTS[target.verdict] or "", target.verdict, f"target {target.target}") for target in reports]
    answers.sort(key=lambda answer: answer[0] not in {"bad", "warn"})
    items = "".join(
        f'<li class="{judgement}"><b>{escaped(value)}</b><span>{escaped(told)}</span></li>'
        for judgement, value, told in answers
    )
    return f'<ul class="answers">{items}</ul>' + "".join(
        f'<p class="note">{escaped(note)}</p>' for note in content.notes
    )


def _sections(content: Content) -> Iterator[tuple[str, str, str]]:
    """Yields the sections: their anchors, titles and content."""
    yield "graph", "Before and after" if content.original is not None else "Graph", _graph_frame(content)
    if content.bundle:
        yield "bundle", "Bundle", sections_html(content.bundle, style=False)
    yield "layers", "Layers", tables.layers_table(content)
    yield "size", "Size", _size(content)
    if content.benchmark is not None:
        from litefuse.tools.benchmarking.benchmark_sections import benchmark_sections

        told = sections_html(benchmark_sections(content.benchmark, details=True), style=False)
        yield (
            "time",
            "Time",
            f"{tables.time_tables(content)}<details><summary>All that was measured</summary>{told}</details>",
        )
    if content.verification is not None:
        from litefuse.conversion.verify.verification import verification_sections

        yield "error", "Error", sections_html(verification_sections(content.verification), style=False)
    if content.check is not None:
        from litefuse.conversion.verify.targets.target_check import target_sections

        yield "targets", "Targets", sections_html(target_sections(content.check), style=False)
    if any(tensor.quantization is not None for tensor in content.converted.facts.tensors):
        from litefuse.litert.inspection.listings import tensor_sections

        told = sections_html(tensor_sections(content.converted.facts.tensors, everything=True)[1:], style=False)
        yield "quantization", "Quantization", f'<div class="scroll">{told}</div>'
    yield "signatures", "Signatures and variables", _signatures(content)
    if content.report is not None:
        told = sections_html(report_sections(content.report, details=True, timings=True), style=False)
        yield "report", "Conversion", told
    yield "ops", "Ops", f"<details><summary>All ops of the file</summary>{tables.ops_table(content)}</details>"
    yield "about", "About this page", _about(content)


def _graph_frame(content: Content) -> str:
    named = f" of {escaped(content.original_name)}" if content.original_name else ""
    note = "" if content.original is not None else "<p>Without the original, the page shows only the file.</p>"
    return (
        f'<p class="unscripted note">The graphs{named} need a script, which does not run here. '
        "The tables below have the same layers and ops.</p>"
        f'<div class="scripted"><p class="note">{note}</p>'
        '<label>Color ops by <select id="colours"><option value="">their form</option></select></label>'
        '<div id="legend" class="legend"></div><div class="panes" id="panes"></div>'
        '<div id="details" aria-live="polite"></div></div>'
    )


def _size(content: Content) -> str:
    sizes = content.converted.facts.sizes
    if sizes is None:
        return ""
    colors = "".join(
        f'<span><i style="background:{color}"></i>{escaped(dtype)}: {size:,} bytes</span>'
        for dtype, color, size in legend(sizes.layers)
    )
    rest = [("metadata", sizes.metadata), ("read by nothing", sizes.unread), ("structure", sizes.structure)]
    rows = [
        *([tables.layer_link(layer.layer), layer.dtype, tables.count(layer.bytes)] for layer in sizes.layers),
        *([name, "", tables.count(size)] for name, size in rest if size),
    ]
    told = tables.table(["layer", "dtype", "bytes"], rows, numbers=[2])
    return (
        f'<div class="legend">{colors}</div>'
        f"{treemap(sizes.layers)}<details><summary>Bytes by layer and dtype</summary>{told}</details>"
    )


def _signatures(content: Content) -> str:
    parts = [tables.signatures_table(content.converted.facts.signatures)]
    variables = content.report.variables if content.report is not None else ()
    if variables:
        rows = [
            [
                variable.name,
                variable.dtype,
                "" if variable.shape is None else str([*variable.shape]),
                variable.verdict,
                variable.writer or "",
            ]
            for variable in variables
        ]
        told = tables.table(["variable", "dtype", "shape", "became", "written by"], rows)
        parts.append(f"<details><summary>{count_of(len(rows), 'variable')} of the original</summary>{told}</details>")
    return "".join(parts)


def _about(content: Content) -> str:
    facts = content.converted.facts
    rows: list[list[str]] = [
        ["file", facts.source],
        ["size", count_of(facts.size, "byte")],
        ["SHA-256", content.sha256],
        *([["original", content.original_name]] if content.original_name else []),
        *([["description", facts.description]] if facts.description else []),
        *([["metadata", ", ".join(facts.metadata)]] if facts.metadata else []),
        *([name, text] for name, text in content.versions),
        *([f"option {name}", text] for name, text in content.options),
    ]
    return tables.table(["", ""], rows)


def _data(content: Content) -> dict[str, Any]:
    """Returns what the script draws."""
    outcomes = _outcomes(content.report)
    sides = [_side("After: LiteRT" if content.original is not None else "LiteRT", content.converted.model, {})]
    if content.original is not None:
        sides.insert(0, _side(f"Before: {content.original.kind}", content.original, outcomes))
    return {
        "sides": sides,
        "links": [[graph, node, [[*place] for place in linked]] for (graph, node), linked in content.links.items()],
        "measures": [_measure(measure) for measure in content.measures],
        "kinds": [_kind(kind) for kind in content.kinds],
    }


def _outcomes(report: Report | None) -> dict[str, CompositeReport]:
    return {composite.function: composite for composite in report.composites} if report is not None else {}


def _side(title: str, model: Model, outcomes: Mapping[str, CompositeReport]) -> dict[str, Any]:
    numbers = {graph.name: number for number, graph in enumerate(model.graphs)}
    return {
        "title": title,
        "entries": [[entry.signature, numbers[entry.graph]] for entry in model.entries if entry.graph in numbers],
        "graphs": [_graph(graph, numbers, outcomes) for graph in model.graphs],
    }


def _graph(graph: Graph, numbers: Mapping[str, int], outcomes: Mapping[str, CompositeReport]) -> dict[str, Any]:
    views: list[dict[str, Any]] = []
    for view in folded(graph):
        layout = laid_out(len(view.boxes), view.edges)
        boxes = [
            [box.node, box.view, box.count, int(box.outside), *place]
            for box, place in zip(view.boxes, layout.places, strict=True)
        ]
        edges = [
            [*edge, [number for point in way for number in point]]
            for edge, way in zip(view.edges, layout.ways, strict=True)
        ]
        views.append(
            {
                "title": view.title,
                "parent": view.parent,
                "boxes": boxes,
                "edges": edges,
                "width": layout.width,
                "height": layout.height,
            }
        )
    return {
        "title": graph.title,
        "left": graph.left_out,
        "nodes": [_node(node, numbers, outcomes) for node in graph.nodes],
        "views": views,
    }


def _node(node: Node, numbers: Mapping[str, int], outcomes: Mapping[str, CompositeReport]) -> list[Any]:
    opens = [numbers[name] for name in node.opens if name in numbers]
    facts = [*node.facts]
    for name in node.opens:
        if name in outcomes:
            facts += _outcome(outcomes[name])
    shown = [[name, text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"] for name, text in facts]
    return [node.op, node.name, node.layer, node.mark, opens, shown]


def _outcome(outcome: CompositeReport) -> Iterator[tuple[str, str]]:
    if outcome.outcome == "fused":
        yield "became", outcome.fused_into or ""
        yield "its body", outcome.compared
    else:
        yield "became", "the ops of its body"
        yield "because", outcome.reason or ""


def _measure(measure: Measure) -> dict[str, Any]:
    only = {} if measure.only is None else {"only": [[*place] for place in sorted(measure.only)]}
    return {"name": measure.name, "unit": measure.unit, "values": _values(measure.values), **only}


def _kind(kind: Kind) -> dict[str, Any]:
    return {"name": kind.name, "classes": [*kind.classes], "values": _values(kind.values)}


def _values(values: Mapping[Place, float]) -> list[list[float | None]]:
    """Returns the values for JSON, which has neither infinity nor NaN: they are None."""
    return [[graph, node, value if math.isfinite(value) else None] for (graph, node), value in values.items()]
