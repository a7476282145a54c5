"""Sizes of inputs for the trial of a kernel: on both sides of every comparison that its sizes take part in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from litefuse.kernels.generator.body import Body
from litefuse.kernels.generator.graph import Graph
from litefuse.kernels.generator.sizes import Size, Sizes

__all__ = ["probing_shapes"]

# So many calls are drawn for them. Models are not called with empty dimensions.
_MOST = 16
_USUAL = range(1, 70)
# A call of larger inputs takes too long.
_LARGEST = 4096
_MOST_TRIED = 4000


def probing_shapes(body: Body) -> list[dict[str, tuple[int, ...]]]:
    """Returns shapes of a body's inputs, of which the sizes compare differently with one another and with numbers.

    Args:
        body: A body that a kernel is generated for.

    Returns:
        The shapes by ``x`` and the input's place; none for a body without open sizes.
    """
    sizes = Graph.of(body).sizes
    seen: set[tuple[Size, Size, int]] = set()
    shapes: list[dict[str, tuple[int, ...]]] = []
    for number, given in enumerate(_assignments(sizes)):
        if len(shapes) == _MOST or number == _MOST_TRIED:
            break
        values = sizes.values(given)
        if values is None:
            continue
        new = {(left, right, _sign(left.value(values), right.value(values))) for left, right in sizes.compared}
        if not new <= seen:
            seen |= new
            shapes.append(_shapes(body, given))
    return shapes


def _sign(left: int, right: int) -> int:
    return (left > right) - (left < right)


def _assignments(sizes: Sizes) -> Iterator[dict[str, int]]:
    """Yields sizes of the inputs: all the same, or all but one; the usual ones, and those near the body's numbers."""
    names = sizes.open
    if not names or not sizes.compared:
        return
    numbers = {abs(size.factor) for definition in sizes.definitions.values() for size in definition.operands}
    numbers |= {abs(size.factor) for pair in sizes.compared for size in pair}
    near = {number + more for number in numbers for more in (-1, 0, 1)} | {2 * number + 1 for number in numbers}
    tried = [*_USUAL, *sorted({each for each in near if _USUAL.stop <= each <= _LARGEST})]
    for size in tried:
        yield dict.fromkeys(names, size)
    for name in names if len(names) > 1 else ():
        for size in tried:
            yield {**dict.fromkeys(names, 3), name: size}


def _shapes(body: Body, given: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    return {
        f"x{place}": tuple(
            size if size is not None else given[f"x{place}_dim{axis}"]
            for axis, size in enumerate(body.tensors[index].shape)
        )
        for place, index in enumerate(body.inputs)
    }
