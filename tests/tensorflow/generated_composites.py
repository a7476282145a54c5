"""Composites as users write and mark them, none of which is a fusion of litefuse's: what kernels are generated for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Input:
    """An input of a composite.

    Attributes:
        name: Its name.
        shape: Its shape in the model; None is dynamic.
        small: The sizes of a test, for each dynamic dimension.
        large: Those of a benchmark.
        dtype: Its dtype.
        draw: Makes its value from a generator and a shape; standard normal numbers or bytes unless it is given.
    """

    name: str
    shape: tuple[int | None, ...]
    small: tuple[int, ...]
    large: tuple[int, ...]
    dtype: str = "float32"
    draw: Callable[[np.random.Generator, tuple[int, ...]], npt.NDArray[Any]] | None = None

    def value(self, random: np.random.Generator, sizes: Sequence[int]) -> npt.NDArray[Any]:
        """A value with these sizes of the dynamic dimensions."""
        remaining = iter(sizes)
        shape = tuple(next(remaining) if size is None else size for size in self.shape)
        if self.draw is not None:
            return self.draw(random, shape).astype(self.dtype)
        if self.dtype == "uint8":
            return random.integers(0, 256, shape).astype(np.uint8)
        return random.normal(0, 1, shape).astype(self.dtype)


@dataclass(frozen=True)
class Composite:
    """A marked function.

    Attributes:
        title: What tables call it.
        body: Computes it, from TensorFlow and the inputs.
        inputs: Its inputs.
        attributes: Further text of its mark.
    """

    title: str
    body: Callable[..., Any]
    inputs: tuple[Input, ...]
    attributes: str = field(default="")


def all_composites(tf: Any) -> Any:
    """A model with a signature for each composite."""
    module = tf.Module()
    signatures: dict[str, Any] = {}
    for name, composite in COMPOSITES.items():
        mark = f'name: "{name}" attr {{ key: "tfl_fusable_op" value {{ b: true }} }} {composite.attributes}'
        function = tf.function(partial(composite.body, tf), experimental_implements=mark, autograph=False)
        specs = [tf.TensorSpec(each.shape, each.dtype, name=each.name) for each in composite.inputs]
        serve = tf.function(partial(_serve, function), autograph=False)
        signatures[name] = serve.get_concrete_function(*specs)
    module.kept = list(signatures.values())
    return module, signatures


def _serve(function: Callable[..., Any], *inputs: Any) -> dict[str, Any]:
    results = function(*inputs)
    several = cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)
    return {f"y{place}": result for place, result in enumerate(several)}


def normalize_images(tf: Any, images: Any) -> Any:
    return (tf.cast(images, tf.float32) / 255.0 - tf.constant(MEAN)) / tf.constant(DEVIATION)


def iou_matrix(tf: Any, first: Any, second: Any) -> Any:
    """The intersection over union of each box of one set with each of another; [y0, x0, y1, x1]."""
    area = (first[:, 2] - first[:, 0]) * (first[:, 3] - first[:, 1])
    other_area = (second[:, 2] - second[:, 0]) * (second[:, 3] - second[:, 1])
    top_left = tf.maximum(first[:, tf.newaxis, :2], second[tf.newaxis, :, :2])
    bottom_right = tf.minimum(first[:, tf.newaxis, 2:], second[tf.newaxis, :, 2:])
    sides = tf.maximum(bottom_right - top_left, 0.0)
    intersection = sides[..., 0] * sides[..., 1]
    return intersection / (area[:, tf.newaxis] + other_area[tf.newaxis, :] - intersection + 1e-9)


def group_norm_silu(tf: Any, x: Any, scale: Any, offset: Any) -> Any:
    shape = tf.shape(x)
    groups = tf.reshape(x, [shape[0], shape[1], shape[2], 32, x.shape[-1] // 32])
    mean, variance = tf.nn.moments(groups, [1, 2, 4], keepdims=True)
    normal = tf.reshape((groups - mean) * tf.math.rsqrt(variance + 1e-5), shape)
    return tf.nn.silu(normal * scale + offset)


def residual_layer_norm(tf: Any, x: Any, residual: Any, scale: Any, offset: Any) -> Any:
    x = x + residual
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + offset


def rms_norm(tf: Any, x: Any, scale: Any) -> Any:
    return x * tf.math.rsqrt(tf.reduce_mean(tf.square(x), -1, keepdims=True) + 1e-6) * scale


def rotary_embedding(tf: Any, x: Any, cosine: Any, sine: Any) -> Any:
    """Positions rotated into heads [batch, position, head, depth], by tables [position, depth]."""
    first, second = tf.split(x, 2, axis=-1)
    rotated = tf.concat([-second, first], -1)
    return x * cosine[tf.newaxis, :, tf.newaxis, :] + rotated * sine[tf.newaxis, :, tf.newaxis, :]


def swiglu(tf: Any, gate: Any, up: Any) -> Any:
    return gate * tf.sigmoid(gate) * up


def gelu_chain(tf: Any, x: Any, residual: Any, bias: Any, scale: Any) -> Any:
    """What follows a product in a layer: a bias, GELU, a scale for each channel, and the layer's input."""
    x = x + bias
    return residual + scale * (0.5 * x * (1.0 + tf.tanh(0.7978845608 * (x + 0.044715 * tf.pow(x, 3.0)))))


