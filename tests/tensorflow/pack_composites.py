# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""Composites that kernels of the pack stand for; their bodies compute the same in other ops, by the definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np


class Body(NamedTuple):
    """A composite that a kernel stands for.

    Attributes:
        op: The kernel's op, which is the composite's name.
        compute: Of tf and the arguments.
        arguments: A text such as ``float32:?,3`` is an input with that dtype and shape; other values are constants.
        options: The composite's attributes.
    """

    op: str
    compute: Callable[..., Any]
    arguments: Sequence[Any]
    options: Mapping[str, Any] = {}


def composites(tf: Any, names: Sequence[str]) -> Any:
    """A model with a signature for each of the bodies."""
    module = tf.Module()
    signatures = {name: _serving(tf, BODIES[name]) for name in names}
    module.functions = [*signatures.values()]
    return module, signatures


def _serving(tf: Any, body: Body) -> Any:
    attributes = "".join(f' attr {{ key: "{key}" value {{ {_text(value)} }} }}' for key, value in body.options.items())

    @tf.function(experimental_implements=f'name: "{body.op}"{attributes}', autograph=False)
    def composite(*arguments: Any) -> Any:
        return body.compute(tf, *arguments)

    specs = [_spec(tf, each, number) for number, each in enumerate(body.arguments) if isinstance(each, str)]

    @tf.function(input_signature=specs, autograph=False)
    def serve(*inputs: Any) -> Any:
        given = iter(inputs)
        results = composite(*(next(given) if isinstance(each, str) else tf.constant(each) for each in body.arguments))
        return {f"y{number}": value for number, value in enumerate(tf.nest.flatten(results))}

    return serve


def _spec(tf: Any, text: str, number: int) -> Any:
    dtype, _, sizes = text.partition(":")
    shape = [None if size == "?" else int(size) for size in sizes.split(",") if size]
    return tf.TensorSpec(shape, dtype, name=f"x{number}")


def _text(value: Any) -> str:
    """Returns the value of an attribute in protobuf's text format."""
    if isinstance(value, list):
        return f"list {{ {' '.join(map(_text, cast('list[Any]', value)))} }}"
    if isinstance(value, bool):
        return f"b: {str(value).lower()}"
    return (
        f"{'f' if isinstance(value, float) else 'i'}: {value}" if isinstance(value, (int, float)) else f's: "{value}"'
    )


def _numbers(*numbers: float) -> Any:
    return np.array(numbers, np.float32)


def _windows(x: Any, axes: int) -> list[Any]:
    """The elements of all windows of size 2, by their places in these."""
    ends = [slice(0, -1), slice(1, None)]
    return [x[(slice(None), *places)] for places in product(ends, repeat=axes)]


def _counts(tf: Any, ids: Any, size: Any, weights: Any) -> Any:
    del size
    return tf.reduce_sum(tf.cast(tf.equal(ids[..., None], tf.range(5)), tf.float32) * weights[..., None], -2)


def _matrix(tf: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return tf.stack([tf.stack([a, b], -1), tf.stack([c, d], -1)], -2)


def _cholesky(tf: Any, a: Any) -> Any:
    first = tf.sqrt(a[..., 0, 0])
    below = a[..., 1, 0] / first
    last = tf.sqrt(a[..., 1, 1] - below * below)
    none = tf.math.is_nan(last) | (first == 0) | (last == 0)
    lower = _matrix(tf, first, tf.zeros_like(first), below, last)
    return tf.where(none[..., None, None], _numbers(np.nan, 0, np.nan, np.nan).reshape(2, 2), lower)


def _determinant(tf: Any, a: Any) -> Any:
    del tf
    return a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]


def _inverse(tf: Any, a: Any) -> Any:
    adjugate = _matrix(tf, a[..., 1, 1], -a[..., 0, 1], -a[..., 1, 0], a[..., 0, 0])
    return adjugate / _determinant(tf, a)[..., None, None]


