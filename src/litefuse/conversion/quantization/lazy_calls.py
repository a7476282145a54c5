"""Calls whose inputs are made when they are asked for, so that they are not all in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, overload

import numpy.typing as npt

__all__ = ["Calls", "Inputs", "LazyCalls"]

Inputs: TypeAlias = dict[str, npt.NDArray[Any]]
"""The inputs of a call, by their names."""

Calls: TypeAlias = Mapping[str, Sequence[Inputs]]
"""The inputs of calls, by signature."""


class LazyCalls(Sequence[Inputs]):
    """Calls of one signature.

    Args:
        count: Their number.
        call: Returns the inputs of a call, by its number from 0.
    """

    def __init__(self, count: int, call: Callable[[int], Inputs]) -> None:
        self._count = count
        self._call = call

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Inputs: ...
    @overload
    def __getitem__(self, index: slice) -> list[Inputs]: ...
    def __getitem__(self, index: int | slice) -> Any:
        chosen = range(self._count)[index]
        return self._call(chosen) if isinstance(chosen, int) else list(map(self._call, chosen))

    def __iter__(self) -> Iterator[Inputs]:
        return map(self._call, range(self._count))
