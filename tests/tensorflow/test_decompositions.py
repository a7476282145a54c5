"""Rewritings of ops that LiteRT lacks: converted models in the stock interpreter against TensorFlow."""

from __future__ import annotations

import inspect
import runpy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pytest

import litefuse
from litefuse.errors import ConversionError, LitefuseError, UnsupportedOpsError
from litefuse.scaffold.project import new_project, read_op
from tests.tensorflow.checking import check, check_calls, custom_options, normal, op_counts, op_histogram, run_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

Make: TypeAlias = "Callable[[np.random.Generator, Sequence[int]], Any]"


@dataclass(frozen=True)
class Case:
    """One op: its attributes, its inputs (None for an open size) and constant operands.

    Attributes:
        op: The op's name.
        inputs: For each operand the signature's shape and dtype, or the value of a constant.
        attributes: The op's attributes.
        values: Makes an operand's value from (random, shape, dtype), by operand; others are normally distributed.
        outcome: What the report must say of it.
        open_sizes: What to put in place of the open sizes, in turn.
    """

    op: str
    inputs: Sequence[Any]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    values: Mapping[int, Make] = field(default_factory=dict[int, Make])
    outcome: str = "rewritten"
    open_sizes: Sequence[int] = (1, 3)


def ops(tf: Any, cases: Sequence[tuple[str, Sequence[Any], Mapping[str, Any]]]) -> Any:
    """A module with one signature for each case, c0, c1..., that calls the raw op."""
    module = tf.Module()
    signatures: dict[str, Any] = {}
    for number, (op, inputs, attributes) in enumerate(cases):
        function = one_op(tf, op, inputs, attributes)
        setattr(module, f"f{number}", function)
        signatures[f"c{number}"] = function.get_concrete_function()
    return module, signatures


def one_op(tf: Any, op: str, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    open_inputs = [cast("tuple[Any, str]", each) for each in inputs if isinstance(each, tuple)]
    specs = [tf.TensorSpec(shape, dtype, name=f"x{n}") for n, (shape, dtype) in enumerate(open_inputs)]
    raw_op = getattr(tf.raw_ops, op)
    keywords = {name: tf.as_dtype(value) if name == "Targmax" else value for name, value in attributes.items()}

    def serve(*args: Any) -> dict[str, Any]:
        remaining = iter(args)
        operands = [next(remaining) if isinstance(each, tuple) else tf.constant(each) for each in inputs]
        results = raw_op(**dict(zip(inspect.signature(raw_op).parameters, operands, strict=False)), **keywords)
        # An op with several results returns a named tuple.
        several = cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)
        return {f"y{index}": result for index, result in enumerate(several)}

    return tf.function(serve, input_signature=specs, autograph=False)


def calls_of(cases: Sequence[Case]) -> list[tuple[str, dict[str, npt.NDArray[Any]]]]:
    random = np.random.default_rng(5)
    calls: list[tuple[str, dict[str, npt.NDArray[Any]]]] = []
    for number, case in enumerate(cases):
        for size in case.open_sizes:
            inputs: dict[str, npt.NDArray[Any]] = {}
            for index, each in enumerate(case.inputs):
                if not isinstance(each, tuple):
                    continue
                open_shape, dtype = cast("tuple[Sequence[int | None], str]", each)
                key = f"x{len(inputs)}"
                shape = [size if n is None else n for n in open_shape]
                make = case.values.get(index)
                value = make(random, shape) if make else random.standard_normal(shape) * 3
                inputs[key] = np.asarray(value).astype(dtype)
            calls += [(f"c{number}", inputs)] * 2
    return calls


def check_cases(tensorflow: TensorFlow, cases: Sequence[Case], rtol: float = 1e-5) -> litefuse.ConversionResult:
    path = tensorflow.save(ops, [(case.op, case.inputs, case.attributes) for case in cases])
    result = check_calls(tensorflow, path, calls_of(cases), rtol=rtol, builtins_only=True)
    assert result.report.custom_ops == ()
    found = {(each.op, each.outcome) for each in result.report.lacking_ops}
    assert found == {(case.op, case.outcome) for case in cases if case.outcome != "builtin"}
    return result


