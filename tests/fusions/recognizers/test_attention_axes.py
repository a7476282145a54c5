"""Axes that are followed through reshapes, and products that are read as einsums."""

from __future__ import annotations

import pytest

from litefuse.fusions.recognizers.attention.axes import Axes, contraction
from litefuse.ir.call_graph import functions, operations
from litefuse.ir.mlir import ir, mlir_context


def axes_of(*sizes: int | None) -> tuple[Axes, list[tuple[int, ...]]]:
    axes = Axes()
    return axes, [() if size == 1 else (axes.atom(size),) for size in sizes]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((2, 3, 4), (2, 12), [(0,), (1, 2)]),
        ((2, 3, 4), (1, 6, 4, 1), [(), (0, 1), (2,), ()]),
        ((None, 3, 4), (None, 4), [(0, 1), (2,)]),
        ((None, None, 4), (None, 1, None, 4), [(0,), (), (1,), (2,)]),
        ((2, 3), (3, 2), None),
        ((2, 3), (6, 2), None),
        ((None, 3), (3, None), None),
        ((2, 3), (), None),
    ],
)
def test_reshaped(before: tuple[int | None, ...], after: tuple[int | None, ...], expected: object) -> None:
    axes, words = axes_of(*before)
    assert axes.reshaped(words, after) == expected


def test_splits() -> None:
    """An atom that is split is two wherever it is; what is left of a dynamic size is dynamic."""
    axes, words = axes_of(None, 12)
    split = axes.reshaped(words, (None, 2, 3, 4))
    assert split is not None
    assert [axes.sizes[atom] for word in split for atom in word] == [None, 2, 3, 4]
    assert [axes.resolved(word) for word in words] == [split[0] + split[1], split[2] + split[3]]
    assert axes.reshaped(split, (None, 12)) == [axes.resolved(word) for word in words]


PRODUCTS = {
    "product": (
        '"tf.BatchMatMulV2"(%a, %b) {adj_x = false, adj_y = true}',
        "2x4x5x7",
        (("batch 0", "broadcast 0 -3", "row", "sum"), ("batch 0", "batch 1", "column", "sum")),
    ),
    "ellipsis": ('"tf.Einsum"(%a, %b) {equation = "...th,...sh->...ts"}', "2x4x5x7", None),
    "summed_alone": ('"tf.Einsum"(%a, %b) {equation = "bnth,cmsh->bcts"}', "2x2x5x7", None),
    "einsum": (
        '"tf.Einsum"(%a, %b) {equation = "bnth, cmsh -> bntcms"}',
        "2x1x5x2x4x7",
        (tuple("bnth"), tuple("cmsh")),
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_contraction(name: str) -> None:
    """Broadcast batches have labels of their own in products; where an ellipsis is broadcast, nothing is read."""
    op, shape, axes = PRODUCTS[name]
    kind = f"(tensor<2x1x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<{shape}xf32>"
    with mlir_context():
        function = f"func.func @f(%a: tensor<2x1x5x8xf32>, %b: tensor<2x4x7x8xf32>) {{ %0 = {op} : {kind} return }}"
        module = ir.Module.parse(function)
        found = contraction(next(iter(operations(next(iter(functions(module).values()))))))
        assert (None if found is None else found.axes) == axes
