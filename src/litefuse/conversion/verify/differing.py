"""The call in which a model differs most from the original, for whoever has to find out why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.original import Arrays, Call
from litefuse.litert.results.difference import kind_of

if TYPE_CHECKING:
    from litefuse.conversion.verify.verification import OutputVerdict

__all__ = ["DifferingCall", "differing_call"]


@dataclass(frozen=True)
class DifferingCall:
    """A call of both models, and what they gave.

    Attributes:
        number: Its number, from 1.
        output: The output that differs most.
        inputs: The inputs.
        found: The model's outputs.
        expected: The original's outputs.
    """

    number: int
    output: str
    inputs: Arrays
    found: Arrays
    expected: Arrays

    def __str__(self) -> str:
        """Says which call and element differ, both values, and the dtypes and shapes of the inputs."""
        given = ", ".join(f"{name} {each.dtype}{list(each.shape)}" for name, each in self.inputs.items())
        found, expected = self.found[self.output], self.expected[self.output]
        what = f"{self.output} of {found.dtype}{list(found.shape)}, not {expected.dtype}{list(expected.shape)}"
        if found.shape == expected.shape and found.size:
            place = tuple(map(int, np.unravel_index(np.argmax(_distances(found, expected)), found.shape)))
            what = f"{self.output}{list(place)} is {found[place]}, not {expected[place]}"
        return f"call {self.number}: {what}" + (f", of {given}" if given else "")


def differing_call(
    outputs: Sequence[OutputVerdict], calls: Sequence[Call], found: Sequence[Arrays], expected: Sequence[Arrays]
) -> DifferingCall | None:
    """Returns the call in which the output that differs most does so; None if no output differs that both have."""
    differs = [output for output in outputs if output.verdict == "differs" and output.call]
    if not differs:
        return None
    worst = max(differs, key=lambda differ: differ.error)
    number = worst.call - 1
    return DifferingCall(worst.call, worst.name, calls[number].inputs, found[number], expected[number])


def _distances(found: npt.NDArray[np.generic], expected: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Returns how far each element is from the expected one: 0 where both are NaN, infinite where one of them is."""
    if kind_of(expected.dtype) != "numbers":
        return np.asarray(found != expected)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = found.astype(wide), expected.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        distances = np.nan_to_num(np.abs(one - other), nan=np.inf, posinf=np.inf)
    return np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0.0, distances)
