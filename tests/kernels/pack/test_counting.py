"""Bincount and DenseBincount, in both forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.errors import KernelError
from tests.kernels.pack.one_op import FORMS, run

pytestmark = pytest.mark.parametrize("form", FORMS)

NONE = np.zeros(0, np.float32)


def count(
    values: Any,
    size: int,
    weights: Any = NONE,
    *,
    form: str,
    op: str = "Bincount",
    constant: bool = True,
    **options: Any,
) -> Any:
    values = np.array(values, getattr(values, "dtype", np.int32))
    inputs = [values, np.array(size, values.dtype), weights]
    return run(op, inputs, [weights.dtype], options, form=form, constants=[1] if constant else [])[0]


@pytest.mark.parametrize("constant", [True, False])
def test_sizes(form: str, constant: bool) -> None:
    assert count([[1, 1], [3, 9]], 4, form=form, constant=constant).tolist() == [0, 2, 0, 1]
    assert count([], 2, form=form, constant=constant).tolist() == [0, 0]
    assert count(2, 3, form=form, constant=constant).tolist() == [0, 0, 1]
    assert count([1], 0, form=form, constant=constant).tolist() == []


def test_weights(form: str) -> None:
    large = np.array([2**60 + 1, 2, -5])
    assert count([1, 1, 0], 2, large, form=form).tolist() == [-5, 2**60 + 3]
    wrap = np.array([2**31 - 1, 1], np.int32)
    assert count([0, 0], 1, wrap, form=form).tolist() == [-(2**31)]


@pytest.mark.parametrize("constant", [True, False])
def test_rows(form: str, constant: bool) -> None:
    rows = np.array([[1, 1], [0, 7]])
    weights = np.array([[0.5, 2], [3, 4]], np.float32)

    def dense(weights: Any, **options: Any) -> Any:
        return count(rows, 3, weights, form=form, op="DenseBincount", constant=constant, **options).tolist()

    assert dense(NONE) == [[0, 2, 0], [1, 0, 0]]
    assert dense(weights) == [[0, 2.5, 0], [3, 0, 0]]
    assert dense(weights, binary_output=True) == [[0, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize("op", ["Bincount", "DenseBincount"])
@pytest.mark.parametrize("constant", [True, False])
def test_negative_numbers(form: str, op: str, constant: bool) -> None:
    with pytest.raises(KernelError, match=r"must not .*negative.* -1"):
        count([0, -1], 4, form=form, op=op, constant=constant)
    with pytest.raises(KernelError, match=r"size must not be negative.*-4"):
        count([0], -4, form=form, op=op, constant=constant)


@pytest.mark.parametrize("op", ["Bincount", "DenseBincount"])
def test_wrong_inputs(form: str, op: str) -> None:
    with pytest.raises(KernelError, match="weights must be"):
        count([0, 1], 4, np.ones(3, np.float32), form=form, op=op)
    with pytest.raises(KernelError, match=r"weights .*of .*float16"):
        count([0, 1], 4, np.ones(2, np.float16), form=form, op=op)
    with pytest.raises(KernelError, match=r"(arr|input) .*of .*float32"):
        count(np.ones(2, np.float32), 4, form=form, op=op)
    with pytest.raises(KernelError, match="size must be a scalar of int32"):
        run(op, [np.ones(2, np.int32), np.array([4], np.int32), NONE], [np.float32], form=form)


def test_wrong_shapes_of_dense_bincount(form: str) -> None:
    with pytest.raises(KernelError, match="input must be of rank 0 to 2"):
        count(np.ones((1, 1, 1), np.int32), 4, form=form, op="DenseBincount")
    with pytest.raises(KernelError, match="weights must be of the shape of input"):
        count([[0, 1]], 4, np.ones(2, np.float32), form=form, op="DenseBincount")
