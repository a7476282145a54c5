"""Calls of a model whose inputs are set apart from their run, for measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["PreparedCall"]


class Guard(Protocol):
    """Calls a function of the runtime, and raises what kernels raise meanwhile."""

    def __call__(self, run: Callable[[], None], /) -> None: ...


class PreparedCall:
    """A call of a subgraph: memory is planned for the shapes of its inputs when this is made.

    Args:
        binding: The binding of an interpreter, ``Interpreter._interpreter``.
        subgraph: The index of the subgraph.
        tensors: The indices of its inputs by their names.
        inputs: The inputs by these names, in the form that the bindings take.
        guard: How the runtime is called.
    """

    def __init__(
        self,
        binding: Any,
        subgraph: int,
        tensors: Mapping[str, int],
        inputs: Mapping[str, npt.NDArray[Any]],
        guard: Guard,
    ) -> None:
        self._binding = binding
        self._subgraph = subgraph
        self._inputs = [(tensors[name], value) for name, value in inputs.items()]
        self._guard = guard
        guard(self._plan)

    def _plan(self) -> None:
        for index, value in self._inputs:
            self._binding.ResizeInputTensor(index, np.array(value.shape, np.int32), False, self._subgraph)
        self._binding.AllocateTensors(self._subgraph)

    def set_inputs(self) -> None:
        """Copies the inputs into the runtime's memory."""
        self._guard(self._set)

    def _set(self) -> None:
        for index, value in self._inputs:
            self._binding.SetTensor(index, value, self._subgraph)

    def invoke(self) -> None:
        """Runs the subgraph once."""
        self._guard(self._invoke)

    def _invoke(self) -> None:
        self._binding.Invoke(self._subgraph)
