"""Places for the boxes of a view, and ways for its edges, by fast-sugiyama's layered layout."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

#: The size of a box, and the space beside and below one, in the drawing's units.
BOX_WIDTH, BOX_HEIGHT = 168, 38
_BESIDE, _BELOW = 24, 26
# Larger views, of which nobody has an overview, are laid out in rows: the layout's time grows with the square.
_LARGEST = 3000
_IN_ROW = 6
# The rows that long edges lead through, of all edges together: the layout has a point in each.
_POINTS = 12_000

Way: TypeAlias = tuple[tuple[int, int], ...]
# The places of nodes, the size, and the edges of a part that is connected.
_Part: TypeAlias = tuple[list[tuple[int, tuple[float, float]]], float, float, list[tuple[int, int]] | None]


@dataclass(frozen=True)
class Layout:
    """The layout of a view.

    Attributes:
        places: The middle of each box's upper edge, x and y.
        ways: For each edge the points that it leads through, without its ends; empty for a straight line.
        width: The width of the drawing.
        height: Its height.
    """

    places: tuple[tuple[int, int], ...]
    ways: tuple[Way, ...]
    width: int
    height: int


def laid_out(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Lays out boxes in rows, so that edges lead down.

    Args:
        count: The number of boxes.
        edges: Pairs of indices of boxes. An edge that closes a circle is drawn, but does not count for the rows; nor do
            the longest edges if there are very many.
    """
    down = _without_longest(count, _without_circles(count, edges))
    if not down or count > _LARGEST:
        return _in_rows(count, edges)
    linked = sorted({number for edge in down for number in edge})
    points, links = _drawn(linked, down, count)
    rows = {y: row for row, y in enumerate(sorted({y for _, y in points.values()}, reverse=True))}
    left = min(x for x, _ in points.values())
    places = {
        number: (round(x - left) + BOX_WIDTH // 2, rows[y] * (BOX_HEIGHT + _BELOW)) for number, (x, y) in points.items()
    }
    bottom = len(rows) * (BOX_HEIGHT + _BELOW)
    for place, number in enumerate(number for number in range(count) if number not in places):
        column, row = place % _IN_ROW, place // _IN_ROW
        places[number] = column * (BOX_WIDTH + _BESIDE) + BOX_WIDTH // 2, bottom + row * (BOX_HEIGHT + _BELOW)
    ways = _ways(count, links)
    return _sized(
        [places[number] for number in range(count)],
        [tuple(places[point] for point in ways.get((source, target), ())) for source, target in edges],
    )


def _without_circles(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the edges but for those that lead back to a box on the way to them."""
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        after[source].append(target)
    back: set[tuple[int, int]] = set()
    seen: set[int] = set()
    for first in range(count):
        if first in seen:
            continue
        way: dict[int, Iterator[int]] = {first: iter(after[first])}
        while way:
            box, rest = next(reversed(way.items()))
            target = next(rest, None)
            if target is None:
                seen.add(box)
                del way[box]
            elif target in way:
                back.add((box, target))
            elif target not in seen:
                way[target] = iter(after[target])
    return [edge for edge in edges if edge not in back]


def _without_longest(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the edges without the longest, if they lead through too many rows; each box keeps an edge on either side.

    A box that all others read, such as a mask, has a long edge to each.
    """
    after: list[list[int]] = [[] for _ in range(count)]
    into, out = [0] * count, [0] * count
    for source, target in edges:
        after[source].append(target)
        into[target] += 1
        out[source] += 1
    rows, missing = [0] * count, [*into]
    ready = [box for box in range(count) if not into[box]]
    for box in ready:
        for target in after[box]:
            rows[target] = max(rows[target], rows[box] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    lengths = {(source, target): rows[target] - rows[source] - 1 for source, target in edges}
    points = sum(lengths.values())
    dropped: set[tuple[int, int]] = set()
    for edge in sorted(edges, key=lambda edge: -lengths[edge]):
        if points <= _POINTS:
            break
        source, target = edge
        if out[source] > 1 and into[target] > 1:
            dropped.add(edge)
            points -= lengths[edge]
            out[source] -= 1
            into[target] -= 1
    return [edge for edge in edges if edge not in dropped]


def _drawn(
    linked: Sequence[int], edges: Sequence[tuple[int, int]], count: int
) -> tuple[dict[int, tuple[float, float]], dict[int, list[int]]]:
    """Returns the places and the links of boxes, and of the points that long edges lead through.

    These points have numbers from ``count`` on.
    """
    package: Any = importlib.import_module("fast_sugiyama")
    # In each part, the package numbers these points from the number of nodes on.
    numbers = {box: number for number, box in enumerate(linked)}
    drawn = package.from_edges([(numbers[a], numbers[b]) for a, b in edges], vertex_spacing=BOX_WIDTH + _BESIDE)
    points: dict[int, tuple[float, float]] = {}
    links: dict[int, list[int]] = {}
    next_point = count
    parts: list[_Part] = drawn.align_layouts_vertical_top().align_layouts_horizontal(BOX_WIDTH + _BESIDE)
    for positions, _, _, pairs in parts:
        own = {
            number: linked[number] if number < len(linked) else number - len(linked) + next_point
            for number, _ in positions
        }
        points.update({own[number]: place for number, place in positions})
        for source, target in pairs or ():
            links.setdefault(own[source], []).append(own[target])
        next_point = max([next_point, *(point + 1 for point in own.values())])
    return points, links


def _ways(count: int, links: dict[int, list[int]]) -> dict[tuple[int, int], list[int]]:
    """Returns the points of edges that lead through some, by their ends."""
    ways: dict[tuple[int, int], list[int]] = {}
    for source in [link for link in links if link < count]:
        for first in links[source]:
            through, target = list[int](), first
            while target >= count:
                through.append(target)
                target = links[target][0]
            if through:
                ways[source, target] = through
    return ways


def _in_rows(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    places = [
        (
            number % _IN_ROW * (BOX_WIDTH + _BESIDE) + BOX_WIDTH // 2,
            number // _IN_ROW * (BOX_HEIGHT + _BELOW),
        )
        for number in range(count)
    ]
    return _sized(places, [()] * len(edges))


def _sized(places: Sequence[tuple[int, int]], ways: Sequence[Way]) -> Layout:
    xs = [x for x, _ in places] + [x for way in ways for x, _ in way]
    ys = [y for _, y in places]
    return Layout(
        tuple(places),
        tuple(ways),
        max(xs, default=0) + BOX_WIDTH // 2,
        max(ys, default=0) + BOX_HEIGHT,
    )
