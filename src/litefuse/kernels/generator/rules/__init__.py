"""The rules of ops: what an element of a result is, by the elements of the operands. One module for each family."""

from litefuse.kernels.generator.rules import (
    elementwise,
    gathers,
    images,
    movement,
    products,
    reductions,
    reshapes,
    rows,
    sizes,
    slices,
)

__all__ = [
    "elementwise",
    "gathers",
    "images",
    "movement",
    "products",
    "reductions",
    "reshapes",
    "rows",
    "sizes",
    "slices",
]
