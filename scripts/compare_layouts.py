"""Compares packages that lay out layered graphs: ``python -m scripts.compare_layouts MODEL.tflite [OPS]``.

The graph is that of the file's ops, OPS of them (600): where it has fewer, they are repeated, the first after the last.
For each package: seconds, crossings of edges drawn as straight lines, the mean length of an edge, pairs of boxes that
overlap, edges that do not lead down, and the drawing's size. Boxes are all of one size. A package that is not installed
is left out; ``dot`` is the program of Graphviz.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from litefuse.litert.runtime.model_reader import Model

_WIDTH, _HEIGHT, _GAP = 150.0, 40.0, 30.0

Edges: TypeAlias = list[tuple[int, int]]
Positions: TypeAlias = dict[int, tuple[float, float]]


def main() -> None:
    """Prints a line for each package."""
    edges = edges_of(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 600)
    print(f"{len({node for edge in edges for node in edge})} ops, {len(edges)} edges")
    print(f"{'':15} {'seconds':>8} {'crossings':>9} {'length':>7} {'overlaps':>8} {'upward':>6}  size")
    for name, lay_out in _PACKAGES.items():
        try:
            lay_out([(0, 1)])  # loads the package
            begin = time.perf_counter()
            found = lay_out(edges)
        except (ImportError, FileNotFoundError) as error:
            print(f"{name:15} {error}")
            continue
        seconds = time.perf_counter() - begin
        crossings, length, overlaps, upward = _judged(edges, found)
        xs, ys = zip(*found.values(), strict=True)
        size = f"{max(xs) - min(xs):.0f} x {max(ys) - min(ys):.0f}"
        print(f"{name:15} {seconds:8.3f} {crossings:9} {length:7.0f} {overlaps:8} {upward:6}  {size}")


def edges_of(model: Path, count: int) -> Edges:
    """Returns the pairs of ops of a file of which one reads what the other computes."""
    ops = Model(model.read_bytes()).graphs[0].ops
    makers = {result: number for number, op in enumerate(ops) for result in op.outputs}
    once = {(makers[each], number): None for number, op in enumerate(ops) for each in op.inputs if each in makers}
    once[len(ops) - 1, len(ops)] = None
    whole = [(a + copy, b + copy) for copy in range(0, count, len(ops)) for a, b in once]
    return [(a, b) for a, b in whole if max(a, b) < count]


def fast_sugiyama(edges: Edges) -> Positions:
    """Lays out with fast-sugiyama."""
    package: Any = importlib.import_module("fast_sugiyama")
    found = package.from_edges(edges, vertex_spacing=int(_WIDTH + _GAP)).align_layouts_horizontal().to_dict()
    # The places through which long edges lead are among the nodes.
    nodes = {node for edge in edges for node in edge}
    rows = {y: row for row, y in enumerate(sorted({found[node][1] for node in nodes}, reverse=True))}
    return {node: (found[node][0], rows[found[node][1]] * (_HEIGHT + _GAP)) for node in nodes}


def pyelk(edges: Edges) -> Positions:
    """Lays out with pyelk's layered algorithm."""
    package: Any = importlib.import_module("pyelk")
    nodes = sorted({node for edge in edges for node in edge})
    graph = {
        "id": "root",
        "layoutOptions": {"elk.algorithm": "layered", "elk.direction": "DOWN"},
        "children": [{"id": str(node), "width": _WIDTH, "height": _HEIGHT} for node in nodes],
        "edges": [
            {"id": f"e{number}", "sources": [str(a)], "targets": [str(b)]} for number, (a, b) in enumerate(edges)
        ],
    }
    laid = package.ELK().layout(graph)
    return {int(each["id"]): (each["x"], each["y"]) for each in laid["children"]}


