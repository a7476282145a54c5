"""Representative dataset of the caller, in a form that can be sent to the conversion process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import LitefuseError

__all__ = ["RepresentativeDataset", "Sample", "Samples", "take_samples"]

RepresentativeDataset: TypeAlias = str | os.PathLike[str] | Iterable[Any] | Callable[[], Iterable[Any]]
"""The path of an ``.npz`` archive, or samples, or a function that returns samples, such as a generator function.

A sample is a mapping from the names of a signature's inputs to arrays, an array or a list of one array (for a signature
with one input), or a pair of a signature's key and one of these.
"""


class Sample(NamedTuple):
    """The inputs of one call.

    Attributes:
        signature: The signature's key; None for a model with one signature.
        inputs: The inputs by name; the name ``None`` for a signature with one input.
    """

    signature: str | None
    inputs: Mapping[str | None, npt.NDArray[Any]]


Samples: TypeAlias = Path | tuple[Sample, ...]
"""The archive, or the samples themselves; it can be sent to another process."""


def take_samples(dataset: RepresentativeDataset) -> Samples:
    """Reads all samples of a dataset; an archive stays a path.

    Raises:
        LitefuseError: It is not a dataset, or empty.
    """
    if isinstance(dataset, str | os.PathLike):
        return Path(os.fspath(dataset)).absolute()
    given: Any = dataset() if callable(dataset) else dataset
    if not hasattr(given, "__iter__") or hasattr(given, "keys"):
        raise LitefuseError(
            f"representative_dataset is a {type(given).__name__}, not a sequence of samples",
            hint="Pass a list of samples such as {'x': array}, a generator function of them, or an .npz file.",
        )
    samples = tuple(_sample(each, number) for number, each in enumerate(given, 1))
    if not samples:
        raise LitefuseError("representative_dataset has no samples")
    return samples


def _sample(given: Any, number: int) -> Sample:
    signature, inputs = None, given
    if isinstance(given, tuple):
        pair = cast("tuple[Any, ...]", given)
        if len(pair) == 2 and isinstance(pair[0], str):
            signature, inputs = pair
    if isinstance(inputs, Mapping):
        by_name = cast("Mapping[Any, Any]", inputs)
        return Sample(signature, {str(name): np.asarray(value) for name, value in by_name.items()})
    if isinstance(inputs, list | tuple):
        listed = cast("Sequence[Any]", inputs)
        if len(listed) != 1:
            raise LitefuseError(
                f"sample {number} of the representative dataset is a list of {len(listed)} arrays",
                hint="Pass mappings from the names of the signature's inputs to arrays.",
            )
        inputs = listed[0]
    return Sample(signature, {None: np.asarray(inputs)})