def integers(low: int, high: int) -> Make:
    def make(random: np.random.Generator, shape: Sequence[int]) -> Any:
        return random.integers(low, high, shape)

    return make


def uniform(low: float, high: float) -> Make:
    def make(random: np.random.Generator, shape: Sequence[int]) -> Any:
        return random.uniform(low, high, shape)

    return make


def always(value: Any) -> Make:
    def make(random: np.random.Generator, shape: Sequence[int]) -> Any:
        return value

    return make


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
            # TensorFlow's own kernels disagree about SAME where windows lie apart: Eigen's centre them.
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


def lone(tf: Any, op: str, dtype: str) -> Any:
    return ops(tf, [(op, [((None, 3, 3), dtype)], {})])


def test_an_op_without_rewriting_or_kernel_is_refused_with_the_reason(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(lone, "Erf", "float64")
    with pytest.raises(UnsupportedOpsError) as caught:
        litefuse.convert(path, builtins_only=True)
    (op,) = caught.value.ops
    assert (op.op, op.operands) == ("Erf", ("float64[?,3,3]",))
    assert op.reason == "LiteRT's ops for it take float32, not float64"
    assert f"not rewritten: {op.reason}" in str(caught.value)


def test_an_op_of_the_pack_needs_no_permission_but_its_kernel(tensorflow: TensorFlow) -> None:
    inputs = [((2, 7, 8, 2), "float64"), ((None, 4), F), ((None,), INT), np.array([3, 4], INT)]
    case = Case("CropAndResize", inputs, values={1: uniform(-0.3, 1.3), 2: integers(0, 2)})
    path = tensorflow.save(ops, [(case.op, case.inputs, case.attributes)])
    result = check_calls(tensorflow, path, calls_of([case]), kernel_pack=True)
    assert op_counts(result.model_bytes) == {"CropAndResize": 1}
    report = result.report
    assert report.custom_ops == report.pack_kernels == ("CropAndResize",)
    (lacking,) = report.lacking_ops
    assert (lacking.op, lacking.outcome, lacking.count) == ("CropAndResize", "pack", 1)
    assert "float64" in lacking.reason
    assert "The model needs the kernels: CropAndResize (litefuse's pack)." in str(report)
    with pytest.raises(UnsupportedOpsError, match="CropAndResize"):
        litefuse.convert(path, builtins_only=True)


def test_an_allowed_op_is_a_custom_op_of_the_user(tensorflow: TensorFlow) -> None:
    report = litefuse.convert(tensorflow.save(lone, "Dawsn", "float32"), allow_custom_ops=["Dawsn"]).report
    assert [(each.op, each.outcome, each.reason) for each in report.lacking_ops] == [("Dawsn", "custom", "")]
    assert (report.custom_ops, report.pack_kernels) == (("Dawsn",), ())


def test_builtins_only_contradicts_allow_custom_ops(tensorflow: TensorFlow) -> None:
    with pytest.raises(LitefuseError, match="builtins_only forbids"):
        litefuse.convert("model", builtins_only=True, allow_custom_ops=True)


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
    check_calls(tensorflow, path, calls, builtins_only=True)


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


def slices_at(tf: Any) -> Any:
    """Slices whose positions are inputs, beside new axes and ellipses."""
    new = tf.newaxis
    slicings: dict[str, Callable[[Any, Any], Any]] = {
        "behind": lambda x, t: x[:, t, :, new],
        "from_the_end": lambda x, t: x[:, -t, new, ...],
        "around": lambda x, t: x[new, ..., new, t:, 0],
        "steps": lambda x, t: x[..., :: t + 1, :, new],
        "of_six": lambda x, t: tf.reshape(x, (1, -1, 5, 1, 2, 1))[..., new, :, t, :, ::-1, :],
    }
    module = tf.Module()
    specs = [tf.TensorSpec((None, 5, 2), tf.float32, name="x"), tf.TensorSpec((), tf.int32, name="t")]

    def sliced(slicing: Callable[[Any, Any], Any]) -> Any:
        def serve(x: Any, t: Any) -> Any:
            return {"y": slicing(x, t)}

        return tf.function(serve, input_signature=specs)

    functions = {name: sliced(slicing) for name, slicing in slicings.items()}
    module.functions = functions
    return module, {name: function.get_concrete_function() for name, function in functions.items()}


def test_slices_at_computed_positions_beside_new_axes(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(slices_at)
    x = np.arange(30, dtype=np.float32).reshape(3, 5, 2)
    calls: list[tuple[str, dict[str, npt.NDArray[Any]]]] = [
        (name, {"x": rows, "t": np.asarray(t, np.int32)})
        for name in ("behind", "from_the_end", "around", "steps", "of_six")
        for rows, t in ((x, 1), (x[:1], 3), (x, 2), (x[:1], 3))
    ]
    check_calls(tensorflow, path, calls, rtol=0.0)


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
    result = check_calls(tensorflow, path, calls, builtins_only=True)
    graphs = {graph for graph, _ in op_histogram(result.model_bytes)}
    assert graphs == {"main", "Cumprod.decomposition.0"}
    assert {(each.op, each.outcome, each.count) for each in result.report.lacking_ops} == {
        ("Cumprod", "composite", 2),
        ("Erf", "rewritten", 40),
    }


def test_the_beginnings_of_a_kernel_for_an_op_that_litert_lacks(tensorflow: TensorFlow, tmp_path: Path) -> None:
    """What ``litefuse kernels new Dawsn --from SAVED_MODEL`` writes has the op's types, and loads."""
    (call,) = read_op(tensorflow.save(lone, "Dawsn", "float32"), "Dawsn", None, lambda _: None)
    assert [(each.dtype, each.shape) for each in (*call.inputs, *call.outputs) if each] == [
        ("float32", (None, 3, 3)),
        ("float32", (None, 3, 3)),
    ]
    assert call.reference is None
    folder = new_project("Dawsn", [call], "model", tmp_path / "dawsn").folder
    model = litefuse.convert(tensorflow.save(lone, "Dawsn", "float32"), allow_custom_ops=True).model_bytes
    kernel = runpy.run_path(str(folder / "dawsn.py"))["Dawsn"]
    runner = litefuse.Interpreter(model_content=model, custom_ops=[kernel]).get_signature_runner()
    (name,) = runner.get_input_details()
    (output,) = runner(**{name: np.ones((3, 3, 3), np.float32)}).values()
    assert np.array_equal(output, np.zeros((3, 3, 3)))


def printing(tf: Any) -> Any:
    """Prints in both ways, between what it computes."""
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        tf.print("x is", x, tf.shape(x), summarize=2)
        with tf.control_dependencies([tf.print("once more")]):
            y = tf.compat.v1.Print(x * 2.0, [x], "and again")
        return {"y": y + 1.0}

    module.serve = serve
    return module, {"serving_default": serve}


def test_nothing_is_printed(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(printing), normal({"x": (None, 3)}))
    assert result.report.op_counts == {"MUL": 1, "ADD": 1}


def parsing(tf: Any) -> Any:
    """``ParseExampleV2`` has several arguments of any number of tensors."""
    module = tf.Module()
    features = {"x": tf.io.FixedLenFeature([4], tf.float32), "y": tf.io.VarLenFeature(tf.int64)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="s")])
    def serve(s: Any) -> Any:
        parsed = tf.io.parse_example(s, features)
        return {"x": parsed["x"], "y": parsed["y"].values}

    module.serve = serve
    return module, {"serving_default": serve}


