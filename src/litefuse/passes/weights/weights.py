"""The weights of one conversion, by number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.constants import PLACEHOLDER
from litefuse.ir.importer.constants import elements_attribute, mapped_attribute
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.passes.weights.weight import Weight

__all__ = ["Weights"]

# The element types of constants that numpy reads without a copy.
_HELD = frozenset({"f32", "f64", "i8", "i32", "i64"})
_OFFSET = re.compile(r"offset = (\d+)")
# The bytes at either end of an array that are compared before all of it is.
_SAMPLE = 4096
# The bytes of the mapped file that may be in memory at a time: releasing and reading on takes some microseconds.
_RELEASE_AFTER = 1 << 23


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
        found = next((each for each in alike if _equal(each, flat)), flat)
        if found is flat:
            alike.append(flat)
        return self.number_of(Weight(found.view(source.dtype).reshape(source.shape)))

    def number_of(self, weight: Weight) -> int:
        """Returns the number of a weight derived from others: the same for the same weight, which is stored once."""
        number = self._numbers.setdefault(weight.identity, len(self._weights))
        if number == len(self._weights):
            self._weights.append(weight)
        return number

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
        found = _OFFSET.search(str(owner.attributes["external_buffer"]))
        assert found is not None
        return int(found[1])


def _element_type(dtype: np.dtype[Any]) -> ir.Type:
    if dtype.kind in "iu":
        width = dtype.itemsize * 8
        return ir.IntegerType.get_signless(width) if dtype.kind == "i" else ir.IntegerType.get_unsigned(width)
    floats: dict[int, Callable[[], ir.Type]] = {2: ir.F16Type.get, 4: ir.F32Type.get, 8: ir.F64Type.get}
    return floats[dtype.itemsize]()


def _equal(first: npt.NDArray[np.uint8], second: npt.NDArray[np.uint8]) -> bool:
    """Whether two arrays of one size hold the same bytes."""
    step = 1 << 20
    return first.ctypes.data == second.ctypes.data or all(
        np.array_equal(first[start : start + step], second[start : start + step])
        for start in range(0, len(first), step)
    )
