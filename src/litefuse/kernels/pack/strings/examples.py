"""``ParseExampleV2``, ``ParseExample`` and ``ParseSingleExample``: tensors of serialized ``tf.train.Example``."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import as_bytes, check_count, check_strings, string_array
from litefuse.kernels.pack.supported import Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.tensors import STRING

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


# The values of LiteRT's TensorType, which the ops' options use.
_NAMES = {0: "float32", 4: "int64", 5: "string"}
_DTYPES = {"float32": np.dtype(np.float32), "int64": np.dtype(np.int64), "string": STRING}
_SPLITS = {2: np.dtype(np.int32), 4: np.dtype(np.int64)}

_Rows = list["npt.NDArray[Any]"]


class _Dense(NamedTuple):
    """A feature of a dense tensor: the sizes of an example's part, the first None if it depends on the example."""

    dtype: str
    shape: tuple[int | None, ...]


class _Plan(NamedTuple):
    """The features to parse: dtypes of sparse and ragged ones and of their row splits, and the dense features."""

    sparse: list[str]
    dense: list[_Dense]
    ragged: list[str]
    splits: list[np.dtype[Any]]


class _Keys(NamedTuple):
    sparse: list[bytes]
    dense: list[bytes]
    ragged: list[bytes]


class _Parser(CustomOp):
    """Parses Examples by the plan that ``prepare`` makes of the options."""

    dtypes = ("float32", "int64", "string")
    _plan: _Plan

    def _specs(self, serialized: TensorSpec) -> list[TensorSpec]:
        """Returns the types of the outputs; raises a KernelError unless the examples are strings."""
        plan = self._plan
        shape = check_strings("serialized", serialized)
        if len(shape) > 1:
            raise KernelError(f"serialized must be a string or a vector of strings, not {shape}")
        rank = len(shape) + 1
        return [
            *(TensorSpec(None, np.int64) for _ in plan.sparse),
            *(TensorSpec(None, _DTYPES[dtype]) for dtype in plan.sparse),
            *(TensorSpec([rank], np.int64) for _ in plan.sparse),
            *(
                TensorSpec(
                    None if None in feature.shape else [*shape, *(size or 0 for size in feature.shape)],
                    _DTYPES[feature.dtype],
                )
                for feature in plan.dense
            ),
            *(TensorSpec(None, _DTYPES[dtype]) for dtype in plan.ragged),
            *(TensorSpec([shape[0] + 1] if shape else None, split) for split in plan.splits),
        ]

    def _parse(
        self, serialized: npt.NDArray[Any], keys: _Keys, defaults: Sequence[npt.NDArray[Any]], outputs: Outputs
    ) -> None:
        """Parses one example after the other; raises a KernelError for one that is not as asked for."""
        plan = self._plan
        for what, names, expected in zip(
            ("sparse", "dense", "ragged"), keys, (plan.sparse, plan.dense, plan.ragged), strict=True
        ):
            if len(names) != len(expected):
                raise KernelError(f"there are {len(names)} {what}_keys, and dtypes of {len(expected)}")
        wanted = {*keys.sparse, *keys.dense, *keys.ragged}
        examples = [features_of(one, wanted) for one in serialized.ravel().tolist()]

        def rows(key: bytes, dtype: str) -> _Rows:
            return [_values(example.get(key), key, dtype) for example in examples]

        scalar = serialized.ndim == 0
        filled: list[npt.NDArray[Any]] = []
        sparse = [rows(*feature) for feature in zip(keys.sparse, plan.sparse, strict=True)]
        filled += [_indices(values, scalar=scalar) for values in sparse]
        filled += [_joined(values, dtype) for values, dtype in zip(sparse, plan.sparse, strict=True)]
        filled += [_dense_shape(values, scalar=scalar) for values in sparse]
        for key, wanted_dense, default in zip(keys.dense, plan.dense, defaults, strict=True):
            features = [example.get(key) for example in examples]
            present = [feature is not None and feature.dtype != "" for feature in features]
            values = [_values(feature, key, wanted_dense.dtype) for feature in features]
            filled.append(_dense(key, values, present, wanted_dense, default, scalar=scalar))
        ragged = [rows(*feature) for feature in zip(keys.ragged, plan.ragged, strict=True)]
        filled += [_joined(values, dtype) for values, dtype in zip(ragged, plan.ragged, strict=True)]
        filled += [_row_splits(values, dtype, scalar=scalar) for values, dtype in zip(ragged, plan.splits, strict=True)]
        for place, value in enumerate(filled):
            outputs[place] = value


