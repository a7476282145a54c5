"""What ``scripts/record_tensorflow_text.py`` recorded: TensorFlow Text's ops and models, and what they gave."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

_ARCHIVE = Path(__file__).with_name("tensorflow_text.zip")

MODELS = ("bert_inputs", "bert_lower", "bert_strings", "words")

Arrays = dict[str, "npt.NDArray[Any]"]


@dataclass(frozen=True)
class OpCall:
    """A call of an op, and what it gave; of a table, the keys are the input."""

    op: str
    inputs: Sequence[npt.NDArray[Any]]
    options: Mapping[str, Any]
    outputs: Sequence[npt.NDArray[Any]]


def op_calls() -> list[OpCall]:
    """All calls of single ops."""
    return [
        OpCall(
            each["op"],
            [_array(one) for one in each["inputs"]],
            {key: _option(value) for key, value in each["options"].items()},
            [_array(one) for one in each["outputs"]],
        )
        for each in json.loads(_read("ops.json"))
    ]


def model_calls(name: str) -> list[tuple[Arrays, Arrays]]:
    """The inputs and outputs of each call of a model, by their names."""
    return [
        (
            {key: _array(value) for key, value in each["inputs"].items()},
            {key: _array(value) for key, value in each["outputs"].items()},
        )
        for each in json.loads(_read(f"{name}/calls.json"))
    ]


def saved_model(name: str, folder: Path) -> Path:
    """Writes a model's SavedModel into a folder, and returns where it is."""
    with zipfile.ZipFile(_ARCHIVE) as archive:
        for each in archive.namelist():
            if each.startswith(f"{name}/model/"):
                archive.extract(each, folder)
    return folder / name / "model"


def _read(name: str) -> bytes:
    with zipfile.ZipFile(_ARCHIVE) as archive:
        return archive.read(name)


def _option(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    data = value.encode("latin-1")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _array(written: Mapping[str, Any]) -> npt.NDArray[Any]:
    values: list[Any] = written["data"]
    shape: list[int] = written["shape"]
    if written["dtype"] != "string":
        numbers: npt.NDArray[Any] = np.array(values, written["dtype"])
        return numbers.reshape(shape)
    array: npt.NDArray[Any] = np.empty(len(values), object)
    array[:] = [each.encode("latin-1") for each in values]
    return array.reshape(shape)
