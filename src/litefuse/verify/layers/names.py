"""Which node of the original a tensor of a LiteRT model is named after.

A converter names a tensor after the node that it computes, and one that several nodes were fused into after all of
them, ``a;b;c`` in no certain order. Where the name is taken, as by a step of the same node, it appends a number.
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
    """The nodes whose value a tensor may be by its name, the likeliest first.

    Of nodes that were fused, the value is that of the one that is computed last.

    Args:
        name: The tensor's name.
        depths: How far each node is from the inputs, by its name.
    """
    found = dict.fromkeys(named_nodes(name, depths))
    return sorted(found, key=lambda node: -depths[node])


def named_nodes(name: str, nodes: Collection[str]) -> Iterator[str]:
    """The nodes that a name lists, as far as there are such."""
    *parts, last = [each.strip() for each in name.split(";") if each.strip()] or [""]
    for part in parts:
        yield from _first([_node(part)], nodes)
    yield from _first([_node(last), *_without_number(_node(last))], nodes)


def _first(readings: Sequence[str], nodes: Collection[str]) -> Iterator[str]:
    """The longest reading that is a node: what a number was appended to may end with digits itself."""
    yield from [each for each in readings if each in nodes][:1]


def _node(name: str) -> str:
    """The node of a name that may be a tensor's, ``node:1``."""
    return name.partition(":")[0]


def _without_number(name: str) -> Iterator[str]:
    """A name without its last digit, its last two, and so on."""
    number = _NUMBER.search(name)
    for length in range(1, len(number[0]) + 1 if number else 0):
        yield name[:-length]


def same_order(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether arrays of two shapes have their elements in the same order: if one only splits sizes of the other.

    Of arrays that are transposed it says that of those alone which it cannot tell apart by their shapes.
    """
    if 0 in shape or 0 in other:
        return 0 in shape and 0 in other
    a, b = ({*itertools.accumulate(each, operator.mul)} - {1} for each in (shape, other))
    return math.prod(shape) == math.prod(other) and (a <= b or b <= a)
