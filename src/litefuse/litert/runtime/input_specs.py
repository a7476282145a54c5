"""The types of a model's inputs and outputs, and arrays for them from ``.npz`` files.

Such files can hold arrays of objects only as pickles. Numpy pads an array of bytes with NULs, and drops those at the
end of an element: if there are such strings, a second array has the lengths of all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError, LitefuseError
from litefuse.support.cloud.paths import local
from litefuse.support.files.readable import check_file
from litefuse.support.report.sections import Section

if TYPE_CHECKING:
    from ai_edge_litert.interpreter import Interpreter

_ONLY = ""  # the name of an array that is given alone
_NO_VALUES = "no numbers or strings"
# The suffix of the array of lengths, after the name of the strings; no input or output has such a name.
_LENGTHS = " (lengths)"


@dataclass(frozen=True)
class InputSpec:
    """The dtype and shape of an input, or of an output.

    Attributes:
        name: Its name.
        dtype: Its numpy dtype; ``object`` for strings.
        shape: Its shape; None for a dynamic dimension.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]

    def __str__(self) -> str:
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        return f"{'string' if self.dtype == object else self.dtype} [{sizes}]"

    def is_of(self, dtype: np.dtype[Any]) -> bool:
        """Whether the runtime takes an array of this dtype without conversion."""
        return dtype.kind in "OSU" if self.dtype == object else dtype == self.dtype

    def accepts(self, shape: Sequence[int]) -> bool:
        """Whether an array of this shape fits; any shape fits where the model declares none."""
        if not self.shape:
            return True
        return len(shape) == len(self.shape) and all(
            size is None or size == given for size, given in zip(self.shape, shape, strict=True)
        )


def input_specs(interpreter: Interpreter, signature: str | None) -> list[InputSpec]:
    """Returns the inputs of a signature; those of the model's first subgraph if it has no signatures.

    Raises:
        InterpreterError: No such signature, or there are several and none is named.
    """
    if signature is None and not interpreter.get_signature_list():
        details = {detail["name"]: detail for detail in interpreter.get_input_details()}
    else:
        details = interpreter.get_signature_runner(signature).get_input_details()
    return [_spec(name, detail) for name, detail in details.items()]


def interpreter_sections(interpreter: Interpreter) -> list[Section]:
    """Returns the sections with the signatures of an interpreter's model; its inputs and outputs if it has none."""
    sections: list[Section] = []
    for key, names in interpreter.get_signature_list().items():
        try:
            runner = interpreter.get_signature_runner(key)
            details = runner.get_input_details(), runner.get_output_details()
            inputs, outputs = ([(name, _type(detail)) for name, detail in side.items()] for side in details)
        except ValueError:  # the runtime has no numpy dtype for a tensor
            inputs, outputs = ([(name, _NO_VALUES) for name in names[role]] for role in ("inputs", "outputs"))
        sections.append(signature_section(f"Signature {key}", inputs, outputs))
    if not sections:
        try:
            listed = interpreter.get_input_details(), interpreter.get_output_details()
        except ValueError:
            return []
        inputs, outputs = ([(detail["name"], _type(detail)) for detail in side] for side in listed)
        sections.append(signature_section("Inputs and outputs", inputs, outputs))
    return sections


def _type(detail: Mapping[str, Any]) -> str:
    # Strings are bytes here; handles of variables and tables are objects.
    return _NO_VALUES if np.dtype(detail["dtype"]).kind == "O" else str(_spec("", detail))


def signature_section(
    title: str, inputs: Iterable[tuple[str, object]], outputs: Iterable[tuple[str, object]]
) -> Section:
    """Returns the section with the inputs and outputs of a signature: their names, and what shows their types."""
    sides = (("in", inputs), ("out", outputs))
    return Section(title, [(role, name, str(shown)) for role, side in sides for name, shown in side])


