# pyright: reportUnknownLambdaType=false
"""Encoded images: the kernels that decode them, against TensorFlow, and models that do."""

from __future__ import annotations

import io
import struct
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

import litefuse
from litefuse.errors import KernelError, UnsupportedOpsError
from tests.kernels.pack.one_op import run
from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

# An op, an image, and attributes, dtypes as strings.
Call = tuple[str, bytes, "Mapping[str, Any]"]

TENSOR_TYPES = {"float32": 0, "uint8": 3, "uint16": 16}
RANDOM = np.random.default_rng(4)
NOISE: npt.NDArray[Any] = RANDOM.integers(0, 256, (13, 17, 4)).astype(np.uint8)
NOISE[:3, :, :3] = NOISE[:3, :, :1]
SMOOTH = np.clip(np.add.outer(np.linspace(0, 255, 40), np.linspace(0, 90, 53))[..., None] * [1, 0.7, 0.4], 0, 255)


def encoded(image: Any, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(buffer, kind, **options)
    return buffer.getvalue()


def pngs() -> Iterator[bytes]:
    rgb = Image.fromarray(NOISE[..., :3])
    for image in (
        NOISE,
        NOISE[..., :3],
        NOISE[..., 0],
        Image.merge("LA", [Image.fromarray(NOISE[..., axis]) for axis in (0, 1)]),
    ):
        yield encoded(image, "PNG")
    yield encoded(rgb.quantize(16), "PNG")
    yield encoded(rgb.quantize(7), "PNG", transparency=3, bits=4)
    yield encoded(rgb, "PNG", transparency=tuple(NOISE[5, 5, :3].tolist()))
    yield encoded(NOISE[..., 0], "PNG", transparency=int(NOISE[5, 5, 0]))
    yield encoded(Image.fromarray(NOISE[..., 0] > 99), "PNG")
    yield encoded(RANDOM.integers(0, 65536, (5, 6)).astype(np.uint16), "PNG")


def jpegs() -> Iterator[bytes]:
    for quality, subsampling in ((95, 0), (75, 2), (50, 1)):
        yield encoded(NOISE[..., :3], "JPEG", quality=quality, subsampling=subsampling)
        yield encoded(SMOOTH.astype(np.uint8), "JPEG", quality=quality, subsampling=subsampling, progressive=True)
    yield encoded(NOISE[..., 0], "JPEG")
    yield encoded(Image.fromarray(NOISE, "CMYK"), "JPEG")


def bmps() -> Iterator[bytes]:
    yield encoded(NOISE[..., :3], "BMP")
    yield encoded(NOISE, "BMP")
    yield encoded(NOISE[..., 0], "BMP")
    upside_down = bytearray(encoded(NOISE[..., :3], "BMP"))
    upside_down[22:26] = (-13).to_bytes(4, "little", signed=True)
    yield bytes(upside_down)
    yield struct.pack("<2sIIIIiihh", b"BM", 32, 0, 28, 40, 1, 1, 1, 24) + bytes(2)  # its pixel is in its header


def evaluate(tf: Any, calls: Sequence[Call]) -> list[Any]:
    """What each call gives; None where TensorFlow refuses."""
    results: list[Any] = []
    for op, contents, attributes in calls:
        named = {key: tf.as_dtype(value) if key == "dtype" else value for key, value in attributes.items()}
        try:
            results.append(getattr(tf.raw_ops, op)(contents=contents, **named).numpy())
        except (tf.errors.InvalidArgumentError, tf.errors.UnknownError):
            results.append(None)
    return results


def decoded(call: Call) -> Any:
    """What the kernel gives; None where it refuses."""
    op, contents, attributes = call
    dtype = attributes.get("dtype", "uint8")
    options = {key: TENSOR_TYPES[value] if key == "dtype" else value for key, value in attributes.items()}
    try:
        return run(op, [np.array(contents, object)], [np.dtype(dtype)], options, constants=(0,))[0]
    except KernelError:
        return None


def compare(tensorflow: TensorFlow, calls: Sequence[Call], *, most: float = 0) -> int:
    """Compares all calls, and returns how many are refused."""
    refused = 0
    for call, theirs in zip(calls, tensorflow.call(evaluate, calls), strict=True):
        ours = decoded(call)
        if theirs is None or ours is None:
            assert (ours is None) == (theirs is None), (call[0], call[1][:8], call[2])
            refused += 1
            continue
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), (call[0], call[2])
        difference = np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max()
        assert difference <= most, (call[0], call[2], difference)
    return refused


def test_png(tensorflow: TensorFlow) -> None:
    options = [{"channels": channels, "dtype": dtype} for channels in (0, 1, 3, 4) for dtype in ("uint8", "uint16")]
    calls: list[Call] = [("DecodePng", contents, given) for contents in pngs() for given in options]
    calls += [("DecodeImage", contents, {"dtype": "float32"}) for contents in pngs()]
    assert compare(tensorflow, calls) == 0


def sixteen_bits(tf: Any, channels: int) -> bytes:
    numbers = np.random.default_rng(1).integers(0, 65536, (4, 5, channels)).astype(np.uint16)
    return tf.io.encode_png(numbers).numpy()


