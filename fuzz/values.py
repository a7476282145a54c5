"""Values that programs are bad at, and changes of bytes."""

from __future__ import annotations

import random
import struct

INTEGERS = (
    *(0, 1, -1, 2, -2, 3, 7, 16, 127, -128, 255, 256, 65535, 65536, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**32),
    *(2**33, 2**62, 2**63 - 1, -(2**63), 1000, 1_000_000, -3),
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, float("inf"), float("-inf"), float("nan"), 1e-45, 3.4e38, 1e300, 5e-324, 2.0**31)
STRINGS = (
    *(b"", b"a", b" ", b"\0", b"\xff", b"\xc3", "ä€𝄞".encode(), b"a" * 300, b"%s%n", b"../../etc/passwd", b"/", b":0"),
    *(
        b"^x",
        b"x:1",
        b"(((((",
        b"[a-",
        b"(a*)*",
        b"a{1000}",
        b"\\1",
        b"\\",
        b"nan",
        b"1e999",
        b"0x",
        b"-",
        b"\xed\xa0\x80",
    ),
)


def hostile_integer(draw: random.Random, bits: int = 64, *, signed: bool = True) -> int:
    """An integer that fits, one of those that programs are bad at more often than not."""
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    value = draw.choice(INTEGERS) if draw.random() < 0.8 else draw.randrange(least, most + 1)
    return min(max(value, least), most)


def hostile_shape(draw: random.Random, shape: list[int]) -> list[int]:
    """A shape, now and then of another rank or of absurd sizes."""
    changed = list(shape)
    match draw.randrange(7):
        case 0:
            changed = [draw.choice((0, 1, 2, 3)) for _ in range(draw.randrange(7))]
        case 1:
            changed = [65536] * 4
        case 2:
            changed.insert(draw.randrange(len(changed) + 1), draw.choice((0, 1, 2)))
        case 3 if changed:
            del changed[draw.randrange(len(changed))]
        case 4 if changed:
            changed[draw.randrange(len(changed))] = hostile_integer(draw, 32)
        case _ if changed:
            changed[draw.randrange(len(changed))] = draw.choice((0, 1, 2, 3, 5))
        case _:
            changed = [0]
    return changed


def change_bytes(draw: random.Random, data: bytes, *, most: int = 8) -> bytes:
    """Bytes with a few changes: bits, numbers, pieces that are missing, moved or doubled."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, most)):
        if not changed:
            return bytes(draw.randbytes(4))
        place = draw.randrange(len(changed))
        match draw.randrange(8):
            case 0 | 1:
                changed[place] ^= 1 << draw.randrange(8)
            case 2:
                changed[place] = draw.randrange(256)
            case 3 | 4:
                number = struct.pack("<q", hostile_integer(draw))[: draw.choice((1, 2, 4, 8))]
                changed[place : place + len(number)] = number
            case 5:
                del changed[place : place + draw.randrange(1, 33)]
            case 6:
                start = draw.randrange(len(changed))
                changed[place:place] = changed[start : start + draw.randrange(1, 33)]
            case _ if draw.random() < 0.1:
                del changed[place:]
            case _:
                changed[place : place + 4] = draw.choice(STRINGS)
    return bytes(changed)
