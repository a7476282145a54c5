# pyright: reportUnknownLambdaType=false
"""Models that parse ``tf.train.Example``, against TensorFlow: dense, sparse and ragged features, and damage."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import KernelError
from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tensorflow.process import TensorFlow


def varint(value: int) -> bytes:
    found = bytearray()
    value &= 2**64 - 1
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def feature(*values: Any, packed: bool = True) -> bytes:
    """A Feature of bytes, floats or ints; of nothing, one without a list."""
    if not values:
        return b""
    if isinstance(values[0], bytes):
        return field(1, b"".join(field(1, each) for each in values))
    if isinstance(values[0], float):
        numbers = [struct.pack("<f", each) for each in values]
        return field(2, field(1, b"".join(numbers)) if packed else b"".join(b"\x0d" + each for each in numbers))
    numbers = [varint(each) for each in values]
    return field(3, field(1, b"".join(numbers)) if packed else b"".join(b"\x08" + each for each in numbers))


def example(*features: tuple[str, bytes]) -> bytes:
    return field(1, b"".join(field(1, field(1, name.encode()) + field(2, value)) for name, value in features))


FULL = example(
    ("age", feature(3.5)),
    ("vec", feature(1, -2, 2**63 - 1, -(2**63))),
    ("name", feature(b"gr\xc3\xb6\xc3\x9fe\x00\xff")),
    ("seq", feature(1.0, 2.0, 3.0)),
    ("pairs", feature(*range(8))),
    ("tags", feature(b"a", b"", b"c")),
    ("numbers", feature(5, 300, -1)),
    ("rows", feature(2, 3)),
    ("words", feature(b"x y", b"z")),
    ("other", feature(b"unread")),
)
SPARSE = example(("vec", feature(9, 8, 7, 6, packed=False)), ("tags", feature()), ("seq", feature(7.5, packed=False)))
TWICE = example(("vec", b"\x1a\x05"), ("age", feature(1.0)), ("numbers", field(3, b"")), ("vec", feature(1, 2, 3, 4)))
MORE = b"\x12\x03abc" + example(
    ("pairs", feature(1, 2)), ("rows", feature(4)), ("vec", feature(1, 1, 1, 1)), ("tags", feature(b"z"))
)


def features(tf: Any) -> dict[str, Any]:
    return {
        "age": tf.io.FixedLenFeature([], tf.float32, -1.0),
        "vec": tf.io.FixedLenFeature([2, 2], tf.int64),
        "name": tf.io.FixedLenFeature([1], tf.string, [b"none"]),
        "tags": tf.io.VarLenFeature(tf.string),
        "numbers": tf.io.VarLenFeature(tf.int64),
    }


def batch(tf: Any, texts: Any) -> Any:
    asked = {
        **features(tf),
        "seq": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=-9.0),
        "pairs": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        "rows": tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64),
        "words": tf.io.RaggedFeature(tf.string),
    }
    found = tf.io.parse_example(texts, asked)
    ragged = {
        f"{key}_{part}": getattr(found[key], part)
        for key in ("rows", "words")
        for part in ("flat_values", "row_splits")
    }
    return {**parts(found), **ragged, "seq": found["seq"], "pairs": found["pairs"]}


def single(tf: Any, text: Any) -> Any:
    asked = {**features(tf), "seq": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}
    found = tf.io.parse_single_example(text, asked)
    return {**parts(found), "seq": found["seq"]}


def of_older_versions(tf: Any, texts: Any) -> Any:
    found = tf.raw_ops.ParseExample(
        serialized=texts,
        names=tf.constant([], tf.string),
        sparse_keys=["tags"],
        dense_keys=["vec", "age"],
        dense_defaults=[tf.zeros([0], tf.int64), tf.constant(2.5)],
        sparse_types=[tf.string],
        dense_shapes=[[4], []],
    )
    return {"indices": found[0][0], "values": found[1][0], "shape": found[2][0], "vec": found[3][0], "age": found[3][1]}


def single_of_older_versions(tf: Any, text: Any) -> Any:
    found = tf.raw_ops.ParseSingleExample(
        serialized=text,
        dense_defaults=[tf.zeros([0], tf.int64), tf.constant(2.5)],
        num_sparse=1,
        sparse_keys=["tags"],
        dense_keys=["vec", "age"],
        sparse_types=[tf.string],
        dense_shapes=[[4], []],
    )
    return {"indices": found[0][0], "values": found[1][0], "shape": found[2][0], "vec": found[3][0], "age": found[3][1]}


def parts(found: Any) -> dict[str, Any]:
    sparse = {
        f"{key}_{part}": getattr(found[key], part)
        for key in ("tags", "numbers")
        for part in ("indices", "values", "dense_shape")
    }
    return {**sparse, "age": found["age"], "vec": found["vec"], "name": found["name"]}


def serving(tf: Any, name: str, shape: Sequence[int | None]) -> Any:
    module = tf.Module()
    spec = tf.TensorSpec(shape, tf.string, name="texts")
    module.serve = tf.function(lambda texts: globals()[name](tf, texts), input_signature=[spec])
    return module, {"serving_default": module.serve}


def texts(*values: bytes) -> Any:
    return np.array(values, object)


@pytest.mark.parametrize("name", ["batch", "of_older_versions"])
@pytest.mark.parametrize("size", [None, 3])
def test_batches(tensorflow: TensorFlow, name: str, size: int | None) -> None:
    path = tensorflow.save(serving, name, [size])
    batches = [texts(FULL, SPARSE, TWICE), texts(MORE, FULL, FULL)]
    if size is None:
        batches += [texts(SPARSE), texts(FULL, MORE, SPARSE, TWICE, FULL)]
    check(tensorflow, path, [{"texts": each} for each in batches], kernel_pack=True)


@pytest.mark.parametrize("name", ["single", "single_of_older_versions"])
def test_one_example(tensorflow: TensorFlow, name: str) -> None:
    path = tensorflow.save(serving, name, [])
    # Of a scalar object the interpreter would take the address; numpy's own bytes must not end with a NUL.
    check(tensorflow, path, [{"texts": np.array(each)} for each in (FULL, MORE, TWICE)], kernel_pack=True)


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (FULL[:-3], "not a tf.train.Example"),
        (b"\xff" * 12, "not a tf.train.Example"),
        (b"\x0b\x0c", "not a tf.train.Example"),
        (example(("age", feature(1.0))), "'vec' is required, but not in example 1"),
        (example(("vec", feature(1, 2, 3))), "'vec' has 3 values in example 1, not 4"),
        (example(("vec", feature(b"1"))), "'vec' is of string, not int64"),
        (example(("vec", feature(1, 2, 3, 4)), ("pairs", feature(1))), "'pairs' is not a multiple of 2"),
        (example(("vec", feature(1, 2, 3, 4)), ("tags", feature(1))), "'tags' is of int64, not string"),
    ],
)
def test_what_does_not_fit(tensorflow: TensorFlow, damaged: bytes, message: str) -> None:
    path = tensorflow.save(serving, "batch", [None])
    # Its messages hold the bytes, which need not be text.
    with pytest.raises(Exception, match=r"InvalidArgumentError|UnicodeDecodeError"):
        tensorflow.run_calls(path, [("serving_default", {"texts": texts(FULL, damaged)})])
    serve = litefuse.Interpreter(litefuse.convert(path).model_bytes).get_signature_runner("serving_default")
    with pytest.raises(KernelError, match=message):
        serve(texts=texts(FULL, damaged))
    assert serve(texts=texts(FULL))["age"].tolist() == [3.5]
