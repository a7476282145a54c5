"""Inverse Fourier transforms to real numbers against TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.kernels.pack.one_op import FORMS
from tests.tensorflow.checking import check, normal, op_counts
from tests.tensorflow.raw_ops import Case, check_cases, draw, numbers

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

TOLERANCES = {"float32": 1e-5, "float64": 1e-12}
LENGTHS = st.integers(1, 30) | st.sampled_from([32, 37, 60, 64, 77, 97, 128, 210, 257, 360])


def transform(batch: list[int], lengths: list[int], more: list[int], double: bool, seed: int, constant: bool) -> Case:
    """A spectrum that is ``more`` numbers larger than it must be, or smaller."""
    needed = [*lengths[:-1], lengths[-1] // 2 + 1]
    sizes = [max(least + extra, 1) for least, extra in zip(needed, more, strict=False)]
    spectrum = numbers([*batch, *sizes], "complex128" if double else "complex64", seed)
    return Case(
        {"input": spectrum, "fft_length": np.array(lengths, np.int32)},
        {"Treal": "float64" if double else "float32"},
        (1,) if constant else (),
    )


def cases(rank: int) -> st.SearchStrategy[Case]:
    return st.builds(
        transform,
        st.lists(st.integers(0, 3), max_size=3),
        st.lists(LENGTHS if rank == 1 else st.integers(1, 16), min_size=rank, max_size=rank),
        st.lists(st.sampled_from([0, 0, 0, 1, 4, -1]), min_size=rank, max_size=rank),
        st.booleans(),
        st.integers(0, 2**32 - 1),
        st.booleans(),
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("op", "rank"), [("IRFFT", 1), ("IRFFT2D", 2)])
def test_random_cases(tensorflow: TensorFlow, op: str, rank: int, form: str) -> None:
    drawn = draw(cases(rank), 120)

    refused = check_cases(tensorflow, op, drawn, form=form, tolerances=TOLERANCES)

    assert 5 < refused < len(drawn) - 50


@pytest.mark.parametrize("form", FORMS)
def test_long_transforms(tensorflow: TensorFlow, form: str) -> None:
    """Powers of two, a product of small primes, a large prime, and twice one."""
    lengths = [4096, 5040, 4099, 8198]
    drawn = [transform([2], [length], [0], double, 3, constant=False) for length in lengths for double in (False, True)]

    assert check_cases(tensorflow, "IRFFT", drawn, form=form, tolerances=TOLERANCES) == 0


def inverse_transforms(tf: Any) -> Any:
    """Of a part of a spectrum, with constant lengths and with one that is computed."""
    module = tf.Module()

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 6, 10], tf.complex64, name="spectrum"),
            tf.TensorSpec([1], tf.int32, name="length"),
        ]
    )
    def serve(spectrum: Any, length: Any) -> Any:
        return {
            "computed": tf.raw_ops.IRFFT(input=spectrum, fft_length=length + 1),
            "line": tf.raw_ops.IRFFT(input=spectrum, fft_length=[18]),
            "plane": tf.raw_ops.IRFFT2D(input=spectrum, fft_length=[5, 17]),
        }

    module.serve = serve
    return module, {"serving_default": serve}


def test_converted_model(tensorflow: TensorFlow) -> None:
    inputs = [
        {"spectrum": numbers((batch, 6, 10), "complex64", batch), "length": np.array([length], np.int32)}
        for batch, length in ((1, 12), (3, 14), (1, 5))
    ]

    result = check(tensorflow, tensorflow.save(inverse_transforms), inputs, kernel_pack=True, allow_custom_ops=True)

    counts = op_counts(result.model_bytes)
    assert (counts["IRFFT"], counts["STABLEHLO_COMPOSITE"]) == (0, 3)


def transforms_of_known_lengths(tf: Any) -> Any:
    """Of other lengths than powers of two, which LiteRT's RFFT2D does not take."""
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 6, 10], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        spectra = {
            "line": tf.signal.rfft(x, [9]),
            "padded": tf.signal.rfft(x, [11]),
            "plane": tf.signal.rfft2d(x, [5, 7]),
            "alone": tf.signal.rfft(x[:, 0, 0, None]),
        }
        back = {
            "line_back": tf.signal.irfft(spectra["line"], [9]),
            "padded_back": tf.signal.irfft(spectra["padded"], [14]),
            "plane_back": tf.signal.irfft2d(spectra["plane"], [3, 6]),
            "alone_back": tf.signal.irfft(spectra["alone"], [1]),
        }
        return {name: tf.math.real(value) + 2 * tf.math.imag(value) for name, value in spectra.items()} | back

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("kernel_pack", [False, True])
def test_known_lengths_need_no_kernel(tensorflow: TensorFlow, *, kernel_pack: bool) -> None:
    path = tensorflow.save(transforms_of_known_lengths)

    result = check(tensorflow, path, normal({"x": (None, 6, 10)}), kernel_pack=kernel_pack)

    assert op_counts(result.model_bytes)["STABLEHLO_COMPOSITE"] == 4
    assert not result.report.custom_ops
