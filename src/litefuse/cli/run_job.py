"""The job that ``litefuse run`` sends to the process that runs the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["RunJob"]


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
