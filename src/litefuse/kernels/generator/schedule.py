"""The functions of a kernel in their order: checks, tensors that several functions need, results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from litefuse.kernels.generator.graph import Graph
from litefuse.kernels.generator.nodes import Node, Picked, Scattered
from litefuse.kernels.generator.sizes import Size
from litefuse.kernels.generator.stages import reachable


class Step(NamedTuple):
    """A function of a kernel.

    Attributes:
        results: The tensors that it computes, all of the same shape, each with the name of its memory.
        message: Says what is wrong where the one result is true; None of a function that does not check.
        is_kept: Whether the result is for later functions.
    """

    results: tuple[tuple[Node, str], ...]
    message: str | None = None
    is_kept: bool = False


def steps(graph: Graph) -> list[Step]:
    """Returns the functions of a kernel in their order: nothing is read at a place before that is checked."""
    groups: dict[tuple[Size, ...], list[tuple[Node, str]]] = {}
    for place, node in enumerate(graph.outputs):
        groups.setdefault(node.shape, []).append((node, f"y{place}"))
    messages = {check.node: check.message for check in graph.checks}
    functions = [[node] for node in messages] + [[node for node, _ in group] for group in groups.values()]
    parts: list[list[Node]] = []
    for node in sorted([*messages, *_kept(functions)], key=lambda node: node.number):
        first = parts[-1][0] if parts else node
        if parts and first in messages and messages[first] == messages.get(node) and _go_together(first, node):
            parts[-1].append(node)
        else:
            parts.append([node])
    made: list[Step] = []
    for place, (node, *more) in enumerate(parts):
        if node not in messages:
            made.append(Step(((node, f"tensor_{place + 1}"),), is_kept=True))
            continue
        outside = node
        for other in more:
            outside = graph.computed("BOOL", [outside, other], lambda texts: f"({texts[0]} | {texts[1]})")
        made.append(Step(((graph.reduction(outside, range(len(node.shape)), "any"), "found"),), messages[node]))
    return [*made, *(Step(tuple(group)) for group in groups.values())]


def _kept(functions: Sequence[Sequence[Node]]) -> list[Node]:
    """Returns the tensors that take loops and that several functions need."""
    kept: list[Node] = []
    for _ in range(2):  # those that one of them alone needs are left out once they are known
        users: dict[Node, int] = {}
        for nodes in [*functions, *(node.operands for node in kept)]:
            for node in reachable(nodes, kept):
                users[node] = users.get(node, 0) + node.is_array()
        kept = [node for node, count in users.items() if count > 1]
    return kept


def _go_together(first: Node, other: Node) -> bool:
    """Whether a check can be in the loops of another: it reads nothing at places that this one checks."""
    return first.shape == other.shape and not any(
        isinstance(node, (Picked, Scattered)) and node.number > first.number for node in reachable([other], ())
    )
