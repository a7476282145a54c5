"""Slices of partitioned variables, and the keys under which a checkpoint holds them.

A partitioned variable has an entry that lists its slices; the value of each slice has its own entry, whose key encodes
the variable's name and the slice (TensorFlow's ``EncodeTensorNameSlice``, in the OrderedCode encoding).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from litefuse.frontends.saved_model.messages import TensorSliceProto

_FULL = -1


class TensorSlice(NamedTuple):
    """A box of a tensor.

    Attributes:
        starts: The first index in each dimension.
        lengths: The number of indices in each dimension, -1 for the whole dimension.
    """

    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    @classmethod
    def from_proto(cls, proto: TensorSliceProto) -> TensorSlice:
        """Returns the slice in a message; an extent without a length is a whole dimension."""
        starts = tuple(extent.start if extent.HasField("length") else 0 for extent in proto.extent)
        lengths = tuple(extent.length if extent.HasField("length") else _FULL for extent in proto.extent)
        return cls(starts, lengths)

    def key(self, name: str) -> bytes:
        """Returns the checkpoint key of this slice of the variable ``name``."""
        escaped = name.encode().replace(b"\xff", b"\xff\x00").replace(b"\x00", b"\x00\xff")
        parts = [_ordered_unsigned(0), escaped, b"\x00\x01", _ordered_unsigned(len(self.starts))]
        for start, length in zip(self.starts, self.lengths, strict=True):
            parts += [_ordered_signed(start), _ordered_signed(length)]
        return b"".join(parts)

    def bounds(self, shape: tuple[int, ...]) -> tuple[slice, ...] | None:
        """Returns the numpy index of this slice in a tensor of ``shape``, or None if it does not fit."""
        if len(shape) != len(self.starts):
            return None
        bounds: list[slice] = []
        for start, length, size in zip(self.starts, self.lengths, shape, strict=True):
            stop = size if length == _FULL else start + length
            if not 0 <= start <= stop <= size:
                return None
            bounds.append(slice(start, stop))
        return tuple(bounds)


def _ordered_unsigned(value: int) -> bytes:
    """Encodes an unsigned integer in OrderedCode: the number of bytes, then the big-endian bytes; none for 0."""
    length = (value.bit_length() + 7) // 8
    return bytes([length]) + value.to_bytes(length, "big")


def _ordered_signed(value: int) -> bytes:
    """Encodes a signed integer in OrderedCode.

    A positive number is a unary length (that many 1 bits, then a 0 bit) and the number, the highest byte first, in
    n bytes of 7 bits each for the length n; a negative one is the complement of its complement's code.
    """
    magnitude = ~value if value < 0 else value
    length = magnitude.bit_length() // 7 + 1  # with room for a sign bit
    if length > 10:
        raise ValueError(f"{value} has more than 64 bits")
    header = ((1 << length) - 1) << (8 * length - length)
    code = magnitude ^ header if value >= 0 else ((1 << 8 * length) - 1) ^ (magnitude ^ header)
    return code.to_bytes(length, "big")
