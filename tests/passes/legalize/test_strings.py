# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Rewritings of moved strings, against numpy."""

from __future__ import annotations

import numpy as np

from tests.passes.legalize.one_op import Constant, check

TEXTS = np.array([["a", "bc", ""], ["def", "é", "g"]], object)
BYTES = np.array([[each.encode() for each in row] for row in TEXTS], object)


def test_strings_that_are_inputs() -> None:
    check("Transpose", [BYTES, Constant(np.array([1, 0], np.int32))], BYTES.T)
    check("Unpack", [BYTES], *BYTES, attributes={"axis": 0, "num": 2})


def test_constants_are_moved_while_the_model_is_converted() -> None:
    places = np.array([1, 0, 1], np.int32)
    check("GatherV2", [Constant(BYTES[0]), Constant(places), Constant(np.int32(0))], BYTES[0][places], form=None)


def test_strings_are_picked_from_a_constant() -> None:
    places = np.array([2, 0, 1, 1], np.int32)
    check(
        "GatherV2", [Constant(BYTES.reshape(-1)), places, Constant(np.int32(0))], BYTES.reshape(-1)[places], form=None
    )
