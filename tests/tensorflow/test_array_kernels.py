"""Cross, Cumprod, Erf, LinSpace, Roll and UnravelIndex against TensorFlow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels.pack.one_op import FORMS
from tests.tensorflow.raw_ops import Case, check_cases, draw, numbers

if TYPE_CHECKING:
    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

INTEGERS: list[npt.DTypeLike] = [
    *(np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64),
]
FLOATS: list[npt.DTypeLike] = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
COMPLEX: list[npt.DTypeLike] = [np.complex64, np.complex128]
TOLERANCES = {"float32": 1e-6, "float64": 1e-14, "complex64": 1e-6, "complex128": 1e-14}
SEEDS = st.integers(0, 2**32 - 1)
SHAPES = st.lists(st.integers(0, 5), min_size=1, max_size=4)
INDEX_DTYPES: st.SearchStrategy[npt.DTypeLike] = st.sampled_from([np.int32, np.int64])


@pytest.mark.parametrize("form", FORMS)
def test_cross(tensorflow: TensorFlow, form: str) -> None:
    def case(shape: list[int], dtype: Any, seed: int) -> Case:
        return Case({"a": numbers([*shape, 3], dtype, seed), "b": numbers([*shape, 3], dtype, seed + 1)})

    cases = draw(st.builds(case, SHAPES, st.sampled_from(INTEGERS + FLOATS), SEEDS))

    assert len(cases) >= 50
    assert check_cases(tensorflow, "Cross", cases, form=form, tolerances=TOLERANCES) == 0


@pytest.mark.parametrize("form", FORMS)
def test_cumprod(tensorflow: TensorFlow, form: str) -> None:
    def case(
        shape: list[int], axis: int, axis_dtype: Any, dtype: Any, seed: int, attributes: dict[str, bool], constant: bool
    ) -> Case:
        x = numbers(shape, dtype, seed, low=-3, high=4)
        return Case({"x": x, "axis": np.array(axis, axis_dtype)}, attributes, (1,) if constant else ())

    attributes = st.fixed_dictionaries({"exclusive": st.booleans(), "reverse": st.booleans()})
    dtypes = st.sampled_from(INTEGERS + FLOATS + COMPLEX)
    cases = draw(
        st.builds(case, SHAPES, st.integers(-4, 4), INDEX_DTYPES, dtypes, SEEDS, attributes, st.booleans()), 200
    )

    refused = check_cases(tensorflow, "Cumprod", cases, form=form, tolerances=TOLERANCES)

    assert 20 < refused < len(cases) - 50


@pytest.mark.parametrize("form", FORMS)
def test_erf(tensorflow: TensorFlow, form: str) -> None:
    def case(shape: list[int], dtype: Any, seed: int) -> Case:
        return Case({"x": numbers(shape, dtype, seed, low=-5, high=5)})

    cases = draw(st.builds(case, SHAPES, st.sampled_from(FLOATS), SEEDS))
    # TensorFlow's function of float64 makes NaN of infinities.
    cases += [Case({"x": np.array([np.inf, -np.inf, 0, 1e-30, 30], dtype)}) for dtype in FLOATS[:3]]

    assert len(cases) >= 50
    assert check_cases(tensorflow, "Erf", cases, form=form, tolerances=TOLERANCES) == 0


@pytest.mark.parametrize("form", FORMS)
def test_lin_space(tensorflow: TensorFlow, form: str) -> None:
    def case(start: float, stop: float, dtype: Any, num: int, num_dtype: Any, constant: bool) -> Case:
        inputs = {"start": np.array(start, dtype), "stop": np.array(stop, dtype), "num": np.array(num, num_dtype)}
        return Case(inputs, {}, (2,) if constant else ())

    ends = st.floats(-1000, 1000, width=32)
    cases = draw(
        st.builds(
            case,
            ends,
            ends,
            st.sampled_from([np.float32, np.float64]),
            st.integers(-1, 40),
            INDEX_DTYPES,
            st.booleans(),
        ),
        150,
    )
    cases += [case(start, math.inf, np.float32, 3, np.int32, constant=False) for start in (1.0, -math.inf)]

    refused = check_cases(tensorflow, "LinSpace", cases, form=form, tolerances=TOLERANCES)

    assert 1 < refused < len(cases) - 50


@pytest.mark.parametrize("form", FORMS)
def test_roll(tensorflow: TensorFlow, form: str) -> None:
    def case(
        shape: list[int],
        dtype: Any,
        moves: list[tuple[int, int]],
        dtypes: tuple[Any, Any],
        seed: int,
        constants: tuple[int, ...],
    ) -> Case:
        shift: Any = np.array([by for by, _ in moves], dtypes[0])
        axis: Any = np.array([along for _, along in moves], dtypes[1])
        if len(moves) == 1 and seed % 2:
            shift, axis = shift[0], axis[0]
        values = numbers(shape, dtype, seed)
        return Case({"input": values, "shift": np.array(shift), "axis": np.array(axis)}, {}, constants)

    moves = st.lists(st.tuples(st.integers(-12, 12) | st.just(-(2**31)), st.integers(-3, 2)), max_size=4)
    dtypes = st.sampled_from([*INTEGERS, *FLOATS, *COMPLEX, np.bool_])
    cases = draw(
        st.builds(
            case,
            SHAPES,
            dtypes,
            moves,
            st.tuples(INDEX_DTYPES, INDEX_DTYPES),
            SEEDS,
            st.sampled_from([(), (1, 2)]),
        ),
        200,
    )

    refused = check_cases(tensorflow, "Roll", cases, form=form)

    assert 20 < refused < len(cases) - 50


@pytest.mark.parametrize("form", FORMS)
def test_unravel_index(tensorflow: TensorFlow, form: str) -> None:
    def case(dims: list[int], count: int, above: int, dtype: Any, seed: int) -> Case:
        top = max(math.prod(dims) + above, 1)
        indices = numbers([count] if count else [], dtype, seed, low=0, high=top)
        return Case({"indices": np.array(indices), "dims": np.array(dims, dtype)})

    cases = draw(
        st.builds(
            case,
            st.lists(st.integers(1, 9) | st.sampled_from([1, 3, 1, 5, 0, -1]), max_size=5),
            st.integers(0, 6),
            st.sampled_from([0, 0, 0, 5]),
            INDEX_DTYPES,
            SEEDS,
        ),
        150,
    )
    large = np.array([65536, 65536], np.int32)
    cases += [Case({"indices": np.array([1], np.int32), "dims": large})]
    cases += [Case({"indices": np.array([2**31 + 5]), "dims": large.astype(np.int64)})]

    refused = check_cases(tensorflow, "UnravelIndex", cases, form=form)

    assert 5 < refused < len(cases) - 50
