"""Finds the node of the original that a tensor of a LiteRT model is named after.

A converter names a tensor after the node that it computes, and a fusion of several nodes after all of them, ``a;b;c``
in no certain order. Where the name is taken, as by a step of the same node, it appends a number.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

__all__ = ["named_nodes", "same_order", "value_node"]

_NUMBER = re.compile(r"\d+$")


def value_node(name: str, depths: Mapping[str, int]) -> list[str]:
    """Returns the nodes whose value a tensor may be by its name, the likeliest first.

    Of fused nodes, the value is that of the one that is computed last.

    Args:
        name: The tensor's name.
        depths: How far each node is from the inputs, by its name.
    """
    found = dict.fromkeys(named_nodes(name, depths))
    return sorted(found, key=lambda node: -depths[node])


def named_nodes(name: str, nodes: Collection[str]) -> Iterator[str]:
    """Yields the nodes that a name lists, as far as they exist."""
    *parts, last = [each.strip() for each in name.split(";") if each.strip()] or [""]
    for part in parts:
        yield from _first([_node(part)], nodes)
    yield from _first([_node(last), *_without_number(_node(last))], nodes)


def _first(readings: Sequence[str], nodes: Collection[str]) -> Iterator[str]:
    """Yields the longest reading that is a node: a name may end with digits of its own before the appended number."""
    yield from [reading for reading in readings if reading in nodes][:1]


def _node(name: str) -> str:
    """Returns the node of a name that may be a tensor's, ``node:1``."""
    return name.partition(":")[0]


def _without_number(name: str) -> Iterator[str]:
    """Yields a name without its last digit, its last two, and so on."""
    number = _NUMBER.search(name)
    for length in range(1, len(number[0]) + 1 if number else 0):
        yield name[:-length]


def same_order(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether arrays of two shapes have their elements in the same order: one only splits dimensions of the other.

    Transposed arrays are recognized only if their shapes show it.
    """
    if 0 in shape or 0 in other:
        return 0 in shape and 0 in other
    a, b = ({*itertools.accumulate(each, operator.mul)} - {1} for each in (shape, other))
    return math.prod(shape) == math.prod(other) and (a <= b or b <= a)
