"""Reads tensors: those without elements, for which the runtime's binding raises, and no resources, which end it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError

__all__ = ["ReadingBinding", "read_tensor"]


def read_tensor(binding: Any, index: int, subgraph: int = 0) -> npt.NDArray[Any]:
    """Returns a copy of a tensor; strings as an array of objects.

    Args:
        binding: The binding of an interpreter, ``Interpreter._interpreter``.
        index: The tensor's index.
        subgraph: The index of its subgraph.

    Raises:
        InterpreterError: It is a resource or a variant, which the binding would read as strings.
    """
    dtype: np.dtype[Any] = np.dtype(binding.TensorType(index, subgraph))
    if dtype.kind == "O":
        raise InterpreterError(f"tensor {index} is a resource, which has no value to read")
    sizes: Any = binding.TensorSize(index, subgraph)
    if 0 not in sizes:
        return binding.GetTensor(index, subgraph)
    return np.empty([int(size) for size in sizes], np.dtype(object) if dtype.kind in "SU" else dtype)


class ReadingBinding:
    """The binding of an interpreter that reads tensors with :func:`read_tensor`."""

    def __init__(self, binding: Any) -> None:
        self._binding = binding

    def GetTensor(self, index: int, subgraph: int = 0) -> npt.NDArray[Any]:  # noqa: N802  the binding's name
        return read_tensor(self._binding, index, subgraph)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._binding, name)
