"""Inverse, determinant, Cholesky factor and triangular systems against TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels.pack.one_op import FORMS
from tests.tensorflow.checking import check, op_histogram
from tests.tensorflow.raw_ops import Case, check_cases, draw, numbers

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

TOLERANCES = {"float32": 1e-5, "float64": 1e-12, "complex64": 1e-5, "complex128": 1e-12}
HALF = {"float16": 2e-2}  # TensorFlow computes the inverse with 16 bits throughout
DTYPES = st.sampled_from(["float32", "float64", "complex64", "complex128"])
BATCHES = st.lists(st.integers(0, 3), max_size=4)
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(0, 7)


def well_conditioned(shape: list[int], dtype: str, seed: int) -> Any:
    """Random matrices with a heavy diagonal, in any order of rows: a pivot must be looked for."""
    size = shape[-1]
    values = numbers(shape, dtype, seed, low=-1, high=1) + 2 * size * np.eye(size)
    return values[..., np.random.default_rng(seed).permutation(size), :].astype(dtype)


@pytest.mark.parametrize("form", FORMS)
def test_inverse(tensorflow: TensorFlow, form: str) -> None:
    def case(batch: list[int], size: int, dtype: str, seed: int, adjoint: bool) -> Case:
        return Case({"input": well_conditioned([*batch, size, size], dtype, seed)}, {"adjoint": adjoint})

    cases = draw(st.builds(case, BATCHES, SIZES, DTYPES, SEEDS, st.booleans()))

    assert len(cases) >= 50
    assert check_cases(tensorflow, "MatrixInverse", cases, form=form, tolerances=TOLERANCES) == 0


@pytest.mark.parametrize("form", FORMS)
def test_inverse_in_half_precision(tensorflow: TensorFlow, form: str) -> None:
    cases = [
        Case({"input": well_conditioned([2, 3, 3], "float16", seed)}, {"adjoint": seed % 2 > 0}) for seed in range(5)
    ]

    assert check_cases(tensorflow, "MatrixInverse", cases, form=form, tolerances=HALF) == 0


@pytest.mark.parametrize("form", FORMS)
def test_inverse_of_singular_matrices(tensorflow: TensorFlow, form: str) -> None:
    singular = [np.zeros((1, 1)), np.zeros((3, 3)), np.ones((2, 2)), np.diag([1.0, 2.0, 0.0])]
    singular.append(np.stack([np.eye(2), np.ones((2, 2))]))
    cases = [Case({"input": each.astype(dtype)}) for each in singular for dtype in TOLERANCES]

    assert check_cases(tensorflow, "MatrixInverse", cases, form=form) == len(cases)


@pytest.mark.parametrize("form", FORMS)
def test_solve(tensorflow: TensorFlow, form: str) -> None:
    def case(batch: list[int], size: int, columns: int, dtype: str, seed: int, adjoint: bool) -> Case:
        matrix = well_conditioned([*batch, size, size], dtype, seed)
        rhs = numbers([*batch, size, columns], dtype, seed + 1)
        return Case({"matrix": matrix, "rhs": rhs}, {"adjoint": adjoint})

    cases = draw(st.builds(case, BATCHES, SIZES, st.integers(0, 4), DTYPES, SEEDS, st.booleans()))
    singular = {"matrix": np.ones((2, 3, 3), np.float32), "rhs": np.ones((2, 3, 1), np.float32)}

    assert len(cases) >= 50
    assert check_cases(tensorflow, "MatrixSolve", cases, form=form, tolerances=TOLERANCES) == 0
    assert check_cases(tensorflow, "MatrixSolve", [Case(singular)], form=form) == 1


@pytest.mark.parametrize("form", FORMS)
def test_determinant(tensorflow: TensorFlow, form: str) -> None:
    def case(batch: list[int], size: int, dtype: str, seed: int) -> Case:
        return Case({"input": well_conditioned([*batch, size, size], dtype, seed)})

    cases = draw(st.builds(case, BATCHES, SIZES, DTYPES, SEEDS))
    cases += [Case({"input": np.zeros((2, 3, 3), np.float32)}), Case({"input": np.full((2, 2), np.nan, np.float32)})]
    cases += [Case({"input": (np.eye(2) * 1e30).astype(np.float32)})]

    assert len(cases) >= 50
    assert check_cases(tensorflow, "MatrixDeterminant", cases, form=form, tolerances=TOLERANCES) == 0


@pytest.mark.parametrize("form", FORMS)
def test_cholesky(tensorflow: TensorFlow, form: str) -> None:
    def case(batch: list[int], size: int, dtype: str, seed: int) -> Case:
        factor = numbers([*batch, size, size], dtype, seed, low=-1, high=1)
        matrices = factor @ factor.swapaxes(-1, -2).conj() + size * np.eye(size)
        # What stands above the diagonal is not read, nor are imaginary parts on it.
        matrices += np.triu(np.full((size, size), 99.0), 1)
        if dtype.startswith("complex"):
            matrices += 7j * np.eye(size)
        return Case({"input": matrices.astype(dtype)})

    cases = draw(st.builds(case, BATCHES, SIZES, DTYPES, SEEDS))

    assert len(cases) >= 50
    assert check_cases(tensorflow, "Cholesky", cases, form=form, tolerances=TOLERANCES) == 0


@pytest.mark.parametrize("form", FORMS)
def test_triangular_systems(tensorflow: TensorFlow, form: str) -> None:
    def case(
        batch: list[int],
        ones: list[list[bool]],
        skip: tuple[int, int],
        size: int,
        columns: int,
        dtype: str,
        seed: int,
        attributes: dict[str, bool],
    ) -> Case:
        """Batches that broadcast: some sizes are 1, some dimensions are missing."""
        batches = [
            [1 if one and count else count for count, one in zip(batch, flags, strict=False)][missing:]
            for flags, missing in zip(ones, skip, strict=True)
        ]
        matrix = numbers([*batches[0], size, size], dtype, seed, low=-1, high=1) + 2 * size * np.eye(size)
        rhs = numbers([*batches[1], size, columns], dtype, seed + 1)
        return Case({"matrix": matrix.astype(dtype), "rhs": rhs}, attributes)

    flags = st.lists(st.booleans(), min_size=4, max_size=4)
    cases = draw(
        st.builds(
            case,
            st.lists(st.integers(0, 3), max_size=3),
            st.lists(flags, min_size=2, max_size=2),
            st.tuples(st.integers(0, 1), st.integers(0, 1)),
            SIZES,
            st.integers(0, 4),
            DTYPES,
            SEEDS,
            st.fixed_dictionaries({"lower": st.booleans(), "adjoint": st.booleans()}),
        ),
        120,
    )

    assert len(cases) >= 50
    assert check_cases(tensorflow, "MatrixTriangularSolve", cases, form=form, tolerances=TOLERANCES) == 0


@pytest.mark.parametrize("form", FORMS)
def test_systems_without_a_solution(tensorflow: TensorFlow, form: str) -> None:
    rhs = np.array([[1.0], [2.0]], np.float32)
    cases = [
        Case({"matrix": np.array(matrix, np.float32), "rhs": rhs}, {"lower": lower})
        for matrix in ([[0, 0], [2, 5]], [[1, 0], [2, 0]], [[np.nan, 1], [2, 5]])
        for lower in (True, False)
    ]

    assert check_cases(tensorflow, "MatrixTriangularSolve", cases, form=form, tolerances=TOLERANCES) == 0


def decompositions(tf: Any) -> Any:
    """All ops of the family, in one model."""
    module = tf.Module()

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 4, 4], tf.float32, name="matrices"),
            tf.TensorSpec([None, 4, 2], tf.float32, name="rhs"),
        ]
    )
    def serve(matrices: Any, rhs: Any) -> Any:
        definite = tf.matmul(matrices, matrices, transpose_b=True) + 4.0 * tf.eye(4)
        factor = tf.raw_ops.Cholesky(input=definite)
        return {
            "adjoint_inverse": tf.raw_ops.MatrixInverse(input=definite + matrices, adjoint=True),
            "determinant": tf.raw_ops.MatrixDeterminant(input=definite * 0.1),
            "factor": factor,
            "inverse": tf.linalg.inv(definite),
            "general_solution": tf.linalg.solve(definite + matrices, rhs),
            "solution": tf.linalg.triangular_solve(factor, rhs),
            "upper_solution": tf.linalg.triangular_solve(factor, rhs, adjoint=True),
        }

    module.serve = serve
    return module, {"serving_default": serve}


def test_converted_model(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(1)
    inputs = [
        {
            "matrices": random.standard_normal((batch, 4, 4)).astype(np.float32),
            "rhs": random.standard_normal((batch, 4, 2)).astype(np.float32),
        }
        for batch in (1, 3, 1)
    ]

    result = check(tensorflow, tensorflow.save(decompositions), inputs, kernel_pack=True)
    assert op_histogram(result.model_bytes)["main", "STABLEHLO_COMPOSITE"] == 7
    check(tensorflow, tensorflow.save(decompositions), inputs)
