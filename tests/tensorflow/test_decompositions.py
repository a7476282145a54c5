"""Rewritings of ops that LiteRT lacks: converted models in the stock interpreter against TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check_calls, op_histogram, run_calls
from tests.tensorflow.converted_ops import Case, always, check_cases, integers, uniform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tensorflow.process import TensorFlow

F, INT = "float32", "int32"


def test_cross(tensorflow: TensorFlow) -> None:
    cases = [
        Case("Cross", [((None, 3), F)] * 2),
        Case("Cross", [((3,), F)] * 2),
        Case("Cross", [((None, 2, 3), INT)] * 2),
        Case("Cross", [((None, None, 4, 2, 3), F)] * 2),
    ]
    check_cases(tensorflow, cases)


def test_linspace(tensorflow: TensorFlow) -> None:
    scalar = ((), F)
    cases = [Case("LinSpace", [scalar, scalar, np.int32(count)]) for count in (1, 2, 7, 50)]
    cases += [Case("LinSpace", [scalar, scalar, ((), dtype)], values={2: integers(1, 9)}) for dtype in (INT, "int64")]
    cases += [Case("LinSpace", [scalar, scalar, ((), INT)], values={2: always(1)})]
    result = check_cases(tensorflow, cases)
    for start, stop in ((0.1, 0.7), (3.0, -1e-3)):
        inputs = {"x0": np.array(start, F), "x1": np.array(stop, F)}
        (answer,) = run_calls(result.model_bytes, [("c3", inputs)])
        assert answer["y0"][-1] == np.float32(stop)


def test_unravel_index(tensorflow: TensorFlow) -> None:
    dims = np.array([3, 4, 5], np.int32)
    cases = [
        Case("UnravelIndex", [((None,), INT), dims], values={0: integers(0, 60)}),
        Case("UnravelIndex", [((), INT), dims], values={0: integers(0, 60)}),
        Case("UnravelIndex", [((None,), INT), ((3,), INT)], values={0: integers(0, 8), 1: integers(2, 5)}),
    ]
    check_cases(tensorflow, cases)


def test_roll(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(3)
    cases = [
        Case("Roll", [((None, 4, 3), F), np.int32(1), np.int32(-1)]),
        Case("Roll", [((None, 4, 3), F), np.array([2, -7, 1], np.int32), np.array([0, 1, 1], np.int32)]),
        Case("Roll", [((None, 4, 3), "int64"), ((), INT), np.int32(1)], values={1: integers(-9, 9)}),
        Case("Roll", [((None, 4), F), ((2,), "int64"), np.array([0, -1])], values={1: integers(-9, 9)}),
        Case("Roll", [((None, 4), "bool"), np.int32(3), np.int32(0)], values={0: integers(0, 2)}),
        Case("Roll", [((2, None, 2, 2, 2, 3), F), np.int32(-4), np.int32(1)]),
        Case("Roll", [((None, 0, 2), F), np.int32(1), np.int32(1)]),
    ]
    for _ in range(8):
        rank = int(random.integers(1, 5))
        shape = (None, *random.integers(1, 5, rank - 1).tolist())
        count = int(random.integers(1, 4))
        shift, axes = random.integers(-6, 6, count), random.integers(-rank, rank, count)
        cases.append(Case("Roll", [(shape, INT), shift.astype(INT), axes.astype(INT)]))
    check_cases(tensorflow, cases, rtol=0.0)


@pytest.mark.parametrize("op", ["MaxPool3D", "AvgPool3D"])
def test_pool_3d(tensorflow: TensorFlow, op: str) -> None:
    random = np.random.default_rng(4)
    cases: list[Case] = []
    for number in range(12):
        ksize, strides = random.integers(1, 4, 3).tolist(), random.integers(1, 4, 3).tolist()
        if number % 2:
            # TensorFlow's own kernels disagree about SAME where windows lie apart: Eigen's center them.
            strides = [min(pair) for pair in zip(ksize, strides, strict=True)]
        sizes = random.integers(3, 8, 3).tolist()
        padding = "SAME" if number % 2 else "VALID"
        attributes = {"ksize": [1, *ksize, 1], "strides": [1, *strides, 1], "padding": padding}
        cases.append(Case(op, [((None, *sizes, 2), F)], attributes))
    attributes = {"ksize": [1, 2, 3, 2, 1], "strides": [1, 2, 1, 2, 1], "padding": "SAME"}
    cases.append(Case(op, [((None, None, 5, None, 2), F)], attributes, open_sizes=(2, 5)))
    check_cases(tensorflow, cases)


def test_bincount(tensorflow: TensorFlow) -> None:
    none = np.zeros(0, np.float32)
    count = {0: integers(0, 9)}
    cases = [
        Case("Bincount", [((None,), INT), np.int32(6), none], values=count, open_sizes=(1, 20)),
        Case("Bincount", [((None, 3), INT), np.int32(10), np.zeros(0, np.int32)], values=count),
        Case(
            "Bincount",
            [((None,), INT), ((), INT), ((None,), F)],
            values=count | {1: integers(1, 9)},
            open_sizes=(1, 20),
        ),
        Case("Bincount", [((None,), INT), np.int32(6), ((None,), "int64")], values=count, open_sizes=(2, 20)),
    ]
    for dtype in (INT, "int64"):
        for binary in (False, True):
            size, flag = np.array(7, dtype), {"binary_output": binary}
            dense = "DenseBincount"
            cases += [
                Case(dense, [((None,), dtype), size, none], flag, values=count, open_sizes=(1, 20)),
                Case(dense, [((None, None), dtype), size, none], flag, values=count, open_sizes=(1, 4)),
                Case(dense, [((None, 5), dtype), size, ((None, 5), F)], flag, values=count),
                Case(dense, [((2, 5), dtype), ((), dtype), ((2, 5), INT)], flag, values=count | {1: integers(1, 9)}),
            ]
    check_cases(tensorflow, cases)


def test_erf(tensorflow: TensorFlow) -> None:
    cases = [
        Case("Erf", [((None, 3), F)]),
        Case("Erf", [((), F)]),
        Case("Erf", [((10001,), F)], values={0: always(np.linspace(-6, 6, 10001))}, open_sizes=(1,)),
    ]
    check_cases(tensorflow, cases, rtol=1e-6)


def test_integers_and_tan(tensorflow: TensorFlow) -> None:
    cases = [
        Case("Abs", [((None, 3), "int64")], values={0: integers(-(2**60), 2**60)}),
        Case("Sign", [((None, 30), "int64")], values={0: integers(-2, 3)}),
        Case("Tan", [((None, 3), F)], values={0: uniform(-1.4, 1.4)}),
    ]
    check_cases(tensorflow, cases)


def patch_attributes(random: np.random.Generator, padding: str, *names: str) -> dict[str, Any]:
    return {name: [1, *random.integers(1, 4, 2).tolist(), 1] for name in names} | {"padding": padding}


def test_extract_image_patches(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(6)
    cases: list[Case] = []
    for number in range(20):
        attributes = patch_attributes(random, "SAME" if number % 2 else "VALID", "ksizes", "strides", "rates")
        shape = [(None, 9, 8, 2), (None, None, None, 3)][number % 3 // 2]
        dtype = ("float32", "uint8", "int32", "int64", "int8", "float64", "int16")[number % 7]
        cases.append(
            Case(
                "ExtractImagePatches",
                [(shape, dtype)],
                attributes,
                values={0: integers(0, 100)},
                outcome="composite",
                open_sizes=(9, 11) if shape[1] is None else (1, 3),
            )
        )
    check_cases(tensorflow, cases, rtol=0.0)


def test_max_pool_with_argmax(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(7)
    cases: list[Case] = []
    for number in range(16):
        attributes = patch_attributes(random, "SAME" if number % 2 else "VALID", "ksize", "strides") | {
            "include_batch_in_index": bool(number & 2),
            "Targmax": INT if number & 4 else "int64",
        }
        shape = (None, None, None, 3) if number >= 12 else (None, 7, 8, 2)
        cases.append(
            Case(
                "MaxPoolWithArgmax",
                [(shape, F)],
                attributes,
                # Few different numbers make ties.
                values={0: integers(-3, 3)} if number & 1 else {},
                outcome="composite",
                open_sizes=(5, 6) if number >= 12 else (1, 3),
            )
        )
    check_cases(tensorflow, cases, rtol=0.0)


def test_cumprod(tensorflow: TensorFlow) -> None:
    cases = [
        Case(
            "Cumprod",
            [(shape, dtype), np.int32(axis)],
            {"exclusive": exclusive, "reverse": reverse},
            outcome="composite",
        )
        for shape, axis in (
            ((None, 7), 1),
            ((None, 5, None), -2),
            ((4,), 0),
            ((None, 1), -1),
            ((2, 2, 3, 2, 2, None), 2),
        )
        for dtype in (F, INT)
        for exclusive in (False, True)
        for reverse in (False, True)
    ]
    check_cases(tensorflow, cases)


def test_crop_and_resize(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(8)
    values = {
        1: uniform(-0.3, 1.3),
        2: integers(0, 2),
        3: integers(1, 6),
    }
    cases: list[Case] = []
    for number in range(16):
        size = random.integers(1, 6, 2).astype(INT)
        attributes = {
            "method": ("bilinear", "nearest")[number % 2],
            "extrapolation_value": float((0.0, -2.5)[number // 2 % 2]),
        }
        image = ((2, None, None, 3) if number & 4 else (2, 7, 8, 2), (F, "uint8", INT)[number % 3])
        crop = ((2,), INT) if number >= 12 else size
        cases.append(
            Case(
                "CropAndResize",
                [image, ((None, 4), F), ((None,), INT), crop],
                attributes,
                values=values | {0: integers(0, 100)},
                outcome="composite",
                open_sizes=(1, 6),
            )
        )
    check_cases(tensorflow, cases)


def clipped_boxes(random: np.random.Generator, shape: Sequence[int]) -> Any:
    """Boxes that end with the image, as those of detectors do that are clipped to it."""
    boxes = random.uniform(0, 0.6, shape)
    boxes[:, 2:] = 1.0
    return boxes


def test_crops_up_to_the_border_of_the_image(tensorflow: TensorFlow) -> None:
    cases = [
        Case(
            "CropAndResize",
            [((1, 38, 50, 2), F), ((200, 4), F), np.zeros(200, INT), np.array([size, size + 1], INT)],
            {"method": "bilinear", "extrapolation_value": -1e3},
            values={0: uniform(0, 1), 1: clipped_boxes},
            outcome="composite",
        )
        for size in (7, 14, 27, 28)
    ]
    check_cases(tensorflow, cases)


def in_loop(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 3], "float32", name="x"), tf.TensorSpec([], "int32", name="n")])
    def serve(x: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = tf.roll(x, [1], [1]) + tf.math.cumprod(tf.linalg.cross(x, x + 1.0), 1)
        return {"y": tf.cond(n > 2, lambda: tf.math.erf(x), lambda: x)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_in_loops_and_branches(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(in_loop)
    random = np.random.default_rng(9)
    calls = [
        ("serving_default", {"x": random.standard_normal((batch, 3)).astype(F), "n": np.array(n, INT)})
        for batch, n in ((1, 2), (3, 3), (3, 3), (1, 0))
    ]
    check_calls(tensorflow, path, calls, allow_custom_ops="never")


def spectrum_of_real_numbers(tf: Any) -> Any:
    """The engine would take it for RFFT, whose result is half as long."""

    @tf.function(input_signature=[tf.TensorSpec((None, 8), tf.float32, name="x")])
    def serve(x: Any) -> Any:
        spectrum = tf.signal.fft(tf.cast(x, tf.complex64))
        return {"real": tf.math.real(spectrum), "shifted": tf.abs(tf.signal.fftshift(spectrum, axes=[1]))}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


def test_the_whole_spectrum_of_real_numbers(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(6)
    calls = [("serving_default", {"x": random.standard_normal((n, 8)).astype(np.float32)}) for n in (2, 2, 1)]
    check_calls(tensorflow, tensorflow.save(spectrum_of_real_numbers), calls)


def grouped_filter_gradient(tf: Any) -> Any:
    specs = [tf.TensorSpec((None, 5, 4, 6), tf.float32, name="x"), tf.TensorSpec((None, 4, 2, 4), tf.float32, name="y")]

    @tf.function(input_signature=specs)
    def serve(x: Any, y: Any) -> Any:
        attributes = {"strides": [1, 1, 1, 1], "padding": "VALID"}
        return {"w": tf.raw_ops.Conv2DBackpropFilter(input=x, filter_sizes=[2, 3, 3, 4], out_backprop=y, **attributes)}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


def test_the_gradient_of_a_filter_of_groups(tensorflow: TensorFlow) -> None:
    """TensorFlow computes it with oneDNN only; so it is compared with its definition."""
    model = litefuse.convert(tensorflow.save(grouped_filter_gradient)).model_bytes
    random = np.random.default_rng(3)
    for batch in (2, 1, 2):
        x = random.standard_normal((batch, 5, 4, 6)).astype(np.float32)
        y = random.standard_normal((batch, 4, 2, 4)).astype(np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(x, (2, 3), axis=(1, 2))
        groups = zip(np.split(windows, 2, axis=3), np.split(y, 2, axis=3), strict=True)
        expected = np.concatenate([np.einsum("bijcrs,bijk->rsck", *group) for group in groups], axis=3)
        ((actual,),) = (each.values() for each in run_calls(model, [("serving_default", {"x": x, "y": y})]))
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def alike(tf: Any, count: int) -> Any:
    """Many equal ops, and two equal composites whose batches differ at run time."""
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 3], "float32", name="x")])
    def serve(x: Any) -> Any:
        y = x
        for _ in range(count):
            y = tf.math.erf(y) + x
        twice = tf.concat([x, x + 1.0, x], 0)
        return {"y": y, "short": tf.math.cumprod(x, 1), "long": tf.math.cumprod(twice, 1)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_ops_that_are_alike_share_one_rewriting(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(alike, 40)
    random = np.random.default_rng(10)
    calls = [("serving_default", {"x": random.standard_normal((batch, 3)).astype(F)}) for batch in (1, 4, 4, 2)]
    result = check_calls(tensorflow, path, calls, allow_custom_ops="never")
    graphs = {graph for graph, _ in op_histogram(result.model_bytes)}
    assert graphs == {"main", "Cumprod.decomposition.0"}
    assert {(each.op, each.outcome, each.count) for each in result.report.lacking_ops} == {
        ("Cumprod", "composite", 2),
        ("Erf", "rewritten", 40),
    }
