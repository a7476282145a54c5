"""Quantization of the weights of a model that was written: litert-quantizer does it, and LiteRT shows what it costs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import LitefuseError
from litefuse.forms import Quantization
from litefuse.runtime.interpreter import Interpreter

__all__ = ["Difference", "quantize_model"]


class Difference(NamedTuple):
    """What quantization does to a model's outputs.

    Attributes:
        error: The largest difference, on one random input of each signature, in units of the largest element of each
            output; None if it was not measured.
        unchecked: Why not.
    """

    error: float | None
    unchecked: str | None = None


def quantize_model(path: Path, target: Path, form: Quantization) -> Difference:
    """Quantizes the weights of those ops that litert-quantizer takes.

    Args:
        path: A LiteRT model.
        target: Where to write the quantized one.
        form: What becomes of the weights.

    Raises:
        LitefuseError: litert-quantizer refuses the model, or LiteRT does not run what it made.
    """
    _quantize(path, target, form)
    unchecked = ""
    for size, numbers in product(_OPEN_SIZES, _NUMBERS):
        try:
            before = _outputs(path, size, numbers)
        except _Unknown as reason:
            return Difference(None, str(reason))
        except _NOT_RUN as reason:
            unchecked = unchecked or f"the model does not run on random inputs: {reason}"
            continue
        try:
            after = _outputs(target, size, numbers)
        except _NOT_RUN as error:
            raise LitefuseError(
                f"the quantized model ({form}) does not run in LiteRT: {error}",
                hint="Convert it without quantization, or try another form of it.",
            ) from error
        return Difference(max((_difference(before[key], after[key]) for key in before), default=0.0))
    return Difference(None, unchecked)


# The sizes that open dimensions but the first are tried with: of images, for example, few models take the least.
_OPEN_SIZES = (1, 32, 224)
# Below which integers are: they may be indices, of which 0 is always one.
_NUMBERS = (5, 1)
# What LiteRT raises where it refuses a model or a call.
_NOT_RUN = (LitefuseError, RuntimeError, ValueError)


def _quantize(path: Path, target: Path, form: Quantization) -> None:
    library: Any = importlib.import_module("litert_quantizer.quantizer")
    kinds: Any = importlib.import_module("litert_quantizer.qtyping")
    algorithms: Any = importlib.import_module("litert_quantizer.algorithm_manager")
    everything = {"regex": ".*", "operation_name": kinds.TFLOperationName.ALL_SUPPORTED}
    try:
        quantizer = library.Quantizer(str(path))
        if form == "dynamic":
            quantizer.add_dynamic_config(**everything, num_bits=8)
        elif form == "weights":
            quantizer.add_weight_only_config(**everything, num_bits=8)
        else:
            casting = algorithms.AlgorithmName.FLOAT_CASTING
            quantizer.add_weight_only_config(**everything, num_bits=16, algorithm_key=casting)
        quantizer.quantize(serialize_to_path=str(target), enable_progress_bar=False, enable_progress_report=False)
    except Exception as error:
        raise LitefuseError(
            f"litert-quantizer refused the model: {error}", hint="Convert it without quantization."
        ) from error


class _Unknown(Exception):  # noqa: N818  no error: the model is not run
    """There are no random inputs for a model; the text says why."""


def _outputs(path: Path, size: int, numbers: int) -> dict[tuple[str, str], npt.NDArray[Any]]:
    """The outputs of all signatures, by signature and name."""
    interpreter = Interpreter(path)
    found: dict[tuple[str, str], npt.NDArray[Any]] = {}
    for key in interpreter.get_signature_list():
        runner = interpreter.get_signature_runner(key)
        random = np.random.default_rng(0)
        details = sorted(runner.get_input_details().items())
        inputs = {name: _input(detail, size, numbers, random) for name, detail in details}
        found |= {(key, name): np.array(value) for name, value in runner(**inputs).items()}
    return found


def _input(detail: Mapping[str, Any], size: int, numbers: int, random: np.random.Generator) -> npt.NDArray[Any]:
    """A random input, whose open dimensions but the first are of a size, and whose integers are less than a number."""
    dtype = np.dtype(detail["dtype"])
    if dtype.kind in "OSU":
        raise _Unknown("it takes strings")
    stated = detail["shape_signature"] if len(detail["shape_signature"]) else detail["shape"]
    shape = [each if each >= 0 else size if axis else 1 for axis, each in enumerate(stated)]
    if dtype.kind in "fcV":
        return random.normal(size=shape).astype(dtype)
    return random.integers(0, numbers, shape).astype(dtype)


def _difference(before: npt.NDArray[Any], after: npt.NDArray[Any]) -> float:
    if before.dtype.kind in "OSU" or not before.size:
        return 0.0
    wide = np.complex128 if before.dtype.kind == "c" else np.float64
    largest = float(np.abs(before.astype(wide)).max())
    return float(np.abs(before.astype(wide) - after.astype(wide)).max()) / (largest or 1.0)
