"""Variable-length integers: seven bits per byte, lowest first, the eighth bit set on all bytes but the last."""

from __future__ import annotations

__all__ = ["read_varint"]


def read_varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Returns the integer that starts at ``position`` and the position after it.

    Raises:
        ValueError: The data ends inside the integer, or it has more than 64 bits.
    """
    value = shift = 0
    while position < len(data) and shift < 64:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                break
            return value, position
        shift += 7
    raise ValueError(f"no integer of at most 64 bits ends before byte {position}")