def _solve(tf: Any, a: Any, b: Any) -> Any:
    return _inverse(tf, a) @ b


def _triangular_solve(tf: Any, a: Any, b: Any) -> Any:
    first = b[..., 0, :] / a[..., 0, 0, None]
    return tf.stack([first, (b[..., 1, :] - a[..., 1, 0, None] * first) / a[..., 1, 1, None]], -2)


def _cross(tf: Any, a: Any, b: Any) -> Any:
    (x, y, z), (u, v, w) = tf.unstack(a, axis=-1), tf.unstack(b, axis=-1)
    return tf.stack([y * w - z * v, z * u - x * w, x * v - y * u], -1)


def _cumprod(tf: Any, x: Any, axis: Any) -> Any:
    del axis
    return tf.stack([tf.reduce_prod(x[:, : end + 1], 1) for end in range(5)], 1)


def _transposed_convolution(tf: Any, x: Any, weights: Any, bias: Any) -> Any:
    shape = tf.stack([tf.shape(x)[0], 8, 8, 2])
    return tf.nn.conv2d_transpose(x, tf.transpose(weights, [1, 2, 0, 3]), shape, 2, "SAME") + bias


def _pooled(tf: Any, x: Any) -> tuple[Any, Any, Any]:
    """The maxima of windows of 2 x 2 of 4 x 4 x 2, their places in these, and in the image."""
    index = np.arange(32).reshape(1, 4, 4, 2)
    places = [(slice(None), slice(row, None, 2), slice(col, None, 2)) for row, col in product(range(2), repeat=2)]
    parts = tf.stack([x[place] for place in places], -1)
    at = tf.argmax(parts, -1)
    of_image = tf.one_hot(at, 4, dtype=tf.int64) * np.stack([index[place] for place in places], -1)
    return tf.reduce_max(parts, -1), at, tf.reduce_sum(of_image, -1)


def _max_pool_with_argmax(tf: Any, x: Any) -> Any:
    best, _, of_image = _pooled(tf, x)
    return best, of_image


def _max_pooling_with_argmax(tf: Any, x: Any) -> Any:
    best, at, _ = _pooled(tf, x)
    return best, tf.cast(at, tf.float32) + 0.1


