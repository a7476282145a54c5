"""Values of variables whose dtype is changed."""

from __future__ import annotations

import sys

import ml_dtypes
import numpy as np
import pytest

from litefuse.frontends.saved_model import captures
from litefuse.frontends.saved_model.captures import Variable
from litefuse.frontends.saved_model.dtypes import DataType


@pytest.mark.parametrize("rows", [1, 2, 3, 0])  # in one block of 6 elements, and in more
def test_a_large_value_is_mapped(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(captures, "_BLOCK", 6)
    stored = np.arange(5 * rows).reshape(rows, 5).astype(ml_dtypes.bfloat16)
    variable = Variable(
        0,
        "v",
        "v",
        DataType.FLOAT32,
        (rows, 5),
        True,
        None,
        None,
        conversion=lambda values: values.astype(np.float32),
        initial=stored,
    )
    for value in (variable.read(), variable.read()):
        assert value.dtype == np.float32
        np.testing.assert_array_equal(value, np.arange(5 * rows).reshape(rows, 5))
        assert value.flags.owndata == (rows < 2) or sys.platform == "win32"
