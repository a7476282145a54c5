"""Compares the outputs of a converted model with the expected ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from suites.cases import Arrays


@dataclass(frozen=True)
class Difference:
    """How outputs differ.

    Attributes:
        message: In words; empty if the outputs are what is expected.
        error: The largest error, relative to the largest absolute value of its output.
    """

    message: str
    error: float


def compare(actual: Arrays, expected: Arrays, *, rtol: float, atol: float, outliers: float = 0.0) -> Difference:
    """Compares all outputs.

    Numbers may differ by ``rtol`` times the largest absolute value of the output, and ``atol``, but for a share of
    ``outliers``. Infinities and what is not a number are at the same places; integers and strings are equal. With an
    infinite ``atol``, only shapes and dtypes are compared.
    """
    if missing := expected.keys() - actual.keys():
        return Difference(f"has no output {', '.join(sorted(missing))}, but {', '.join(sorted(actual))}", 0.0)
    messages: list[str] = []
    largest = 0.0
    for name, value in expected.items():
        message, error = _compare(np.asarray(actual[name]), value, rtol, atol, outliers)
        largest = max(largest, error)
        if message:
            messages.append(f"output {name} {message}")
    return Difference("; ".join(messages), largest)


def _compare(
    actual: npt.NDArray[Any], expected: npt.NDArray[Any], rtol: float, atol: float, outliers: float
) -> tuple[str, float]:
    if actual.shape != expected.shape:
        return f"has the shape {actual.shape}, not {expected.shape}", 0.0
    if expected.dtype.kind in "OSU":
        same = _text(actual) == _text(expected)
        return "" if same else f"is {_text(actual)!r:.80}, not {_text(expected)!r:.80}", 0.0
    if actual.dtype != expected.dtype:
        return f"has the dtype {actual.dtype}, not {expected.dtype}", 0.0
    if np.isinf(atol):  # what is random
        return "", 0.0
    if expected.dtype.kind in "biu":
        different = int(np.count_nonzero(actual != expected))
        return f"differs in {different} of {expected.size} elements" if different else "", 0.0
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    left, right = actual.astype(wide), expected.astype(wide)
    finite = np.isfinite(right)
    if not np.array_equal(left[~finite], right[~finite], equal_nan=True):
        return "has infinities or NaN at other places", float("inf")
    scale = float(np.abs(right[finite]).max(initial=0.0))
    errors = np.abs(left[finite] - right[finite])
    error = float(errors.max(initial=0.0))
    relative = error / scale if scale else error
    if np.count_nonzero(~(errors <= rtol * scale + atol)) <= outliers * expected.size:  # a NaN is not
        return "", relative
    return f"is off by {error:.3g} where its largest value is {scale:.3g}", relative


def _text(array: npt.NDArray[Any]) -> list[bytes]:
    return [each.encode() if isinstance(each, str) else bytes(each) for each in array.reshape(-1).tolist()]
