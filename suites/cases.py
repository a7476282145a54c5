"""A case on disk: a SavedModel, the inputs of some calls of a signature, and what TensorFlow computes of them.

    CASE/case.json       name, suite, signature, rtol, atol, outliers; written last, so that a case with it is whole
    CASE/saved_model/
    CASE/inputs_0.npz    by the signature's names of inputs; one file for each call
    CASE/outputs_0.npz   by its names of outputs

This module imports neither TensorFlow nor litefuse: it serves the processes of both.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
Call: TypeAlias = tuple[Arrays, Arrays]
"""Inputs and expected outputs."""

FAILED = "failed.txt"
"""What the folder of a case has instead of ``case.json`` if it could not be exported: the reason, in its last line."""

_CASE = "case.json"
_MODEL = "saved_model"
# numpy's files know no dtypes but numpy's own: those of ml_dtypes are stored as bytes, with their name in the array's.
_NAMED_DTYPE = re.compile(r"(?P<name>.*) \((?P<dtype>\w+)\)", re.DOTALL)


@dataclass(frozen=True)
class Case:
    """A model and how it is called.

    Attributes:
        name: The folder's name, for people.
        suite: Where it comes from, such as ``huggingface``.
        signature: The key of the signature that is called.
        rtol: The difference of an output that is allowed, relative to the largest absolute value in it.
        atol: The absolute difference that is allowed on top of that.
        outliers: The share of an output's elements that may be off by more.
    """

    name: str
    suite: str
    signature: str = "serving_default"
    rtol: float = 1e-5
    atol: float = 1e-5
    outliers: float = 0.0


def write_case(folder: Path, case: Case, calls: Sequence[Call]) -> None:
    """Writes everything but the SavedModel, which lies in ``folder / "saved_model"`` already.

    Raises:
        ValueError: There is no SavedModel, or there are no calls.
    """
    if not (folder / _MODEL).is_dir():
        raise ValueError(f"{folder} has no {_MODEL}")
    if not calls:
        raise ValueError(f"{case.name} has no calls")
    for number, (inputs, outputs) in enumerate(calls):
        write_arrays(folder / f"inputs_{number}.npz", inputs)
        write_arrays(folder / f"outputs_{number}.npz", outputs)
    (folder / _CASE).write_text(json.dumps(asdict(case), indent=1) + "\n", "utf-8")


def read_case(folder: Path) -> Case:
    """Reads the description of a case.

    Raises:
        OSError: It is not there, so the case is not whole.
        ValueError: It is not one.
    """
    try:
        return Case(**json.loads((folder / _CASE).read_text("utf-8")))
    except TypeError as error:
        raise ValueError(f"{folder / _CASE} does not describe a case: {error}") from None


def read_calls(folder: Path) -> Iterator[Call]:
    """Reads the calls of a case one by one.

    Raises:
        OSError: The expected outputs of a call are missing, or the first call.
    """
    number = 0
    while number == 0 or (folder / f"inputs_{number}.npz").exists():
        yield read_arrays(folder / f"inputs_{number}.npz"), read_arrays(folder / f"outputs_{number}.npz")
        number += 1


def find_cases(folder: Path, only: str = "") -> list[Path]:
    """The folders of the whole cases below ``folder``, in the order of their names, that the expression matches."""
    return sorted(path.parent for path in folder.glob(f"*/{_CASE}") if re.search(only, path.parent.name))


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Writes an ``.npz`` file. Unlike ``numpy.savez``, it takes any name, and strings and the dtypes of ml_dtypes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in arrays.items():
            array = np.asarray(value)
            stored_name = name
            if array.dtype.kind in "SU":
                array = array.astype(object)  # numpy drops NULs at the end of others
            elif array.dtype.isbuiltin == 2:
                stored_name, array = f"{name} ({array.dtype.name})", array.view(f"u{array.dtype.itemsize}")
            with archive.open(f"{stored_name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array)


def read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Reads an ``.npz`` file. It may have pickles, so it must be one that a suite wrote."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.namelist():
            with archive.open(entry) as file:
                array = np.lib.format.read_array(file, allow_pickle=True)
            name = entry.removesuffix(".npy")
            named = _NAMED_DTYPE.fullmatch(name)
            if named and hasattr(ml_dtypes, named["dtype"]):
                name, array = named["name"], array.view(getattr(ml_dtypes, named["dtype"]))
            arrays[name] = array
    return arrays
