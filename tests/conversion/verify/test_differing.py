"""The call and the element that differ most."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from litefuse.conversion.verify.original import Call
from litefuse.conversion.verify.verification import DifferingCall, OutputVerdict, differing_call

NAN, INF = float("nan"), float("inf")
CASES: dict[str, tuple[Any, Any, str]] = {
    "numbers": ([1.0, 2.5, 3.0], [1.0, 2.0, 3.25], "y[1] is 2.5, not 2.0"),
    "NaN for a number": ([1.0, NAN, 9.0], [1.0, 2.0, 3.0], "y[1] is nan, not 2.0"),
    "NaN for NaN": ([NAN, 2.0], [NAN, 2.5], "y[1] is 2.0, not 2.5"),
    "another infinity": ([-INF, 2.0, INF], [-INF, 2.0, -INF], "y[2] is inf, not -inf"),
    "integers": (np.array([1, 2, 4]), np.array([1, 2, 3]), "y[2] is 4, not 3"),
    "strings": (np.array([b"a", b"c"], object), np.array([b"a", b"b"], object), "y[1] is b'c', not b'b'"),
    "bfloat16": (np.array([1, 2], ml_dtypes.bfloat16), np.array([1, 4], ml_dtypes.bfloat16), "y[1] is 2.0, not 4.0"),
    "complex": (np.array([1j]), np.array([2j]), "y[0] is 1j, not 2j"),
    "a scalar": (np.float32(1), np.float32(2), "y[] is 1.0, not 2.0"),
    "another shape": (np.zeros(2, np.int32), np.zeros(3, np.int32), "y of int32[2], not int32[3]"),
    "nothing": (np.zeros(0), np.zeros(0, np.float32), "y of float64[0], not float32[0]"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_element_that_differs_most(name: str) -> None:
    found, expected, told = CASES[name]
    x = np.zeros((2, 1), np.float32)
    call = DifferingCall(3, "y", {"x": x}, {"y": np.asarray(found)}, {"y": np.asarray(expected)})
    assert str(call) == f"call 3: {told}, of x float32[2, 1]"
    assert str(DifferingCall(3, "y", {}, call.found, call.expected)) == f"call 3: {told}"


def test_the_call_that_differs_most() -> None:
    def verdict(name: str, error: float, call: int, verdict: Any) -> OutputVerdict:
        return OutputVerdict("serve", name, "float32", (1,), error, call, verdict=verdict)

    arrays = [{"a": np.full(1, number), "b": np.full(1, -number)} for number in range(3)]
    calls = [Call("serve", {"x": np.full(1, 10 * number)}) for number in range(3)]
    outputs = [verdict("a", 0.1, 2, "differs"), verdict("b", 0.2, 3, "differs"), verdict("c", 9.0, 1, "inconclusive")]
    worst = differing_call(outputs, calls, arrays, arrays)
    assert worst is not None
    assert (worst.number, worst.output, worst.inputs["x"][0], worst.found["a"][0]) == (3, "b", 20, 2)
    # An output that only one of them has is in no call.
    assert differing_call([verdict("a", INF, 0, "differs"), outputs[2]], calls, arrays, arrays) is None
