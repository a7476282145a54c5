"""The kernel of ``ExtractImagePatches`` against TensorFlow's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from litefuse.errors import KernelError
from tests.kernels.pack.one_op import FORMS
from tests.kernels.pack.test_extract_image_patches import Patches, run

if TYPE_CHECKING:
    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow


def extract(tf: Any, cases: list[tuple[npt.NDArray[Any], dict[str, Any]]]) -> list[npt.NDArray[Any] | None]:
    """What TensorFlow gives for each case; None where it refuses."""
    results: list[npt.NDArray[Any] | None] = []
    for images, options in cases:
        try:
            results.append(tf.raw_ops.ExtractImagePatches(images=images, **options).numpy())
        except tf.errors.InvalidArgumentError:
            results.append(None)
    return results


def arguments(patches: Patches) -> dict[str, Any]:
    return {name: value for name, value in patches.options.items() if name != "T"}


@pytest.mark.parametrize("form", FORMS)
def test_random_cases(tensorflow: TensorFlow, form: str) -> None:
    generator = np.random.default_rng(0)

    def pair() -> tuple[int, int]:
        rows, cols = generator.integers(1, 5, 2).tolist()
        return rows, cols

    cases: list[tuple[npt.NDArray[Any], Patches]] = []
    for number in range(300):
        shape = (*generator.integers(1, [3, 12, 12, 4]).tolist(),)
        images = generator.integers(-100, 100, shape).astype(np.float32)
        cases.append((images, Patches(pair(), pair(), pair(), "SAME" if number % 2 else "VALID")))

    expected = tensorflow.call(extract, [(images, arguments(patches)) for images, patches in cases])

    refused = 0
    for (images, patches), result in zip(cases, expected, strict=True):
        if result is None:
            refused += 1
            with pytest.raises(KernelError, match="does not fit"):
                run(images, patches, form=form)
        else:
            np.testing.assert_array_equal(run(images, patches, form=form), result, err_msg=f"{images.shape} {patches}")
    assert 5 < refused < 150


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64", "float16", "float64", "complex64"]
)
def test_dtypes(tensorflow: TensorFlow, dtype: str, form: str) -> None:
    images = np.random.default_rng(1).integers(0, 100, (2, 6, 7, 3)).astype(dtype)
    patches = Patches((3, 2), (2, 1), (1, 2), "SAME")

    (expected,) = tensorflow.call(extract, [(images, arguments(patches))])

    np.testing.assert_array_equal(run(images, patches, form=form), expected)
