"""Running one signature of a LiteRT model, or a model without signatures, as the command ``run`` does."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError, LitefuseError
from litefuse.plug_ins import what_was_raised
from litefuse.runtime.interpreter import Interpreter

__all__ = ["Execution", "execute", "open_model", "save_outputs", "summary_rows"]

_SHOWN = 5


@dataclass(frozen=True)
class Execution:
    """What came of running a model.

    Attributes:
        outputs: The outputs of the last run, by name.
        seconds: The time of each run.
        changed: The outputs whose values in the last run were not those of the first.
    """

    outputs: Mapping[str, npt.NDArray[Any]]
    seconds: tuple[float, ...]
    changed: tuple[str, ...]


def open_model(path: Path) -> Interpreter:
    """Loads a model.

    Raises:
        InterpreterError: It cannot be loaded.
    """
    return Interpreter(path)


def execute(
    interpreter: Interpreter, signature: str | None, inputs: Mapping[str, npt.NDArray[Any]], repeat: int
) -> Execution:
    """Runs a signature ``repeat`` times in a row with the same inputs.

    Raises:
        InterpreterError: The model refuses the inputs or fails.
        LitefuseError: A kernel fails.
    """
    seconds: list[float] = []
    first: dict[str, npt.NDArray[Any]] = {}
    outputs: dict[str, npt.NDArray[Any]] = {}
    try:
        runner = None if not interpreter.get_signature_list() else interpreter.get_signature_runner(signature)
        for _ in range(repeat):
            started = time.perf_counter()
            results = runner(**inputs) if runner is not None else _run_subgraph(interpreter, inputs)
            seconds.append(time.perf_counter() - started)
            # Copies: what the next run does to the runtime's memory must not reach them.
            outputs = {name: np.array(value) for name, value in results.items()}
            first = first or outputs
    except LitefuseError:
        raise
    except Exception as error:  # of the runtime, or whatever a kernel raises
        where = ", ".join(getattr(error, "__notes__", ()))  # of a kernel: its op and node
        text = what_was_raised(error) if where else f"{type(error).__name__}: {error}"
        raise InterpreterError(f"the model does not run: {text}", where=where) from error
    changed = tuple(name for name, value in outputs.items() if not _same(first[name], value))
    return Execution(outputs, tuple(seconds), changed)


def _run_subgraph(interpreter: Interpreter, inputs: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    details = {each["name"]: each["index"] for each in interpreter.get_input_details()}
    for name, value in inputs.items():
        interpreter.resize_tensor_input(details[name], value.shape)
    interpreter.allocate_tensors()
    for name, value in inputs.items():
        interpreter.set_tensor(details[name], value)
    interpreter.invoke()
    return {each["name"]: interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()}


def _same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


def summary_rows(outputs: Mapping[str, npt.NDArray[Any]]) -> list[tuple[str, ...]]:
    """For each output its name, dtype, shape, least, greatest and mean value, and its first values."""
    return [(name, *_summary(value)) for name, value in outputs.items()]


def _summary(value: npt.NDArray[Any]) -> tuple[str, ...]:
    is_text = value.dtype.kind in "OSU"
    # Python's own numbers: bfloat16 and its kin know no formats.
    first = [_text(item) for item in value.reshape(-1)[:_SHOWN].tolist()]
    shown = " ".join(first) + (" ..." if value.size > _SHOWN else "")
    head = ("string" if is_text else str(value.dtype), str(list(value.shape)))
    if is_text or not value.size or value.dtype.kind == "c":
        return (*head, "", "", "", shown)
    wide = value.astype(np.float64)
    statistics = (wide.min(), wide.max(), wide.mean())  # NaN where there is one
    return (*head, *(f"{number:.6g}" for number in statistics), shown)


def _text(item: Any) -> str:
    if isinstance(item, bytes):
        return repr(item.decode("utf-8", "replace"))
    return str(item) if isinstance(item, int) else f"{item:.6g}"


def save_outputs(outputs: Mapping[str, npt.NDArray[Any]], path: Path) -> None:
    """Writes outputs as an ``.npz`` file, whole or not at all; strings as fixed-size bytes, bfloat16 as float32.

    Raises:
        InterpreterError: The file cannot be written.
    """
    partial = path.with_name(f".{path.name}.part")
    try:
        # What numpy.savez does, which takes the arrays as keyword arguments beside its own.
        with zipfile.ZipFile(partial, "w") as archive:
            for name, value in outputs.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, _storable(value), allow_pickle=False)
        partial.replace(path)
    except OSError as error:
        raise InterpreterError(f"the outputs cannot be written: {error.strerror or error}", where=str(path)) from error
    finally:
        partial.unlink(missing_ok=True)


def _storable(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if value.dtype.kind == "O":
        return value.astype(np.bytes_)
    return value if value.dtype.isbuiltin == 1 else value.astype(np.float32)
