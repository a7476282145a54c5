"""The verdicts of a verification: the worst call for each output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy.typing as npt

from litefuse.verify.difference import Difference, difference
from litefuse.verify.original import Arrays, Call
from litefuse.verify.verification import OutputVerdict

__all__ = ["verdicts"]


def verdicts(calls: Sequence[Call], found: Sequence[Arrays], expected: Sequence[Arrays]) -> Iterator[OutputVerdict]:
    """The verdict on each output that the model or the original has, in the model's order.

    Args:
        calls: The calls.
        found: What the model gave in each.
        expected: What the original gave.
    """
    for key in dict.fromkeys(call.signature for call in calls):
        of_signature = [number for number, call in enumerate(calls) if call.signature == key]
        first = of_signature[0]
        for name in dict.fromkeys([*found[first], *expected[first]]):
            if name not in expected[first] or name not in found[first]:
                owner, lacking = ("model", "original") if name in found[first] else ("original", "model")
                array: npt.NDArray[Any] = (found if name in found[first] else expected)[first][name]
                problem = f"only the {owner} has it, not the {lacking}"
                yield OutputVerdict(key, name, str(array.dtype), array.shape, float("inf"), 0, problem)
                continue
            differences = {number: difference(found[number][name], expected[number][name]) for number in of_signature}
            worst = max(differences, key=lambda number: differences[number].error)
            yield _verdict(key, name, found[worst][name], differences[worst], worst + 1)


def _verdict(key: str, name: str, found: npt.NDArray[Any], worst: Difference, call: int) -> OutputVerdict:
    dtype = "string" if found.dtype.kind in "OSU" else str(found.dtype)
    return OutputVerdict(key, name, dtype, found.shape, worst.error, call, worst.problem)
