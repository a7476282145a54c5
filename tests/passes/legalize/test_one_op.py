"""The check of one op says no where something is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from litefuse.errors import UnsupportedOpsError
from tests.passes.legalize.one_op import check, normal


def test_wrong_numbers_shapes_and_forms_are_found() -> None:
    x, y = normal(4, 3), normal(4, 3) + 1
    right = np.cross(x, y)
    check("Cross", [x, y], right, rtol=1e-5, atol=1e-6)
    for wrong in (right + np.float32(1e-3), right[:3]):
        with pytest.raises(AssertionError):
            check("Cross", [x, y], wrong, rtol=1e-5, atol=1e-6)
    with pytest.raises(AssertionError):
        check("Cross", [x, y], right, form="composite", rtol=1e-5, atol=1e-6)
    with pytest.raises(AssertionError):
        check("Abs", [x], np.abs(x))  # no op that LiteRT lacks


def test_an_op_without_a_rewriting_is_refused() -> None:
    with pytest.raises(UnsupportedOpsError, match="LiteRT has no op for Polygamma"):
        check("Polygamma", [normal(2), normal(2)], normal(2))
