"""FarmHash's 64-bit fingerprint, TensorFlow's hash of strings.

Source: https://github.com/google/farmhash, ``Fingerprint64`` in ``farmhash.h`` (the variant ``farmhashna``). It never
changes; ``tf.strings.to_hash_bucket_fast`` is this number modulo the number of buckets.
"""

from __future__ import annotations

_MASK = (1 << 64) - 1
_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F
_BLOCK = 64


def fingerprint64(data: bytes) -> int:
    """Returns the fingerprint of a string of any length, from 0 to 2**64 - 1."""
    size = len(data)
    if size <= 16:
        return _up_to_16(data, size)
    if size <= 32:
        return _up_to_32(data, size)
    if size <= 64:
        return _up_to_64(data, size)
    return _longer(data, size)


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _half_word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _rotate(value: int, count: int) -> int:
    """Rotates the low 64 bits to the right."""
    value &= _MASK
    return (value >> count | value << (64 - count)) & _MASK


def _shift_mix(value: int) -> int:
    value &= _MASK
    return value ^ value >> 47


def _mix(first: int, second: int, factor: int) -> int:
    """Hashes two words to one."""
    second &= _MASK
    mixed = _shift_mix((first ^ second) * factor)
    return _shift_mix((second ^ mixed) * factor) * factor & _MASK


def _up_to_16(data: bytes, size: int) -> int:
    factor = _K2 + size * 2
    if size >= 8:
        first, last = _word(data, 0) + _K2, _word(data, size - 8)
        return _mix(_rotate(last, 37) * factor + first, (_rotate(first, 25) + last) * factor, factor)
    if size >= 4:
        return _mix(size + (_half_word(data, 0) << 3), _half_word(data, size - 4), factor)
    if size:
        start = data[0] + (data[size >> 1] << 8)
        end = size + (data[-1] << 2)
        return _shift_mix(start * _K2 ^ end * _K0) * _K2 & _MASK
    return _K2


def _up_to_32(data: bytes, size: int) -> int:
    factor = _K2 + size * 2
    a, b = _word(data, 0) * _K1, _word(data, 8)
    c, d = _word(data, size - 8) * factor, _word(data, size - 16) * _K2
    return _mix(_rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + _K2, 18) + c, factor)


def _up_to_64(data: bytes, size: int) -> int:
    factor = _K2 + size * 2
    a, b = _word(data, 0) * _K2, _word(data, 8)
    c, d = _word(data, size - 8) * factor, _word(data, size - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _mix(y, a + _rotate(b + _K2, 18) + c, factor)
    e, f = _word(data, 16) * factor, _word(data, 24)
    g, h = (y + _word(data, size - 32)) * factor, (z + _word(data, size - 24)) * factor
    return _mix(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, factor)


def _longer(data: bytes, size: int) -> int:
    seed = 81
    y = (seed * _K1 + 113) & _MASK
    z = _shift_mix(y * _K2 + 113) * _K2 & _MASK
    x = seed * _K2 + _word(data, 0)
    v = w = (0, 0)
    last = (size - 1) // _BLOCK * _BLOCK  # the offset of the last block, which may be incomplete
    for at in range(0, last, _BLOCK):
        x, y, z, v, w = _block(data, at, x, y, z, v, w, _K1, 1)
    factor = _K1 + ((z & 0xFF) << 1)
    rest = (size - 1) % _BLOCK
    w = (w[0] + rest, w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _block(data, size - _BLOCK, x, y, z, v, w, factor, 9)
    one = _mix(v[0], w[0], factor) + _shift_mix(y) * _K0 + z
    other = _mix(v[1], w[1], factor) + x
    return _mix(one, other, factor)


def _block(
    data: bytes, at: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int], factor: int, weight: int
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    """Mixes 64 bytes into the state; the weight multiplies the state's own words in the last step."""
    x = _rotate(x + y + v[0] + _word(data, at + 8), 37) * factor & _MASK
    y = _rotate(y + v[1] + _word(data, at + 48), 42) * factor
    x ^= w[1] * weight & _MASK
    y = (y + v[0] * weight + _word(data, at + 40)) & _MASK
    z = _rotate(z + w[0], 33) * factor & _MASK
    v = _half_block(data, at, v[1] * factor, x + w[0])
    w = _half_block(data, at + 32, z + w[1], y + _word(data, at + 16))
    return z, y, x, v, w


def _half_block(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    first, second, third, fourth = (_word(data, at + 8 * place) for place in range(4))
    a += first
    b = _rotate(b + a + fourth, 21)
    c = a
    a += second + third
    b += _rotate(a, 44)
    return (a + fourth) & _MASK, (b + c) & _MASK
