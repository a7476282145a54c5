"""``DecodePng``, ``DecodeJpeg``, ``DecodeBmp`` and ``DecodeImage``: pixels of encoded images."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import as_bytes, check_scalar, check_strings
from litefuse.kernels.pack.supported import Arrays, LimitedKernel
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs

_Pixels = npt.NDArray[Any]

_PNG, _JPEG, _BMP = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"BM"
_FORMATS = {_PNG: "PNG", _JPEG: "JPEG", _BMP: "BMP"}
# The values of LiteRT's TensorType, which the ops' options use.
_DTYPES = {0: np.dtype(np.float32), 3: np.dtype(np.uint8), 16: np.dtype(np.uint16)}
_UINT8 = 3
_CHANNELS = (0, 1, 3, 4)
_RATIOS = (1, 2, 4, 8)
# More pixels are refused before they are decoded: a file of a few bytes may say that it has any number of them. Pillow
# warns of a third more.
_MOST_PIXELS = 2**26
# What libpng makes gray of red, green and blue with where TensorFlow asks it to, in 2^-15.
_GRAY = (9797, 19234, 3737)
# The colour types of PNG, and what Pillow gives less than: colours of 16 bits, and gray levels below 8 bits.
_PNG_GRAY, _PNG_RGB, _PNG_RGBA = 0, 2, 6


class _Decoder(CustomOp):
    dtypes: ClassVar[tuple[str, ...]] = ("uint8", "uint16", "float32")
    formats: ClassVar[tuple[str, ...]] = ("PNG", "JPEG")

    def prepare(self, contents: TensorSpec, *, channels: int = 0, dtype: int = _UINT8) -> TensorSpec:
        """Checks the input; the size of the image is known only once it is decoded."""
        check_strings("contents", contents)
        check_scalar("contents", contents)
        if channels not in _CHANNELS:
            raise KernelError(f"channels must be 0, 1, 3 or 4, not {channels}")
        if dtype not in _DTYPES:
            raise KernelError(f"dtype must be one of {', '.join(map(str, _DTYPES.values()))}, not number {dtype}")
        return TensorSpec(None, _DTYPES[dtype])

    def _decoded(self, contents: bytes, channels: int, dtype: int = _UINT8, *, ratio: int = 1) -> _Pixels:
        """Returns an image's pixels; raises a KernelError if it is damaged, too large, or of another form."""
        form = next((name for start, name in _FORMATS.items() if contents.startswith(start)), None)
        if form not in self.formats:
            kind = f"a {form}" if form else "of an unknown format"
            raise KernelError(f"the image is {kind}; {self.op_name} decodes {' and '.join(self.formats)} here")
        wanted = _DTYPES[dtype]
        if form == "PNG":
            return _converted(_png(contents, channels, deep=wanted != np.uint8), wanted, 257, 65535)
        pixels = _bmp(contents, channels) if form == "BMP" else _jpeg(contents, channels, ratio)
        return _converted(pixels, wanted, 256, 255)


@pack_kernel("DecodePng")
class DecodePng(_Decoder):
    """TensorFlow's op of the same name (``tf.io.decode_png``, ``tf.image.decode_png``).

    Input: ``contents``, a string: an image in the format PNG or JPEG. Output: ``[height, width, channels]``.

    Options: ``channels``: 1 for gray levels, 3 for RGB, 4 for RGBA, 0 (if missing) for those of the image; ``dtype``,
    as LiteRT's TensorType, uint8 if missing, or uint16.

    It needs Pillow, which reads 8 bits of each colour: where 16 are asked for, those of a PNG with 16 are refused.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/decode_png.
    """

    def invoke(self, inputs: Arrays, outputs: Outputs, *, channels: int = 0, dtype: int = _UINT8) -> None:
        outputs[0] = self._decoded(inputs[0].item(), channels, dtype)


@pack_kernel("DecodeImage")
class DecodeImage(DecodePng):
    """TensorFlow's op of the same name (``tf.io.decode_image``).

    As ``DecodePng``, with BMP as well, and float32 from 0 to 1 for ``dtype``. GIF is not supported, so
    ``expand_animations`` changes nothing.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/decode_image.
    """

    formats: ClassVar[tuple[str, ...]] = ("PNG", "JPEG", "BMP")


