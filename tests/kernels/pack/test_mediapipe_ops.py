"""MediaPipe's ops: both forms of each kernel against the definition, and the stock runtime where that has it."""

from __future__ import annotations

import itertools
import math
import struct
from typing import TYPE_CHECKING, Any

import ai_edge_litert.interpreter as litert
import numpy as np
import pytest

from litefuse.errors import KernelError, MissingKernelError
from litefuse.kernels import PACK
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.kernel_pack import RESOLVED_OPS
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.targets.litert import Cpu
from litefuse.litert.targets.op_table import refused_by_table
from tests.kernels.pack.one_op import FORMS, run
from tests.litert.runtime.models import Graph, model, unary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

SAME, VALID = 1, 2


def drawn(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def pool(padding: int, strides: Sequence[int], size: Sequence[int], activation: int = 0, *, length: int = 40) -> bytes:
    """A ``TfLitePoolParams``, whose last fields are the runtime's."""
    fields = (padding, strides[1], strides[0], size[1], size[0], activation, 0, 0, 0, 0)
    return struct.pack("<10i", *fields)[:length]


def transposition(padding: int, strides: Sequence[int], *, length: int = 20) -> bytes:
    """A ``TfLiteTransposeConvParams``."""
    return struct.pack("<5i", padding, strides[1], strides[0], 0, 0)[:length]


def pooled(images: npt.NDArray[Any], padding: int, stride: Sequence[int], size: Sequence[int]) -> tuple[Any, Any]:
    """Maxima, and ``row * size[1] + col`` of each in its window: pixel by pixel."""
    batch, rows, cols, depth = images.shape
    outs: list[int] = []
    before: list[int] = []
    for axis, extent in enumerate((rows, cols)):
        out = -(-extent // stride[axis]) if padding == SAME else (extent - size[axis]) // stride[axis] + 1
        outs.append(out)
        before.append(max((out - 1) * stride[axis] + size[axis] - extent, 0) // 2 if padding == SAME else 0)
    best = np.full((batch, *outs, depth), -np.inf, np.float32)
    place = np.zeros(best.shape, int)
    for n, y, x, c, row, col in itertools.product(*map(range, best.shape), range(size[0]), range(size[1])):
        at = (y * stride[0] - before[0] + row, x * stride[1] - before[1] + col)
        if 0 <= at[0] < rows and 0 <= at[1] < cols and images[n, at[0], at[1], c] > best[n, y, x, c]:
            best[n, y, x, c], place[n, y, x, c] = images[n, at[0], at[1], c], row * size[1] + col
    return best, place


POOLS = [
    (VALID, (2, 2), (2, 2)),
    (SAME, (2, 2), (2, 2)),
    (SAME, (1, 2), (3, 2)),
    (VALID, (2, 1), (3, 3)),
    (SAME, (3, 3), (2, 2)),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("padding", "strides", "size"), POOLS)
def test_pooling(padding: int, strides: Sequence[int], size: Sequence[int], form: str) -> None:
    images = drawn(2, 5, 7, 3)
    best, place = pooled(images, padding, strides, size)
    names = {"pool_size": [*size], "strides": [*strides], "padding": "SAME" if padding == SAME else "VALID"}
    for options in (pool(padding, strides, size), pool(padding, strides, size, length=24), names):
        found = run("MaxPoolingWithArgmax2D", [images], [np.float32] * 2, options, form=form)
        np.testing.assert_array_equal(found[0], best)
        np.testing.assert_array_equal(found[1], place.astype(np.float32) + np.float32(0.1))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("activation", "limits"), [(1, (0, np.inf)), (2, (-1, 1)), (3, (0, 6))])
def test_pooling_with_an_activation(activation: int, limits: tuple[float, float], form: str) -> None:
    images = drawn(1, 4, 4, 2) * 8
    plain, places = run("MaxPoolingWithArgmax2D", [images], [np.float32] * 2, pool(VALID, (2, 2), (2, 2)), form=form)
    options = pool(VALID, (2, 2), (2, 2), activation)
    best, same = run("MaxPoolingWithArgmax2D", [images], [np.float32] * 2, options, form=form)
    np.testing.assert_array_equal(best, np.clip(plain, *limits))
    np.testing.assert_array_equal(same, places)
    assert not np.array_equal(best, plain)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("of_xnnpack", [False, True])
@pytest.mark.parametrize(("padding", "strides", "size"), POOLS[:4])
def test_unpooling(padding: int, strides: Sequence[int], size: Sequence[int], of_xnnpack: bool, form: str) -> None:
    values = drawn(2, 3, 4, 2)
    places = np.random.default_rng(1).integers(0, size[0] * size[1], (2, 3, 4, 2))
    expected = np.zeros((2, 3 * size[0], 4 * size[1], 2), np.float32)
    for n, y, x, c in itertools.product(*map(range, values.shape)):
        row, col = divmod(int(places[n, y, x, c]), size[1])
        expected[n, y * strides[0] + row, x * strides[1] + col, c] = values[n, y, x, c]
    mask = places.astype(np.uint32).view(np.float32) if of_xnnpack else places.astype(np.float32) + np.float32(0.1)
    (found,) = run("MaxUnpooling2D", [values, mask], [np.float32], pool(padding, strides, size), form=form)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("padding", [SAME, VALID])
def test_unpooling_to_places_in_the_image(padding: int, index: Any, form: str) -> None:
    values, mask = drawn(1, 2, 2, 1), np.array([0, 3, 9, 15], index).reshape(1, 2, 2, 1)
    names = {"pool_size": [2, 2], "strides": [2, 2], "padding": "SAME" if padding == SAME else "VALID"}
    for options in (names, pool(padding, (2, 2), (2, 2)), pool(padding, (2, 2), (2, 2), length=32)):
        (found,) = run("MaxUnpooling2D", [values, mask], [np.float32], options, form=form)
        assert found.shape == (1, 4, 4, 1)
        np.testing.assert_array_equal(found.reshape(-1)[mask.reshape(-1)], values.reshape(-1))
        assert np.count_nonzero(found) == 4


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", [4.0, -1.0, np.nan, np.inf, 1e30])
def test_a_place_outside_of_the_window(place: float, form: str) -> None:
    mask = np.full((1, 2, 2, 1), place, np.float32)
    with pytest.raises(KernelError, match="lies outside of a window of 2 x 2"):
        run("MaxUnpooling2D", [drawn(1, 2, 2, 1), mask], [np.float32], pool(VALID, (2, 2), (2, 2)), form=form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("padding", [SAME, VALID])
@pytest.mark.parametrize("strides", [(1, 1), (2, 2), (3, 2), (1, 4)])
def test_transposed_convolution(strides: Sequence[int], padding: int, form: str) -> None:
    images, weights, bias = drawn(2, 4, 5, 3), drawn(6, 3, 2, 3, seed=1), drawn(6, seed=2)
    sizes: list[int] = []
    before: list[int] = []
    for size, stride, window in zip(images.shape[1:3], strides, weights.shape[1:3], strict=True):
        padded = max(0, window - (size - 1) % stride - 1) if padding == SAME else 0
        sizes.append(stride * (size - 1) + window - padded)
        before.append(padded // 2)
    expected = np.tile(bias.astype(np.float64), (2, *sizes, 1))
    for y, x, row, col in itertools.product(range(4), range(5), range(3), range(2)):
        at = (y * strides[0] - before[0] + row, x * strides[1] - before[1] + col)
        if 0 <= at[0] < sizes[0] and 0 <= at[1] < sizes[1]:
            expected[:, at[0], at[1]] += images[:, y, x].astype(np.float64) @ weights[:, row, col].T
    names = {"strides": [*strides], "padding": "SAME" if padding == SAME else "VALID"}
    for options in (names, transposition(padding, strides), transposition(padding, strides, length=12)):
        (found,) = run("Convolution2DTransposeBias", [images, weights, bias], [np.float32], options, form=form)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)


def rotated(angle: float) -> Any:
    return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


@pytest.mark.parametrize("form", FORMS)
def test_the_matrix_of_landmarks(form: str) -> None:
    """The crop's corners are those of the enlarged box around the turned landmarks, turned back."""
    landmarks = drawn(1, 6, 3) * 20 + 50
    options = {
        "subset_idxs": [0, 1, 4],
        "left_rotation_idx": 2,
        "right_rotation_idx": 3,
        "target_rotation_radians": 0.3,
        "output_width": 20,
        "output_height": 30,
        "scale_x": 1.5,
        "scale_y": 2.0,
    }
    (found,) = run("Landmarks2TransformMatrix", [landmarks], [np.float32], options, form=form)
    assert found.shape == (1, 4, 4)
    places = landmarks[0, :, :2].astype(np.float64)
    eyes = places[3] - places[2]
    angle = 0.3 - math.atan2(eyes[1], eyes[0])
    turned = places[[0, 1, 4]] @ rotated(angle).T
    least, most = turned.min(0), turned.max(0)
    middle, half = (least + most) / 2, (most - least) / 2 * np.array([1.5, 2.0])
    for corner, sign in {(0, 0): (-1, -1), (20, 0): (1, -1), (0, 30): (-1, 1), (20, 30): (1, 1)}.items():
        expected = rotated(-angle) @ (middle + half * np.array(sign))
        np.testing.assert_allclose(found[0, :2] @ [*corner, 0, 1], expected, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(found[0, 2:], [[0, 0, 1, 0], [0, 0, 0, 1]])


@pytest.mark.parametrize("form", FORMS)
def test_the_matrix_of_landmarks_in_version_1(form: str) -> None:
    landmarks = drawn(1, 1, 1, 18) * 20 + 50
    options = {
        "subset": [0, 1, 4],
        "left_rotation_idx": 2,
        "right_rotation_idx": 3,
        "dimensions": 3,
        "input_hw": [100, 120],
        "output_hw": [30, 20],
        "landmarks_range": 128,
        "bbox_size_multiplier": 1.5,
    }
    (found,) = run("Landmarks2TransformMatrix", [landmarks], [np.float32], options, form=form)
    places = landmarks.reshape(-1, 3)[:, :2].astype(np.float64)
    eyes = places[3] - places[2]
    angle = -math.atan(eyes[1] / eyes[0])
    turned = places[[0, 1, 4]] @ rotated(angle).T
    least, most = turned.min(0), turned.max(0)
    middle = rotated(-angle) @ ((least + most) / 2) / 128 * 2 - 1
    scale = (most - least) * 1.5 / 128
    for corner in itertools.product((0.0, 19.0, 7.0), (0.0, 29.0)):
        relative = np.array([corner[0] * 2 / 19 - 1, corner[1] * 2 / 29 - 1])
        expected = (rotated(-angle) @ (relative * scale) + middle + 1) * [119 / 2, 99 / 2]
        np.testing.assert_allclose(found[0, :2] @ [*corner, 0, 1], expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("batch", [1, 3])
def test_landmarks_are_moved(batch: int, form: str) -> None:
    landmarks, matrices = drawn(batch, 5, 3), drawn(batch, 4, 4, seed=1)
    (found,) = run("TransformLandmarks", [landmarks, matrices], [np.float32], form=form)
    points = np.concatenate([landmarks[..., :2], np.zeros((batch, 5, 1)), np.ones((batch, 5, 1))], -1)
    expected: Any = np.einsum("bij,bnj->bni", matrices[:, :2], points)
    np.testing.assert_allclose(found[..., :2], expected, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(found[..., 2], landmarks[..., 2])
    flat = landmarks[:, :, :2].reshape(batch, 1, 1, 10).copy()
    options = {"dimensions": 2, "scale": 3.0}
    (first,) = run("TransformLandmarks", [flat, matrices[0]], [np.float32], options, form=form)
    points[..., 3] = 3
    expected = np.einsum("ij,bnj->bni", matrices[0, :2], points)
    np.testing.assert_allclose(first.reshape(batch, 5, 2), expected, rtol=0, atol=1e-6)


MATRIX = np.array([[0.5, 0.1, 0, 0.317], [-0.1, 0.6, 0, 1.213], [0, 0, 1, 0], [0, 0, 0, 1]], np.float32)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("version", [1, 2])
def test_images_are_seen_through_a_matrix(version: int, form: str) -> None:
    images = drawn(2, 6, 8, 3)
    options: Mapping[str, Any] = {"output_height": 9, "output_width": 7}
    moved = np.eye(4)
    if version == 1:
        options = {"output_size": [9, 7], "mode": "bilinear"}
    else:
        moved[0, 3] = moved[1, 3] = 0.5
    matrix = np.linalg.inv(moved) @ MATRIX @ moved
    (found,) = run("TransformTensorBilinear", [images, MATRIX], [np.float32], options, form=form)
    assert found.shape == (2, 9, 7, 3)
    outside = 0
    for n, row, col in itertools.product(range(2), range(9), range(7)):
        x, y = (matrix @ [col, row, 0, 1])[:2]
        expected: Any = np.zeros(3)
        if 0 <= x <= 7 and 0 <= y <= 5:
            left, top = int(x), int(y)
            for at_y, at_x in itertools.product((top, top + 1), (left, left + 1)):
                weight = (1 - abs(y - at_y)) * (1 - abs(x - at_x))
                expected = expected + weight * images[n, min(at_y, 5), min(at_x, 7)]
        else:
            outside += 1
        np.testing.assert_allclose(found[n, row, col], expected, rtol=0, atol=2e-5)
    assert 0 < outside < 2 * 63


def encoder_and_decoder(mask: Any = np.float32, *, padding: int = VALID, batch: int = 1) -> bytes:
    """As in MediaPipe's hair segmentation: pooling, unpooling, and an enlargement."""
    graph = Graph()
    images = graph.input("images", (batch, 4, 6, 3))
    best, places = graph.tensor("best", (batch, 2, 3, 3)), graph.tensor("places", (batch, 2, 3, 3), mask)
    unpooled = graph.output("unpooled", (batch, 4, 6, 3))
    weights = graph.tensor("weights", (5, 3, 3, 3), value=drawn(5, 3, 3, 3, seed=3))
    bias = graph.tensor("bias", (5,), value=drawn(5, seed=4))
    larger = graph.output("larger", (batch, 8, 12, 5))
    graph.custom("MaxPoolingWithArgmax2D", [images], [best, places], pool(padding, (2, 2), (2, 2)))
    graph.custom("MaxUnpooling2D", [best, places], [unpooled], pool(padding, (2, 2), (2, 2)))
    graph.custom("Convolution2DTransposeBias", [unpooled, weights, bias], [larger], transposition(SAME, (2, 2)))
    return model(graph, signatures={"serve": 0})


def outputs(interpreter: Any, images: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    runner = interpreter.get_signature_runner("serve")
    runner(images=images + 1)
    return {name: np.array(value) for name, value in runner(images=images).items()}


@pytest.mark.parametrize("form", ["numpy", "pack", "off"])
@pytest.mark.parametrize("batch", [1, 2])
def test_it_runs_as_in_the_stock_runtime(form: str, batch: int) -> None:
    content, images = encoder_and_decoder(batch=batch), drawn(batch, 4, 6, 3)
    stock = outputs(litert.Interpreter(model_content=content), images)
    kernels = [PACK[name] for name in ("MaxPoolingWithArgmax2D", "MaxUnpooling2D", "Convolution2DTransposeBias")]
    given = {"numpy": kernels, "pack": None, "off": []}[form]
    ours = outputs(Interpreter(content, custom_ops=given), images)
    np.testing.assert_array_equal(ours["unpooled"], stock["unpooled"])
    np.testing.assert_allclose(ours["larger"], stock["larger"], rtol=0, atol=2e-6)
    assert np.count_nonzero(ours["unpooled"]) == batch * 18


@pytest.mark.parametrize("form", FORMS)
def test_a_node_of_another_form_is_left_to_the_runtime(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """XNNPACK enlarges to the size that the model declares, also where MediaPipe's op would give a smaller one."""
    graph = Graph()
    images = graph.input("images", (1, 5, 5, 2))
    weights = graph.tensor("weights", (3, 3, 3, 2), value=drawn(3, 3, 3, 2, seed=3))
    bias = graph.tensor("bias", (3,), value=drawn(3, seed=4))
    larger = graph.output("larger", (1, 10, 10, 3))
    graph.custom("Convolution2DTransposeBias", [images, weights, bias], [larger], transposition(SAME, (2, 2)))
    content = model(graph, signatures={"serve": 0})
    stock = outputs(litert.Interpreter(model_content=content), drawn(1, 5, 5, 2))
    if form == "numpy":
        monkeypatch.setattr("litefuse.litert.runtime.kernel_delegates.pack", lambda: None)
    ours = outputs(Interpreter(content), drawn(1, 5, 5, 2))
    assert ours["larger"].shape == (1, 10, 10, 3)
    np.testing.assert_array_equal(ours["larger"], stock["larger"])
    # Without XNNPACK nobody runs it, and the reason is that of the kernel.
    without = Interpreter(
        content, experimental_op_resolver_type=litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    )
    with pytest.raises(KernelError, match=r"the output 'larger' is \[1, 9, 9, 3\], and \[1, 10, 10, 3\] in the model"):
        without.allocate_tensors()


@pytest.mark.parametrize("form", FORMS)
def test_a_node_of_open_sizes_is_not_left_to_the_runtime(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph()
    images = graph.input("images", (1, 5, 5, 2), signature=(-1, -1, -1, 2))
    weights = graph.tensor("weights", (3, 3, 3, 2), value=drawn(3, 3, 3, 2, seed=3))
    bias = graph.tensor("bias", (3,), value=drawn(3, seed=4))
    larger = graph.output("larger", (1, 9, 9, 3), signature=(-1, -1, -1, 3))
    graph.custom("Convolution2DTransposeBias", [images, weights, bias], [larger], transposition(SAME, (2, 2)))
    if form == "numpy":
        monkeypatch.setattr("litefuse.litert.runtime.kernel_delegates.pack", lambda: None)
    ours = Interpreter(
        model(graph, signatures={"serve": 0}),
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    )
    for size, of_result in ((5, 9), (4, 8)):
        assert outputs(ours, drawn(2, size, size, 2))["larger"].shape == (2, of_result, of_result, 3)


def test_an_empty_list_of_kernels_turns_the_pack_off() -> None:
    graph = Graph()
    x, y = graph.input("x", (1, 4, 4, 1)), graph.output("y", (1, 2, 2, 4))
    options = {"ksizes": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
    graph.custom("ExtractImagePatches", [x], [y], options)
    content = model(graph)
    for given in (None, [PACK["Roll"]]):
        Interpreter(content, custom_ops=given).allocate_tensors()
    nothing: list[Any] = [[], (), iter(())]
    for empty in nothing:
        with pytest.raises(MissingKernelError, match="ExtractImagePatches"):
            Interpreter(content, custom_ops=empty).allocate_tensors()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("op", "shapes", "options", "message"),
    [
        ("MaxPoolingWithArgmax2D", [(1, 4, 4, 1)], b"", "pool_size"),
        ("MaxPoolingWithArgmax2D", [(1, 4, 4, 1)], pool(3, (2, 2), (2, 2)), "padding must be SAME or VALID"),
        ("MaxPoolingWithArgmax2D", [(1, 4, 4, 1)], pool(1, (0, 2), (2, 2)), "strides must be"),
        ("MaxPoolingWithArgmax2D", [(1, 4, 4, 1)], pool(1, (2, 2), (2, 2), 4), "activation must be"),
        ("MaxPoolingWithArgmax2D", [(1, 1, 1, 1)], pool(2, (2, 2), (9, 9)), "does not fit"),
        ("MaxUnpooling2D", [(1, 2, 2, 1)] * 2, pool(2, (3, 3), (2, 2)), "larger than pool_size"),
        ("Convolution2DTransposeBias", [(1, 2, 2, 3), (4, 3, 3, 2), (4,)], transposition(1, (2, 2)), "weights"),
        (
            "Convolution2DTransposeBias",
            [(1, 2, 2, 3), (4, 3, 3, 3), (4,)],
            transposition(1, (2, -2)),
            "strides must be",
        ),
        ("Convolution2DTransposeBias", [(1, 2, 2, 3), (4, 3, 3, 3), (4,)], b"\x01\0\0\0\x02\0\0\0", "strides"),
        ("Landmarks2TransformMatrix", [(1, 4, 3)], {"subset_idxs": [7]}, "left_rotation_idx|must be indices"),
        ("Landmarks2TransformMatrix", [(1, 1, 1, 12)], {}, "subset"),
        ("TransformLandmarks", [(1, 4, 5), (4, 4)], {}, "2 or 3 dimensions"),
        ("TransformLandmarks", [(2, 4, 3), (3, 4, 4)], {}, "16 numbers"),
        ("TransformTensorBilinear", [(1, 4, 4, 1), (4, 4)], {"output_size": [3]}, "two positive numbers"),
        ("TransformTensorBilinear", [(1, 4, 4, 1), (4, 4)], {"output_size": [3, 3], "mode": "cubic"}, "bilinear"),
        ("TransformTensorBilinear", [(1, 4, 4, 1), (4, 3)], {"output_size": [3, 3]}, "16 numbers"),
    ],
)
def test_wrong_forms(
    op: str, shapes: Sequence[Sequence[int]], options: Mapping[str, Any] | bytes, message: str, form: str
) -> None:
    results = 2 if op == "MaxPoolingWithArgmax2D" else 1
    with pytest.raises(KernelError, match=message):
        run(op, [np.zeros(shape, np.float32) for shape in shapes], [np.float32] * results, options, form=form)


@pytest.mark.parametrize("form", FORMS)
def test_no_images(form: str) -> None:
    empty: npt.NDArray[Any] = np.zeros((0, 4, 4, 2), np.float32)
    best, places = run("MaxPoolingWithArgmax2D", [empty], [np.float32] * 2, pool(VALID, (2, 2), (2, 2)), form=form)
    (unpooled,) = run("MaxUnpooling2D", [best, places], [np.float32], pool(VALID, (2, 2), (2, 2)), form=form)
    assert (best.shape, unpooled.shape) == ((0, 2, 2, 2), (0, 4, 4, 2))
    given = [empty, drawn(3, 3, 3, 2), drawn(3)]
    (larger,) = run("Convolution2DTransposeBias", given, [np.float32], transposition(1, (2, 2)), form=form)
    assert larger.shape == (0, 8, 8, 3)


def test_nothing_is_asked_for_what_the_runtime_has(tmp_path: Path) -> None:
    """XNNPACK runs the ops in float32, and the interpreter one of its own; of other types, they need kernels."""
    path = tmp_path / "model.tflite"
    path.write_bytes(encoder_and_decoder())
    assert {each.name: each.in_runtime for each in inspect_litert_model(path).custom_operators} == dict.fromkeys(
        ("Convolution2DTransposeBias", "MaxPoolingWithArgmax2D", "MaxUnpooling2D"), True
    )
    (unpooling,) = [each for each in inspect_litert_model(path).custom_operators if each.name == "MaxUnpooling2D"]
    assert unpooling.options == {"padding": "VALID", "strides": [2, 2], "pool_size": [2, 2], "activation": "NONE"}
    assert not [*refused_by_table(Model(path.read_bytes()), Cpu.table)]
    path.write_bytes(encoder_and_decoder(np.int32))
    asked = {each.name for each in inspect_litert_model(path).custom_operators if not each.in_runtime}
    assert asked == {"MaxPoolingWithArgmax2D", "MaxUnpooling2D"}
    assert {each.op for each in refused_by_table(Model(path.read_bytes()), Cpu.table)} == asked


@pytest.mark.parametrize("op", sorted(RESOLVED_OPS))
def test_the_interpreter_has_these_ops(op: str) -> None:
    interpreter = litert.Interpreter(model_content=unary(op, {"a": 1}))
    with pytest.raises(RuntimeError) as caught:  # it has a kernel, which refuses the inputs
        interpreter.allocate_tensors()
    assert "unresolved" not in str(caught.value)
