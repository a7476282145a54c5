"""Which of XNNPACK's operators belongs to which op.

XNNPACK makes the operators of a partition op by op, in their order, and then removes some: an activation that the op
before it can compute, a padding that the convolution behind it can. It does not say which operator is of which op. So
the operators that it makes of each op alone are laid beside those of the partition, in all ways that fit: each op has
either all of its own there, or none. What is the same in all ways is certain.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["assigned"]

# The most operators of an op of which nothing is known.
_UNKNOWN = 3
# Partitions with more ways to lay them than this are left alone.
_WAYS = 1 << 18


def assigned(operators: Sequence[str], alone: Sequence[tuple[str, ...] | None]) -> list[range | None]:
    """Assigns the operators of a partition to its ops.

    Args:
        operators: The names of the operators, in the order in which they run.
        alone: The names of the operators of each op alone, in the order of the ops; None for one of which nothing is
            known.

    Returns:
        The positions of the operators of each op, an empty range for one that was fused into another; None where that
        is not certain.
    """
    if [name for names in alone for name in names or ("?",)] == list(operators):
        return _in_a_row(alone)
    reached = _reached(operators, alone)
    if reached is None or len(operators) not in reached[-1]:
        return [None] * len(alone)
    found: list[range | None] = []
    ends = {len(operators)}
    for position in reversed(range(len(alone))):
        ways = {
            (start, end)
            for start in reached[position]
            for end in _ends(operators, start, alone[position])
            if end in ends
        }
        ends = {start for start, _ in ways}
        found.append(range(*next(iter(ways))) if len(ways) == 1 else _nothing(ways))
    return found[::-1]


def _nothing(ways: set[tuple[int, int]]) -> range | None:
    """An op that has no operator in any of the ways; None if that is not so."""
    return range(0) if all(start == end for start, end in ways) else None


def _in_a_row(alone: Sequence[tuple[str, ...] | None]) -> list[range | None]:
    found: list[range | None] = []
    start = 0
    for names in alone:
        end = start + len(names or ())
        found.append(range(start, end))
        start = end
    return found


def _reached(operators: Sequence[str], alone: Sequence[tuple[str, ...] | None]) -> list[set[int]] | None:
    """Returns how many operators the ops before each op may have; None if there are too many ways."""
    most = [0]  # of operators that the ops behind may have
    for names in reversed(alone):
        most.append(most[-1] + (_UNKNOWN if names is None else len(names)))
    found: list[set[int]] = [{0}]
    total = 0
    for names, behind in zip(alone, most[-2::-1], strict=True):
        ends = {end for start in found[-1] for end in _ends(operators, start, names)}
        found.append({end for end in ends if len(operators) - end <= behind})
        total += len(found[-1])
        if total > _WAYS:
            return None
    return found


def _ends(operators: Sequence[str], start: int, names: tuple[str, ...] | None) -> list[int]:
    """Returns where the operators of an op may end that begin at a position."""
    if names is None:
        return [end for end in range(start, start + _UNKNOWN + 1) if end <= len(operators)]
    end = start + len(names)
    return [start, end] if names and tuple(operators[start:end]) == names else [start]
