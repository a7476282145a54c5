"""Comparison of constants, number by number. Quantized numbers are compared as the real numbers that they stand for."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from litefuse.errors import LitefuseError
from litefuse.litert.differences.changes import WeightChange
from litefuse.litert.differences.compared_model import ComparedModel
from litefuse.litert.inspection.facts import StoredTensor
from litefuse.litert.runtime.model_reader import Scales, are_same_scales
from litefuse.litert.runtime.tensors import decode_strings

# So many numbers are shown one by one.
_FEW = 8
# So many elements are in memory as real numbers at once. It is even: of 4-bit numbers, two are in a byte.
_CHUNK = 1 << 20

_DTYPES: dict[str, np.dtype[Any]] = {
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    **{
        name: np.dtype(name).newbyteorder("<")
        for name in (
            *("float16", "float32", "float64", "complex64", "complex128", "bool"),
            *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
        )
    },
}
# Integers of which a byte holds several: their bits, and whether they have a sign. The first is in the lowest bits.
_PACKED = {"int4": (4, True), "uint4": (4, False), "int2": (2, True)}


def compare_constants(
    a: ComparedModel, b: ComparedModel, first: StoredTensor, second: StoredTensor, layer: str
) -> WeightChange | None:
    """Compares the values of two constants.

    Returns:
        How they differ; None if they are equal.
    """
    raw, other_raw = a.data(first.buffer), b.data(second.buffer)
    scales, other_scales = a.scales(first), b.scales(second)
    is_same_kind = first.dtype == second.dtype and are_same_scales(scales, other_scales)
    if is_same_kind and np.array_equal(raw, other_raw):
        return None

    def change(
        differing: int | None, problem: str = "", difference: float | None = None, largest: float = 0.0
    ) -> WeightChange:
        relative = None if difference is None else _ratio(difference, largest)
        return WeightChange(
            *(first.name, layer, first.dtype, second.dtype, _elements(first)),
            differing=differing,
            max_difference=difference,
            relative=relative,
            problem=problem,
        )

    if a.is_sparse(first) or b.is_sparse(second):
        return change(None, "stored without zeros, so only the bytes were compared")
    if first.dtype == second.dtype == "string":
        return _of_strings(raw, other_raw, change)
    try:
        ours, theirs = _Numbers(raw, first, scales), _Numbers(other_raw, second, other_scales)
    except ValueError as error:
        return change(None, str(error))
    few = (ours.few(), theirs.few())
    if ours.count != theirs.count:
        other_count = change(None, f"{theirs.count:,} numbers instead of {ours.count:,}")
        return replace(other_count, before=few[0], after=few[1])
    difference = _Difference()
    for start in range(0, ours.count, _CHUNK):
        difference.add(ours.chunk(start), theirs.chunk(start))
    if not difference.differing:
        return None
    return replace(
        change(difference.differing, "", difference.largest, difference.magnitude), before=few[0], after=few[1]
    )


def real_numbers(
    side: ComparedModel, tensor: StoredTensor
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]] | None:
    """Returns the real numbers that a constant stands for, and how far each is from the next one that it can stand for.

    Returns:
        Two arrays of the constant's shape; None if it is not quantized, and not of float16 or bfloat16.
    """
    scales = side.scales(tensor)
    short = {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(tensor.dtype)
    if side.is_sparse(tensor) or (short is None and (scales is None or tensor.dtype.startswith("float"))):
        return None
    try:
        numbers = _Numbers(side.data(tensor.buffer), tensor, scales)
    except ValueError:
        return None
    if short is None and not numbers.is_quantized:
        return None
    values = np.empty(numbers.count, np.float32)
    for start in range(0, numbers.count, _CHUNK):
        values[start : start + _CHUNK] = numbers.chunk(start)
    shape = tuple(size or 0 for size in tensor.shape)
    steps = np.abs(values) * np.float32(short) if short is not None else numbers.steps()
    return values.reshape(shape), steps.reshape(shape)


def _ratio(difference: float, largest: float) -> float:
    if difference == 0:
        return 0.0
    return difference / largest if largest and math.isfinite(largest) else math.inf


def _elements(tensor: StoredTensor) -> int:
    return math.prod(size or 0 for size in tensor.shape)


def _of_strings(raw: npt.NDArray[np.uint8], other_raw: npt.NDArray[np.uint8], change: Any) -> WeightChange | None:
    try:
        ours, theirs = (decode_strings(data.tobytes()).ravel() for data in (raw, other_raw))
    except (LitefuseError, ValueError):
        return change(None, "strings that are damaged")
    if ours.size != theirs.size:
        return change(None, f"{theirs.size:,} strings instead of {ours.size:,}")
    differing = sum(one != other for one, other in zip(ours, theirs, strict=True))
    return change(differing) if differing else None


class _Numbers:
    """The numbers of a constant, in the order of the file; raises a ValueError if they cannot be read."""

    def __init__(self, raw: npt.NDArray[np.uint8], tensor: StoredTensor, scales: Scales | None) -> None:
        self.count = _elements(tensor)
        self._raw = raw
        self._bits, self._signed = _PACKED.get(tensor.dtype, (0, False))
        self._dtype = _DTYPES.get(tensor.dtype)
        self._scales = scales if self._bits or (self._dtype is not None and self._dtype.kind in "iu") else None
        if self._dtype is None and not self._bits:
            raise ValueError(f"numbers of the type {tensor.dtype} are compared by their bytes alone")
        size = -(-self.count * self._bits // 8) if self._dtype is None else self.count * self._dtype.itemsize
        if size != raw.size:
            raise ValueError(f"{raw.size:,} bytes for {self.count:,} numbers")
        self._inner, self._slices = _along(tensor, scales)

    def chunk(self, start: int) -> npt.NDArray[Any]:
        """Returns some numbers: float64 or complex128 of shape ``[n]``, where ``n`` is at most the size of chunks.

        Integers that are not quantized keep their dtype, since int64 has more digits than float64.
        """
        stop = min(start + _CHUNK, self.count)
        if self._dtype is None:
            values = self._unpacked(start, stop)
        else:
            values = self._raw[start * self._dtype.itemsize : stop * self._dtype.itemsize].view(self._dtype)
        if self._scales is not None and len(self._scales.scales):
            place = np.arange(start, stop) // self._inner % self._slices
            return (values.astype(np.float64) - self._scales.zeros[place]) * self._scales.scales[place]
        if values.dtype.kind in "iub":
            return values
        with np.errstate(invalid="ignore"):  # NaN that signal
            return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)

    @property
    def is_quantized(self) -> bool:
        """Whether they are integers that stand for real numbers."""
        return self._scales is not None and len(self._scales.scales) > 0

    def steps(self) -> npt.NDArray[np.float32]:
        """Returns the scale of each number, if they are quantized."""
        assert self._scales is not None
        return self._scales.scales.astype(np.float32)[np.arange(self.count) // self._inner % self._slices]

    def few(self) -> tuple[Any, ...] | None:
        """Returns the numbers if there are few; else None."""
        return tuple(self.chunk(0).tolist()) if self.count <= _FEW and self._is_real() else None

    def _is_real(self) -> bool:
        return self._dtype is None or self._dtype.kind != "c"

    def _unpacked(self, start: int, stop: int) -> npt.NDArray[Any]:
        per_byte = 8 // self._bits
        data = self._raw[start // per_byte : -(-stop // per_byte)]
        shifts = np.arange(per_byte, dtype=np.uint8) * self._bits
        values = (data[:, None] >> shifts & ((1 << self._bits) - 1)).reshape(-1)[: stop - start].astype(np.int8)
        limit = 1 << (self._bits - 1)
        return np.where(values >= limit, values - 2 * limit, values) if self._signed else values


def _along(tensor: StoredTensor, scales: Scales | None) -> tuple[int, int]:
    """Returns how many neighbours have one scale, and after how many of such groups the scales begin again."""
    if scales is None or len(scales.scales) <= 1:
        return 1, 1
    count = len(scales.scales)
    if scales.block:
        if count * scales.block != _elements(tensor):
            raise ValueError(f"{count:,} scales of blocks of {scales.block:,} do not fit the shape")
        return scales.block, count
    if not 0 <= scales.axis < len(tensor.shape) or tensor.shape[scales.axis] != count:
        raise ValueError(f"{count:,} scales along axis {scales.axis} do not fit the shape")
    return max(math.prod(size or 0 for size in tensor.shape[scales.axis + 1 :]), 1), count


class _Difference:
    """The difference of arrays, added up chunk by chunk.

    Attributes:
        differing: How many elements differ; two that are not a number do not.
        largest: The largest difference; infinite where one is not a number, or of another sign of infinity.
        magnitude: The largest magnitude of a finite number of the first array.
    """

    def __init__(self) -> None:
        self.differing = 0
        self.largest = 0.0
        self.magnitude = 0.0

    def add(self, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> None:
        """Adds the difference of two chunks of the same length."""
        differs = first != second
        if first.dtype.kind in "fc" and second.dtype.kind in "fc":
            differs &= ~(np.isnan(first) & np.isnan(second))
        self.differing += int(np.count_nonzero(differs))
        real = [numbers.astype(np.float64) if numbers.dtype.kind in "iub" else numbers for numbers in (first, second)]
        sizes = np.abs(real[0])
        self.magnitude = max(self.magnitude, float(sizes[np.isfinite(sizes)].max(initial=0.0)))
        if not differs.any():
            return
        with np.errstate(invalid="ignore", over="ignore"):
            distances = np.abs(real[0][differs] - real[1][differs])
        self.largest = max(self.largest, float(np.where(np.isnan(distances), np.inf, distances).max()))
