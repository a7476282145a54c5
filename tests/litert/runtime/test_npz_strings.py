"""Strings in files of arrays, whose trailing zero bytes numpy drops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.litert.runtime.input_specs import restored_strings, stored_strings


@pytest.mark.parametrize(
    ("strings", "count"),
    [
        ([[b"a\0", b""], ["\u00e4", b"\0\0"]], 2),
        ([[b"\0"]], 2),
        ([[b"a", b"b\0c"]], 1),
    ],
)
def test_strings_are_what_they_were(strings: list[list[Any]], count: int, tmp_path: Path) -> None:
    array = np.array(strings, object)
    stored = stored_strings("x", array)
    assert len(stored) == count
    np.savez(tmp_path / "x.npz", **stored)  # pyright: ignore[reportArgumentType]
    with np.load(tmp_path / "x.npz") as file:
        restored = restored_strings(dict(file))
    expected = [[each.encode() if isinstance(each, str) else each for each in row] for row in strings]
    assert [*restored] == ["x"]
    assert restored["x"].tolist() == expected


@pytest.mark.parametrize("lengths", [[1, 1], [2, 4], [2.0, 3.0]], ids=["too short", "too long", "no integers"])
def test_lengths_of_other_strings_are_refused(lengths: list[float]) -> None:
    stored = stored_strings("x", np.array([b"a\0", b"abc"], object))
    (name,) = stored.keys() - {"x"}
    with pytest.raises(ValueError, match="are not theirs"):
        restored_strings({**stored, name: np.array(lengths)})
