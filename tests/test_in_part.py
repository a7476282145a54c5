from __future__ import annotations

from tests.in_part import left_out


def test_most_cases_of_matrices_are_left_out() -> None:
    many = [f"tests/tensorflow/test_a.py::test_long[{case}]" for case in range(25)]
    few = [f"tests/tensorflow/test_a.py::test_short[{case}]" for case in range(2)]
    one = ["tests/tensorflow/test_a.py::test_single"]
    quick = [f"tests/kernels/test_a.py::test_long[{case}]" for case in range(25)]
    out = left_out([*many, *few, *one, *quick])
    assert len(out) == 23 + 1
    assert out < {*many, *few}
    assert left_out([*many, *few, *one, *quick]) == out
