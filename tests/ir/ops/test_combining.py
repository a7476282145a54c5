"""Shapes that are broadcast to each other: of formulas, and of sizes some of which are unknown."""

from __future__ import annotations

import pytest

from litefuse.ir.ops.dims import Dim, Shape, broadcast_dims, unknown
from litefuse.ir.ops.facts import Dims, ShapeError, broadcast_shapes

N, M = (unknown(name, is_size=True) for name in ("rows", "columns"))


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([(None, 4), (3, 1, 5, 1)], (3, 1, 5, 4)),
        ([(5, None), (None, 7), ()], (5, 7)),
        ([(None, 1), (None, None)], (None, None)),
        ([(1,), (None,), (6,)], (6,)),
        ([(0,), (1,)], (0,)),
        ([(0, None), (None, 0)], (0, 0)),
    ],
)
def test_shapes_of_types(shapes: list[Shape], expected: Shape) -> None:
    assert broadcast_shapes(shapes) == expected
    assert broadcast_shapes(shapes[::-1]) == expected


def test_formulas() -> None:
    common: Dim | None = broadcast_dims(N, M)
    shapes: list[Dims] = [(N, 1, 4), (M, 1), (M, 1, 1)]
    assert broadcast_shapes(shapes) == (common, M, 4)
    mixed: list[tuple[Dim | None, ...]] = [(N, 3), (None, None)]
    assert broadcast_shapes(mixed) == (None, 3)


@pytest.mark.parametrize("shapes", [[(2, 3), (4,)], [(None, 2), (3, 3)], [(0,), (2,)]])
def test_shapes_that_do_not_fit(shapes: list[Shape]) -> None:
    with pytest.raises(ShapeError, match="cannot be broadcast to each other"):
        broadcast_shapes(shapes)
