"""Representative dataset of the caller, in a form that can be sent to the conversion process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.dataset_process import DatasetJob, names_function
from litefuse.conversion.quantization.images import images_in
from litefuse.conversion.quantization.progress import SampleProgress
from litefuse.conversion.quantization.recorded import RecordedSamples, Sample, record
from litefuse.errors import EngineCrashError, LitefuseError
from litefuse.support.cloud.paths import local
from litefuse.support.files.readable import check_there

__all__ = ["Preprocess", "RepresentativeDataset", "Sample", "Samples", "obtain_samples", "samples_in", "take_samples"]

RepresentativeDataset: TypeAlias = str | os.PathLike[str] | Iterable[Any] | Callable[[], Iterable[Any]]
"""The path of an ``.npz`` archive or of a folder of images, ``FILE.py:FUNCTION`` for a function in a file, which runs
in a process of its own, or samples, or a function that returns samples, such as a generator function.

A sample is a mapping from the names of a signature's inputs to arrays, an array or a list of one array (for a signature
with one input), or a pair of a signature's key and one of these. Tensors of TensorFlow, JAX and PyTorch are arrays,
too.
"""

Preprocess: TypeAlias = str | os.PathLike[str] | Callable[[Any], Any]
"""A function that makes a sample of an image, or ``FILE.py:FUNCTION``; see ``quantization.images``."""

Samples: TypeAlias = Path | RecordedSamples | tuple[Sample, ...]
"""The archive, or a file with the samples, or the samples themselves; it can be sent to another process."""

_RECORD = "litefuse.conversion.quantization.dataset_process:record_dataset"


def obtain_samples(
    dataset: RepresentativeDataset,
    folder: Path,
    *,
    preprocess: Preprocess | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> Samples:
    """Reads all samples of a dataset into a file; an archive stays a path.

    Functions of files run in a process of their own, where they may import TensorFlow.

    Args:
        dataset: The dataset.
        folder: The folder for the file.
        preprocess: Makes samples of the images in a folder.
        announce: Called with the progress.

    Raises:
        LitefuseError: It is not a dataset, or empty; a function cannot be imported or fails.
    """
    dataset = local(dataset)
    target = folder / "samples"
    progress = SampleProgress(announce, "samples")
    path = os.fspath(cast("str", dataset)) if isinstance(dataset, str | os.PathLike) else ""
    is_folder = bool(path) and not names_function(path) and check_there(path).is_dir()
    if preprocess is not None and not is_folder:
        raise LitefuseError("preprocess is for a folder of images", hint="Pass the folder as representative_dataset.")
    if not isinstance(dataset, str | os.PathLike):
        return record(samples_in(dataset), target, progress.advance)
    if is_folder and preprocess is None:
        raise LitefuseError(
            "a folder of images needs a function that makes inputs of the model of them",
            where=path,
            hint="Pass preprocess: a function of a PIL.Image.Image, or FILE.py:FUNCTION (on the command line, "
            "--preprocess FILE.py:FUNCTION).",
        )
    if preprocess is not None and not isinstance(preprocess, str | os.PathLike):
        return record(samples_in(images_in(Path(path), preprocess)), target, progress.advance)
    if not is_folder and not names_function(path):
        return Path(path).absolute()
    from litefuse.support.processes.process import run_alone  # only what is in files needs it

    function = path if preprocess is None else os.fspath(cast("str", preprocess))
    job = DatasetJob(function, target, Path(path).absolute() if is_folder else None)
    try:
        return run_alone(_RECORD, job, environment={}, announce=announce)
    except EngineCrashError as error:
        raise LitefuseError(
            f"the process of the dataset died ({error.death}) in the step {error.step!r}", where=function
        ) from error


def take_samples(dataset: RepresentativeDataset) -> Samples:
    """Reads all samples of a dataset into memory; an archive stays a path.

    Raises:
        LitefuseError: It is not a dataset, or empty.
    """
    if isinstance(dataset, str | os.PathLike):
        return Path(local(os.fspath(dataset))).absolute()
    samples = tuple(samples_in(dataset))
    if not samples:
        raise LitefuseError("representative_dataset has no samples")
    return samples


def samples_in(dataset: Iterable[Any] | Callable[[], Iterable[Any]]) -> Iterator[Sample]:
    """Returns the samples of a dataset one by one.

    Raises:
        LitefuseError: It is not a dataset, now; or a sample is none, when it is read.
    """
    given: Any = dataset() if callable(dataset) else dataset
    if not hasattr(given, "__iter__") or hasattr(given, "keys"):
        raise LitefuseError(
            f"representative_dataset is a {type(given).__name__}, not a sequence of samples",
            hint="Pass a list of samples such as {'x': array}, a generator function of them, or an .npz file.",
        )
    return (_sample(each, number) for number, each in enumerate(given, 1))


def _sample(given: Any, number: int) -> Sample:
    signature, inputs = None, given
    if isinstance(given, tuple):
        pair = cast("tuple[Any, ...]", given)
        if len(pair) == 2 and isinstance(pair[0], str):
            signature, inputs = pair
    if isinstance(inputs, Mapping):
        by_name = cast("Mapping[Any, Any]", inputs)
        return Sample(signature, {str(name): _array(value, number) for name, value in by_name.items()})
    if isinstance(inputs, list | tuple):
        listed = cast("Sequence[Any]", inputs)
        if len(listed) != 1:
            raise LitefuseError(
                f"sample {number} of the representative dataset is a list of {len(listed)} arrays",
                hint="Pass mappings from the names of the signature's inputs to arrays, without labels: of a tf.data "
                "dataset, dataset.map(lambda image, label: {'image': image}).",
            )
        inputs = listed[0]
    return Sample(signature, {None: _array(inputs, number)})


def _array(value: Any, number: int) -> npt.NDArray[Any]:
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # PyTorch's tensors raise any of them
        raise LitefuseError(f"sample {number} of the representative dataset is not an array: {error}") from error
