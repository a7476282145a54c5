"""The kernel against the definition of the op, one element at a time."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litefuse.errors import KernelError
from litefuse.kernels import PACK, ExtractImagePatches
from litefuse.litert.runtime.custom_op import CustomOp
from litefuse.litert.runtime.interpreter import Interpreter
from tests.every import every
from tests.kernels.pack.one_op import FORMS
from tests.litert.runtime.models import DTYPES, unary

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class Patches:
    """The op's options, along rows and columns."""

    ksize: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    rate: tuple[int, int] = (1, 1)
    padding: str = "VALID"

    @property
    def options(self) -> dict[str, Any]:
        return {
            "ksizes": [1, *self.ksize, 1],
            "strides": [1, *self.stride, 1],
            "rates": [1, *self.rate, 1],
            "padding": self.padding,
            "T": 1,
        }


def kernels(form: str) -> list[type[CustomOp]] | None:
    """What to give the interpreter so that this form of the kernel runs: it finds the native one by itself."""
    return [ExtractImagePatches] if form == "numpy" else None


def run(
    images: npt.NDArray[Any], patches: Patches, dtype: str | None = None, *, form: str = "numpy"
) -> npt.NDArray[Any]:
    """Runs the op in the runtime."""
    content = unary(
        "ExtractImagePatches",
        patches.options,
        shape=images.shape,
        dtype=dtype or images.dtype,
        output_shape=(1, 1, 1, 1),
    )
    interpreter = Interpreter(content, custom_ops=kernels(form))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, images)
    interpreter.invoke()
    return interpreter.get_tensor(1)


def reference(images: npt.NDArray[Any], patches: Patches) -> npt.NDArray[Any]:
    """The definition: sizes and padding of TensorFlow's convolutions, with the kernel spread out by the rate."""
    batch, *sizes, depth = images.shape
    out: list[int] = []
    before: list[int] = []
    for size, ksize, stride, rate in zip(sizes, patches.ksize, patches.stride, patches.rate, strict=True):
        effective = (ksize - 1) * rate + 1
        if patches.padding == "SAME":
            count = math.ceil(size / stride)
            total = max((count - 1) * stride + effective - size, 0)
        else:
            count, total = max(math.ceil((size - effective + 1) / stride), 0), 0
        out.append(count)
        before.append(total // 2)
    result = np.zeros((batch, *out, math.prod(patches.ksize) * depth), images.dtype)
    for b, y, x, r, c, d in itertools.product(*map(range, (batch, *out, *patches.ksize, depth))):
        row = y * patches.stride[0] + r * patches.rate[0] - before[0]
        col = x * patches.stride[1] + c * patches.rate[1] - before[1]
        if 0 <= row < sizes[0] and 0 <= col < sizes[1]:
            result[b, y, x, (r * patches.ksize[1] + c) * depth + d] = images[b, row, col, d]
    return result


def fits(images: npt.NDArray[Any], patches: Patches) -> bool:
    """Whether TensorFlow takes it: with VALID, an image that is too small for even an empty result is an error."""
    return patches.padding == "SAME" or all(
        size - ((ksize - 1) * rate + 1) + stride > -stride
        for size, ksize, stride, rate in zip(
            images.shape[1:3], patches.ksize, patches.stride, patches.rate, strict=True
        )
    )


@pytest.mark.parametrize("form", FORMS)
def test_the_image_of_one_to_a_hundred(form: str) -> None:
    images = np.arange(1, 101, dtype=np.float32).reshape(1, 10, 10, 1)

    result = run(images, Patches(ksize=(3, 3), padding="SAME"), form=form)

    assert result.shape == (1, 10, 10, 9)
    assert result[0, 0, 0].tolist() == [0, 0, 0, 0, 1, 2, 0, 11, 12]
    assert result[0, 4, 5].tolist() == [35, 36, 37, 45, 46, 47, 55, 56, 57]
    assert result[0, 9, 9].tolist() == [89, 90, 0, 99, 100, 0, 0, 0, 0]


pairs = st.tuples(st.integers(1, 4), st.integers(1, 4))


@pytest.mark.parametrize("form", FORMS)
@given(
    shape=st.tuples(st.integers(0, 2), st.integers(1, 9), st.integers(1, 9), st.integers(1, 3)),
    patches=st.builds(Patches, pairs, pairs, pairs, st.sampled_from(["SAME", "VALID"])),
)
def test_against_the_definition(form: str, shape: tuple[int, ...], patches: Patches) -> None:
    images = np.arange(1, math.prod(shape) + 1, dtype=np.int32).reshape(shape)

    if fits(images, patches):
        np.testing.assert_array_equal(run(images, patches, form=form), reference(images, patches))
    else:
        with pytest.raises(KernelError, match="does not fit"):
            run(images, patches, form=form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name in DTYPES if name != "STRING"])