def test_ops_with_groups_of_operands_and_results_are_named(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(parsing)
    with pytest.raises(UnsupportedOpsError, match=r"LiteRT has no op for ParseExampleV2:\n.* -> \(.*float32\[\?,4\]\)"):
        litefuse.convert(path)


def calling_python(tf: Any) -> Any:
    module = tf.Module()

    def twice(x: Any) -> Any:
        return x * 2

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": tf.py_function(twice, [x], tf.float32)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_python_functions_are_not_in_the_model(tensorflow: TensorFlow) -> None:
    with pytest.raises(UnsupportedOpsError, match="EagerPyFunc") as raised:
        litefuse.convert(tensorflow.save(calling_python))
    assert "is no part of a saved model" in raised.value.hint


def writing_checkpoints(tf: Any) -> Any:
    module = tf.Module()
    module.weight = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([], tf.string, name="path")])
    def save(path: Any) -> Any:
        tf.raw_ops.Save(filename=path, tensor_names=["weight"], data=[module.weight.read_value()])
        return {"path": path}

    module.save = save
    return module, {"save": save}


def test_checkpoints_are_not_written(tensorflow: TensorFlow) -> None:
    with pytest.raises(UnsupportedOpsError, match="Save") as raised:
        litefuse.convert(tensorflow.save(writing_checkpoints))
    assert "docs/training.md" in raised.value.hint