@pack_kernel("ParseExampleV2")
class ParseExampleV2(_Parser):
    """TensorFlow's op of the same name (``tf.io.parse_example``, ``tf.io.parse_single_example``).

    Inputs: ``serialized``, a vector of Examples, or one; ``names``, which are not looked at; the names of the features
    that become sparse, dense and ragged tensors, three vectors of strings; a default for each dense one.

    Outputs, each a list with one for each feature: the indices, values and shapes of sparse tensors; dense tensors;
    the values and the row splits of ragged tensors.

    Options: ``sparse_types``, ``Tdense``, ``ragged_value_types`` and ``ragged_split_types``, dtypes as LiteRT's
    TensorType; ``dense_shapes``, the shapes of an example's part of the dense tensors, each as text such as ``2x3``: of
    ``?x3`` the first size depends on the example, and shorter ones are filled with the default.

    Source: https://www.tensorflow.org/api_docs/python/tf/io/parse_example.
    """

    def prepare(
        self,
        serialized: TensorSpec,
        *others: TensorSpec,
        Tdense: Sequence[int],
        sparse_types: Sequence[int],
        dense_shapes: Sequence[str],
        ragged_value_types: Sequence[int] = (),
        ragged_split_types: Sequence[int] = (),
    ) -> list[TensorSpec]:
        self._plan = plan = _plan(sparse_types, Tdense, dense_shapes, ragged_value_types, ragged_split_types)
        if len(others) != 4 + len(plan.dense):
            raise KernelError(
                f"{len(plan.dense)} dense features need {5 + len(plan.dense)} inputs, not {len(others) + 1}"
            )
        for name, keys in zip(("sparse_keys", "dense_keys", "ragged_keys"), others[1:4], strict=True):
            check_strings(name, keys, 1)
        return self._specs(serialized)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        serialized, _, *keys = inputs[:5]
        self._parse(serialized, _Keys(*(key.tolist() for key in keys)), inputs[5:], outputs)


@pack_kernel("ParseExample")
class ParseExample(_Parser):
    """TensorFlow's op of the same name (``tf.io.parse_example`` of older versions).

    As ``ParseExampleV2``, without ragged tensors, and with an input for each name of a feature.
    """

    def prepare(
        self,
        serialized: TensorSpec,
        *others: TensorSpec,
        Tdense: Sequence[int],
        sparse_types: Sequence[int],
        dense_shapes: Sequence[str],
    ) -> list[TensorSpec]:
        self._plan = plan = _plan(sparse_types, Tdense, dense_shapes)
        count = 1 + len(plan.sparse) + 2 * len(plan.dense)
        if len(others) != count:
            raise KernelError(f"the features need {count + 1} inputs, not {len(others) + 1}")
        for key in others[1 : 1 + len(plan.sparse) + len(plan.dense)]:
            check_strings("a key", key, 0)
        return self._specs(serialized)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        split = 2 + len(self._plan.sparse)
        end = split + len(self._plan.dense)
        keys = _Keys([input_.item() for input_ in inputs[2:split]], [input_.item() for input_ in inputs[split:end]], [])
        self._parse(inputs[0], keys, inputs[end:], outputs)


@pack_kernel("ParseSingleExample")
class ParseSingleExample(_Parser):
    """TensorFlow's op of the same name (``tf.io.parse_single_example`` of older versions, and in datasets).

    As ``ParseExampleV2`` of one Example, without ragged tensors, and with the names of the features in the options
    ``sparse_keys`` and ``dense_keys``.
    """

    def prepare(
        self,
        serialized: TensorSpec,
        *defaults: TensorSpec,
        Tdense: Sequence[int],
        sparse_types: Sequence[int],
        dense_shapes: Sequence[str],
    ) -> list[TensorSpec]:
        self._plan = plan = _plan(sparse_types, Tdense, dense_shapes)
        check_strings("serialized", serialized, 0)
        if len(defaults) != len(plan.dense):
            raise KernelError(f"{len(plan.dense)} dense features need as many defaults, not {len(defaults)}")
        return self._specs(serialized)

    def invoke(
        self, inputs: Arrays, outputs: Outputs, *, sparse_keys: Sequence[str | bytes], dense_keys: Sequence[str | bytes]
    ) -> None:
        keys = _Keys([as_bytes(key) for key in sparse_keys], [as_bytes(key) for key in dense_keys], [])
        self._parse(inputs[0], keys, inputs[1:], outputs)


