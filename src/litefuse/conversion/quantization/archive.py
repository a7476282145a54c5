"""Samples in an ``.npz`` archive."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.lazy_calls import Inputs, LazyCalls
from litefuse.errors import InterpreterError
from litefuse.litert.runtime.input_specs import InputSpec, fitting, load_arrays
from litefuse.support.files.readable import check_file

__all__ = ["calls_of_archive", "mapped_arrays"]

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
        numbers = {name: each.count for name, each in pieces.items()}
        if len(set(numbers.values())) > 1:
            raise InterpreterError(f"the numbers of samples differ: {numbers}", where=where)
        calls[key] = _calls(pieces, max(numbers.values(), default=0))
    return calls


def _calls(pieces: Mapping[str, _Pieces], count: int) -> LazyCalls:
    return LazyCalls(count, lambda number: {name: each[number] for name, each in pieces.items()})


class _Pieces:
    """The samples of one input.

    Args:
        array: The samples behind each other, of one axis more than the input or of as many.
        spec: The input.
        where: The archive.

    Attributes:
        count: The number of samples.

    Raises:
        InterpreterError: The array is not a series of samples.
    """

    def __init__(self, array: npt.NDArray[Any], spec: InputSpec, where: str) -> None:
        self._array, self._spec, self._where = array, spec, where
        self._length: int | None = None  # each sample is an element
        found = f"the array for {spec.name!r}"
        if not array.ndim or array.ndim - len(spec.shape) not in {0, 1}:
            raise InterpreterError(f"{found} is {array.dtype} {list(array.shape)}, not a series of {spec}", where=where)
        self.count = len(array)
        if array.ndim == len(spec.shape):
            self._length = spec.shape[0] or 1
            if self.count % self._length:
                raise InterpreterError(
                    f"{found} has {self.count} rows, which pieces of {self._length} do not divide", where=where
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
            found = {each.filename.removesuffix(".npy"): _mapped(path, file, each) for each in archive.infolist()}
    except Exception:  # noqa: BLE001 - following the offsets of damaged data fails in many ways
        return load_arrays(path)  # which says what is wrong
    arrays = {name: array for name, array in found.items() if array is not None}
    return arrays if len(arrays) == len(found) else load_arrays(path)


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
