"""The binding of the runtime's interpreter, with tensors read safely, steps announced and calls prepared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError

Result = TypeVar("Result")


def run(
    function: Callable[[], Result],
    explain: Callable[[Exception], Exception],
    take_failure: Callable[[], BaseException | None] = lambda: None,
) -> Result:
    """Calls a function that makes the runtime do something.

    Args:
        function: The function.
        explain: Returns the exception to raise for one of the runtime's own, maybe the same.
        take_failure: Returns the exception that a kernel raised meanwhile, and forgets it.

    Raises:
        BaseException: The exception object that a kernel raised meanwhile, whatever the runtime made of it.
    """
    result, error = None, None
    try:
        result = function()
    except (RuntimeError, ValueError) as raised:
        error = raised
    # Outside of the handler, or Python would chain the runtime's error to the kernel's as its context.
    failure = take_failure()
    try:
        # If a kernel fails while the runtime tries one of its own delegates, the runtime goes on and calls the
        # kernel again; but not after an interrupt.
        if failure is not None and (error is not None or not isinstance(failure, Exception)):
            raise failure
        if error is not None:
            explained = explain(error)
            raise explained from (None if explained is error else error)
    finally:
        # Each refers to this frame through its traceback.
        del failure, error
    return cast("Result", result)


def read_tensor(binding: Any, index: int, subgraph: int = 0) -> npt.NDArray[Any]:
    """Returns a copy of a tensor; strings as an array of objects.

    The binding itself raises for those without elements, and resources end the process.

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


class StepsOfRuntime:
    """The binding of an interpreter that announces when it plans memory and when it runs.

    Args:
        wrapper: The binding, ``Interpreter._interpreter``.
        announce: Called with each step; None for no calls.
    """

    def __init__(self, wrapper: Any, announce: Callable[[str], None]) -> None:
        self._wrapper = wrapper
        self.announce: Callable[[str], None] | None = announce

    def AllocateTensors(self, *arguments: Any) -> Any:  # noqa: N802  the binding's name
        if self.announce is not None:
            self.announce("allocate the tensors")
        return self._wrapper.AllocateTensors(*arguments)

    def Invoke(self, *arguments: Any) -> Any:  # noqa: N802
        if self.announce is not None:
            self.announce("invoke")
        return self._wrapper.Invoke(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapper, name)


class Guard(Protocol):
    """Calls a function of the runtime, and raises what kernels raise meanwhile."""

    def __call__(self, run: Callable[[], None], /) -> None: ...


class PreparedCall:
    """A call of a subgraph whose inputs are set apart from its run, for measurements.

    Memory is planned for the shapes of the inputs when this is made.

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
