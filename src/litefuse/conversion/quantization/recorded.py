"""Samples in a file, from which they are read one by one: memory does not grow with their number."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt

from litefuse.errors import LitefuseError

__all__ = ["RecordedSamples", "Sample", "record"]


class Sample(NamedTuple):
    """The inputs of one call.

    Attributes:
        signature: The signature's key; None for a model with one signature.
        inputs: The inputs by name; the name ``None`` for a signature with one input.
    """

    signature: str | None
    inputs: Mapping[str | None, npt.NDArray[Any]]


@dataclass(frozen=True)
class RecordedSamples:
    """Samples that this process, or another one of the same conversion, wrote to a file; can be sent to a process.

    Attributes:
        path: The file.
        entries: The signature of each sample, and its place in the file.
    """

    path: Path
    entries: tuple[tuple[str | None, int], ...]

    def read(self, index: int) -> Sample:
        """Reads one sample."""
        signature, place = self.entries[index]
        with self.path.open("rb") as file:
            file.seek(place)
            return Sample(signature, pickle.load(file))  # this conversion wrote it, into a folder of its own


def record(samples: Iterable[Sample], path: Path, on_sample: Callable[[], None] = lambda: None) -> RecordedSamples:
    """Writes samples to a file as they come.

    Args:
        samples: The samples, which are read once.
        path: The file.
        on_sample: Called after each of them.

    Raises:
        LitefuseError: There are none, or the disk is full.
    """
    entries: list[tuple[str | None, int]] = []
    iterator = iter(samples)
    with path.open("wb") as file:
        for signature, inputs in iterator:
            entries.append((signature, file.tell()))
            try:
                pickle.dump(dict(inputs), file, protocol=5)
            except OSError as error:
                raise LitefuseError(
                    f"the samples cannot be written: {error.strerror or error}",
                    where=os.fspath(path.parent),
                    hint="Make room there, or pass temporary_folder.",
                ) from error
            on_sample()
    if not entries:
        raise LitefuseError("representative_dataset has no samples")
    return RecordedSamples(path, tuple(entries))