@pack_kernel("DecodeJpeg", limited=True)
class DecodeJpeg(_Decoder, LimitedKernel):
    """TensorFlow's op of the same name (``tf.io.decode_jpeg``, ``tf.image.decode_jpeg``).

    Input: ``contents``, a string: an image in the format JPEG or PNG. Output: ``[height, width, channels]``, uint8.

    Options: ``channels``: 1 for gray levels, 3 for RGB, 0 (if missing) for those of the image; ``ratio``, 1 if missing,
    2, 4 or 8: the image is made smaller by it. ``try_recover_truncated`` changes nothing: what is cut off is an error.

    It needs Pillow, which decodes with ``dct_method`` INTEGER_ACCURATE, as TensorFlow does then, to the bit.
    TensorFlow's default is INTEGER_FAST: its pixels differ by up to about 8 of 255, and by 1 to 2 on average.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/decode_jpeg.
    """

    dtypes: ClassVar[tuple[str, ...]] = ("uint8",)

    @classmethod
    def refusal(cls, dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
        """Accepts colours that are interpolated, which is the default."""
        del dtypes
        return (
            None if attributes.get("fancy_upscaling", True) else "litefuse's kernel decodes with fancy_upscaling only"
        )

    def invoke(
        self, inputs: Arrays, outputs: Outputs, *, channels: int = 0, ratio: int = 1, dct_method: str | bytes = ""
    ) -> None:
        if ratio not in _RATIOS:
            raise KernelError(f"ratio must be 1, 2, 4 or 8, not {ratio}")
        if as_bytes(dct_method) not in (b"", b"INTEGER_FAST", b"INTEGER_ACCURATE"):
            raise KernelError(f"dct_method must be INTEGER_FAST or INTEGER_ACCURATE, not {dct_method!r}")
        outputs[0] = self._decoded(inputs[0].item(), channels, ratio=ratio)


@pack_kernel("DecodeBmp")
class DecodeBmp(_Decoder):
    """TensorFlow's op of the same name (``tf.io.decode_bmp``).

    Input: ``contents``, a string: an image in the format BMP, uncompressed, with 8 (gray), 24 or 32 bits for each
    pixel. Output: ``[height, width, channels]``, uint8.

    Options: ``channels``: 3 for RGB, 4 for RGBA, 0 (if missing) for those of the image.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/decode_bmp.
    """

    dtypes: ClassVar[tuple[str, ...]] = ("uint8",)
    formats: ClassVar[tuple[str, ...]] = ("BMP",)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, channels: int = 0) -> None:
        outputs[0] = self._decoded(inputs[0].item(), channels)


def _converted(pixels: _Pixels, dtype: np.dtype[Any], factor: int, most: int) -> _Pixels:
    """Returns pixels in a dtype; ``factor`` is what uint16 is of uint8, ``most`` the integer that is 1.0."""
    if dtype == np.uint8:
        return pixels
    wide = pixels.astype(np.uint16) * np.uint16(factor) if pixels.dtype == np.uint8 else pixels
    if dtype == np.uint16:
        return wide
    return (wide if most > 255 else pixels).astype(np.float32) * np.float32(1 / most)


def _opened(contents: bytes, kind: str) -> Any:
    """Opens an image with Pillow, and checks its size."""
    try:
        from PIL import Image
    except ImportError:
        raise KernelError(
            "decoding images needs Pillow, which is not installed", hint="Install it: pip install 'litefuse[images]'."
        ) from None
    try:
        image: Any = Image.open(io.BytesIO(contents), formats=[kind])
    except Exception as error:  # whatever Pillow raises for damaged headers
        raise KernelError(f"the {kind} cannot be read: {error}") from error
    if image.width * image.height > _MOST_PIXELS:
        raise KernelError(f"the {kind} of {image.width} x {image.height} pixels is larger than {_MOST_PIXELS:,} pixels")
    return image


def _loaded(image: Any, mode: str | None = None) -> _Pixels:
    """Returns the pixels of an image as an array ``[height, width, channels]``."""
    try:
        image.load()
        array = np.asarray(image if mode in (None, image.mode) else image.convert(mode))
    except Exception as error:  # whatever Pillow raises for damaged data
        raise KernelError(f"the {image.format or 'image'} cannot be decoded: {error}") from error
    return array if array.ndim == 3 else array[:, :, np.newaxis]


