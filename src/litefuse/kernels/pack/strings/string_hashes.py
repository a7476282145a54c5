"""``StringToHashBucketFast``, ``StringToHashBucketStrong``, ``StringToHashBucket``: strings as hash buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.farmhash import fingerprint64
from litefuse.kernels.pack.strings.strings import check_strings
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong"]

_MASK = (1 << 64) - 1


class _Buckets(CustomOp):
    dtypes = ("string",)

    def prepare(self, text: TensorSpec, *, num_buckets: int) -> TensorSpec:
        """Returns the input's shape.

        Raises:
            KernelError: The input is not of strings, or the number of buckets is not positive.
        """
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

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, num_buckets: int) -> None:
        """Hashes each distinct string once."""
        self._invoke(inputs[0], outputs, num_buckets, fingerprint64)


@pack_kernel("StringToHashBucketStrong")
class StringToHashBucketStrong(_Buckets):
    """TensorFlow's op of the same name (``tf.strings.to_hash_bucket_strong``).

    Input: ``input``, strings of any shape. Output: SipHash-2-4 of each, modulo ``num_buckets``, int64.

    Options: ``key``, two 64-bit integers.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/to_hash_bucket_strong.
    """

    def invoke(
        self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, num_buckets: int, key: Sequence[int]
    ) -> None:
        """Hashes each distinct string once.

        Raises:
            KernelError: The key is not two numbers.
        """
        if len(key) != 2:
            raise KernelError(f"key must be two numbers, not {len(key)}")
        first, second = (each & _MASK for each in key)
        self._invoke(inputs[0], outputs, num_buckets, lambda one: _siphash(one, first, second))


@pack_kernel("StringToHashBucket")
class StringToHashBucket(_Buckets):
    """TensorFlow's op of the same name (``tf.compat.v1.string_to_hash_bucket``).

    Input: ``string_tensor``, strings of any shape. Output: a hash of each, modulo ``num_buckets``, int64: the 64-bit
    MurmurHash2 with TensorFlow's seed (``Hash64`` in ``hash.h``).
    """

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, num_buckets: int) -> None:
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
