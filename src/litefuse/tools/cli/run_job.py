"""The job that ``litefuse run`` sends to the process that runs the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from litefuse.support.report.sections import Section


class RunJob(NamedTuple):
    """A request to run a model.

    Attributes:
        model: The model's file.
        signature: The key of the signature; None for the only one.
        inputs: The file of the inputs; None for random ones.
        seed: The seed of random inputs.
        shapes: Shapes of random inputs by name.
        kernels: Files and modules that register kernels.
        output: The file for the outputs, as given by the user; None to show them.
        partial: The file to write them to.
        repeat: The number of runs.
    """

    model: Path
    signature: str | None
    inputs: Path | None
    seed: int
    shapes: Mapping[str, tuple[int, ...]]
    kernels: tuple[str, ...]
    output: Path | None
    partial: Path | None
    repeat: int


@dataclass(frozen=True)
class ArraySummary:
    """An input or output.

    Attributes:
        name: Its name.
        dtype: Its dtype; ``string`` for strings.
        shape: Its shape.
        minimum: Its smallest element; None for strings and complex numbers, and if there is none.
        maximum: Its largest element; None as above.
        mean: The mean of its elements; None as above.
        first: Its first elements, five at most; complex numbers and bytes that are not text as text.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    minimum: float | None
    maximum: float | None
    mean: float | None
    first: tuple[Any, ...]


@dataclass(frozen=True)
class RunFacts:
    """Results of a run.

    Attributes:
        model: The model's file.
        signature: The key of the signature that was run; None for the only one, or a model without signatures.
        drawn: Whether the inputs were drawn.
        limit: The exclusive upper bound of drawn integers, if the model takes no others; else None.
        inputs: The inputs.
        outputs: The outputs of the last run.
        seconds: The time of each run.
        changed: The names of the outputs that differ between the first and the last run.
    """

    model: str
    signature: str | None
    drawn: bool
    limit: int | None
    inputs: tuple[ArraySummary, ...]
    outputs: tuple[ArraySummary, ...]
    seconds: tuple[float, ...]
    changed: tuple[str, ...]


class RunResult(NamedTuple):
    """The result of a job.

    Attributes:
        facts: What the run gave.
        sections: The same, to be printed.
    """

    facts: RunFacts
    sections: list[Section]
