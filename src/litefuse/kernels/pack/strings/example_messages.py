"""Reader of the protobuf messages ``tf.train.Example``: features by name, each a list of strings or numbers.

Definition: https://www.tensorflow.org/api_docs/python/tf/train/Example (``example.proto``, ``feature.proto``), in
https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import string_array

__all__ = ["Feature", "features_of"]

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
# The fields of a Feature, and the dtypes of their lists.
_LISTS = {1: "string", 2: "float32", 3: "int64"}


class Feature(NamedTuple):
    """A feature.

    Attributes:
        dtype: ``string``, ``float32`` or ``int64``; empty if it has no list.
        values: Its values, a vector.
    """

    dtype: str
    values: npt.NDArray[Any]


class _Damaged(Exception):  # noqa: N818  it is turned into an error where the place is known
    """Bytes are not a message."""


def features_of(data: bytes, wanted: AbstractSet[bytes]) -> dict[bytes, Feature]:
    """Returns the features of a serialized Example that are wanted, by their names.

    Of several with one name the last one counts, and no other is looked at.

    Raises:
        KernelError: It is not an Example.
    """
    payloads: dict[bytes, bytes] = {}
    try:
        for features in _messages(data, 1):
            for entry in _messages(features, 1):
                name = b"".join(_messages(entry, 1)[-1:])
                if name in wanted:
                    payloads[name] = b"".join(_messages(entry, 2))
        return {name: _feature(payload) for name, payload in payloads.items()}
    except _Damaged:
        raise KernelError(f"a string of {len(data)} bytes is not a tf.train.Example") from None


def _feature(data: bytes) -> Feature:
    dtype, payloads = "", list[bytes]()
    for field, kind, value in _fields(data):
        if field in _LISTS:
            if kind != _LENGTH:
                raise _Damaged
            if _LISTS[field] != dtype:  # a oneof: the last one counts
                dtype, payloads = _LISTS[field], []
            payloads.append(value)
    payload = b"".join(payloads)
    if dtype == "string":
        return Feature(dtype, string_array(_messages(payload, 1)))
    return Feature(dtype, _numbers(payload, dtype)) if dtype else Feature("", np.zeros(0))


def _numbers(payload: bytes, dtype: str) -> npt.NDArray[Any]:
    """Returns the numbers of a list, packed or not."""
    parts: list[npt.NDArray[Any]] = []
    single = _FOUR_BYTES if dtype == "float32" else _VARINT
    for field, kind, value in _fields(payload):
        if field != 1:
            continue
        if kind not in (single, _LENGTH):
            raise _Damaged
        if dtype == "float32":
            if len(value) % 4:
                raise _Damaged
            parts.append(np.frombuffer(value, "<f4"))
        else:
            parts.append(np.array(_varints(value) if kind == _LENGTH else [value], np.uint64).astype(np.int64))
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def _messages(data: bytes, field: int) -> list[bytes]:
    """Returns the strings or messages of a field."""
    messages: list[bytes] = []
    for number, kind, value in _fields(data):
        if number == field:
            if kind != _LENGTH:
                raise _Damaged
            messages.append(value)
    return messages


def _fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yields the number, the wire type and the value of each field: an int of a varint, else bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield tag >> 3, kind, value
            continue
        if kind == _LENGTH:
            size, at = _varint(data, at)
        elif kind in (_FOUR_BYTES, _EIGHT_BYTES):
            size = 4 if kind == _FOUR_BYTES else 8
        else:
            raise _Damaged
        if size > len(data) - at:
            raise _Damaged
        yield tag >> 3, kind, data[at : at + size]
        at += size


def _varints(data: bytes) -> list[int]:
    varints: list[int] = []
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        varints.append(value)
    return varints


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(10):
        if at >= len(data):
            raise _Damaged
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value & (2**64 - 1), at
    raise _Damaged