def decode_boxes(tf: Any, codes: Any, anchors: Any, logits: Any) -> Any:
    """Boxes [y0, x0, y1, x1] from offsets to anchors [y, x, height, width], and scores."""
    y, x, height, width = tf.unstack(codes, axis=-1)
    anchor_y, anchor_x, anchor_height, anchor_width = tf.unstack(anchors, axis=-1)
    y = y * 0.1 * anchor_height + anchor_y
    x = x * 0.1 * anchor_width + anchor_x
    height = tf.exp(height * 0.2) * anchor_height / 2.0
    width = tf.exp(width * 0.2) * anchor_width / 2.0
    return tf.stack([y - height, x - width, y + height, x + width], -1), tf.sigmoid(logits)


def masked_softmax(tf: Any, scores: Any, mask: Any) -> Any:
    scores = tf.where(mask[:, tf.newaxis, tf.newaxis, :] > 0, scores * 0.125, -1e9)
    scores = scores - tf.reduce_max(scores, -1, keepdims=True)
    exponents = tf.exp(scores)
    return exponents / tf.reduce_sum(exponents, -1, keepdims=True)


def mish(tf: Any, x: Any) -> Any:
    return x * tf.tanh(tf.math.softplus(x))


def snake(tf: Any, x: Any, alpha: Any) -> Any:
    return x + tf.square(tf.sin(alpha * x)) / (alpha + 1e-9)


def log_mel(tf: Any, power: Any) -> Any:
    """Powers of mel bands as Whisper scales them: decades, at most eight below the loudest."""
    decades = tf.math.log(tf.maximum(power, 1e-10)) / np.log(10.0).astype(np.float32)
    loudest = tf.reduce_max(decades, [1, 2], keepdims=True)
    return (tf.maximum(decades, loudest - 8.0) + 4.0) / 4.0


def yuv_to_rgb(tf: Any, luma: Any, u: Any, v: Any) -> Any:
    """Bytes [batch, height, width, 3] of planes, the two of color in half the resolution."""
    y = 1.164 * (tf.cast(luma, tf.float32) - 16.0)
    u, v = (tf.repeat(tf.repeat(tf.cast(plane, tf.float32) - 128.0, 2, axis=1), 2, axis=2) for plane in (u, v))
    rgb = tf.stack([y + 1.596 * v, y - 0.392 * u - 0.813 * v, y + 2.017 * u], -1)
    return tf.cast(tf.clip_by_value(tf.round(rgb), 0.0, 255.0), tf.uint8)


def letterbox(tf: Any, images: Any) -> Any:
    """Images of 480 x 640 in a gray square of 320 x 320, from 0 to 1."""
    small = tf.image.resize(tf.cast(images, tf.float32), [240, 320])
    return tf.pad(small, [[0, 0], [40, 40], [0, 0], [0, 0]], constant_values=114.0) / 255.0


def clip_to_quantiles(tf: Any, x: Any) -> Any:
    """Rows clipped to the range from their 5th to their 95th percentile."""
    ordered = tf.sort(x, axis=-1)
    last = tf.cast(tf.shape(x)[-1] - 1, tf.float32)
    low = tf.gather(ordered, tf.cast(tf.floor(last * 0.05), tf.int32), axis=-1)
    high = tf.gather(ordered, tf.cast(tf.math.ceil(last * 0.95), tf.int32), axis=-1)
    return tf.minimum(tf.maximum(x, low[:, tf.newaxis]), high[:, tf.newaxis])