def misfits(details: Mapping[str, Mapping[str, Any]], given: Mapping[str, Any]) -> list[str]:
    """Describes in sentences what is wrong with the inputs of a call.

    Args:
        details: The runtime's details of the signature's inputs.
        given: The inputs of the call.
    """
    specs = {name: _spec(name, detail) for name, detail in details.items()}
    unknown = sorted(given.keys() - specs.keys())
    problems = [no_input(unknown, [*specs.values()]).message] if unknown else []
    for name, spec in specs.items():
        if name not in given:
            problems.append(f"the input {name!r} ({spec}) is missing")
        elif isinstance(given[name], (np.ndarray, np.generic)):
            array: npt.NDArray[Any] = np.asarray(given[name])
            if not spec.accepts(array.shape) or not spec.is_of(array.dtype):
                problems.append(f"the input {name!r} is {array.dtype} {list(array.shape)}; the model takes {spec}")
        else:
            problems.append(f"the input {name!r} is a {type(given[name]).__name__}; the model takes an array {spec}")
    return problems


def _spec(name: str, detail: Mapping[str, Any]) -> InputSpec:
    sizes = detail["shape_signature"] if len(detail["shape_signature"]) else detail["shape"]
    dtype = np.dtype(detail["dtype"])
    return InputSpec(
        name,
        np.dtype(object) if dtype.kind in "SU" else dtype,
        tuple(None if size < 0 else int(size) for size in sizes),
    )


def load_inputs(path: Path, specs: Sequence[InputSpec]) -> dict[str, npt.NDArray[Any]]:
    """Loads the inputs in an ``.npz`` file, by their names.

    Numbers are converted where numpy calls that safe or of the same kind (float64 to float32) and no integer overflows.
    Strings may be arrays of ``S`` or ``U`` dtype.

    Raises:
        InterpreterError: The file cannot be read, an input is missing, or an array is for no input or does not fit.
    """
    arrays = load_arrays(path)
    unknown = sorted(arrays.keys() - {spec.name for spec in specs})
    if unknown:
        raise no_input(unknown, specs, str(path))
    missing = [f"{spec.name!r} ({spec})" for spec in specs if spec.name not in arrays]
    if missing:
        raise InterpreterError(f"the file lacks {', '.join(missing)}", where=str(path))
    return {spec.name: fitting(arrays[spec.name], spec, str(path)) for spec in specs}