def _png(contents: bytes, channels: int, *, deep: bool) -> _Pixels:
    image = _opened(contents, "PNG")
    bits, colours = contents[24], contents[25]
    transparent, mode = "transparency" in image.info, image.mode
    gray = colours not in (_PNG_RGB, _PNG_RGBA) and mode != "P"
    natural = {"P": 4 if transparent else 3, "RGB": 3, "RGBA": 4, "LA": 2}.get(mode, 1)
    channels = channels or natural
    if bits == 16 and mode not in ("I;16", "I;16B", "I") and (deep or (channels == 1 and not gray)):
        raise KernelError("Pillow reads 8 of the 16 bits of the PNG's colors: ask for uint8 in the image's channels")
    alpha = transparent and channels in (2, 4)
    if alpha and mode != "P" and bits != 8:
        raise KernelError(f"a PNG of {bits} bits with a transparent color is not supported")
    if mode == "P" or alpha:
        pixels = _loaded(image, "RGBA" if transparent else "RGB")
    else:
        pixels = _loaded(image, "L" if mode == "1" else None)
    if pixels.dtype.itemsize > 2:  # Pillow has gray levels of 16 bits as int32 in older releases
        pixels = pixels.astype(np.uint16)
    if pixels.dtype == np.uint16 and not deep:
        pixels = (pixels >> 8).astype(np.uint8)
    # TensorFlow has libpng add what is opaque in the bits of the file, even where 8 bits are made of those.
    return _in_channels(pixels, channels, min(2**bits - 1, np.iinfo(pixels.dtype).max))


def _in_channels(pixels: _Pixels, channels: int, opaque: int = 255) -> _Pixels:
    """Returns gray levels or colours, with alpha or without, as 1 to 4 channels; ``opaque`` is a new alpha."""
    count = pixels.shape[2]
    colours, alpha = (pixels[:, :, :-1], pixels[:, :, -1:]) if count in (2, 4) else (pixels, None)
    if channels < 3 <= count:
        colours = _as_gray(colours)
    elif channels >= 3 > count:
        colours = np.repeat(colours, 3, 2)
    if channels not in (2, 4):
        return colours
    if alpha is None:
        alpha = np.full_like(colours[:, :, :1], opaque)
    return np.concatenate([colours, alpha], 2)


def _as_gray(colours: _Pixels) -> _Pixels:
    levels = sum(colours[:, :, axis].astype(np.uint32) * np.uint32(part) for axis, part in enumerate(_GRAY))
    return (np.asarray(levels) >> 15).astype(colours.dtype)[:, :, np.newaxis]


def _jpeg(contents: bytes, channels: int, ratio: int) -> _Pixels:
    if channels == 4:
        raise KernelError("JPEG does not support 4 channels")
    image = _opened(contents, "JPEG")
    if channels == 1 and image.mode == "CMYK":
        raise KernelError("a JPEG of CMYK cannot be converted to gray")
    if ratio > min(image.size):
        raise KernelError(f"a JPEG of {image.width} x {image.height} pixels cannot be reduced by {ratio}")
    image.draft("L" if channels == 1 else None, (image.width // ratio, image.height // ratio))
    pixels = _loaded(image)
    if image.mode == "CMYK":
        # Pillow inverts what the file has; Adobe's files have it inverted.
        ink = (255 - pixels.astype(np.int32)) if "adobe" in image.info else pixels.astype(np.int32)
        pixels = (ink[:, :, :3] * ink[:, :, 3:] // 255).astype(np.uint8)
    return _in_channels(pixels, channels or pixels.shape[2])


def _bmp(contents: bytes, channels: int) -> _Pixels:
    if channels == 1:
        raise KernelError("channels must be 0, 3 or 4 for BMP, not 1")
    if len(contents) < 32:
        raise KernelError(f"a BMP has at least 32 bytes, not {len(contents)}")
    start, width, height = (struct.unpack_from("<i", contents, place)[0] for place in (10, 18, 22))
    (bits,) = struct.unpack_from("<h", contents, 28)
    count = bits // 8
    if count not in (1, 3, 4):
        raise KernelError(f"a BMP has 8, 24 or 32 bits for each pixel, not {bits}")
    if width <= 0 or height == 0 or start < 0:
        raise KernelError(f"a BMP cannot be of {width} x {height} pixels from byte {start} on")
    row = (count * width + 3) // 4 * 4
    if len(contents) - start != row * abs(height):
        raise KernelError(
            f"a BMP of {width} x {height} pixels has {row * abs(height)} bytes, not {len(contents) - start}"
        )
    rows = np.frombuffer(contents, np.uint8, offset=start).reshape(abs(height), row)
    pixels = (rows if height < 0 else rows[::-1])[:, : width * count].reshape(abs(height), width, count)
    colours = pixels[:, :, [2, 1, 0, 3][:count]] if count > 1 else pixels
    return np.ascontiguousarray(_in_channels(colours, channels or count))