def cumulative_scores(tf: Any, scores: Any) -> Any:
    """Of scores in descending order, those that the first 0.9 of their sum is made of; the others become 0."""
    before = tf.cumsum(scores, axis=-1, exclusive=True)
    return tf.where(before < 0.9 * tf.reduce_sum(scores, -1, keepdims=True), scores, tf.zeros_like(scores))


def focal_weights(tf: Any, logits: Any, labels: Any) -> Any:
    targets = tf.one_hot(labels, logits.shape[-1])
    probabilities = tf.sigmoid(logits)
    right = targets * probabilities + (1.0 - targets) * (1.0 - probabilities)
    return (targets * 0.25 + (1.0 - targets) * 0.75) * tf.square(1.0 - right)


def magnitude(tf: Any, real: Any, imaginary: Any) -> Any:
    return tf.abs(tf.complex(real, imaginary))


def windowed_sums(tf: Any, x: Any) -> Any:
    """The energy of windows of 400 samples, one each 160."""
    window = np.hanning(400).astype(np.float32)
    return tf.reduce_sum(tf.square(tf.signal.frame(x, 400, 160) * window), -1)


def log_mel_spectrogram(tf: Any, audio: Any) -> Any:
    """Logarithms of mel bands of the magnitudes of windows of 400 samples, one each 160."""
    magnitudes = tf.abs(tf.signal.stft(audio, 400, 160, 512, pad_end=True))
    bands = tf.signal.linear_to_mel_weight_matrix(80, 257, 16000, 60.0, 7600.0)
    return tf.math.log(tf.tensordot(magnitudes, bands, 1) + 1e-6)


def _sampled(tf: Any, images: Any, x: Any, y: Any) -> Any:
    """Images at points in pixels, linear between these and 0 outside: PyTorch's ``grid_sample``."""
    shape = tf.shape(images)
    left, top = tf.floor(x), tf.floor(y)
    total = tf.constant(0.0)
    for columns, across in ((left, left + 1.0 - x), (left + 1.0, x - left)):
        for rows, down in ((top, top + 1.0 - y), (top + 1.0, y - top)):
            column, row = tf.cast(columns, tf.int32), tf.cast(rows, tf.int32)
            inside = (column >= 0) & (column < shape[2]) & (row >= 0) & (row < shape[1])
            places = [tf.clip_by_value(row, 0, shape[1] - 1), tf.clip_by_value(column, 0, shape[2] - 1)]
            pixels = tf.gather_nd(images, tf.stack(places, -1), batch_dims=1)
            total += pixels * (across * down * tf.cast(inside, tf.float32))[..., tf.newaxis]
    return total


def grid_sample(tf: Any, images: Any, grid: Any) -> Any:
    size = tf.cast(tf.shape(images)[1:3], tf.float32)
    x, y = (((grid[..., axis] + 1.0) * size[1 - axis] - 1.0) / 2.0 for axis in (0, 1))
    return _sampled(tf, images, x, y)


def deformable_convolution(tf: Any, images: Any, offsets: Any, filters: Any) -> Any:
    """A convolution with a filter of 3 x 3, each point of which is moved by an offset [y, x]."""
    shape = tf.shape(images)
    offsets = tf.reshape(offsets, [shape[0], shape[1], shape[2], 9, 2])
    rows, columns = tf.range(shape[1])[:, tf.newaxis, tf.newaxis], tf.range(shape[2])[tf.newaxis, :, tf.newaxis]
    down, across = np.divmod(np.arange(9), 3)
    y = tf.cast(rows + down - 1, tf.float32) + offsets[..., 0]
    x = tf.cast(columns + across - 1, tf.float32) + offsets[..., 1]
    points = tf.reshape(_sampled(tf, images, x, y), [shape[0], shape[1], shape[2], 9 * images.shape[-1]])
    return tf.tensordot(points, filters, 1)


def embedding_bag(tf: Any, table: Any, ids: Any, bags: Any) -> Any:
    """Sums of the rows of a table that belong to each of 64 bags."""
    return tf.math.unsorted_segment_sum(tf.gather(table, ids), bags, 64)


