"""CRC-32C checksums in the masked form that TensorFlow's files use.

The mask is LevelDB's: a rotation and an addition, so that data which contains checksums can be checksummed safely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import google_crc32c

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["crc32c", "mask"]

_MASK_DELTA = 0xA282EAD8
_extend = cast("Any", google_crc32c).extend


def crc32c(data: bytes | NDArray[np.uint8], crc: int = 0) -> int:
    """Returns the CRC-32C (Castagnoli) of ``data``, continuing from the checksum ``crc`` of the preceding data.

    Args:
        data: Bytes, or a contiguous one-dimensional array, whose memory is read in place.
        crc: The checksum of the preceding data.
    """
    return cast("int", _extend(crc, data))


def mask(crc: int) -> int:
    """Returns the masked form of a checksum."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