def load_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Loads the arrays in an ``.npz`` file, by their names.

    Raises:
        InterpreterError: The file cannot be read, or claims to hold more than there is memory for.
    """
    check_file(path, InterpreterError)
    try:
        with np.load(path) as archive:  # without pickles: they run code
            return restored_strings({name: np.asarray(archive[name]) for name in archive.files})
    except MemoryError as error:
        raise InterpreterError(f"there is not enough memory for the inputs: {error}", where=str(path)) from error
    except Exception as error:  # of zipfile, zlib, struct or numpy, for damaged data fails in many ways
        raise InterpreterError(
            "the inputs cannot be read: this is not an .npz file of plain arrays",
            where=str(path),
            hint="Write them with numpy.savez(file, name=array, ...).",
        ) from error


GivenArrays: TypeAlias = "str | os.PathLike[str] | npt.ArrayLike | Mapping[str, npt.ArrayLike]"
"""Arrays by their names, or the path of an ``.npz`` file with them; or one array, for the only input."""


def given_arrays(given: GivenArrays, argument: str) -> dict[str, npt.NDArray[Any]]:
    """Returns arrays by name; the name of one that is given alone is empty.

    Raises:
        LitefuseError: The file cannot be read, or something is not an array.
    """
    given = local(given)
    if isinstance(given, str | os.PathLike):
        return load_arrays(Path(given))
    by_name = cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {_ONLY: given}
    try:
        return {name: np.asarray(value) for name, value in by_name.items()}
    except (TypeError, ValueError, RuntimeError) as error:  # PyTorch's tensors raise any of them
        raise LitefuseError(f"{argument} has what is not an array: {error}") from error


def named_inputs(
    arrays: Mapping[str, npt.NDArray[Any]], specs: Sequence[InputSpec], where: str
) -> Mapping[str, npt.NDArray[Any]]:
    """Gives an array that was given alone the name of the only input.

    Raises:
        InterpreterError: The model has several inputs, or none.
    """
    if [*arrays] != [_ONLY] or any(spec.name == _ONLY for spec in specs):
        return arrays
    if len(specs) != 1:
        names = ", ".join(f"{spec.name!r}: ..." for spec in specs)
        hint = f"Pass a mapping from their names, {{{names}}}, or an .npz file with them."
        raise InterpreterError(f"one array is given, and the model takes {len(specs)} inputs", where=where, hint=hint)
    return {specs[0].name: arrays[_ONLY]}


def fit_inputs(
    arrays: Mapping[str, npt.NDArray[Any]], specs: Sequence[InputSpec], lacking: str, where: str
) -> dict[str, npt.NDArray[Any]]:
    """Converts arrays to the dtypes of the inputs; see :func:`load_inputs`.

    Raises:
        InterpreterError: An array is for no input, or does not fit; an input is missing, for which the message begins
            with ``lacking``.
    """
    arrays = named_inputs(arrays, specs, where)
    if unknown := sorted(arrays.keys() - {spec.name for spec in specs}):
        raise no_input(unknown, specs, where)
    if missing := [spec.name for spec in specs if spec.name not in arrays]:
        raise InterpreterError(f"{lacking} {', '.join(missing)}", where=where)
    return {spec.name: fitting(arrays[spec.name], spec, where) for spec in specs}


def fitting(array: npt.NDArray[Any], spec: InputSpec, where: str) -> npt.NDArray[Any]:
    """Converts an array to the dtype of the input; see :func:`load_inputs`.

    Raises:
        InterpreterError: It does not fit; ``where`` tells where it is from.
    """
    misfit = f"the input {spec.name!r} is {array.dtype} {list(array.shape)}; the model takes {spec}"
    if not spec.accepts(array.shape):
        raise InterpreterError(misfit, where=where)
    if spec.dtype == object:
        if array.dtype.kind not in "OSU":
            raise InterpreterError(misfit, where=where)
        return np.asarray(np.char.encode(array, "utf-8") if array.dtype.kind == "U" else array).astype(object)
    if array.dtype.kind not in "biufcV" or not np.can_cast(array.dtype, spec.dtype, "same_kind"):
        raise InterpreterError(misfit, where=where)
    converted = array.astype(spec.dtype)
    if spec.dtype.kind in "iu" and not np.array_equal(converted, array):
        raise InterpreterError(f"{misfit}, which cannot hold its values", where=where)
    return converted


def no_input(names: Sequence[str], specs: Sequence[InputSpec], where: str = "") -> InterpreterError:
    """Returns the error to raise where something is given for inputs that do not exist."""
    there = ", ".join(f"{spec.name} ({spec})" for spec in specs) or "none"
    return InterpreterError(
        f"the model has no input {', '.join(map(repr, names))}", where=where, hint=f"The inputs are: {there}."
    )


def stored_strings(name: str, strings: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays by name that store an array of ``bytes`` and ``str`` (written as UTF-8)."""
    elements = [
        string.encode() if isinstance(string, str) else bytes(string) for string in strings.reshape(-1).tolist()
    ]
    stored: dict[str, npt.NDArray[Any]] = {name: np.array(elements, np.bytes_).reshape(strings.shape)}
    if any(element.endswith(b"\0") for element in elements):
        stored[name + _LENGTHS] = np.array([len(element) for element in elements], np.int32).reshape(strings.shape)
    return stored


def restored_strings(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays of a file, with strings that have lengths restored to arrays of ``bytes``.

    Raises:
        ValueError: A length is less than that of its string.
    """
    restored = dict(arrays)
    for name, strings in arrays.items():
        lengths = arrays.get(name + _LENGTHS)
        if lengths is None or strings.dtype.kind != "S" or lengths.shape != strings.shape:
            continue
        too_short, too_long = lengths < np.char.str_len(strings), lengths > strings.itemsize
        if lengths.dtype.kind not in "iu" or np.any(too_short | too_long):
            raise ValueError(f"the lengths of the strings {name!r} are not theirs")
        padded: npt.NDArray[Any] = np.empty(strings.size, object)
        pairs = zip(strings.reshape(-1).tolist(), lengths.reshape(-1).tolist(), strict=True)
        padded[:] = [string.ljust(length, b"\0") for string, length in pairs]
        restored[name] = padded.reshape(strings.shape)
        del restored[name + _LENGTHS]
    return restored
