"""Formulas of sizes: what is known to be equal, and what is not."""

from __future__ import annotations

import itertools

import pytest

from litefuse.ir.ops.dims import (
    Dim,
    Formula,
    as_size,
    broadcast_dims,
    is_size,
    is_stretched,
    maximum,
    minimum,
    product,
    unknown,
)
from tests.every import every

N, M = unknown("n", is_size=True), unknown("m", is_size=True)
NUMBER = unknown("number", is_size=False)


def value(dim: Dim, numbers: dict[Formula, int]) -> int:
    """What a polynomial of the given symbols is."""
    if isinstance(dim, int):
        return dim
    symbols = {formula.terms[0][0][0]: number for formula, number in numbers.items()}
    total = 0
    for monomial, factor in dim.terms:
        term = factor
        for symbol in monomial:
            term *= symbols[symbol]
        total += term
    return total


@pytest.mark.parametrize(("n", "m"), list(itertools.product((0, 1, 5), (2, 3))))
def test_polynomials_compute(n: int, m: int) -> None:
    numbers = {N: n, M: m}
    cases: list[tuple[Dim, int]] = [
        (N + 3, n + 3),
        (3 + N, n + 3),
        (N - M, n - m),
        (4 - N, 4 - n),
        (-N, -n),
        ((N + 1) * (M - 2), (n + 1) * (m - 2)),
        (2 * N * 3 + N, 7 * n),
        (N * M * 12 // (M * 4), 3 * n),
        ((N * 6 + 12) // 6, n + 2),
        (product([N, 4, M]), 4 * n * m),
    ]
    for dim, expected in cases:
        assert value(dim, numbers) == expected, dim


def test_what_cancels_is_a_number() -> None:
    assert N - N == 0
    assert (N + 3) - N == 3
    assert N * 0 == 0
    assert N * 7 // N == 7
    assert N // N == 1
    assert N * 12 % 4 == 0
    assert N * 1 is N


def test_equal_formulas_are_equal_however_they_came_about() -> None:
    assert N * M == M * N
    assert hash(N * M + 1) == hash(1 + M * N)
    assert (N + 1) // 2 == (1 + N) // 2
    assert (N + 1) // 2 != N // 2
    assert N != M
    assert N != 3
    assert unknown("n", is_size=True) == N


def test_quotients_with_a_remainder_are_not_simplified() -> None:
    half = (N + 1) // 2
    assert isinstance(half, Formula)
    assert half * 2 != N + 1
    assert is_size(half)
    assert isinstance(N % 2, Formula)


def test_what_cannot_be_negative() -> None:
    assert every(map(is_size, (0, 3, N, N * M + 2, N // 3)))
    assert not any(map(is_size, (-1, NUMBER, N - 1, 2 - N, -N, NUMBER * N)))
    assert is_size(as_size(N - 1))
    assert as_size(N - 1) == N - 1


def test_maximum_and_minimum() -> None:
    assert maximum(N, 0) == N
    assert maximum(N + 2, N) == N + 2
    assert minimum(N + 2, N) == N
    assert minimum(3, 5) == 3
    assert maximum(NUMBER, 0) == maximum(0, NUMBER)
    assert is_size(maximum(NUMBER, 0))
    assert not is_size(minimum(NUMBER, 4))
    assert is_size(minimum(N, 4))
    assert minimum(N, maximum(1, N)) == N
    assert maximum(minimum(NUMBER, N), NUMBER) == NUMBER
    assert minimum(M, maximum(1, N)) != M


def test_broadcasting() -> None:
    assert broadcast_dims(N, N) == N
    assert broadcast_dims(1, N) == N
    assert broadcast_dims(N, 1) == N
    assert broadcast_dims(N, 4) == 4
    assert broadcast_dims(3, 4) is None
    common = broadcast_dims(N, M)
    assert common is not None
    assert common == broadcast_dims(M, N)
    assert common not in (N, M)
    # Of sizes that are broadcast to each other again, nothing new comes.
    assert broadcast_dims(common, M) == common
    assert broadcast_dims(N, common) == common
    assert is_size(common)


def test_stretched_sizes_are_not_smaller() -> None:
    common = broadcast_dims(N, M)
    assert common is not None
    assert is_stretched((common, 3), (N, 3))
    assert is_stretched((common, N), (common, N))
    assert not is_stretched((N, 3), (common, 3))  # N may be 1
    assert not is_stretched((common,), (N + M,))
    assert not is_stretched((N, N), (N,))


@pytest.mark.parametrize("added", [0, 1])
def test_a_number_that_is_squared_again_and_again_stays_short(added: int) -> None:
    number: Dim = unknown("squared", is_size=True) * 3
    for _ in range(200):
        number = (number + added * unknown("more", is_size=True)) * (number + 0)
    assert isinstance(number, Formula)
    assert len(number.terms) <= 1 << 10
    assert number.is_size
    half = unknown("squared", is_size=True) * number
    assert half == number * unknown("squared", is_size=True)