def yolo_decode(tf: Any, logits: Any, anchors: Any) -> Any:
    """Boxes [x, y, width, height] in pixels, and scores, of three anchors in each cell of 8 x 8 pixels: YOLOv5."""
    shape = tf.shape(logits)
    cells = tf.sigmoid(tf.reshape(logits, [shape[0], shape[1], shape[2], 3, 85]))
    rows, columns = tf.meshgrid(tf.range(shape[1]), tf.range(shape[2]), indexing="ij")
    grid = tf.cast(tf.stack([columns, rows], -1), tf.float32)[tf.newaxis, :, :, tf.newaxis]
    centers = (cells[..., :2] * 2.0 - 0.5 + grid) * 8.0
    boxes = tf.concat([centers, tf.square(cells[..., 2:4] * 2.0) * anchors, cells[..., 4:5] * cells[..., 5:]], -1)
    return tf.reshape(boxes, [shape[0], -1, 84])


def best_detections(tf: Any, scores: Any, boxes: Any) -> Any:
    """The 100 best of all classes of all boxes, of which there are none twice: DETR and YOLOv10."""
    classes = scores.shape[-1]
    scores, places = tf.math.top_k(tf.reshape(scores, [tf.shape(scores)[0], -1]), 100)
    x, y, width, height = tf.unstack(tf.gather(boxes, places // classes, batch_dims=1), axis=-1)
    corners = tf.stack([x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0], -1)
    return corners, scores, places % classes


def _boxes(random: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    corners = random.uniform(0, 0.7, (shape[0], 2))
    return np.concatenate([corners, corners + random.uniform(0.02, 0.3, corners.shape)], 1)


def _positive(random: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    return random.uniform(0.1, 2, shape)


def _powers(random: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    return np.exp(random.normal(0, 5, shape))


def _mask(random: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    mask = random.integers(0, 4, shape) > 0
    mask[:, 0] = True
    return mask


def _descending(random: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    exponents = np.exp(2 * random.normal(0, 1, shape))
    return -np.sort(-exponents / exponents.sum(-1, keepdims=True), -1)


def _points(random: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    return random.uniform(-1.1, 1.1, shape)


def _labels(random: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    return random.integers(0, 20, shape)


COMPOSITES: dict[str, Composite] = {
    "NormalizeImages": Composite(
        "image normalization",
        normalize_images,
        (Input("images", (None, None, None, 3), (2, 5, 7), (1, 640, 640), "uint8"),),
    ),
    "IouMatrix": Composite(
        "IoU matrix",
        iou_matrix,
        (Input("first", (None, 4), (5,), (256,), draw=_boxes), Input("second", (None, 4), (3,), (256,), draw=_boxes)),
    ),
    "GroupNormSilu": Composite(
        "GroupNorm + SiLU",
        group_norm_silu,
        (
            Input("x", (None, None, None, 128), (2, 3, 5), (1, 64, 64)),
            Input("scale", (128,), (), ()),
            Input("offset", (128,), (), ()),
        ),
    ),
    "ResidualLayerNorm": Composite(
        "LayerNorm + residual",
        residual_layer_norm,
        (
            Input("x", (None, None, 768), (2, 3), (1, 512)),
            Input("residual", (None, None, 768), (2, 3), (1, 512)),
            Input("scale", (768,), (), ()),
            Input("offset", (768,), (), ()),
        ),
    ),
    "RmsNorm": Composite(
        "RMSNorm",
        rms_norm,
        (Input("x", (None, None, 1024), (2, 3), (1, 512)), Input("scale", (1024,), (), ())),
    ),
    "RotaryEmbedding": Composite(
        "RoPE",
        rotary_embedding,
        (
            Input("x", (None, None, 8, 64), (2, 5), (1, 512)),
            Input("cosine", (None, 64), (5,), (512,)),
            Input("sine", (None, 64), (5,), (512,)),
        ),
    ),
    "Swiglu": Composite(
        "SwiGLU",
        swiglu,
        (Input("gate", (None, 2816), (3,), (256,)), Input("up", (None, 2816), (3,), (256,))),
    ),
    "GeluChain": Composite(
        "GELU chain",
        gelu_chain,
        (
            Input("x", (None, 1024), (3,), (1024,)),
            Input("residual", (None, 1024), (3,), (1024,)),
            Input("bias", (1024,), (), ()),
            Input("scale", (1024,), (), ()),
        ),
    ),
    "DecodeBoxes": Composite(
        "box decoding",
        decode_boxes,
        (
            Input("codes", (None, 1917, 4), (2,), (1,)),
            Input("anchors", (1917, 4), (), (), draw=_positive),
            Input("logits", (None, 1917, 91), (2,), (1,)),
        ),
    ),
    "MaskedSoftmax": Composite(
        "softmax with mask",
        masked_softmax,
        (
            Input("scores", (None, 8, None, None), (2, 3, 5), (1, 256, 256)),
            Input("mask", (None, None), (2, 5), (1, 256), "int32", _mask),
        ),
    ),
    "Mish": Composite("mish", mish, (Input("x", (None, None, None, 64), (2, 3, 5), (1, 80, 80)),)),
    "Snake": Composite(
        "snake",
        snake,
        (Input("x", (None, None, 128), (2, 7), (1, 4096)), Input("alpha", (128,), (), (), draw=_positive)),
    ),
    "LogMel": Composite(
        "log-mel scaling", log_mel, (Input("power", (None, None, 80), (2, 11), (1, 3000), draw=_powers),)
    ),
    "YuvToRgb": Composite(
        "YUV to RGB",
        yuv_to_rgb,
        (
            Input("luma", (None, 480, 640), (2,), (1,), "uint8"),
            Input("u", (None, 240, 320), (2,), (1,), "uint8"),
            Input("v", (None, 240, 320), (2,), (1,), "uint8"),
        ),
    ),
    "Letterbox": Composite("letterbox", letterbox, (Input("images", (None, 480, 640, 3), (2,), (1,), "uint8"),)),
    "ClipToQuantiles": Composite(
        "quantile clipping", clip_to_quantiles, (Input("x", (None, None), (3, 37), (64, 4096)),)
    ),
    "CumulativeScores": Composite(
        "cumulative scores",
        cumulative_scores,
        (Input("scores", (None, None), (3, 17), (8, 32000), draw=_descending),),
    ),
    "FocalWeights": Composite(
        "one-hot focal weights",
        focal_weights,
        (Input("logits", (None, 20), (9,), (16384,)), Input("labels", (None,), (9,), (16384,), "int32", _labels)),
    ),
    "Magnitude": Composite(
        "complex magnitude",
        magnitude,
        (Input("real", (None, None, 257), (2, 3), (1, 1000)), Input("imaginary", (None, None, 257), (2, 3), (1, 1000))),
    ),
    "WindowedSums": Composite("windowed sums", windowed_sums, (Input("x", (None, 16000), (2,), (4,)),)),
    "LogMelSpectrogram": Composite(
        "log-mel spectrogram", log_mel_spectrogram, (Input("audio", (None, None), (2, 999), (1, 16000)),)
    ),
    "GridSample": Composite(
        "grid sampling",
        grid_sample,
        (
            Input("images", (None, None, None, 16), (2, 5, 7), (1, 128, 128)),
            Input("grid", (None, None, None, 2), (2, 4, 3), (1, 128, 128), draw=_points),
        ),
    ),
    "DeformableConvolution": Composite(
        "deformable convolution",
        deformable_convolution,
        (
            Input("images", (None, None, None, 16), (2, 5, 7), (1, 64, 64)),
            Input("offsets", (None, None, None, 18), (2, 5, 7), (1, 64, 64)),
            Input("filters", (144, 32), (), ()),
        ),
    ),
    "EmbeddingBag": Composite(
        "embedding bag",
        embedding_bag,
        (
            Input("table", (1000, 64), (), ()),
            Input("ids", (None,), (50,), (4096,), "int32", _labels),
            Input("bags", (None,), (50,), (4096,), "int32", _labels),
        ),
    ),
    "YoloDecode": Composite(
        "YOLO decoding",
        yolo_decode,
        (
            Input("logits", (None, None, None, 255), (2, 3, 5), (1, 80, 80)),
            Input("anchors", (3, 2), (), (), draw=_positive),
        ),
    ),
    "BestDetections": Composite(
        "best detections",
        best_detections,
        (Input("scores", (None, 300, 80), (2,), (1,), draw=_positive), Input("boxes", (None, 300, 4), (2,), (1,))),
    ),
}