def ragged_results(tf: Any) -> Any:
    module = tf.Module()
    specification = tf.RaggedTensorSpec([None], tf.int32)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="n")])
    def serve(n: Any) -> Any:
        return {"y": tf.map_fn(tf.range, n, fn_output_signature=specification).to_tensor()}

    module.serve = serve
    return module, {"serving_default": serve}


def test_ragged_results_of_a_map_are_refused(tensorflow: TensorFlow) -> None:
    with pytest.raises(ConversionError, match="RaggedTensorFromVariant") as raised:
        litefuse.convert(tensorflow.save(ragged_results))
    assert "ragged" in raised.value.hint
    assert "TensorArray" not in raised.value.hint


def quotients(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.float32, name="x"), tf.TensorSpec([None], tf.int32, name="n")],
        autograph=False,
    )
    def serve(x: Any, n: Any) -> Any:
        sizes, divisor = tf.shape(x), tf.constant([3, -7])
        return {
            "half": x[: tf.cast(sizes[0] / 2, tf.int32), : tf.cast(tf.math.ceil(sizes[1] / 2), tf.int32)],
            "truncated": tf.cast(n[:, None] / divisor, tf.int64),
            "floor": tf.cast(tf.floor(n[:, None] / divisor), tf.int32),
            "ceil": tf.cast(tf.math.ceil(n[:, None] / divisor), tf.int32),
            "constant": tf.cast(tf.cast(n, tf.float64) / 5.0, tf.int32),
            "number": tf.cast(sizes / n[0], tf.float32),
        }

    module.serve = serve
    return module


def test_quotients_of_integers_need_no_float64(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(4)
    extremes = np.array([2**31 - 1, -(2**31), 0, 21, -21, 20, -20, 1], np.int32)
    inputs = [
        {
            "x": random.normal(size=(batch, batch + 2)).astype(np.float32),
            "n": np.concatenate([extremes, random.integers(-(2**31), 2**31, batch * 9).astype(np.int32)]),
        }
        for batch in (3, 7, 2)
    ]
    result = check(tensorflow, tensorflow.save(quotients), inputs)
    assert not result.report.narrowed


def fractions(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None, None, 2], tf.float32, name="x"),
            tf.TensorSpec([None], tf.int32, name="n"),
        ],
        autograph=False,
    )
    def serve(x: Any, n: Any) -> Any:
        number = tf.cast(n, tf.float64)
        scaled = (number * -0.75 + 2.5) / 4.0 - tf.cast(n[0], tf.float64) * 0.125
        return {
            "cropped": tf.image.central_crop(x, 0.875),
            "middle": tf.image.central_crop(x[0], 0.7),  # which it has as float32
            "truncated": tf.cast(scaled, tf.int64),
            "floor": tf.cast(tf.floor(scaled), tf.int64),
            "ceil": tf.cast(tf.math.ceil(scaled), tf.int64),
            "whole": tf.cast(number * 3.0 - 7.0, tf.int64),
            "nothing": tf.cast((number - number * 0.5) * 2.0 - number, tf.int32),
            "area": tf.cast(tf.cast(tf.size(x), tf.float64) * 0.3125, tf.int32),
            "far": tf.cast(tf.floor(number * 2.0**-40 + 2.0**-33), tf.int64),
            "halves": tf.cast((number - 1.0) * 2.0**-20, tf.int32),
            "product": tf.cast(
                tf.cast(tf.shape(x)[1], tf.float64) * tf.cast(tf.shape(x)[2], tf.float64) / 8.0, tf.int32
            ),
        }

    module.serve = serve
    return module