def _plan(
    sparse: Sequence[int],
    dense: Sequence[int],
    shapes: Sequence[str],
    ragged: Sequence[int] = (),
    splits: Sequence[int] = (),
) -> _Plan:
    if len(dense) != len(shapes) or len(ragged) != len(splits):
        raise KernelError("there are not as many shapes and row splits as dtypes")
    for dtype in (*sparse, *dense, *ragged):
        if dtype not in _NAMES:
            raise KernelError(f"a feature must be of {', '.join(_NAMES.values())}, not of the dtype of number {dtype}")
    if any(split not in _SPLITS for split in splits):
        raise KernelError("row splits must be int32 or int64")
    return _Plan(
        [_NAMES[dtype] for dtype in sparse],
        [_Dense(_NAMES[dtype], _shape(shape)) for dtype, shape in zip(dense, shapes, strict=True)],
        [_NAMES[dtype] for dtype in ragged],
        [_SPLITS[split] for split in splits],
    )


def _shape(text: str) -> tuple[int | None, ...]:
    parts = text.split("x") if text else []
    if any(not (part.isdecimal() and len(part) < 10) and not (part == "?" and not at) for at, part in enumerate(parts)):
        raise KernelError(f"a shape must be as 2x3 or ?x3, not {text!r}")
    return tuple(None if part == "?" else int(part) for part in parts)


def _values(feature: Feature | None, key: bytes, dtype: str) -> npt.NDArray[Any]:
    if feature is None or not feature.dtype:
        return np.zeros(0, _DTYPES[dtype])
    if feature.dtype != dtype:
        raise KernelError(f"the feature {key.decode(errors='replace')!r} is of {feature.dtype}, not {dtype}")
    return feature.values


def _joined(rows: _Rows, dtype: str) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, _DTYPES[dtype]), *rows])


def _indices(rows: _Rows, *, scalar: bool) -> npt.NDArray[Any]:
    places = [(row, place) for row, values in enumerate(rows) for place in range(len(values))]
    indices = np.array(places, np.int64).reshape(-1, 2)
    return indices[:, 1:] if scalar else indices


def _dense_shape(rows: _Rows, *, scalar: bool) -> npt.NDArray[Any]:
    most = max(map(len, rows), default=0)
    return np.array([most] if scalar else [len(rows), most], np.int64)


def _row_splits(rows: _Rows, dtype: np.dtype[Any], *, scalar: bool) -> npt.NDArray[Any]:
    return np.zeros(0, dtype) if scalar else np.array([0, *itertools.accumulate(map(len, rows))], dtype)


def _dense(
    key: bytes, rows: _Rows, present: Sequence[bool], wanted: _Dense, default: npt.NDArray[Any], *, scalar: bool
) -> npt.NDArray[Any]:
    """Returns the values of all examples as one tensor."""
    name = key.decode(errors="replace")
    inner = [size for size in wanted.shape if size is not None]
    stride = math.prod(inner)
    varying = len(inner) < len(wanted.shape)
    if not varying:
        missing = default.reshape(-1)
        for place, there in enumerate(present):
            if not there and len(missing) == 0:
                raise KernelError(f"the feature {name!r} is required, but not in example {place}")
            values = rows[place] if there else missing
            if len(values) != stride:
                raise KernelError(f"the feature {name!r} has {len(values)} values in example {place}, not {stride}")
        filled = [rows[place] if there else missing for place, there in enumerate(present)]
        stacked = np.array(_joined(filled, wanted.dtype), _DTYPES[wanted.dtype])
        return stacked.reshape(inner if scalar else [len(rows), *inner])
    if stride == 0 or any(len(values) % stride for values in rows):
        raise KernelError(f"the number of values of the feature {name!r} is not a multiple of {stride}")
    most = max(map(len, rows), default=0) // stride
    if scalar:
        return rows[0].reshape([most, *inner])
    check_count([len(rows), most, *inner])
    padding = default.reshape(-1)[0] if default.size else (b"" if wanted.dtype == "string" else 0)
    result = np.empty((len(rows), most * stride), _DTYPES[wanted.dtype])
    result[...] = padding
    for row, values in enumerate(rows):
        result[row, : len(values)] = values
    return result.reshape(len(rows), most, *inner)
