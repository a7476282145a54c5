"""Representative datasets: samples of the caller, or of a function in a file, which runs in a process of its own."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import pickle
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import EngineCrashError, LitefuseError
from litefuse.support.cloud.paths import local
from litefuse.support.files.readable import check_there
from litefuse.support.options.quantization import Quantization
from litefuse.support.plug_ins.entry_points import third_party_code, what_was_raised
from litefuse.support.progress.stages import Step


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

    Raises:
        LitefuseError: There are none, or the disk is full.
    """
    entries: list[tuple[str | None, int]] = []
    file = path.open("wb")
    try:
        for signature, inputs in samples:
            entries.append((signature, file.tell()))
            try:
                pickle.dump(dict(inputs), file, protocol=5)
                file.flush()
            except OSError as error:
                raise LitefuseError(
                    f"the samples cannot be written: {error.strerror or error}",
                    where=os.fspath(path.parent),
                    hint="Make room there, or pass temporary_folder.",
                ) from error
            on_sample()
    finally:
        with suppress(OSError):  # it was raised when a sample was written
            file.close()
    if not entries:
        raise LitefuseError("no samples were given")
    return RecordedSamples(path, tuple(entries))


# The least time between two messages, in seconds.
_INTERVAL = 0.2


class SampleProgress:
    """Announces how many samples are done.

    Args:
        announce: Called with the text.
        step: The step that the text begins with.
        total: The number of samples; None if it is not known.
    """

    def __init__(self, announce: Callable[[str], None], step: str, total: int | None = None) -> None:
        self._announce = announce
        self._step = step
        self._total = total
        self._begun = self._last = time.monotonic()
        self._done = 0

    def advance(self) -> None:
        """Counts one sample that is done."""
        self._done += 1
        now = time.monotonic()
        if now - self._last < _INTERVAL:
            return
        self._last = now
        text = f"{self._step}: sample {self._done:,}"
        if self._total is not None:
            left = (now - self._begun) / self._done * (self._total - self._done)
            text += f" of {self._total:,}, {_duration(left)} left"
        self._announce(Step(text, self._done, self._total or 0))