def test_simple_fractions_of_integers_need_no_float64(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(4)
    extremes = np.array([2**31 - 1, -(2**31), 0, 21, -21, 2, 3, 4, 5, -1], np.int32)
    inputs = [
        {
            "x": random.normal(size=(2, *sizes, 2)).astype(np.float32),
            "n": random.permuted(
                np.concatenate([extremes, random.integers(-(2**31), 2**31, 50).astype(np.int32)])
            ).astype(np.int32),
        }
        for sizes in ((9, 16), (31, 7), (8, 50))
    ]
    result = check(tensorflow, tensorflow.save(fractions), inputs)
    assert not result.report.narrowed


def test_a_crop_takes_few_ops(tensorflow: TensorFlow) -> None:
    """The part of a size that is cut off is the upper half of one product."""
    path = tensorflow.save(central_crop)
    inputs = [
        {"x": np.random.default_rng(7).normal(size=(1, *sizes, 3)).astype(np.float32)} for sizes in ((9, 16), (31, 7))
    ]
    result = check(tensorflow, path, inputs)
    assert op_counts(result.model_bytes) == {
        **dict.fromkeys(("SHAPE", "SLICE"), 1),
        **dict.fromkeys(("BITCAST", "CAST", "GATHER", "PACK", "STRIDED_SLICE", "SUB"), 2),
        "MUL": 4,
    }


def central_crop(tf: Any) -> Any:
    module = tf.Module()
    specification = tf.TensorSpec([None, None, None, 3], tf.float32, name="x")

    def serve(x: Any) -> Any:
        return {"y": tf.image.central_crop(x, 0.7)}

    module.serve = tf.function(serve, input_signature=[specification])
    return module


def fraction_of_many_bits(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": x[: tf.cast(tf.cast(tf.shape(x)[0], tf.float64) * 0.7, tf.int32)]}

    module.serve = serve
    return module


def test_other_fractions_need_float64(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(fraction_of_many_bits)
    with pytest.raises(UnsupportedOpsError, match="float64") as raised:
        litefuse.convert(path)
    assert "--narrow computes float64 in float32" in raised.value.hint
    random = np.random.default_rng(5)
    inputs = [{"x": random.normal(size=(rows, 2)).astype(np.float32)} for rows in (9, 31)]
    check(tensorflow, path, inputs, narrow=True)


def empty_slices(tf: Any, rows: int | None, columns: int | None, dtype: str) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([rows, columns, 4], dtype, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        nothing = {
            "first": (x[:0], 0),
            "second": (x[:, :0], 1),
            "last": (x[..., :0], 2),
            "turned": (x[:, 2:2:-1], 1),
            "of one": (x[0, :, :0], 1),
            "new": (x[:, tf.newaxis, :, :0], 3),
            "slice": (tf.slice(x, [0, 0, 0], [1, 2, 0]), 2),
            "below": (x[2:1], 0),
        }
        return {
            **{name: tf.reduce_sum(value, axis) for name, (value, axis) in nothing.items()},
            "joined": tf.concat([x[:, :0], x], 1),
            "joined last": tf.concat([x, x[..., :0]], -1),
        }

    module.serve = serve
    return module


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("sizes", [(3, 5), (None, 5), (3, None), (None, None)])
def test_slices_of_nothing(tensorflow: TensorFlow, sizes: tuple[int | None, int | None], dtype: str) -> None:
    random = np.random.default_rng(3)
    shapes = [[known or open_size for known, open_size in zip(sizes, each, strict=True)] for each in ((3, 5), (4, 2))]
    inputs = [{"x": random.normal(0, 9, (*shape, 4)).astype(dtype)} for shape in shapes]
    check(tensorflow, tensorflow.save(empty_slices, *sizes, dtype), inputs)


def scattered(tf: Any, dtype: str) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 3], "float32", name="x")], autograph=False)
    def serve(x: Any) -> Any:
        values = tf.complex(x, x * 2.0 - 1.0) if dtype == "complex64" else tf.cast(x * 4.0, dtype)
        places = tf.constant([[1], [1], [4]])
        summed = tf.scatter_nd(places, values[:3], [6, 3])
        if dtype == "complex64":
            return {"real": tf.math.real(summed), "imaginary": tf.math.imag(summed)}
        added = tf.tensor_scatter_nd_add(values[:2], [[0], [0], [1]], values[:3])
        return {"summed": tf.cast(summed, "float32"), "added": tf.cast(added, "float32")}

    module.serve = serve
    return module


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64", "int16", "int8"])
def test_what_falls_on_one_place_is_added(tensorflow: TensorFlow, dtype: str) -> None:
    random = np.random.default_rng(5)
    inputs = [{"x": (random.integers(-12, 12, (batch, 3)) / 4).astype(np.float32)} for batch in (3, 5)]
    check(tensorflow, tensorflow.save(scattered, dtype), inputs)


