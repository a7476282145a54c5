"""Representative samples as calls of the model to quantize, each made when it is asked for: not all are in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.dataset import ImageFiles, RecordedSamples, Sample, Samples
from litefuse.errors import InterpreterError
from litefuse.litert.runtime.input_specs import InputSpec, fit_inputs, fitting, input_specs, load_arrays
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.files.readable import check_file

Inputs: TypeAlias = dict[str, npt.NDArray[Any]]
"""The inputs of a call, by their names."""

Calls: TypeAlias = Mapping[str, Sequence[Inputs]]
"""The inputs of calls, by signature."""


class LazyCalls(Sequence[Inputs]):
    """Calls of one signature.

    Args:
        count: Their number.
        call: Returns the inputs of a call, by its number from 0.
        about: Their kind, for reports.
    """

    def __init__(self, count: int, call: Callable[[int], Inputs], about: str = "samples") -> None:
        self._count, self._call, self.about = count, call, about

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Inputs: ...
    @overload
    def __getitem__(self, index: slice) -> list[Inputs]: ...
    def __getitem__(self, index: int | slice) -> Any:
        chosen = range(self._count)[index]
        return self._call(chosen) if isinstance(chosen, int) else list(map(self._call, chosen))

    def __iter__(self) -> Iterator[Inputs]:
        return map(self._call, range(self._count))


# Of a file's header in an archive: the size of its fixed part, and where that has the lengths of name and extra field.
_HEADER, _LENGTHS = 30, slice(26, 30)


def calls_of_archive(path: Path, specs: Mapping[str, Sequence[InputSpec]]) -> dict[str, Sequence[Inputs]]:
    """Returns calls of each signature; see :func:`~litefuse.conversion.quantization.samples.calls_of`.

    Raises:
        InterpreterError: The archive cannot be read, or its arrays are not those of the inputs.
    """
    arrays = mapped_arrays(path)
    names = {
        (key, spec): spec.name if len(specs) == 1 else f"{key}/{spec.name}" for key in specs for spec in specs[key]
    }
    where = str(path)
    if unknown := sorted(arrays.keys() - names.values()):
        raise InterpreterError(
            f"the arrays {', '.join(unknown)} are for no input",
            where=where,
            hint=f"The inputs are {', '.join(names.values())}.",
        )
    calls: dict[str, Sequence[Inputs]] = {}
    for key, of_signature in specs.items():
        if missing := [names[key, spec] for spec in of_signature if names[key, spec] not in arrays]:
            raise InterpreterError(f"the file lacks {', '.join(missing)}", where=where)
        pieces = {spec.name: _Pieces(arrays[names[key, spec]], spec, where) for spec in of_signature}
        numbers = {name: piece.count for name, piece in pieces.items()}
        if len(set(numbers.values())) > 1:
            raise InterpreterError(f"the numbers of samples differ: {numbers}", where=where)
        calls[key] = _calls_of_pieces(pieces, max(numbers.values(), default=0))
    return calls


def _calls_of_pieces(pieces: Mapping[str, _Pieces], count: int) -> LazyCalls:
    return LazyCalls(count, lambda number: {name: piece[number] for name, piece in pieces.items()})


class _Pieces:
    """The samples of one input.

    Args:
        array: The samples behind each other, of one axis more than the input or of as many.
        spec: The input.
        where: The archive.

    Raises:
        InterpreterError: The array is not a series of samples.
    """

    def __init__(self, array: npt.NDArray[Any], spec: InputSpec, where: str) -> None:
        self._array, self._spec, self._where = array, spec, where
        self._length: int | None = None  # each sample is an element
        what = f"the array for {spec.name!r}"
        if not array.ndim or array.ndim - len(spec.shape) not in {0, 1}:
            raise InterpreterError(f"{what} is {array.dtype} {list(array.shape)}, not a series of {spec}", where=where)
        self.count = len(array)
        if array.ndim == len(spec.shape):
            self._length = spec.shape[0] or 1
            if self.count % self._length:
                raise InterpreterError(
                    f"{what} has {self.count} rows, which pieces of {self._length} do not divide", where=where
                )
            self.count //= self._length

    def __getitem__(self, number: int) -> npt.NDArray[Any]:
        if self._length is None:
            return fitting(np.asarray(self._array[number]), self._spec, self._where)
        start = number * self._length
        return fitting(np.asarray(self._array[start : start + self._length]), self._spec, self._where)


def mapped_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays of an archive, mapped where it is uncompressed and they are numbers, else in memory.

    Raises:
        InterpreterError: It cannot be read.
    """
    check_file(path, InterpreterError)
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            members = {
                member.filename.removesuffix(".npy"): _mapped(path, file, member) for member in archive.infolist()
            }
    except Exception:  # noqa: BLE001 - following the offsets of damaged data fails in many ways
        return load_arrays(path)  # which says what is wrong
    arrays = {name: array for name, array in members.items() if array is not None}
    return arrays if len(arrays) == len(members) else load_arrays(path)


