"""numpy formulas on values that the model computes: numpy's functions emit ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.tensors import Tensor


class Array(np.lib.mixins.NDArrayOperatorsMixin):
    """A float32 or boolean tensor in a formula, on which each numpy function emits an op.

    So one formula computes a constant for numpy arrays, and emits ops for values. The functions are those below,
    ``numpy.where``, ``numpy.transpose``, and ``numpy.sum`` along one axis that is kept; all broadcast. They are
    dispatched by numpy's protocols ``__array_ufunc__`` (NEP 13) and ``__array_function__`` (NEP 18).
    """

    def __init__(self, builder: Builder, value: Tensor) -> None:
        self.value = value
        self._builder = builder

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        b = self._builder
        if method != "__call__" or options:
            return NotImplemented
        operands = [input_.value if isinstance(input_, Array) else input_ for input_ in inputs]
        if function in _UNARY:
            return Array(b, b.unary(_UNARY[function], *operands))
        if function in _BINARY:
            return Array(b, b.binary(_BINARY[function], *operands))
        if function in _COMPARISONS:
            return Array(b, b.compare(_COMPARISONS[function], *operands))
        return NotImplemented

    def __array_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any], options: dict[str, Any]
    ) -> Any:
        b = self._builder
        if function is np.where:
            condition, *others = (
                each.value if isinstance(each, Array) else b.constant(each, dtype)
                for each, dtype in zip(args, ("bool", "float32", "float32"), strict=True)
            )
            return Array(b, b.select(condition, *others))
        if function is np.sum and options.pop("keepdims", False):
            return Array(b, b.reduce("Sum", self.value, keep_dims=True, **options))
        if function is np.transpose and len(args) == 1 and not options:
            return Array(b, b.transpose(self.value, range(len(self.value.shape))[::-1]))
        return NotImplemented


def number(b: Builder, size: MixedSize, dtype: type[np.floating[Any]] = np.float32) -> Any:
    """Returns a size as ``[1, 1]``: an array of ``dtype`` if it is static, else an ``Array``."""
    if isinstance(size, int):
        return np.full((1, 1), size, dtype)
    return Array(b, b.cast(b.reshape(size, [1, 1]), "float32"))


def positions(
    b: Builder, size: MixedSize, shape: Sequence[MixedSize], dtype: type[np.floating[Any]] = np.float32
) -> Any:
    """Returns the numbers from 0 to ``size - 1`` in a shape: an array of ``dtype`` if static, else an ``Array``."""
    if isinstance(size, int):
        return np.arange(size, dtype=dtype).reshape(b.known(shape))
    return Array(b, b.cast(b.reshape(b.range(size), shape), "float32"))


_UNARY: dict[np.ufunc, str] = {
    np.absolute: "Abs",
    np.ceil: "Ceil",
    np.cos: "Cos",
    np.exp: "Exp",
    np.floor: "Floor",
    np.negative: "Neg",
    np.rint: "Round",
    np.sin: "Sin",
}
_BINARY: dict[np.ufunc, str] = {
    np.add: "AddV2",
    np.bitwise_and: "LogicalAnd",
    np.divide: "RealDiv",
    np.maximum: "Maximum",
    np.minimum: "Minimum",
    np.multiply: "Mul",
    np.subtract: "Sub",
}
_COMPARISONS: dict[np.ufunc, str] = {
    np.equal: "Equal",
    np.greater: "Greater",
    np.greater_equal: "GreaterEqual",
    np.less: "Less",
    np.less_equal: "LessEqual",
}
