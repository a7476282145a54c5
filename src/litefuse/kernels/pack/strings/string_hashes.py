"""Hashes of strings: as buckets, of crossed features (``SparseCross``), and as a projection (``SgnnProjection``)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.farmhash import fingerprint64
from litefuse.kernels.pack.strings.strings import check_row_splits, check_row_splits_spec, check_strings, string_array
from litefuse.kernels.pack.supported import Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.tensors import STRING

_MASK = (1 << 64) - 1


class _Buckets(CustomOp):
    dtypes = ("string",)

    def prepare(self, text: TensorSpec, *, num_buckets: int) -> TensorSpec:
        if num_buckets < 1:
            raise KernelError(f"num_buckets must be positive, not {num_buckets}")
        return TensorSpec(check_strings("input", text), np.int64)

    def _invoke(
        self, text: npt.NDArray[Any], outputs: Outputs, num_buckets: int, hashed: Callable[[bytes], int]
    ) -> None:
        strings = text.ravel().tolist()
        buckets = {one: hashed(one) % num_buckets for one in set(strings)}
        outputs[0][...] = np.array([buckets[one] for one in strings], np.int64).reshape(text.shape)


@pack_kernel("StringToHashBucketFast", native=True)
class StringToHashBucketFast(_Buckets):
    """TensorFlow's op of the same name (``tf.strings.to_hash_bucket_fast``).

    Input: ``input``, strings of any shape. Output: FarmHash's fingerprint of each, modulo ``num_buckets``, int64.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/to_hash_bucket_fast.
    """

    def invoke(self, inputs: Arrays, outputs: Outputs, *, num_buckets: int) -> None:
        """Hashes each distinct string once."""
        self._invoke(inputs[0], outputs, num_buckets, fingerprint64)


@pack_kernel("StringToHashBucketStrong")
class StringToHashBucketStrong(_Buckets):
    """TensorFlow's op of the same name (``tf.strings.to_hash_bucket_strong``).

    Input: ``input``, strings of any shape. Output: SipHash-2-4 of each, modulo ``num_buckets``, int64.

    Options: ``key``, two 64-bit integers.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/to_hash_bucket_strong.
    """

    def invoke(self, inputs: Arrays, outputs: Outputs, *, num_buckets: int, key: Sequence[int]) -> None:
        """Hashes each distinct string once."""
        if len(key) != 2:
            raise KernelError(f"key must be two numbers, not {len(key)}")
        first, second = (half & _MASK for half in key)
        self._invoke(inputs[0], outputs, num_buckets, lambda one: _siphash(one, first, second))


@pack_kernel("StringToHashBucket")
class StringToHashBucket(_Buckets):
    """TensorFlow's op of the same name (``tf.compat.v1.string_to_hash_bucket``).

    Input: ``string_tensor``, strings of any shape. Output: a hash of each, modulo ``num_buckets``, int64: the 64-bit
    MurmurHash2 with TensorFlow's seed (``Hash64`` in ``hash.h``).
    """

    def invoke(self, inputs: Arrays, outputs: Outputs, *, num_buckets: int) -> None:
        """Hashes each distinct string once."""
        self._invoke(inputs[0], outputs, num_buckets, _murmur)


def _siphash(data: bytes, first: int, second: int) -> int:
    """SipHash-2-4: https://www.aumasson.jp/siphash/siphash.pdf."""
    v = [
        first ^ 0x736F6D6570736575,
        second ^ 0x646F72616E646F6D,
        first ^ 0x6C7967656E657261,
        second ^ 0x7465646279746573,
    ]
    whole = len(data) // 8 * 8
    padded = data[whole:].ljust(7, b"\0") + bytes([len(data) & 0xFF])
    for at in range(0, whole + 8, 8):
        word = int.from_bytes(data[at : at + 8] if at < whole else padded, "little")
        v[3] ^= word
        _sip_rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    _sip_rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _sip_rounds(v: list[int], count: int) -> None:
    a, b, c, d = v
    for _ in range(count):
        a = (a + b) & _MASK
        b = _rotated(b, 13) ^ a
        a = _rotated(a, 32)
        c = (c + d) & _MASK
        d = _rotated(d, 16) ^ c
        a = (a + d) & _MASK
        d = _rotated(d, 21) ^ a
        c = (c + b) & _MASK
        b = _rotated(b, 17) ^ c
        c = _rotated(c, 32)
    v[:] = a, b, c, d


