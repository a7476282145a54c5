"""The weights of one conversion, by number: constants that are computed from mapped bytes when they are written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.constants import PLACEHOLDER
from litefuse.ir.importer.constants import elements_attribute, mapped_attribute
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value

# The element types of constants that numpy reads without a copy.
_HELD = frozenset({"f32", "f64", "i8", "i32", "i64"})
_OFFSET = re.compile(r"offset = (\d+)")
# The bytes at either end of an array that are compared before all of it is.
_SAMPLE = 4096
# The bytes of the mapped file that may be in memory at a time: releasing and reading on takes some microseconds.
_RELEASE_AFTER = 1 << 23
_Array = npt.NDArray[Any]

# The bytes of a block: a transposition is fastest if source and result of a block fit in the cache.
_BLOCK_BYTES = 1 << 19
_COPY_BYTES = 1 << 23


@dataclass(frozen=True, eq=False)
class Weight:
    """A constant tensor: a view of mapped bytes, and its factors.

    Attributes:
        source: The values in the constant's shape, with any strides, perhaps unaligned.
        factors: The factors of the values, applied one after the other, in the arithmetic of their dtype; each
            broadcasts to the shape and has its rank.
    """

    source: _Array
    factors: tuple[_Array, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.source.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.source.dtype

    @property
    def identity(self) -> Hashable:
        """A key that is equal for weights with the same bytes in the same order, times the same factors."""
        strides = tuple(stride if size > 1 else 0 for size, stride in zip(self.shape, self.source.strides, strict=True))
        factors = tuple((factor.shape, factor.tobytes()) for factor in self.factors)
        address: int = self.source.ctypes.data
        return address, self.shape, strides, str(self.dtype), factors

    @property
    def contents(self) -> Hashable:
        """A key that is equal for weights with the same bytes in a file, whatever their shapes."""
        address: int = self.source.ctypes.data
        if not self.factors:
            return address, _runs(self.shape, self.source.strides), self.dtype.itemsize
        return Weight(*self._in_shape([size for size in self.shape if size != 1])).identity

    @property
    def nbytes(self) -> int:
        """The number of bytes that it takes in a file."""
        return self.source.nbytes

    def transposed(self, permutation: Sequence[int]) -> Weight:
        """Returns the weight with its axes in another order, like ``numpy.transpose``."""
        source, *factors = (np.transpose(factor, permutation) for factor in (self.source, *self.factors))
        return Weight(source, tuple(factors))

    def reshaped(self, shape: Sequence[int]) -> Weight:
        """Returns the weight in another shape with as many elements; it is copied if it cannot be a view."""
        if [size for size in shape if size != 1] == [size for size in self.shape if size != 1]:
            return Weight(*self._in_shape(shape))
        if not self.factors and self.source.flags.c_contiguous:
            return Weight(self.source.reshape(shape))
        return Weight(self.value().reshape(shape))

    def _in_shape(self, shape: Sequence[int]) -> tuple[_Array, tuple[_Array, ...]]:
        """Returns views of the source and the factors in a shape that differs only by dimensions of size 1."""
        kept = [axis for axis, size in enumerate(self.shape) if size != 1]
        places = [place for place, size in enumerate(shape) if size != 1]
        source, *factors = (
            factor.reshape(
                [factor.shape[kept[places.index(place)]] if place in places else 1 for place in range(len(shape))]
            )
            for factor in (self.source, *self.factors)
        )
        return source, tuple(factors)

    def scaled(self, axis: int, factor: _Array) -> Weight:
        """Returns the weight multiplied by a vector along an axis, or by one number."""
        shape = [1] * self.source.ndim
        shape[axis] = factor.size
        return replace(self, factors=(*self.factors, factor.astype(self.dtype).reshape(shape)))

    def sums(self, axis: int, vector: _Array | None = None) -> _Array:
        """Returns the sum for each position along an axis, float32.

        Args:
            axis: The axis that stays; for a weight of rank 2, the sums are along the other one.
            vector: The factors of the weights along that other axis of a weight of rank 2.
        """
        if vector is None:
            vector = np.ones(1, self.dtype)
        total = np.zeros(self.shape[axis], np.float64)
        start = 0
        for block in self._arrays():
            moved = np.moveaxis(block, axis, 0)
            products = moved.reshape(len(moved), -1) * vector
            part = products.sum(axis=1, dtype=np.float64)
            if axis == 0:
                total[start : start + len(part)] = part
            else:
                total += part
            start += len(block)
        return total.astype(np.float32)

    def value(self) -> _Array:
        """Returns the whole constant, in memory."""
        return np.concatenate([block.reshape(-1) for block in self._arrays()]).reshape(self.shape)

    def blocks(self) -> Iterator[memoryview]:
        """Yields the constant's bytes, little-endian and in C order, in pieces."""
        if not self.factors and self.source.flags.c_contiguous:
            flat = self.source.reshape(-1).view(np.uint8)
            for start in range(0, len(flat), _COPY_BYTES):
                yield flat[start : start + _COPY_BYTES].data
            return
        for block in self._arrays():
            yield block.reshape(-1).view(np.uint8).data

    def _arrays(self) -> Iterator[_Array]:
        """Yields contiguous pieces along the first axis."""
        row_bytes = max(1, self.nbytes // max(1, len(self.source)))
        rows = max(1, _BLOCK_BYTES // row_bytes)
        for start in range(0, len(self.source), rows):
            # First copies the bytes in their order, then in the new order: the second copy works within the cache.
            block = np.ascontiguousarray(np.copy(self.source[start : start + rows], order="K"))
            for factor in self.factors:
                block *= factor[start : start + rows] if len(factor) > 1 else factor
            yield block


def _runs(shape: Sequence[int], strides: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Returns the sizes and strides of an array's dimensions, merged where elements follow each other evenly."""
    runs: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        elif size != 1:
            runs.append((size, stride))
    return tuple(runs)


class Weights:
    """The weights that the engine sees as placeholders.

    A placeholder is a ``tfl.external_const`` whose ``offset`` is the weight's number: the engine forwards it, and
    only fuses ops around it whose fusion does not depend on values. Changes of the weight are recorded here.

    Args:
        mapped_from: Arrays of at least this many bytes stay mapped.
        release: Called when the mapped bytes are not needed for a while.
    """

    def __init__(self, mapped_from: int, release: Callable[[], None] = lambda: None) -> None:
        self.release = release
        self._mapped_from = mapped_from
        self._read_bytes = 0
        self._sources: dict[ir.Attribute, npt.NDArray[Any]] = {}
        self._weights: list[Weight] = []
        self._alike: dict[Hashable, list[npt.NDArray[np.uint8]]] = defaultdict(list)
        self._numbers: dict[Hashable, int] = {}
        self._reshaped: dict[tuple[int, tuple[int, ...]], Weight] = {}

    def attribute(self, source: npt.NDArray[Any], dtype: int) -> ir.Attribute:
        """Returns the elements attribute of an array; it refers to the array if that is large and of a plain dtype.

        Args:
            source: The array; it must not change.
            dtype: Its TensorFlow ``DataType``.
        """
        self._read_bytes += source.nbytes
        if self._read_bytes >= _RELEASE_AFTER:
            self.release()
            self._read_bytes = 0
        attribute = mapped_attribute(source, dtype) if source.nbytes >= self._mapped_from else None
        if attribute is None:
            return elements_attribute(source, dtype)
        self._sources[attribute] = source
        return attribute

    def find(self, attribute: ir.Attribute) -> int | None:
        """Returns the number of the weight that an attribute refers to; None for an attribute that holds its bytes."""
        source = self._sources.get(attribute)
        return None if source is None else self._add(source)

    def adopt(self, elements: ir.DenseElementsAttr) -> int | None:
        """Returns the number of a weight whose bytes MLIR's context holds; None for a small or repeated one."""
        if elements.is_splat or str(elements.type.element_type) not in _HELD:
            return None
        source = np.array(elements, copy=False).reshape(elements.type.shape)
        return self._add(source) if source.nbytes >= self._mapped_from else None

    def __len__(self) -> int:
        return len(self._weights)

    def __getitem__(self, number: int) -> Weight:
        return self._weights[number]

    def _add(self, source: npt.NDArray[Any]) -> int:
        """Returns the number of a weight of these values; equal bytes are stored once, whatever their shapes."""
        flat = source.reshape(-1).view(np.uint8)
        sample = np.concatenate([flat[:_SAMPLE], flat[-_SAMPLE:]]).tobytes()
        alike = self._alike[source.nbytes, sample]
        kept = next((other for other in alike if _equal(other, flat)), flat)
        if kept is flat:
            alike.append(flat)
        return self.number_of(Weight(kept.view(source.dtype).reshape(source.shape)))

    def number_of(self, weight: Weight) -> int:
        """Returns the number of a weight derived from others: the same for the same weight, which is stored once."""
        number = self._numbers.setdefault(weight.identity, len(self._weights))
        if number == len(self._weights):
            self._weights.append(weight)
        return number

    def reshaped(self, number: int, shape: tuple[int, ...]) -> Weight:
        """Returns a weight in another shape; what is copied for that is copied once, and so stored once."""
        if (number, shape) not in self._reshaped:
            self._reshaped[number, shape] = self._weights[number].reshaped(shape)
        return self._reshaped[number, shape]

    def emit(self, number: int) -> ir.Value:
        """Emits a weight's placeholder at the current insertion point and location."""
        weight = self._weights[number]
        kind = ir.RankedTensorType.get(weight.shape, _element_type(weight.dtype))
        buffer = f'#tfl.external_buffer<group_name="litefuse",offset={number},length={weight.nbytes},packing="">'
        return create_value(PLACEHOLDER, kind, [], {"external_buffer": ir.Attribute.parse(buffer)})

    @staticmethod
    def number(value: ir.Value) -> int | None:
        """Returns the number of the weight that a value is the placeholder of; None for any other value."""
        owner = producer(value, PLACEHOLDER)
        if owner is None:
            return None
        match = _OFFSET.search(str(owner.attributes["external_buffer"]))
        assert match is not None
        return int(match[1])


def _element_type(dtype: np.dtype[Any]) -> ir.Type:
    if dtype.kind in "iu":
        width = dtype.itemsize * 8
        return ir.IntegerType.get_signless(width) if dtype.kind == "i" else ir.IntegerType.get_unsigned(width)
    floats: dict[int, Callable[[], ir.Type]] = {2: ir.F16Type.get, 4: ir.F32Type.get, 8: ir.F64Type.get}
    return floats[dtype.itemsize]()


def _equal(first: npt.NDArray[np.uint8], second: npt.NDArray[np.uint8]) -> bool:
    step = 1 << 20
    return first.ctypes.data == second.ctypes.data or all(
        np.array_equal(first[start : start + step], second[start : start + step])
        for start in range(0, len(first), step)
    )
