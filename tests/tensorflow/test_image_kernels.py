"""The kernels of pooling, cropping and warping against TensorFlow, on random parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies as st

from litefuse.errors import KernelError
from tests.kernels.pack.one_op import FORMS, run
from tests.tensorflow.drawing import draw

if TYPE_CHECKING:
    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

REAL = (
    *("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)
# Relative errors: the formula's own steps are rounded to the dtype, in another order.
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-6}


@dataclass(frozen=True)
class Case:
    """One call of an op.

    Attributes:
        inputs: Its inputs.
        options: Its attributes, without those that are types.
        types: How the attributes that are types are given to TensorFlow.
        numbers: The same for the kernel.
    """

    inputs: tuple[npt.NDArray[Any], ...]
    options: dict[str, Any]
    types: dict[str, str] | None = None
    numbers: dict[str, int] | None = None


# The dtypes of each op's outputs, where TensorFlow refuses the call.
OUTPUTS: dict[str, Callable[[Case], list[Any]]] = {
    "MaxPoolWithArgmax": lambda case: [case.inputs[0].dtype, np.dtype((case.types or {})["Targmax"])],
    "MaxPool3D": lambda case: [case.inputs[0].dtype],
    "AvgPool3D": lambda case: [case.inputs[0].dtype],
    "MaxUnpooling2D": lambda case: [case.inputs[0].dtype],
    "CropAndResize": lambda case: [np.dtype(np.float32)],
}


@dataclass(frozen=True)
class Answer:
    """What TensorFlow gave: the outputs, or the text of its error."""

    outputs: tuple[npt.NDArray[Any], ...] = ()
    error: str = ""


def call_op(tf: Any, op: str, names: Sequence[str], cases: Sequence[Case]) -> list[Answer]:
    answers: list[Answer] = []
    for case in cases:
        types = {name: getattr(tf, kind) for name, kind in (case.types or {}).items()}
        inputs = dict(zip(names, case.inputs, strict=True))
        try:
            answers.append(Answer(_outputs(tf, getattr(tf.raw_ops, op)(**inputs, **case.options, **types))))
        except (tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError) as error:
            answers.append(Answer(error=str(error)))
    return answers


def _outputs(tf: Any, result: Any) -> tuple[npt.NDArray[Any], ...]:
    return tuple(each.numpy() for each in ([result] if tf.is_tensor(result) else result))


def compare(op: str, case: Case, answer: Answer, form: str, constants: Sequence[int] = ()) -> None:
    """Runs the kernel, and compares its outputs or its refusal with TensorFlow's."""
    options = {**case.options, **(case.numbers or {})}
    where = f"{[each.dtype.name + str(each.shape) for each in case.inputs]} {options}"
    if answer.error:
        with pytest.raises(KernelError):
            run(op, case.inputs, OUTPUTS[op](case), options, form=form, constants=constants)
        return
    found = run(op, case.inputs, [each.dtype for each in answer.outputs], options, form=form, constants=constants)
    for ours, theirs in zip(found, answer.outputs, strict=True):
        assert ours.shape == theirs.shape, where
        if theirs.dtype.name in TOLERANCE:
            limit = TOLERANCE[theirs.dtype.name]
            wide = theirs.astype(np.float64)
            scale = max(1.0, float(np.nanmax(np.abs(wide[np.isfinite(wide)]), initial=0)))
            np.testing.assert_allclose(ours.astype(np.float64), wide, rtol=limit, atol=limit * scale, err_msg=where)
        else:
            np.testing.assert_array_equal(ours, theirs, err_msg=where)


class Oracle:
    """TensorFlow's answers to all cases of an op, asked for once a session."""

    def __init__(self) -> None:
        self._answers: dict[str, list[tuple[Case, Answer]]] = {}

    def __call__(self, key: str, cases: Callable[[], list[Case]], ask: Callable[[list[Case]], list[Answer]]) -> Any:
        if key not in self._answers:
            drawn = cases()
            self._answers[key] = list(zip(drawn, ask(drawn), strict=True))
        return self._answers[key]


ORACLE = Oracle()


def values(shape: Sequence[int], dtype: str, seed: int, *, odd: bool = False) -> npt.NDArray[Any]:
    """Values with ties; with ``odd`` and floats, some of them not finite."""
    random = np.random.default_rng(seed)
    kind: Any = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    array: Any = random.integers(0 if kind.kind == "u" else -20, 20, shape).astype(kind)
    if kind.kind not in "iu":
        array = (array + random.integers(0, 2, shape) * random.normal(0, 1, shape)).astype(kind)
        if odd:
            if dtype != "bfloat16":  # numpy's comparisons do not know its NaN
                array[random.random(shape) < 0.2] = np.nan
            array[random.random(shape) < 0.1] = np.inf
    return array


seeds = st.integers(0, 2**32 - 1)
paddings = st.sampled_from(["SAME", "VALID"])