def _rotated(value: int, count: int) -> int:
    return (value << count | value >> (64 - count)) & _MASK


def _murmur(data: bytes) -> int:
    factor = 0xC6A4A7935BD1E995
    whole = len(data) // 8 * 8
    value = 0xDECAFCAFFE ^ (len(data) * factor & _MASK)
    for at in range(0, whole, 8):
        word = int.from_bytes(data[at : at + 8], "little") * factor & _MASK
        value = (value ^ (word ^ word >> 47) * factor & _MASK) * factor & _MASK
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * factor & _MASK
    value = (value ^ value >> 47) * factor & _MASK
    return value ^ value >> 47


_INT32 = np.iinfo(np.int32)


@pack_kernel("tftext:custom:SgnnProjection")
class SgnnProjection(CustomOp):
    """The projection of self-governing neural networks for text.

    Inputs: ``values``, strings of rank 1 (usually n-grams of characters), and ``row_splits``, int64 or int32, which
    split them into rows.

    Output: float32 ``[rows, len(hash_seed)]``. A string's signature is its FarmHash fingerprint modulo ``buckets``. For
    a seed, it becomes ``abs(signature * seed) mod buckets``, minus ``buckets`` if that is above ``buckets // 2``. The
    result is the mean of these over the row's strings, divided by ``buckets // 2``: -1 to 1, or NaN for an empty row.

    Sources: Ravi and Kozareva, "Self-governing neural networks for on-device short text classification", EMNLP 2018,
    for the idea; for the hash and the numbers, the composite of the SGNN model of TensorFlow's model garden
    (``research/seq_flow_lite/models/sgnn/sgnn.py``).
    """

    dtypes = ("string",)

    def prepare(
        self, values: TensorSpec, row_splits: TensorSpec, *, hash_seed: Sequence[int], buckets: int
    ) -> TensorSpec:
        if values.dtype != STRING or values.shape is None or len(values.shape) != 1:
            raise KernelError(f"values must be strings of rank 1, not {values.dtype} {values.shape}")
        rows = check_row_splits_spec("row_splits", row_splits)
        if type(buckets) is not int or not 2 <= buckets <= _INT32.max:
            raise KernelError(f"buckets must be an int from 2 to {_INT32.max}, not {buckets!r}")
        if not isinstance(hash_seed, list) or not all(
            type(seed) is int and _INT32.min <= seed <= _INT32.max for seed in hash_seed
        ):
            raise KernelError(f"hash_seed must be a list of 32-bit ints, not {hash_seed!r}")
        return TensorSpec([rows, len(hash_seed)], np.float32)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, hash_seed: Sequence[int], buckets: int) -> None:
        """Hashes each distinct string once and computes in 64-bit integers up to the mean."""
        values, splits = inputs
        check_row_splits("row_splits", splits, len(values))
        strings = values.tolist()
        signatures = {string: fingerprint64(string) % buckets for string in set(strings)}
        signature = np.array([signatures[string] for string in strings], np.int64)
        projected = np.abs(signature[:, np.newaxis] * np.array(hash_seed, np.int64)) % buckets
        projected -= buckets * (projected > buckets // 2)
        sums = np.zeros([len(strings) + 1, len(hash_seed)], np.int64)
        np.cumsum(projected, axis=0, out=sums[1:])
        with np.errstate(invalid="ignore"):  # the mean of no numbers
            mean = np.diff(sums[splits], axis=0) / np.diff(splits)[:, np.newaxis]
        outputs[0][...] = mean / (buckets // 2)


_FACTOR = 0xC6A4A7935BD1E995
_LARGEST = (1 << 63) - 1
_BETWEEN = b"_X_"

_Rows = Mapping[int, list[Any]]


@pack_kernel("SparseCross")
class SparseCross(CustomOp):
    """TensorFlow's op of the same name (``tf.sparse.cross_hashed``, Keras's ``HashedCrossing``).

    Inputs: the indices of ``N`` sparse columns, then their values, then their shapes; then dense columns: all are
    matrices of strings or int64, with the same number of rows.

    Outputs: the combinations of each row, of one feature of each column, where the last column varies fastest, as a
    sparse matrix: int64 indices ``[n, 2]``, values, int64 shape ``[2]``.

    Options: ``N``; ``hashed_output``: whether the values are indices of ``num_buckets`` buckets (0: no limit), computed
    from the features' hashes and ``hash_key``, or else strings.

    Source: the definition of the op in TensorFlow (``sparse_ops.cc``, ``sparse_cross_op.cc``).
    """

    dtypes = ("string", "int64")

    def prepare(self, *inputs: TensorSpec, N: int, hashed_output: bool) -> list[TensorSpec]:
        """Checks the inputs; the number of combinations is known only at run time."""
        values = [*inputs[N : 2 * N], *inputs[3 * N :]]
        if not values:
            raise KernelError("there must be a column")
        for value in values:
            if value.dtype not in (STRING, np.dtype(np.int64)):
                raise KernelError(f"columns must be of strings or int64, not {value.dtype}")
        for dense in inputs[3 * N :]:
            if dense.shape is None or len(dense.shape) != 2:
                raise KernelError(f"dense columns must be matrices, not of shape {dense.shape}")
        kind = np.int64 if hashed_output else STRING
        return [TensorSpec(None, np.int64), TensorSpec(None, kind), TensorSpec([2], np.int64)]

    def invoke(
        self, inputs: Arrays, outputs: Outputs, *, N: int, hashed_output: bool, num_buckets: int = 0, hash_key: int = 0
    ) -> None:
        """Combines the features row by row."""
        sparse = zip(inputs[:N], inputs[N : 2 * N], inputs[2 * N : 3 * N], strict=True)
        counts = [*(int(shape[0]) for shape in inputs[2 * N : 3 * N]), *(len(dense) for dense in inputs[3 * N :])]
        if len(set(counts)) > 1:
            raise KernelError(f"columns must have as many rows, not {', '.join(map(str, counts))}")
        columns: list[_Rows] = [_sparse_rows(*column) for column in sparse]
        for dense in inputs[3 * N :]:
            rows: list[list[Any]] = dense.tolist()
            columns.append(dict(enumerate(rows)))
        # A row that lacks a feature in some column has no combinations.
        present: list[int] = sorted(set(columns[0]).intersection(*columns[1:])) if columns else []
        crossed: dict[int, list[Any]] = {}
        for row in present:
            combinations = itertools.product(*(column[row] for column in columns))
            if hashed_output:
                modulus = num_buckets if num_buckets > 0 else _LARGEST
                crossed[row] = [_hashed(combination, hash_key & _MASK) % modulus for combination in combinations]
            else:
                crossed[row] = [_BETWEEN.join(map(_text, combination)) for combination in combinations]
        places = [(row, place) for row, values in crossed.items() for place in range(len(values))]
        flat = list(itertools.chain.from_iterable(crossed.values()))
        outputs[0] = np.array(places, np.int64).reshape(-1, 2)
        outputs[1] = np.array(flat, np.int64) if hashed_output else string_array(flat)
        outputs[2][...] = counts[0] if counts else 0, max(map(len, crossed.values()), default=0)


def _sparse_rows(indices: npt.NDArray[Any], values: npt.NDArray[Any], shape: npt.NDArray[Any]) -> _Rows:
    rows: dict[int, list[Any]] = {}
    for (row, *_), value in zip(indices.tolist(), values.tolist(), strict=True):
        if not 0 <= row < shape[0]:
            raise KernelError(f"a column has a feature in row {row} of {shape[0]}")
        rows.setdefault(row, []).append(value)
    return rows


def _text(feature: Any) -> bytes:
    return feature if isinstance(feature, bytes) else str(feature).encode()


def _hashed(features: Sequence[Any], key: int) -> int:
    """Mixes the hashes of the features into the key, one after the other (``FingerprintCat64``)."""
    value = key
    for feature in features:
        one = fingerprint64(feature) if isinstance(feature, bytes) else feature & _MASK
        value ^= _FACTOR ^ _shift_mix(one * _FACTOR & _MASK) * _FACTOR & _MASK
        value = value * _FACTOR & _MASK
        value = _shift_mix(_shift_mix(value) * _FACTOR & _MASK)
    return value


def _shift_mix(value: int) -> int:
    return value ^ value >> 47