def _duration(seconds: float) -> str:
    """Formats a time, such as ``2 min 5 s``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


_SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})


@dataclass(frozen=True)
class ImageFiles:
    """The files of images, of which inputs of the model are made once its input is known."""

    files: tuple[Path, ...]


def image_files(folder: Path) -> ImageFiles:
    """Returns the images in a folder and the folders in it, in the order of their names.

    Raises:
        LitefuseError: Pillow is not installed, or there are none.
    """
    if importlib.util.find_spec("PIL") is None:
        raise LitefuseError(
            "a folder of images needs the package Pillow", hint="Install it with `pip install 'litefuse[quantize]'`."
        )
    files = sorted(
        Path(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if Path(name).suffix.lower() in _SUFFIXES and not name.startswith(".")
    )
    if not files:
        raise LitefuseError(
            "the folder has no images", where=str(folder), hint=f"Their names end in {', '.join(sorted(_SUFFIXES))}."
        )
    return ImageFiles(tuple(path.absolute() for path in files))


def opened_image(path: Path) -> Any:
    """Reads an image, a ``PIL.Image.Image`` of the mode RGB, turned as its camera was held.

    Raises:
        LitefuseError: It cannot be read.
    """
    image_module: Any = importlib.import_module("PIL.Image")
    transpose: Callable[[Any], Any] = importlib.import_module("PIL.ImageOps").exif_transpose
    try:
        with image_module.open(path) as opened:
            return transpose(opened).convert("RGB")
    except (OSError, ValueError, SyntaxError, image_module.DecompressionBombError) as error:
        raise LitefuseError(f"the image cannot be read: {what_was_raised(error)}", where=str(path)) from error


def images_in(folder: Path, preprocess: Callable[[Any], Any]) -> Iterator[Any]:
    """Yields what a function makes of each image of a folder, a ``PIL.Image.Image``.

    Raises:
        LitefuseError: Pillow is not installed, there are none, one cannot be read, or ``preprocess`` fails.
    """
    for path in image_files(folder).files:
        image = opened_image(path)
        with third_party_code("preprocess fails", str(path), own=LitefuseError):
            sample = preprocess(image)
        yield sample


Samples: TypeAlias = Path | RecordedSamples | ImageFiles | tuple[Sample, ...]
"""The archive, or a file with the samples, or images, or the samples themselves; it can be sent to another process."""

_RECORD = "litefuse.conversion.quantization.dataset:record_dataset"


def obtain_samples(
    quantization: Quantization, folder: Path, announce: Callable[[str], None] = lambda _: None
) -> Samples:
    """Reads all samples of a dataset into a file; an archive stays a path.

    Functions of files run in a process of their own, where they may import TensorFlow.

    Args:
        quantization: The options with samples, and with what makes samples of the images in a folder.
        folder: The folder for the file.
        announce: Called with the progress.

    Raises:
        LitefuseError: It is not a dataset, or empty; a function cannot be imported or fails.
    """
    check_dataset(quantization)
    dataset: Any = local(quantization.samples)
    preprocess = quantization.preprocess
    target = folder / "samples"
    progress = SampleProgress(announce, "samples")
    path = os.fspath(cast("str", dataset)) if isinstance(dataset, str | os.PathLike) else ""
    is_folder = bool(path) and not names_function(path) and Path(path).is_dir()
    if not isinstance(dataset, str | os.PathLike):
        return record(samples_in(dataset), target, progress.advance)
    if is_folder and preprocess is None:
        return image_files(Path(path))
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


def check_dataset(quantization: Quantization) -> None:
    """Checks what can be checked of samples before the model is loaded.

    Raises:
        LitefuseError: A path leads to nothing, the folder has no images, Pillow is missing, or ``preprocess`` is for
            something else or no function.
    """
    dataset, preprocess = local(quantization.samples), quantization.preprocess
    path = os.fspath(cast("str", dataset)) if isinstance(dataset, str | os.PathLike) else ""
    is_folder = bool(path) and not names_function(path) and check_there(path).is_dir()
    if preprocess is not None and not is_folder:
        raise LitefuseError("preprocess is for a folder of images", hint="Pass the folder as samples.")
    if is_folder:
        image_files(Path(path))
    for function in (path, preprocess):
        if isinstance(function, str | os.PathLike) and (matched := _FUNCTION.fullmatch(os.fspath(function))):
            check_there(matched["file"])
        elif function is preprocess and isinstance(function, str | os.PathLike):
            raise LitefuseError("this is not FILE.py:FUNCTION", where=os.fspath(function))


def samples_in(dataset: Iterable[Any] | Callable[[], Iterable[Any]]) -> Iterator[Sample]:
    """Returns the samples of a dataset one by one.

    Raises:
        LitefuseError: It is not a dataset, now; or a sample is none, when it is read.
    """
    given: Any = dataset() if callable(dataset) else dataset
    if not hasattr(given, "__iter__") or hasattr(given, "keys"):
        raise LitefuseError(
            f"samples is a {type(given).__name__}, not a sequence of samples",
            hint="Pass a list of samples such as {'x': array}, a generator function of them, or an .npz file.",
        )
    return (_sample(sample, number) for number, sample in enumerate(given, 1))


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
                f"sample {number} is a list of {len(listed)} arrays",
                hint="Pass mappings from the names of the signature's inputs to arrays, without labels: of a tf.data "
                "dataset, dataset.map(lambda image, label: {'image': image}).",
            )
        inputs = listed[0]
    return Sample(signature, {None: _array(inputs, number)})


def _array(value: Any, number: int) -> npt.NDArray[Any]:
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # PyTorch's tensors raise any of them
        raise LitefuseError(f"sample {number} is not an array: {error}") from error


_FUNCTION = re.compile(r"(?P<file>.+\.py):(?P<name>[^\W\d]\w*)")


@dataclass(frozen=True)
class DatasetJob:
    """A request to record the samples of a dataset.

    Attributes:
        function: ``FILE.py:FUNCTION``, which returns samples, or makes one of an image.
        target: The file for the samples.
        images: The folder of images that the function makes samples of; None if it returns the samples itself.
    """

    function: str
    target: Path
    images: Path | None = None


def names_function(text: str) -> bool:
    """Whether a text is ``FILE.py:FUNCTION``."""
    return _FUNCTION.fullmatch(text) is not None


def record_dataset(job: DatasetJob, announce: Callable[[str], None]) -> RecordedSamples:
    """Records the samples of a dataset.

    Raises:
        LitefuseError: The function cannot be imported, or fails; or its samples are none.
    """
    gc.enable()  # unlike a conversion, what users' libraries do may leave cycles for each sample
    announce("samples")
    function = _imported(job.function)
    if job.images is None:
        given = samples_in(_Guarded(function, job.function))
    else:
        given = samples_in(images_in(job.images, function))
    return record(given, job.target, SampleProgress(announce, "samples").advance)


class _Guarded:
    """The samples that a function returns; its errors become litefuse's, with the place where they were raised.

    Raises:
        LitefuseError: The function fails, or does not return samples.
    """

    def __init__(self, function: Callable[[], Iterable[Any]], where: str) -> None:
        self._where = where
        with third_party_code("the function fails", where, own=LitefuseError):
            self._given: Any = function()
        if not hasattr(self._given, "__iter__") or hasattr(self._given, "keys"):
            raise LitefuseError(
                f"the function returns a {type(self._given).__name__}, not a sequence of samples",
                where=where,
                hint="Return or yield samples such as {'x': array}.",
            )

    def __iter__(self) -> Iterator[Any]:
        number = 0
        try:
            for sample in self._given:
                number += 1
                yield sample
        except LitefuseError:
            raise
        except Exception as error:
            when = f" after sample {number}" if number else ""
            raise LitefuseError(f"the function fails{when}: {what_was_raised(error)}", where=self._where) from error


def _imported(function: str) -> Callable[..., Any]:
    """Imports a function from a file, which may import others beside it.

    Raises:
        LitefuseError: No such file or function, or importing it fails.
    """
    from litefuse.support.plug_ins.modules import import_file

    matched = _FUNCTION.fullmatch(function)
    if matched is None:
        raise LitefuseError("this is not FILE.py:FUNCTION", where=function)
    path = Path(matched["file"]).absolute()
    sys.path.insert(0, str(path.parent))
    with third_party_code("it cannot be imported", str(path), own=LitefuseError):
        module = import_file(path)
    made = getattr(module, matched["name"], None)
    if not callable(made):
        raise LitefuseError(f"the file has no function {matched['name']!r}", where=str(path))
    return made