@st.composite
def argmax_cases(draw: Any) -> Case:
    rank = 2
    shape = (draw(st.integers(1, 3)), *draw(st.tuples(*[st.integers(1, 9)] * rank)), draw(st.integers(1, 4)))
    ksize, strides = (draw(st.tuples(*[st.integers(1, 4)] * rank)) for _ in range(2))
    kind, number = draw(st.sampled_from([("int32", 2), ("int64", 4)]))
    options = {
        "ksize": [1, *ksize, 1],
        "strides": [1, *strides, 1],
        "padding": draw(paddings),
        "include_batch_in_index": draw(st.booleans()),
    }
    images = values(shape, draw(st.sampled_from(REAL)), draw(seeds), odd=draw(st.booleans()))
    return Case((images,), options, {"Targmax": kind}, {"Targmax": number})


@pytest.mark.parametrize("form", FORMS)
def test_max_pool_with_argmax(tensorflow: TensorFlow, form: str) -> None:
    answers = ORACLE(
        "MaxPoolWithArgmax",
        lambda: draw(argmax_cases(), 300),
        lambda cases: tensorflow.call(call_op, "MaxPoolWithArgmax", ["input"], cases),
    )
    assert {case.inputs[0].dtype.name for case, _ in answers} == set(REAL)
    assert 200 < sum(not answer.error for _, answer in answers) < 300
    for case, answer in answers:
        compare("MaxPoolWithArgmax", case, answer, form)


@st.composite
def pool_3d_cases(draw: Any) -> Case:
    rank = 3
    shape = (draw(st.integers(0, 3)), *draw(st.tuples(*[st.integers(1, 6)] * rank)), draw(st.integers(1, 18)))
    ksize, strides = (draw(st.tuples(*[st.integers(1, 3)] * rank)) for _ in range(2))
    options = {"ksize": [1, *ksize, 1], "strides": [1, *strides, 1], "padding": draw(paddings), "data_format": "NDHWC"}
    volumes = values(shape, draw(st.sampled_from(["float32", "bfloat16"])), draw(seeds))
    return Case((volumes,), options)


def channels_second(case: Case) -> Case:
    """The same case in the other data format, which TensorFlow's CPU kernels lack."""

    def swapped(value: list[int]) -> list[int]:
        return [value[0], value[4], *value[1:4]]

    options = {
        **case.options,
        "ksize": swapped(case.options["ksize"]),
        "strides": swapped(case.options["strides"]),
        "data_format": "NCDHW",
    }
    return replace(case, inputs=(np.moveaxis(case.inputs[0], 4, 1).copy(),), options=options)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", ["MaxPool3D", "AvgPool3D"])
def test_pool_3d(tensorflow: TensorFlow, op: str, form: str) -> None:
    answers = ORACLE(
        op,
        lambda: draw(pool_3d_cases(), 200),
        lambda cases: tensorflow.call(call_op, op, ["input"], cases),
    )
    assert sum(not answer.error for _, answer in answers) > 120
    for case, answer in answers:
        compare(op, case, answer, form)
        moved = tuple(np.moveaxis(each, 4, 1) for each in answer.outputs)
        compare(op, channels_second(case), replace(answer, outputs=moved), form)


@st.composite
def crop_cases(draw: Any) -> Case:
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 9)), draw(st.integers(1, 9)), draw(st.integers(0, 4)))
    count = draw(st.integers(0, 5))
    random: Any = np.random.default_rng(draw(seeds))
    # Eighths make positions that are exactly on a pixel, on an edge, or halfway between two.
    boxes: Any = (
        random.uniform(-0.5, 1.5, (count, 4)) if draw(st.booleans()) else random.integers(-2, 11, (count, 4)) / 8
    )
    first = draw(st.sampled_from([0, 0, 0, 0, -1, 1]))
    return Case(
        (
            values(shape, draw(st.sampled_from([kind for kind in REAL if kind not in UNDOCUMENTED])), draw(seeds)),
            boxes.astype(np.float32),
            (first + random.integers(0, shape[0], count)).astype(np.int32),
            np.array(draw(st.tuples(st.integers(0, 7), st.integers(1, 7))), np.int32),
        ),
        {
            "method": draw(st.sampled_from(["bilinear", "nearest"])),
            "extrapolation_value": draw(st.sampled_from([0.0, -3.5, float("nan")])),
        },
    )


