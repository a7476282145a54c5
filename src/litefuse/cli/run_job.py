"""What ``litefuse run`` asks the process for that runs the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["RunJob"]


class RunJob(NamedTuple):
    """What to run, and how.

    Attributes:
        model: The model's file.
        signature: The key of the signature; None for the only one.
        inputs: The file of the inputs; None for random ones.
        seed: The seed of random inputs.
        shapes: Shapes of random inputs by their names.
        kernels: Files and modules that register kernels.
        output: The file that the outputs are for, as the user calls it; None to show them.
        partial: Where to write them.
        repeat: How often to run.
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
