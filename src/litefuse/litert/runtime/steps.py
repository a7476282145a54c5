"""Announces the runtime's steps to the watcher of its process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["StepsOfRuntime"]


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