UNDOCUMENTED = {"bfloat16", "uint32", "uint64"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("constants", [(), (3,)], ids=["dynamic", "constant"])
def test_crop_and_resize(tensorflow: TensorFlow, form: str, constants: tuple[int, ...]) -> None:
    answers = ORACLE(
        "CropAndResize",
        lambda: draw(crop_cases(), 300),
        lambda cases: tensorflow.call(call_op, "CropAndResize", ["image", "boxes", "box_ind", "crop_size"], cases),
    )
    assert 100 < sum(not answer.error for _, answer in answers) < 300
    for case, answer in answers:
        compare("CropAndResize", case, answer, form, constants)


def unpool(tf: Any, cases: Sequence[Case]) -> list[Answer]:
    """The function of TensorFlow Addons' documentation, in TensorFlow's ops."""
    answers: list[Answer] = []
    for case in cases:
        updates, mask = (tf.constant(each) for each in case.inputs)
        batch, rows, cols, depth = updates.shape
        sizes = [
            size * stride if case.options["padding"] == "SAME" else (size - 1) * stride + pool
            for size, stride, pool in zip((rows, cols), case.options["strides"], case.options["pool_size"], strict=True)
        ]
        b, _, _, c = tf.meshgrid(tf.range(batch), tf.range(rows), tf.range(cols), tf.range(depth), indexing="ij")
        position = tf.cast(mask, tf.int32)
        y, x = position // (sizes[1] * depth), position // depth % sizes[1]
        try:
            answers.append(
                Answer((tf.scatter_nd(tf.stack([b, y, x, c], -1), updates, [batch, *sizes, depth]).numpy(),))
            )
        except tf.errors.InvalidArgumentError as error:
            answers.append(Answer(error=str(error)))
    return answers


@st.composite
def unpooling_cases(draw: Any) -> Case:
    shape = (*draw(st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4))),)
    pool_size, strides = (list(draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))) for _ in range(2))
    padding = draw(paddings)
    size = shape[3]
    for number, stride, pool in zip(shape[1:3], strides, pool_size, strict=True):
        size *= number * stride if padding == "SAME" else (number - 1) * stride + pool
    random = np.random.default_rng(draw(seeds))
    mask = random.integers(0, size, shape).astype(draw(st.sampled_from(["int32", "int64"])))
    hostile = draw(st.sampled_from([None, None, None, None, -1, size, 2**31 - 1, -(2**31)]))
    if hostile is not None:
        mask.flat[random.integers(mask.size)] = hostile
    updates = values(shape, draw(st.sampled_from(["float32", "float64", "int32", "int64", "uint8"])), draw(seeds))
    return Case((updates, mask), {"pool_size": pool_size, "strides": strides, "padding": padding})


@pytest.mark.parametrize("form", FORMS)
def test_max_unpooling_2d(tensorflow: TensorFlow, form: str) -> None:
    answers = ORACLE(
        "MaxUnpooling2D", lambda: draw(unpooling_cases(), 200), lambda cases: tensorflow.call(unpool, cases)
    )
    assert 80 < sum(not answer.error for _, answer in answers) < 200
    for case, answer in answers:
        compare("MaxUnpooling2D", case, answer, form)


def warp(tf: Any, cases: Sequence[Case]) -> list[Answer]:
    """output[b, y, x] = image[b, y - flow[b, y, x, 0], x - flow[b, y, x, 1]], bilinear, clamped to the border."""
    answers: list[Answer] = []
    for case in cases:
        image, flow = (tf.constant(each) for each in case.inputs)
        _, rows, cols, _ = image.shape
        grid = tf.cast(tf.stack(tf.meshgrid(tf.range(rows), tf.range(cols), indexing="ij"), -1), flow.dtype)
        queries = grid[tf.newaxis] - flow
        parts: list[Any] = []
        floors: list[Any] = []
        for axis, size in enumerate((rows, cols)):
            query = queries[..., axis]
            floor = tf.clip_by_value(tf.floor(query), tf.cast(0, query.dtype), tf.cast(size - 2, query.dtype))
            part = tf.cast(query - floor, image.dtype)
            parts.append(tf.clip_by_value(part, tf.cast(0, part.dtype), tf.cast(1, part.dtype))[..., tf.newaxis])
            floors.append(tf.cast(floor, tf.int32))

        def pixels(y: Any, x: Any, image: Any = image) -> Any:
            return tf.gather_nd(image, tf.stack([y, x], -1), batch_dims=1)

        y, x = floors
        upper, lower = (parts[1] * (pixels(row, x + 1) - pixels(row, x)) + pixels(row, x) for row in (y, y + 1))
        answers.append(Answer(((parts[0] * (lower - upper) + upper).numpy(),)))
    return answers


@st.composite
def warping_cases(draw: Any) -> Case:
    shape = (*draw(st.tuples(st.integers(1, 3), st.integers(2, 8), st.integers(2, 8), st.integers(1, 4))),)
    kinds = st.sampled_from(["float16", "float32", "float64"])
    random = np.random.default_rng(draw(seeds))
    flow = random.normal(0, 3, (*shape[:3], 2)) if draw(st.booleans()) else random.integers(-9, 9, (*shape[:3], 2)) / 2
    if draw(st.booleans()):
        flow[random.random(flow.shape) < 0.1] = random.choice([np.inf, -np.inf, 1e4, -1e4])
    image = random.normal(0, 1, shape).astype(draw(kinds))
    return Case((image, flow.astype(draw(kinds))), {})


@pytest.mark.parametrize("form", FORMS)
def test_dense_image_warp(tensorflow: TensorFlow, form: str) -> None:
    answers = ORACLE("DenseImageWarp", lambda: draw(warping_cases(), 200), lambda cases: tensorflow.call(warp, cases))
    for case, answer in answers:
        compare("DenseImageWarp", case, answer, form)
