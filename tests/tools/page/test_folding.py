"""Graphs folded by their layers, and the places of what is folded."""

from __future__ import annotations

import itertools

import pytest

from litefuse.tools.page.folding import View, folded
from litefuse.tools.page.graph import Graph, Node
from litefuse.tools.page.layout import BOX_HEIGHT, BOX_WIDTH, laid_out
from tests.every import every


def graph(*nodes: tuple[str, str, tuple[int, ...]]) -> Graph:
    return Graph("f", "f", tuple(Node(op, f"{layer}/{op}", layer, inputs) for op, layer, inputs in nodes))


def titles(view: View, of: Graph) -> list[str]:
    return [box.title or of.nodes[box.node].op for box in view.boxes if not box.outside]


NET = graph(
    ("Pad", "net/stem", ()),
    ("Conv", "net/stem", (0,)),
    ("Mul", "net/block/attention", (1,)),
    ("Softmax", "net/block/attention", (2,)),
    ("Add", "net/block", (3, 1)),
    ("Relu", "net/head", (4,)),
)


def test_a_scope_of_all_nodes_is_no_view_of_its_own() -> None:
    first, *_ = folded(NET)
    assert (first.title, first.parent) == ("net", -1)
    assert titles(first, NET) == ["stem", "block", "Relu"]  # head has one node, and is no box
    assert first.edges == [(0, 1), (1, 2)]


def test_layers_open_into_views() -> None:
    views = folded(NET)
    by_title = {each.title: each for each in views}
    assert {*by_title} == {"net", "net/stem", "net/block", "net/block/attention"}
    block = next(box for box in views[0].boxes if box.title == "block")
    assert views[block.view] is by_title["net/block"]
    assert block.count == 3
    assert views[by_title["net/block"].parent] is views[0]
    assert titles(by_title["net/block"], NET) == ["attention", "Add"]


def test_neighbours_outside_are_shown() -> None:
    block = next(each for each in folded(NET) if each.title == "net/block")
    outside = {(box.node, box.title): number for number, box in enumerate(block.boxes) if box.outside}
    assert {*outside} == {(1, "net/stem"), (5, "net/head")}
    assert (outside[1, "net/stem"], 1) in block.edges
    assert (1, outside[5, "net/head"]) in block.edges


def test_every_node_is_in_exactly_one_view() -> None:
    boxes = [box for view in folded(NET) for box in view.boxes if box.view < 0 and not box.outside]
    assert sorted(box.node for box in boxes) == [0, 1, 2, 3, 4, 5]


def test_empty_graphs_and_single_nodes() -> None:
    (empty,) = folded(Graph("f", "f"))
    assert (empty.boxes, empty.edges) == ([], [])
    (single,) = folded(graph(("Add", "a/b/c", ())))
    assert [box.node for box in single.boxes] == [0]


def test_a_hostile_depth_of_scopes() -> None:
    deep = graph(*((f"Op{number}", "/".join("s" * (number + 1)), ()) for number in range(2000)))
    views = folded(deep)
    assert sum(not box.outside and box.view < 0 for view in views for box in view.boxes) == 2000


def test_the_title_of_a_scope_within_scopes_of_the_same_nodes() -> None:
    deep = graph(("A", "/net//block", ()), ("B", "/net//block", (0,)), ("C", "/net//block/x", (1,)))
    assert [each.title for each in folded(deep)] == ["/net//block"]
    flat = graph(("A", "", ()), ("B", "net", (0,)), ("C", "net", (1,)))
    assert [each.title for each in folded(flat)] == ["", "net"]


@pytest.mark.parametrize("count", [2, 3, 40])
def test_edges_lead_down_and_boxes_do_not_overlap(count: int) -> None:
    edges = [(a, b) for a, b in itertools.combinations(range(count), 2) if (a * 7 + b * 3) % 5 == 0 or b == a + 1]
    layout = laid_out(count + 8, edges)  # eight have no edges
    assert len(layout.places) == count + 8
    assert every(layout.places[a][1] < layout.places[b][1] for a, b in edges)
    for (x, y), (other_x, other_y) in itertools.combinations(layout.places, 2):
        assert abs(x - other_x) >= BOX_WIDTH or abs(y - other_y) >= BOX_HEIGHT
    assert every(BOX_WIDTH // 2 <= x <= layout.width - BOX_WIDTH // 2 for x, _ in layout.places)


def test_long_edges_lead_between_boxes() -> None:
    # 0 to 1 to 2 to 3, and an edge past them.
    layout = laid_out(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    *straight, (first, second) = layout.ways
    assert straight == [(), (), ()]
    for point, box in ((first, 1), (second, 2)):
        assert point[1] == layout.places[box][1]
        assert abs(point[0] - layout.places[box][0]) >= BOX_WIDTH // 2


def test_the_longest_edges_of_very_many_do_not_count_for_the_rows() -> None:
    # A mask that each of 400 ops in a row reads: 80,000 points for its edges.
    row = [(number, number + 1) for number in range(400)]
    layout = laid_out(401, [*row, *((0, number) for number in range(2, 401))])
    assert sum(map(len, layout.ways)) <= 12_000
    assert every(layout.places[a][1] < layout.places[b][1] for a, b in row)
    assert len(layout.ways[400]) == 1  # the shortest still lead between boxes
    assert layout.ways[-1] == ()


def test_a_box_keeps_an_edge_however_long() -> None:
    # 200 boxes that one op far below reads, and nothing else: they stay above it.
    row = [(number, number + 1) for number in range(200)]
    layout = laid_out(401, [*row, *((number, 200) for number in range(201, 401))])
    assert every(layout.places[number][1] < layout.places[200][1] for number in range(201, 401))


def test_numbers_of_points_are_no_numbers_of_boxes() -> None:
    # Boxes without edges between those with some: the package numbers its points from the number of these on.
    layout = laid_out(12, [(0, 4), (4, 8), (0, 8), (5, 9), (9, 11), (5, 11)])
    assert len({*layout.places}) == 12
    assert len(layout.ways[2]) == 1
    assert len(layout.ways[5]) == 1


def test_the_order_of_boxes_does_not_count() -> None:
    layout = laid_out(3, [(2, 0), (0, 1)])
    assert layout.places[2][1] < layout.places[0][1] < layout.places[1][1]


def test_circles_are_drawn() -> None:
    layout = laid_out(3, [(0, 1), (1, 2), (2, 0)])
    assert layout.places[0][1] < layout.places[1][1] < layout.places[2][1]
    assert layout.ways[2] == ()


def test_boxes_without_edges_are_in_rows() -> None:
    layout = laid_out(8, [])
    assert len({*layout.places}) == 8
    assert laid_out(0, []).places == ()


def test_views_that_are_too_large_are_in_rows() -> None:
    layout = laid_out(5000, [(number, number + 1) for number in range(4999)])
    assert len({*layout.places}) == 5000
