"""Small loops, turn by turn."""

from __future__ import annotations

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, Value, rule
from litefuse.kernels.generator.nodes import Node

__all__: list[str] = []

# Loops of more turns, or of more ops in all their turns, belong to LiteRT: the kernel has each turn written out.
_MOST_TURNS = 64
_MOST_OPS = 512


@rule("WHILE", takes="?*", gives="?*")
def _while(graph: Graph, op: BodyOp) -> list[Node]:
    if len(op.parts) != 2:
        raise NotGenerated("a loop lacks its condition or its body")
    condition, body = op.parts
    values: list[Value] = [(graph.node(index), graph.maybe_integers(index)) for index in op.inputs]
    turns = 0
    while _goes_on(graph, op, values):
        turns += 1
        if turns > _MOST_TURNS or turns * (len(condition.ops) + len(body.ops)) > _MOST_OPS:
            raise NotGenerated(f"a loop of {len(body.ops)} ops takes more than {turns - 1} turns")
        values = graph.computed_part(body, values)
    for index, (_, integers) in zip(op.outputs, values, strict=True):
        if integers is not None:
            graph.set_integers(index, integers)
    return [node for node, _ in values]


def _goes_on(graph: Graph, op: BodyOp, values: list[Value]) -> bool:
    ((_, integers),) = graph.computed_part(op.parts[0], values)
    known = None if integers is None or integers.size != 1 else integers.item().known
    if known is None:
        raise NotGenerated("how often a loop is run depends on the inputs")
    return bool(known)