def test_png_of_16_bits(tensorflow: TensorFlow) -> None:
    images = [tensorflow.call(sixteen_bits, channels) for channels in (1, 3, 4)]
    calls: list[Call] = [("DecodePng", image, {"channels": channels}) for image in images for channels in (0, 3, 4)]
    assert compare(tensorflow, [*calls, ("DecodePng", images[0], {"dtype": "uint16"})]) == 0
    for given in ({"channels": 1}, {"dtype": 16}):
        with pytest.raises(KernelError, match="8 of the 16 bits"):
            run(
                "DecodePng",
                [np.array(images[1], object)],
                [np.uint16 if "dtype" in given else np.uint8],
                given,
                constants=(0,),
            )


def test_jpeg(tensorflow: TensorFlow) -> None:
    exact: dict[str, Any] = {"dct_method": "INTEGER_ACCURATE"}
    options = [{"channels": channels, **exact} for channels in (0, 1, 3, 4)] + [
        {"ratio": ratio, **exact} for ratio in (2, 4, 8)
    ]
    calls: list[Call] = [("DecodeJpeg", contents, given) for contents in jpegs() for given in options]
    # Those of 4 channels, and CMYK as gray.
    assert compare(tensorflow, calls) == len(list(jpegs())) + 1


def test_jpeg_as_tensorflow_decodes_by_default(tensorflow: TensorFlow) -> None:
    calls: list[Call] = [("DecodeJpeg", contents, {"channels": 3}) for contents in jpegs()]
    compare(tensorflow, [*calls, *(("DecodePng", contents, {}) for contents in jpegs())], most=16)
    wide: list[Call] = [("DecodeImage", contents, {"dtype": "float32"}) for contents in jpegs()]
    compare(tensorflow, wide, most=0.06)


def test_bmp(tensorflow: TensorFlow) -> None:
    calls: list[Call] = [
        ("DecodeBmp", contents, {"channels": channels}) for contents in bmps() for channels in (0, 1, 3, 4)
    ]
    calls += [
        ("DecodeImage", contents, {"dtype": dtype}) for contents in list(bmps())[:3] for dtype in ("uint16", "float32")
    ]
    assert compare(tensorflow, calls) == len(list(bmps()))  # channels=1


def test_other_formats_and_damage(tensorflow: TensorFlow) -> None:
    png, jpeg, bmp = next(pngs()), next(jpegs()), next(bmps())
    huge = bytearray(png)
    huge[16:24] = b"\x7f\xff\xff\xff" * 2
    calls: list[Call] = [
        *(
            ("DecodeImage", contents, {})
            for contents in (b"", b"x", b"RIFF", png[:40], jpeg[:60], bmp[:40], bytes(huge))
        ),
        *(("DecodeBmp", contents, {}) for contents in (png, jpeg, bmp[:30], bmp + b"\0")),
        *(("DecodePng", contents, {}) for contents in (bmp, png[:-30])),
        ("DecodeJpeg", bmp, {}),
        ("DecodeJpeg", jpeg, {"ratio": 3}),
        ("DecodeJpeg", jpeg, {"dct_method": "FLOAT"}),
    ]
    assert compare(tensorflow, calls) == len(calls)


def serving(tf: Any, kind: str) -> Any:
    """Images of any sizes, as a model takes them."""
    module = tf.Module()
    module.kernel = tf.Variable(np.random.default_rng(0).normal(size=(3, 3, 3, 2)).astype(np.float32))
    decode: dict[str, Any] = {
        "jpeg": lambda text: tf.io.decode_jpeg(text, 3, dct_method="INTEGER_ACCURATE"),
        "png": lambda text: tf.io.decode_png(text, 3),
    }

    def one(text: Any) -> Any:
        return tf.image.resize(tf.cast(decode[kind](text), tf.float32) / 255.0, [8, 8])

    def serve(texts: Any) -> Any:
        images = tf.map_fn(one, texts, fn_output_signature=tf.TensorSpec([8, 8, 3], tf.float32))
        return {"features": tf.nn.conv2d(images, module.kernel, 1, "VALID")}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("kind", ["jpeg", "png"])
def test_models(tensorflow: TensorFlow, kind: str) -> None:
    path = tensorflow.save(serving, kind)
    images = {"jpeg": [*jpegs()][:7], "png": [*pngs()][:6]}[kind]
    batches = [images[:2], images[2:3], images]
    check(tensorflow, path, [{"texts": np.array(batch, object)} for batch in batches], kernel_pack=True)


def coarse(tf: Any) -> Any:
    module = tf.Module()
    spec = tf.TensorSpec([], tf.string, name="text")
    module.serve = tf.function(lambda text: tf.io.decode_jpeg(text, fancy_upscaling=False), input_signature=[spec])
    return module, {"serving_default": module.serve}


def test_colours_that_are_not_interpolated_are_refused(tensorflow: TensorFlow) -> None:
    with pytest.raises(UnsupportedOpsError, match="fancy_upscaling only"):
        litefuse.convert(tensorflow.save(coarse))


def test_without_pillow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    png, bmp = next(pngs()), next(bmps())
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(KernelError, match=r"pip install 'litefuse\[images\]'"):
        run("DecodePng", [np.array(png, object)], [np.uint8], constants=(0,))
    pixels = run("DecodeBmp", [np.array(bmp, object)], [np.uint8], constants=(0,))[0]
    assert pixels.shape == (13, 17, 3)
