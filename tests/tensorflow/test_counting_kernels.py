"""Bincount and DenseBincount against TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels.pack.one_op import FORMS
from tests.tensorflow.raw_ops import Case, check_cases, draw, numbers

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

TOLERANCES = {"float32": 1e-5, "float64": 1e-12}
WEIGHTS = st.sampled_from(["int32", "int64", "float32", "float64"])
SEEDS = st.integers(0, 2**32 - 1)
LOWEST = st.sampled_from([0, 0, 0, 0, -1])
WEIGHTED = st.sampled_from(["all", "none", "all", "none", "too few"])


def weights(shape: list[int], dtype: str, weighted: str, seed: int) -> np.ndarray:
    match weighted:
        case "all":
            return numbers(shape, dtype, seed)
        case "none":
            return np.zeros([0], dtype)
        case _:
            return numbers([int(np.prod(shape)) + 1], dtype, seed)


@pytest.mark.parametrize("form", FORMS)
def test_bincount(tensorflow: TensorFlow, form: str) -> None:
    def case(
        shape: list[int], lowest: int, size: int, dtype: str, weighted: str, seed: int, constants: tuple[int, ...]
    ) -> Case:
        inputs = {"arr": numbers(shape, "int32", seed, low=lowest, high=12), "size": np.array(size, np.int32)}
        return Case(inputs | {"weights": weights(shape, dtype, weighted, seed)}, {}, constants)

    cases = draw(
        st.builds(
            case,
            st.lists(st.integers(0, 6), max_size=3),
            LOWEST,
            st.integers(0, 15),
            WEIGHTS,
            WEIGHTED,
            SEEDS,
            st.sampled_from([(), (1,)]),
        ),
        150,
    )

    refused = check_cases(tensorflow, "Bincount", cases, form=form, tolerances=TOLERANCES)

    assert 5 < refused < len(cases) - 50


@pytest.mark.parametrize("form", FORMS)
def test_dense_bincount(tensorflow: TensorFlow, form: str) -> None:
    def case(
        shape: list[int],
        lowest: int,
        size: int,
        dtypes: tuple[str, str],
        weighted: str,
        seed: int,
        constants: tuple[int, ...],
        binary: bool,
    ) -> Case:
        inputs = {"input": numbers(shape, dtypes[0], seed, low=lowest, high=12), "size": np.array(size, dtypes[0])}
        given = weights(shape, dtypes[1], weighted, seed)
        return Case(inputs | {"weights": given}, {"binary_output": binary}, constants)

    cases = draw(
        st.builds(
            case,
            st.lists(st.integers(0, 6), max_size=2),
            LOWEST,
            st.integers(0, 15),
            st.tuples(st.sampled_from(["int32", "int64"]), WEIGHTS),
            WEIGHTED,
            SEEDS,
            st.sampled_from([(), (1,)]),
            st.booleans(),
        ),
        150,
    )

    refused = check_cases(tensorflow, "DenseBincount", cases, form=form, tolerances=TOLERANCES)

    assert 5 < refused < len(cases) - 50


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", ["Bincount", "DenseBincount"])
def test_negative_sizes(tensorflow: TensorFlow, op: str, form: str) -> None:
    values = "arr" if op == "Bincount" else "input"
    inputs = {values: np.array([1, 2], np.int32), "size": np.array(-1, np.int32), "weights": np.zeros(0, np.float32)}
    cases = [Case(inputs, {}, constants) for constants in ((), (1,))]

    assert check_cases(tensorflow, op, cases, form=form) == 2
