"""Which of XNNPACK's operators belongs to which op.

XNNPACK makes the operators of a partition op by op, in their order. Then it removes some, such as an activation that
the op before it can compute or a padding that the convolution behind it can, and makes others of some, such as a square
of a product. It does not say which operator is of which op. So the operators that it makes of each op alone are laid
beside those of the partition, in all ways in which as few ops as possible have others there. An op is certain that has
its own operators in all these ways, at one place; or none in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

# The most operators of an op of which nothing is known, and of one that has others than alone.
_UNKNOWN, _OTHERS = 3, 2
# Partitions with so many more or fewer operators than their ops have alone are left alone.
_DIFFERENT = 256
# How far an op may be from the place that it would have if all were as alone.
_FAR = 32


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
    forward = _costs(operators, alone)
    end = len(operators)
    if end not in forward[-1]:
        return [None] * len(alone)
    places: list[range | None] = []
    behind = {end: 0}  # the least costs from each place to the end
    best = forward[-1][end]
    for position in reversed(range(len(alone))):
        names = alone[position]
        ways: set[tuple[int, int]] = set()
        certain, before = True, dict[int, int]()
        for start, cost in forward[position].items():
            for stop, more, is_own in _steps(operators, start, names):
                if stop not in behind:
                    continue
                rest = more + behind[stop]
                before[start] = min(rest, before.get(start, rest))
                if cost + rest == best:
                    ways.add((start, stop))
                    certain = certain and is_own
        behind = before
        places.append(_place(ways) if certain else None)
    return places[::-1]


def _place(ways: set[tuple[int, int]]) -> range | None:
    """Returns the only place; an empty one for an op that has no operators in any of the ways; None for several."""
    if len(ways) == 1:
        return range(*next(iter(ways)))
    return range(0) if all(start == stop for start, stop in ways) else None


def _in_a_row(alone: Sequence[tuple[str, ...] | None]) -> list[range | None]:
    places: list[range | None] = []
    start = 0
    for names in alone:
        stop = start + len(names or ())
        places.append(range(start, stop))
        start = stop
    return places


def _costs(operators: Sequence[str], alone: Sequence[tuple[str, ...] | None]) -> list[Mapping[int, int]]:
    """Returns for each op how many of those before it have others than alone, at least, by where its own may begin."""
    difference = abs(len(operators) - sum(len(names or ()) for names in alone))
    if difference > _DIFFERENT:
        return [{}]
    far = _FAR + difference
    costs: list[dict[int, int]] = [{0: 0}]
    expected = 0
    for names in alone:
        expected += len(names or ())
        ends: dict[int, int] = {}
        for start, cost in costs[-1].items():
            for stop, more, _ in _steps(operators, start, names):
                if abs(stop - expected) <= far:
                    ends[stop] = min(cost + more, ends.get(stop, cost + more))
        costs.append(ends)
    return [*costs]


def _steps(operators: Sequence[str], start: int, names: tuple[str, ...] | None) -> Iterator[tuple[int, int, bool]]:
    """Yields where the operators of an op that begin at a place may end, the cost, and whether they are its own."""
    left = len(operators) - start
    if names is None:
        yield from ((start + count, 0, True) for count in range(min(_UNKNOWN, left) + 1))
        return
    stop = start + len(names)
    is_own = tuple(operators[start:stop]) == names
    if is_own:
        yield stop, 0, True
    if names:
        yield start, 1, True
    yield from (
        (start + count, 1, False) for count in range(1, min(_OTHERS, left) + 1) if not (is_own and count == len(names))
    )