def test_every_dtype(name: str, form: str) -> None:
    images = np.arange(1, 25).reshape(1, 4, 3, 2).astype(DTYPES[name])
    patches = Patches(ksize=(2, 3), stride=(2, 1), padding="SAME")

    result = run(images, patches, name, form=form)

    assert result.dtype == images.dtype
    np.testing.assert_array_equal(result, reference(images, patches))


@pytest.mark.parametrize("form", FORMS)
def test_results_do_not_leak_from_one_call_into_the_next(form: str) -> None:
    """The padding is written on every call: the runtime uses the memory for other tensors in between."""
    patches = Patches(ksize=(3, 3), padding="SAME")
    interpreter = Interpreter(
        unary("ExtractImagePatches", patches.options, shape=(1, 5, 5, 2)), custom_ops=kernels(form)
    )

    for size in (5, 3, 8):
        interpreter.resize_tensor_input(0, [2, size, size, 2])
        interpreter.allocate_tensors()
        for seed in range(2):
            images = np.random.default_rng(seed).random((2, size, size, 2), np.float32)
            interpreter.set_tensor(0, images)
            interpreter.tensor(1)()[...] = 7
            interpreter.invoke()
            np.testing.assert_array_equal(interpreter.get_tensor(1), reference(images, patches))


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_result(form: str) -> None:
    images = np.ones((2, 2, 5, 3), np.float32)

    assert run(images, Patches(ksize=(3, 1)), form=form).shape == (2, 0, 5, 9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("ksizes", [1, 3, 3], r"ksizes must be \[1, rows, cols, 1\] with positive numbers, not \[1, 3, 3\]"),
        ("ksizes", [1, 0, 3, 1], r"ksizes must be"),
        ("strides", [2, 1, 1, 1], r"strides must be"),
        ("rates", [1, 1, 1, 2], r"rates must be"),
        ("rates", [1, -1, 1, 1], r"rates must be"),
        ("padding", "EXPLICIT", r"padding must be SAME or VALID, not 'EXPLICIT'"),
        ("padding", 1, r"padding must be SAME or VALID, not "),
    ],
)
def test_wrong_options(form: str, option: str, value: Any, message: str) -> None:
    options = {**Patches(ksize=(2, 2)).options, option: value}
    interpreter = Interpreter(unary("ExtractImagePatches", options, shape=(1, 4, 4, 1)), custom_ops=kernels(form))

    with pytest.raises(KernelError, match=rf"^custom op ExtractImagePatches, node 'y': {message}"):
        interpreter.allocate_tensors()


def test_missing_options_and_wrong_images() -> None:
    with pytest.raises(KernelError, match="does not give the option 'ksizes', 'padding', 'rates', 'strides'"):
        Interpreter(unary("ExtractImagePatches", shape=(1, 4, 4, 1)), custom_ops=[ExtractImagePatches])
    with pytest.raises(KernelError, match=r"images must be \[batch, rows, cols, depth\], not \(4, 4\)"):
        Interpreter(
            unary("ExtractImagePatches", Patches().options, shape=(4, 4)), custom_ops=[ExtractImagePatches]
        ).allocate_tensors()


@pytest.mark.skipif("native" not in FORMS, reason="litefuse was installed without its native kernels")
def test_missing_options_and_wrong_images_in_the_native_kernel() -> None:
    with pytest.raises(KernelError, match="the option ksizes must be a list of integers"):
        Interpreter(unary("ExtractImagePatches", shape=(1, 4, 4, 1))).allocate_tensors()
    with pytest.raises(KernelError, match="node 'y': images is of rank 2, not 4"):
        Interpreter(unary("ExtractImagePatches", Patches().options, shape=(4, 4))).allocate_tensors()


@pytest.mark.parametrize("form", FORMS)
def test_padding_as_bytes(form: str) -> None:
    options = {**Patches().options, "padding": b"SAME"}
    interpreter = Interpreter(unary("ExtractImagePatches", options, shape=(1, 4, 4, 1)), custom_ops=kernels(form))
    interpreter.allocate_tensors()

    assert interpreter.get_output_details()[0]["shape"].tolist() == [1, 4, 4, 1]


def test_the_pack() -> None:
    assert PACK["ExtractImagePatches"] is ExtractImagePatches
    assert every(name == kernel.op_name for name, kernel in PACK.items())
