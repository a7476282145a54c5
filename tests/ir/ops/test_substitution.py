"""Formulas of other numbers: what was no polynomial is computed again, and may become one."""

from __future__ import annotations

import pytest

from litefuse.ir.ops.dims import Dim, broadcast_dims, is_size, maximum, minimum, unknown
from litefuse.ir.ops.substitution import operators, substituted, unknowns

N, M = unknown("n", is_size=True), unknown("m", is_size=True)
NUMBER = unknown("number", is_size=False)
COMMON = broadcast_dims(N, M) or 0

_CASES: list[tuple[Dim, dict[str, Dim], Dim]] = [
    (7, {"n": 3}, 7),
    (N, {"n": 3}, 3),
    (N, {"m": 3}, N),
    (2 * N * M - N + 4, {"n": 3}, 6 * M + 1),
    (2 * N * M - N + 4, {"n": M, "m": N}, 2 * N * M - M + 4),
    ((N + 1) // 2, {"n": 4}, 2),
    ((N + 1) // 2, {"n": 2 * M - 1}, M),
    (N // M, {"m": 0}, 0),
    (N % 3, {"n": 5}, 2),
    (N % M, {"m": 0}, 0),
    (minimum(N, M), {"n": M + 1}, M),
    (maximum(NUMBER, 0), {"number": N}, N),
    (maximum(N - minimum(1, N), 0), {"n": 5}, 4),
    (COMMON, {"n": 1}, M),
    (COMMON, {"n": 1, "m": 1}, 1),
    (COMMON, {"n": 4}, 4),
    (COMMON, {"n": M}, M),
    (COMMON * N, {"n": M + 1, "m": M + 1}, (M + 1) * (M + 1)),
]


@pytest.mark.parametrize(("dim", "numbers", "expected"), _CASES, ids=str)
def test_substitution(dim: Dim, numbers: dict[str, Dim], expected: Dim) -> None:
    assert substituted(dim, numbers) == expected


def test_a_product_that_is_too_long_to_write_out() -> None:
    total: Dim = 0
    for number in range(40):
        total = total + unknown(number, is_size=True)
    product = total * total
    assert operators(product) == {"product"}
    assert substituted(product, dict.fromkeys(range(40), 2)) == 80 * 80


def test_a_size_stays_one() -> None:
    assert is_size(substituted(maximum(NUMBER, 0), {"number": NUMBER - 1}))
    assert not is_size(substituted(N - 1, {"n": M}))


def test_what_a_formula_is_made_of() -> None:
    formula = (N + NUMBER) // 2 + minimum(M, 3) - N
    assert sorted(map(str, unknowns(formula))) == ["m", "n", "n", "number"]
    assert operators(formula) == {"floordiv", "minimum"}
    assert not operators(N * M + 1)
    assert not list(unknowns(3))