def grandalf(edges: Edges) -> Positions:
    """Lays out with grandalf."""
    graphs: Any = importlib.import_module("grandalf.graphs")
    layouts: Any = importlib.import_module("grandalf.layouts")

    class Box:
        w, h = _WIDTH, _HEIGHT
        xy = (0.0, 0.0)

    nodes = {node: graphs.Vertex(node) for edge in edges for node in edge}
    for each in nodes.values():
        each.view = Box()
    graph = graphs.Graph(list(nodes.values()), [graphs.Edge(nodes[a], nodes[b]) for a, b in edges])
    found: Positions = {}
    shift = 0.0
    for part in graph.C:
        layout = layouts.SugiyamaLayout(part)
        layout.xspace = layout.yspace = _GAP
        layout.init_all()
        layout.draw()
        left = min(each.view.xy[0] for each in part.sV)
        found |= {each.data: (each.view.xy[0] - left + shift, each.view.xy[1]) for each in part.sV}
        shift += max(each.view.xy[0] for each in part.sV) - left + _WIDTH + _GAP
    return found


def rustworkx(edges: Edges) -> Positions:
    """Lays out with rustworkx, which has rows for the ops (topological generations), and no order in a row."""
    package: Any = importlib.import_module("rustworkx")
    graph = package.PyDiGraph()
    numbers = {node: graph.add_node(node) for edge in edges for node in edge}
    graph.add_edges_from_no_data([(numbers[a], numbers[b]) for a, b in edges])
    rows = package.topological_generations(graph)
    return {
        graph[node]: (place * (_WIDTH + _GAP), row * (_HEIGHT + _GAP))
        for row, each in enumerate(rows)
        for place, node in enumerate(each)
    }


def dot(edges: Edges) -> Positions:
    """Lays out with Graphviz."""
    text = f"digraph {{ nodesep={_GAP / 72}; ranksep={_GAP / 72}; node [shape=box fixedsize=true width={_WIDTH / 72} "
    text += f"height={_HEIGHT / 72}]; {' '.join(f'{a} -> {b};' for a, b in edges)} }}"
    done = subprocess.run(["dot", "-Tjson"], input=text, capture_output=True, text=True, check=True)
    found: Positions = {}
    for each in json.loads(done.stdout)["objects"]:
        x, y = map(float, each["pos"].split(","))
        found[int(each["name"])] = x, -y
    return found


def _judged(edges: Edges, found: Positions) -> tuple[int, float, int, int]:
    """Returns the crossings, the mean length, the overlaps and the edges that do not lead down."""
    half = np.array([0.0, _HEIGHT / 2])
    begin = np.array([found[a] for a, _ in edges]) + half
    end = np.array([found[b] for _, b in edges]) - half
    crossings = 0
    for number in range(len(edges)):
        first = _side(begin[number], end[number], begin) * _side(begin[number], end[number], end) < 0
        other = _side(begin, end, begin[number]) * _side(begin, end, end[number]) < 0
        crossings += int((first & other)[number + 1 :].sum())
    places = np.array(list(found.values()))
    apart = np.abs(places[:, None] - places[None])
    close = (apart[..., 0] < _WIDTH - 1e-3) & (apart[..., 1] < _HEIGHT - 1e-3)
    upward = int((np.array([found[a][1] - found[b][1] for a, b in edges]) >= 0).sum())
    return crossings, float(np.linalg.norm(end - begin, axis=1).mean()), int((close.sum() - len(places)) // 2), upward


def _side(begin: Any, end: Any, point: Any) -> Any:
    """Returns a number whose sign says on which side of a line a point is."""
    along, across = np.asarray(end) - begin, np.asarray(point) - begin
    return along[..., 0] * across[..., 1] - along[..., 1] * across[..., 0]


_PACKAGES: dict[str, Callable[[Edges], Positions]] = {
    "fast-sugiyama": fast_sugiyama,
    "pyelk": pyelk,
    "grandalf": grandalf,
    "rustworkx": rustworkx,
    "dot": dot,
}

if __name__ == "__main__":
    main()