def few_forms(tf: Any) -> Any:
    """Forms of ops that the engine, or what checks the module, took for others."""
    module = tf.Module()
    signature = [
        tf.TensorSpec([None, 4, 4], tf.float32, name="x"),
        tf.TensorSpec([None, 4, 2], tf.int32, name="i"),
        tf.TensorSpec([2], tf.int64, name="begin"),
    ]

    @tf.function(input_signature=signature, autograph=False)
    def serve(x: Any, i: Any, begin: Any) -> Any:
        return {
            "batch from the last": tf.gather(x, i, batch_dims=-1),
            "two before the last": tf.gather(x, i, axis=1, batch_dims=-2),
            "at": tf.slice(x[0], begin, tf.constant([1, 2], tf.int64)),
            "ones": tf.math.real(tf.ones_like(tf.complex(x, x))),
            "band": tf.cast(tf.linalg.band_part(tf.cast(tf.abs(x) * 9.0, tf.uint32), 1, 0), tf.int64),
        }

    module.serve = serve
    return module


def test_forms_of_gathers_slices_and_bands(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(6)
    inputs = [
        {
            "x": random.normal(size=(batch, 4, 4)).astype(np.float32),
            "i": random.integers(0, 4, (batch, 4, 2)).astype(np.int32),
            "begin": np.array([2, 1]),
        }
        for batch in (3, 1, 2)
    ]
    check(tensorflow, tensorflow.save(few_forms), inputs)


def beams(tf: Any) -> Any:
    """``CTCBeamSearchDecoder`` has several groups of results."""
    module = tf.Module()
    signature = [tf.TensorSpec([5, None, 4], tf.float32, name="x"), tf.TensorSpec([None], tf.int32, name="n")]

    @tf.function(input_signature=signature, autograph=False)
    def serve(x: Any, n: Any) -> Any:
        decoded, scores = tf.nn.ctc_beam_search_decoder(x, n, beam_width=3, top_paths=2)
        return {"values": decoded[0].values, "scores": scores}

    module.serve = serve
    return module


def test_an_op_with_groups_of_results(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(beams)
    for narrow in (False, True):
        with pytest.raises(UnsupportedOpsError, match="LiteRT has no op for CTCBeamSearchDecoder"):
            litefuse.convert(path, narrow=narrow)
    result = litefuse.convert(path, allow_custom_ops=["CTCBeamSearchDecoder"])
    (options,) = custom_options(result.model_bytes)["CTCBeamSearchDecoder"]
    assert (options["beam_width"], options["top_paths"]) == (3, 2)
    assert not [name for name in options if "egment" in name]
