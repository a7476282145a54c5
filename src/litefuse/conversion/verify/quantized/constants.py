"""Compares the constants of a quantized model with those of the model that it was made of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from litefuse.litert.differences.compared_model import ComparedModel
from litefuse.litert.differences.weights import real_numbers
from litefuse.litert.inspection.facts import StoredTensor

__all__ = ["faulty_constants"]

# Numbers that were rounded are off by 0.29 steps on average; a slice is at fault beyond this.
_STEPS = 1.5
# Numbers of floating point were computed of others, and are as exact as that.
_FLOAT_ERROR = 1e-3


def faulty_constants(side: ComparedModel, original: ComparedModel, signature: str) -> Iterator[tuple[int, float, str]]:
    """Finds ops with constants that are not those of the original, rounded.

    Ops are those of the main subgraph whose results have the same names in both, and are of the same kind.

    Args:
        side: The quantized model.
        original: The original, of float32.
        signature: The signature's key.

    Yields:
        The index of the op's first result, how far it is off in what rounding explains, and what is wrong.
    """
    graph, other = (_graph(each, signature) for each in (side, original))
    if graph is None or other is None:
        return
    known = {original.result(each): each for each in original.operators[other]}
    for op in side.operators[graph]:
        before = known.get(side.result(op)) if side.result(op) else None
        if before is None or before.name != op.name or len(before.inputs) != len(op.inputs):
            continue
        for index, wanted in zip(op.inputs, before.inputs, strict=True):
            if index < 0 or wanted < 0:
                continue
            off = _off(side, side.tensors[graph][index], original, original.tensors[other][wanted])
            if not off <= _STEPS:
                name = side.tensors[graph][index].name
                yield op.outputs[0], off / _STEPS, f"off by {off:.0f} steps in a slice of its constant {name}"
                break


def _graph(side: ComparedModel, signature: str) -> int | None:
    return next((each.subgraph for each in side.facts.signatures if each.key == signature), None)


def _off(side: ComparedModel, constant: StoredTensor, original: ComparedModel, wanted: StoredTensor) -> float:
    """Returns how far a constant is off in the worst slice of one scale, in steps, as the root of the mean square."""
    if not (constant.is_constant and wanted.is_constant) or constant.shape != wanted.shape or wanted.dtype != "float32":
        return 0.0
    found, scales = real_numbers(side, constant), side.scales(constant)
    data = original.data(wanted.buffer)
    if found is None or scales is None or scales.block or data.nbytes != 4 * found[0].size or not data.size:
        return 0.0
    values, steps = found
    expected = data.view(np.float32).reshape(values.shape)
    allowed = np.maximum(steps, np.abs(expected) * np.float32(_FLOAT_ERROR))
    errors = np.square((values - expected) / allowed, dtype=np.float64)
    return float(np.sqrt(_slices(errors, scales.axis if len(scales.scales) > 1 else None).max()))


def _slices(errors: npt.NDArray[np.float64], axis: int | None) -> npt.NDArray[np.float64]:
    if axis is None:
        return errors.mean(keepdims=True)
    return np.moveaxis(errors, axis, 0).reshape(errors.shape[axis], -1).mean(1)
