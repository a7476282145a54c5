"""C callbacks in Python that let no exception escape, not even interrupts.

ctypes prints and drops an exception that leaves a callback, and the caller in C reads an uninitialized result. A
``try`` in the callback's body is not enough: Python handles signals when a function is entered, before its first
statement, and after a long op in C an interrupt is pending exactly then. A suspended generator is already inside its
``try`` when it is resumed, so the callback is the ``send`` of one. It takes one argument, hence the prototypes in
``abi``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["guarded"]


def guarded(function: Callable[[int], int], failed: Callable[[BaseException], int]) -> Callable[[int], int]:
    """Wraps ``function`` so that ``failed`` handles whatever it raises, and returns a result in its place."""
    generator = _guard(function, failed)
    next(generator)
    return generator.send


def _guard(function: Callable[[int], int], failed: Callable[[BaseException], int]) -> Generator[int, int, None]:
    result = 0
    while True:
        try:
            argument = yield result
            result = function(argument)
        except GeneratorExit:
            return
        except BaseException as error:  # noqa: BLE001 - a callback must not raise
            result = failed(error)
