from __future__ import annotations

import numpy as np
import pytest

from litefuse.frontends.saved_model.sorted_table import crc32c, mask
from tests.frontends.saved_model.bundle_writer import masked_crc32c


# The test vectors of RFC 3720, appendix B.4.
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (b"123456789", 0xE3069283),
    ],
)
def test_known_values(data: bytes, expected: int) -> None:
    assert crc32c(data) == expected
    assert crc32c(np.frombuffer(data, np.uint8)) == expected
    assert crc32c(data[5:], crc32c(data[:5])) == expected


def test_mask_is_that_of_leveldb() -> None:
    assert mask(crc32c(b"foo")) == masked_crc32c(b"foo")
    assert mask(0) == 0xA282EAD8
    assert mask(0xFFFFFFFF) == 0xA282EAD7