def _unpool(tf: Any, x: Any, mask: Any) -> Any:
    at = tf.equal(tf.reshape(mask // 2, [-1, 4, 1, 2]), tf.range(16)[:, None])
    values = tf.reshape(x, [-1, 4, 1, 2]) * tf.cast(at, tf.float32)
    return tf.reshape(tf.reduce_sum(values, 1), [-1, 4, 4, 2])


def _warp(tf: Any, image: Any, flow: Any) -> Any:
    first = tf.reshape(tf.range(tf.shape(image)[0]) * 25, [-1, 1, 1])
    places = np.moveaxis(np.indices((5, 5)), 0, -1).astype(np.float32) - flow
    low = tf.clip_by_value(tf.floor(places), 0.0, 3.0)
    part = tf.clip_by_value(places - low, 0.0, 1.0)
    row, col = tf.unstack(tf.cast(low, tf.int32), axis=-1)
    pixels = tf.reshape(image, [-1, 2])
    at = {
        place: tf.gather(pixels, first + (row + place[0]) * 5 + col + place[1]) for place in product(range(2), repeat=2)
    }
    down, along = part[..., :1], part[..., 1:]
    upper, lower = (along * (at[row, 1] - at[row, 0]) + at[row, 0] for row in range(2))
    return down * (lower - upper) + upper


def _crop(tf: Any, image: Any, boxes: Any, numbers: Any, size: Any) -> Any:
    del size
    first, last = boxes[:, None, :2] * 4, boxes[:, None, 2:] * 4
    places = first + tf.range(3.0)[:, None] * (last - first) / 2
    inside = (places >= 0) & (places <= 4)
    places = tf.where(inside, places, 0.0)
    low, high = tf.floor(places), tf.math.ceil(places)
    pixels = tf.reshape(image, [-1, 2])

    def at(rows: Any, cols: Any) -> Any:
        of_image = tf.cast(rows[:, :, None, 0] * 5 + cols[:, None, :, 1], tf.int32)
        return tf.gather(pixels, numbers[:, None, None] * 25 + of_image)

    part = places - low
    down, along = part[:, :, None, :1], part[:, None, :, 1:]
    upper, lower = (at(row, low) + (at(row, high) - at(row, low)) * along for row in (low, high))
    return tf.where((inside[:, :, None, 0] & inside[:, None, :, 1])[..., None], upper + (lower - upper) * down, 0.0)


def _inverse_transform(tf: Any, spectrum: Any, size: Any) -> Any:
    del size
    angle = np.outer(np.arange(5), np.arange(8)) * np.pi / 4
    weight = np.array([1, 2, 2, 2, 1])[:, None] / 8
    cos, sin = (_numbers(*(weight * each).reshape(-1)).reshape(5, 8) for each in (np.cos(angle), np.sin(angle)))
    return tf.math.real(spectrum) @ cos - tf.math.imag(spectrum) @ sin


def _rotation(tf: Any, angle: Any) -> Any:
    return _matrix(tf, tf.cos(angle), -tf.sin(angle), tf.sin(angle), tf.cos(angle))


def _landmarks_matrix(tf: Any, landmarks: Any) -> Any:
    places = landmarks[0, :, :2]
    (x, y), (u, v) = tf.unstack(places[0]), tf.unstack(places[1])
    angle = 0.5 - tf.atan2(v - y, u - x)
    turned = places @ tf.transpose(_rotation(tf, angle))
    low, high = tf.reduce_min(turned, 0), tf.reduce_max(turned, 0)
    back = _rotation(tf, -angle)
    scaled = back * (_numbers(1.5, 1.25) * (high - low) / _numbers(6, 4))
    last = tf.linalg.matvec(back, (low + high) / 2) - tf.linalg.matvec(scaled, _numbers(3, 2))
    upper = tf.concat([scaled, tf.zeros([2, 1]), last[:, None]], 1)
    return tf.concat([upper, _numbers(0, 0, 1, 0, 0, 0, 0, 1).reshape(2, 4)], 0)[None]


def _transformed(tf: Any, landmarks: Any, matrix: Any) -> Any:
    x, y, z = tf.unstack(landmarks, axis=-1)
    rows = [matrix[0, row, 0] * x + matrix[0, row, 1] * y + matrix[0, row, 3] for row in range(2)]
    return tf.stack([*rows, z], -1)


def _seen(tf: Any, images: Any, matrix: Any) -> Any:
    y, x = np.indices((3, 3)).astype(np.float32)
    places = [matrix[0, row, 0] * x + matrix[0, row, 1] * y + matrix[0, row, 3] for row in (1, 0)]
    inside = (places[0] >= 0) & (places[0] <= 3) & (places[1] >= 0) & (places[1] <= 3)
    row, col = (tf.where(inside, each, 0.0) for each in places)
    top, left = (tf.cast(tf.floor(each), tf.int32) for each in (row, col))
    bottom, right = tf.minimum(top + 1, 3), tf.minimum(left + 1, 3)
    pixels = tf.reshape(images, [-1, 16, 2])
    down, along = ((each - tf.floor(each))[..., None] for each in (row, col))
    upper, lower = (
        (1 - along) * tf.gather(pixels, each * 4 + left, axis=1) + along * tf.gather(pixels, each * 4 + right, axis=1)
        for each in (top, bottom)
    )
    return tf.where(inside[..., None], down * lower + (1 - down) * upper, 0.0)


def _ngrams(tf: Any, words: Any, splits: Any) -> Any:
    found = tf.strings.ngrams(tf.RaggedTensor.from_row_splits(words, splits, validate=False), 2)
    return found.values, found.row_splits


def _joined_pairs(tf: Any, words: Any, splits: Any) -> Any:
    pairs = tf.strings.join([tf.gather(words, [0, 2, 3]), tf.gather(words, [1, 3, 4])], " ")
    return pairs, splits - tf.range(3, dtype=tf.int64)


def _projection(tf: Any, words: Any, splits: Any) -> Any:
    most = 2**31 - 1
    hashes = tf.strings.to_hash_bucket_fast(words, most)[:, None] * np.array([13, 29])
    signed = tf.math.floormod(hashes, most)
    signed = tf.cast(tf.where(signed > most // 2, signed - most, signed), tf.float32) / float(most // 2)
    return tf.reduce_mean(tf.RaggedTensor.from_row_splits(signed, splits, validate=False), 1)


def _mapped(letters: range, by: int) -> Callable[[Any, Any], Any]:
    """Replaces letters by others, one after the other."""

    def mapped(tf: Any, text: Any) -> Any:
        for letter in letters:
            text = tf.strings.regex_replace(text, chr(letter), chr(letter + by))
        return text

    return mapped


def _tokens(tf: Any, text: Any) -> Any:
    found = tf.strings.split(text)
    return found.values, found.row_splits


def _padded(pad: str) -> Callable[..., Any]:
    def padded(tf: Any, text: Any, *arguments: Any) -> Any:
        del arguments
        rows = tf.shape(text)[0]
        return tf.concat([tf.fill([rows, 1], pad), text, tf.fill([rows, 2], pad)], 1)

    return padded


def _raw(op: str, *names: str, **attributes: Any) -> Callable[..., Any]:
    """An op of TensorFlow, of as many arguments as it has names."""

    def computed(tf: Any, *arguments: Any) -> Any:
        given = dict(zip(names, arguments, strict=False))
        return tf.nest.flatten(getattr(tf.raw_ops, op)(**given, **attributes))

    return computed


_SPLITS = np.array([0, 2, 5])
_PADDINGS = np.array([[0, 0], [1, 2]], np.int32)
_POOL = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"}
_ARGMAX = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
_WINDOWS = {"pool_size": [2, 2], "strides": [2, 2], "padding": "VALID"}
_PATCHES = {"ksizes": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
_CROP = {
    "subset_idxs": [0, 1, 2, 3],
    "left_rotation_idx": 0,
    "right_rotation_idx": 1,
    "target_rotation_radians": 0.5,
    "output_width": 6,
    "output_height": 4,
    "scale_x": 1.5,
    "scale_y": 1.25,
}
_NGRAMS = {"width": 2, "axis": -1, "string_separator": " "}
_DECODED = {"input_encoding": "UTF-8", "errors": "replace", "replacement_char": 65533, "Tsplits": 4}
_BLANKS = " \\t\\n\\v\\f\\r"
_WORD = "[a-f]+[0-9]?"
_IMAGES, _VOLUMES, _PAIR = "float32:?,4,4,2", "float32:?,4,4,4,2", ["string:?,2", "string:?,2"]

BODIES: Mapping[str, Body] = {
    each.op.replace(":", "_").replace(">", "_"): each
    for each in [
        Body("AvgPool3D", lambda tf, x: tf.add_n(_windows(x, 3)) / 8, [_VOLUMES], _POOL),
        Body("MaxPool3D", lambda tf, x: tf.reduce_max(tf.stack(_windows(x, 3)), 0), [_VOLUMES], _POOL),
        Body("Bincount", _counts, ["int32:?", np.int32(5), "float32:?"]),
        Body("DenseBincount", _counts, ["int32:?,4", np.int32(5), "float32:?,4"]),
        Body("Cholesky", _cholesky, ["float32:?,2,2"]),
        Body(
            "Convolution2DTransposeBias",
            _transposed_convolution,
            ["float32:?,4,4,3", _numbers(*np.linspace(-1, 1, 54)).reshape(2, 3, 3, 3), _numbers(0.5, -0.25)],
            {"padding": "SAME", "strides": [2, 2]},
        ),
        Body("CropAndResize", _crop, ["float32:2,5,5,2", "float32:?,4", "int32:?", np.array([3, 3], np.int32)]),
        Body("Cross", _cross, ["float32:?,3", "float32:?,3"]),
        Body("Cumprod", _cumprod, ["float32:?,5", np.int32(1)]),
        Body("DenseImageWarp", _warp, ["float32:?,5,5,2", "float32:?,5,5,2"]),
        Body("Erf", lambda tf, x: tf.math.erf(x), ["float32:?,4"]),
        Body("ExtractImagePatches", lambda tf, x: tf.concat(_windows(x, 2), -1), [_IMAGES], _PATCHES),
        Body("IRFFT", _inverse_transform, ["complex64:?,5", np.array([8], np.int32)]),
        Body("IRFFT2D", _raw("IRFFT2D", "input", "fft_length"), ["complex64:?,4,3", np.array([4, 4], np.int32)]),
        Body("Landmarks2TransformMatrix", _landmarks_matrix, ["float32:1,4,3"], _CROP),
        Body("LinSpace", lambda tf, a, b, n: a + (b - a) * tf.range(5.0) / 4, ["float32:", "float32:", np.int32(5)]),
        Body("MatrixDeterminant", _determinant, ["float32:?,2,2"]),
        Body("MatrixInverse", _inverse, ["float32:?,2,2"]),
        Body("MatrixSolve", _solve, ["float32:?,2,2", "float32:?,2,2"]),
        Body("MatrixTriangularSolve", _triangular_solve, ["float32:?,2,2", "float32:?,2,3"]),
        Body("MaxPoolWithArgmax", _max_pool_with_argmax, [_IMAGES], _ARGMAX),
        Body("MaxPoolingWithArgmax2D", _max_pooling_with_argmax, [_IMAGES], _WINDOWS),
        Body("MaxUnpooling2D", _unpool, ["float32:?,2,2,2", "int32:?,2,2,2"], _WINDOWS | {"padding": "SAME"}),
        Body("Roll", lambda tf, x, *_: tf.concat([x[:, 3:], x[:, :3]], 1), ["float32:?,5", np.int32(2), np.int32(1)]),
        Body("TransformLandmarks", _transformed, ["float32:?,4,3", "float32:1,4,4"]),
        Body("TransformTensorBilinear", _seen, [_IMAGES, "float32:1,4,4"], {"output_size": [3, 3]}),
        Body("UnravelIndex", lambda tf, i, _: tf.stack([i // 4, i % 4]), ["int32:?", np.array([3, 4], np.int32)]),
        # Strings.
        Body(
            "ConcatV2", lambda tf, a, b, _: tf.stack([*tf.unstack(a, axis=1), *tf.unstack(b, axis=1)], 1), [*_PAIR, 1]
        ),
        Body(
            "DecodeRaw",
            _raw("DecodePaddedRaw", "input_bytes", fixed_length=8, out_type="float32"),
            ["string:?"],
            {"out_type": 0},
        ),
        Body("Pack", lambda tf, a, b: tf.concat([a[:, None], b[:, None]], 1), _PAIR, {"axis": 1}),
        Body("Pad", _padded(""), ["string:?,2", _PADDINGS]),
        Body("PadV2", _padded("x"), ["string:?,2", _PADDINGS, b"x"]),
        Body(
            "RaggedTensorToTensor",
            lambda tf, s, x, pad, p: tf.reshape(tf.gather(tf.concat([x, [pad]], 0), [0, 1, 5, 5, 2, 3, 4, 5]), [2, 4]),
            [np.array([-1, 4]), "string:5", b"-", _SPLITS],
            {"row_partition_types": ["ROW_SPLITS"]},
        ),
        Body(
            "ReduceJoin",
            lambda tf, x, _: tf.strings.join(tf.unstack(x, axis=1), "-"),
            ["string:?,3", np.array([1], np.int32)],
            {"separator": "-"},
        ),
        Body("RegexFullMatch", _raw("StaticRegexFullMatch", "input", pattern=_WORD), ["string:?", _WORD.encode()]),
        Body(
            "RegexReplace",
            _raw("StaticRegexReplace", "input", pattern="[aeiou]+", rewrite="-"),
            ["string:?", b"[aeiou]+", b"-"],
            {"replace_global": True},
        ),
        Body("Select", lambda tf, *each: tf.where(*each), ["bool:?,2", *_PAIR]),
        Body("SelectV2", _raw("Select", "condition", "x", "y"), ["bool:?,2", *_PAIR]),
        Body(
            "SparseToDense",
            lambda tf, i, s, x, pad: tf.stack([x[0], pad, x[1], pad]),
            [np.array([[0], [2]]), np.array([4]), "string:2", b"-"],
        ),
        Body("StaticRegexFullMatch", _raw("RegexFullMatch", "input", pattern=_WORD), ["string:?"], {"pattern": _WORD}),
        Body(
            "StaticRegexReplace",
            _raw("RegexReplace", "input", pattern="[aeiou]", rewrite="-"),
            ["string:?"],
            {"pattern": "[aeiou]", "rewrite": "-", "replace_global": True},
        ),
        Body(
            "StringJoin",
            lambda tf, a, b: tf.strings.reduce_join(tf.stack([a, b]), 0, separator="+"),
            ["string:?", "string:?"],
            {"separator": "+"},
        ),
        Body(
            "StringLength",
            lambda tf, x: tf.cast(tf.strings.unicode_split(x, "UTF-8").row_lengths(), tf.int32),
            ["string:?"],
            {"unit": "UTF8_CHAR"},
        ),
        Body("StringLower", _mapped(range(65, 91), 32), ["string:?"]),
        Body("StringUpper", _mapped(range(97, 123), -32), ["string:?"]),
        Body("StringNGrams", _joined_pairs, ["string:5", _SPLITS], {"separator": " ", "ngram_widths": [2]}),
        Body("StringSplit", _raw("StringSplitV2", "input", sep=""), ["string:?", b" \t\n\v\f\r"]),
        Body("StringSplitV2", _raw("StringSplit", "input", delimiter=" \t\n\v\f\r"), ["string:?", b""]),
        Body(
            "StringStrip", lambda tf, x: tf.strings.regex_replace(x, f"^[{_BLANKS}]+|[{_BLANKS}]+$", ""), ["string:?"]
        ),
        Body(
            "Substr",
            lambda tf, x, *_: tf.strings.regex_replace(x, "^((?s:.){0,3})(?s:.)*$", r"\1"),
            ["string:?", 0, 3],
            {"unit": "UTF8_CHAR"},
        ),
        Body(
            "UnicodeDecode",
            lambda tf, x: tf.nest.flatten(tf.raw_ops.UnicodeDecodeWithOffsets(input=x, input_encoding="UTF-8"))[:2],
            ["string:?"],
            _DECODED,
        ),
        Body(
            "UnsortedSegmentJoin",
            lambda tf, x, *_: tf.strings.join([x[:2], x[2:]], "-"),
            ["string:4", np.array([0, 1, 0, 1]), 2],
            {"separator": "-"},
        ),
        Body("TFText>NgramsStringJoin", _ngrams, ["string:5", _SPLITS], _NGRAMS),
        Body("tftext:Ngrams", _ngrams, ["string:5", _SPLITS], _NGRAMS | {"reduction_type": "STRING_JOIN"}),
        Body("tftext:WhitespaceTokenizer", _tokens, ["string:?"]),
        Body(
            "tftext:custom:SgnnProjection",
            _projection,
            ["string:5", _SPLITS],
            {"hash_seed": [13, 29], "buckets": 2**31 - 1},
        ),
        # Nothing else computes these.
        Body("AsString", lambda tf, x: tf.strings.as_string(x), ["int32:?"]),
        Body("EncodeBase64", lambda tf, x: tf.io.encode_base64(x), ["string:?"]),
    ]
}