def _mapped(path: Path, file: Any, member: zipfile.ZipInfo) -> npt.NDArray[Any] | None:
    """Returns an array of an archive, mapped; None if that cannot be.

    Raises:
        ValueError: It is not an array.
    """
    if member.compress_type != zipfile.ZIP_STORED:
        return None
    file.seek(member.header_offset)
    lengths = file.read(_HEADER)[_LENGTHS]
    start = file.seek(sum(int.from_bytes(lengths[place : place + 2], "little") for place in (0, 2)), 1)
    version = np.lib.format.read_magic(file)
    if version not in {(1, 0), (2, 0)}:
        return None
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(file)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if dtype.kind not in "biufc" or not size or file.tell() - start + size > member.file_size:
        return None
    return np.memmap(path, dtype, "r", file.tell(), shape, "F" if fortran else "C")


#: The location in errors about a sample.
WHERE = "samples"


def kind_of_calls(calls: Calls) -> str:
    """Returns the kind of samples that calls have, for reports."""
    return next((of_one.about for of_one in calls.values() if isinstance(of_one, LazyCalls)), "samples")


def calls_of(samples: Samples, model: Path) -> Calls:
    """Converts samples to calls of a model's signatures.

    In an archive, an array is for the input of its name, ``SIGNATURE/NAME`` if the model has several signatures. It has
    one axis more than the input, or as many: then slices along the first axis are samples, each as long as the input's
    first dimension, or 1 if that is dynamic. Elsewhere, an example without the axis of the batch is a batch of one.

    Raises:
        InterpreterError: The archive cannot be read, a sample has an unknown input, lacks one or does not fit, or a
            signature has no samples.
    """
    interpreter = Interpreter(model)
    specs = {key: input_specs(interpreter, key) for key in interpreter.get_signature_list()}
    return calls_by_specs(samples, specs, specs, model)


def calls_by_specs(
    samples: Samples, specs: Mapping[str, Sequence[InputSpec]], wanted: Iterable[str], model: str | Path | bytes
) -> Calls:
    """Converts samples to calls of some signatures, see :func:`calls_of`.

    Raises:
        InterpreterError: As :func:`calls_of` does.
    """
    if isinstance(samples, ImageFiles):
        from litefuse.conversion.quantization.image_samples import ImageInputs  # few datasets are images alone

        inputs = ImageInputs(samples, specs, model)
        calls: dict[str, Sequence[Inputs]] = {key: [] for key in specs}
        calls[inputs.key] = LazyCalls(len(samples.files), inputs.__getitem__, inputs.about)
    else:
        calls = calls_of_archive(samples, specs) if isinstance(samples, Path) else _calls_of_samples(samples, specs)
    calls = {key: calls[key] for key in wanted}
    for key, of_signature in [*calls.items()]:
        if not of_signature and specs[key]:
            raise InterpreterError(f"no sample for the signature {key!r}", where=WHERE)
        if not of_signature:
            calls[key] = [{}]  # without inputs, all calls are alike
        for number, call in enumerate(calls[key], 1):
            for name, value in call.items():
                if value.dtype.kind in "fc" and not np.isfinite(value).all():
                    raise InterpreterError(
                        f"{name!r} has NaN or infinite elements", where=f"{WHERE}, sample {number} of {key!r}"
                    )
    return calls


def _calls_of_samples(
    samples: RecordedSamples | tuple[Sample, ...], specs: Mapping[str, Sequence[InputSpec]]
) -> dict[str, Sequence[Inputs]]:
    """Sorts samples by their signatures."""
    keys = [key for key, _ in samples.entries] if isinstance(samples, RecordedSamples) else [key for key, _ in samples]
    numbers: dict[str, list[int]] = {key: [] for key in specs}
    for number, key in enumerate(keys):
        numbers[_signature(key, specs, f"{WHERE}, sample {number + 1}")].append(number)
    read = samples.read if isinstance(samples, RecordedSamples) else samples.__getitem__

    def calls(key: str) -> LazyCalls:
        own = numbers[key]

        def call(index: int) -> Inputs:
            return _named(read(own[index]).inputs, specs[key], f"{WHERE}, sample {own[index] + 1}")

        return LazyCalls(len(own), call)

    return {key: calls(key) for key in specs}


def _signature(key: str | None, specs: Mapping[str, Sequence[InputSpec]], where: str) -> str:
    if key is None and len(specs) == 1:
        return next(iter(specs))
    if key is not None and key in specs:
        return key
    what = "names no signature" if key is None else f"is for a signature {key!r}"
    raise InterpreterError(
        f"the sample {what}",
        where=where,
        hint=f"The signatures are {', '.join(specs)}: a sample for one of several is a pair (signature, inputs).",
    )


def _named(inputs: Mapping[str | None, npt.NDArray[Any]], specs: Sequence[InputSpec], where: str) -> Inputs:
    if None in inputs:
        if len(specs) != 1:
            raise InterpreterError(
                f"the sample is one array, and the signature takes {len(specs)} inputs",
                where=where,
                hint=f"Pass a mapping from their names: {', '.join(spec.name for spec in specs)}.",
            )
        return {specs[0].name: fitting(_with_batch(inputs[None], specs[0]), specs[0], where)}
    shapes = {spec.name: spec for spec in specs}
    arrays = {
        str(name): _with_batch(value, shapes[str(name)]) if name in shapes else value for name, value in inputs.items()
    }
    return fit_inputs(arrays, specs, "the sample lacks", where)


def _with_batch(array: npt.NDArray[Any], spec: InputSpec) -> npt.NDArray[Any]:
    """Makes a batch of one of an example, as data sets have them."""
    is_example = array.ndim + 1 == len(spec.shape) and spec.shape[0] in {None, 1}
    return array[np.newaxis] if is_example else array
