"""How far the rounding of a function's own ops moves each element of its results.

Each rounded result inside the function, and each operand of a sum, is moved by some steps of float32, at random. Where
that moves an element far, as after a cancellation, another order of the same ops may move it as far.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from litefuse.conversion.verify.moves import (
    Move,
    largest_of,
    moved_copy,
    moved_numbers,
    movement_of,
    smooth_movement_of,
)
from litefuse.conversion.verify.steps import may_have_steps

if TYPE_CHECKING:
    from litefuse.conversion.verify.steps import Arguments

Run: TypeAlias = "Callable[..., Arguments]"

# Moves may cancel out in one run; of several equal scores, any may come first. After so many seconds of the
# processor's time, no further run begins; where one takes more than the last, there are none.
_RUNS, _LEAST_RUNS = 40, 4
_SECONDS, _TOO_MANY_SECONDS = 10.0, 0.5
# Where arguments are moved, each operation behind them rounds as well: so many times, as the steps of loops do.
_OF_ARGUMENTS = 10


class Rounding:
    """Runs a function with moved ops.

    Args:
        content: The function as a model.
        run: Runs it as it is; None: what cannot be moved is left out.
        load: Returns a function that runs a copy of the model, whose moves are ops of :class:`Move`.
        timed: Whether what takes long runs less often. Otherwise ``Move.left`` says how much is run, so that spreads
            are the same each time.
    """

    def __init__(
        self, content: Any, run: Run | None, load: Callable[[bytes], Run] | None = None, *, timed: bool = True
    ) -> None:
        self._content = content
        self._run = run
        self._timed = timed
        self._runner: Run | None = None
        with contextlib.suppress(Exception):  # of the schema, the runtime or a kernel: then that run is left out
            self._runner = (load or _runner)(moved_copy(content))
        self._too_many = sys.maxsize
        #: Whether a result had another shape in a run of the last call.
        self.resized = False
        self._of_arguments = False

    @property
    def any_may_come_first(self) -> bool:
        """Whether arguments were moved in the last call, not ops, of a function that may have steps inside."""
        return self._of_arguments and may_have_steps(self._content)

    def spreads(self, arguments: Arguments, expected: Arguments | None = None) -> Iterator[Arguments]:
        """Yields how far each element of each float result moved so far, in units of its ops' relative movement.

        Infinite where an element comes and goes. Of other results, infinite where they change, else 0. Where ops cannot
        be moved, or that takes too long, as in loops of many steps, the arguments are, and elements move as far as the
        largest at least.

        Args:
            arguments: The arguments.
            expected: The results without moves; None for what keeps state, and differs for that.
        """
        spread: Arguments = {}
        self.resized = self._of_arguments = False
        size = sum(value.size for value in arguments.values())
        begin = time.process_time()
        for run in range(_RUNS):
            seconds = time.process_time() - begin if self._timed else 0.0
            if run == 1 and seconds > _TOO_MANY_SECONDS:
                self._too_many = size
            if run >= _LEAST_RUNS and seconds > _SECONDS:
                return
            moved = less = None
            if self._runner is not None and size < self._too_many and not _is_short(expected or {}):
                with contextlib.suppress(Exception):  # whatever a kernel raises
                    moved = _moved(self._runner, arguments, run)
                    less = None if run % 2 == 0 else _moved(self._runner, arguments, run, 1 / 8)
            if moved is None:
                yield from self._spreads_of_arguments(arguments, expected)
                return
            expected = expected or moved
            for name, value in moved.items():
                wanted = expected[name]
                self.resized |= less is None and value.shape != wanted.shape
                movement = movement_of(value, wanted) if less is None else smooth_movement_of(value, less[name], wanted)
                spread[name] = np.maximum(spread.get(name, 0.0), movement)
            yield spread

    def _spreads_of_arguments(self, arguments: Arguments, expected: Arguments | None) -> Iterator[Arguments]:
        if expected is None or self._run is None:
            return
        self._of_arguments = True
        spread = {name: largest_of(value) for name, value in expected.items()}
        random = Random(0)
        with contextlib.suppress(Exception):  # whatever a kernel raises
            for _ in range(_LEAST_RUNS):
                moved = {name: moved_numbers(value, random) for name, value in arguments.items()}
                for name, value in self._run(**moved).items():
                    movement = _OF_ARGUMENTS * movement_of(np.array(value), expected[name])
                    spread[name] = np.maximum(spread[name], movement)
        yield spread


def _is_short(results: Arguments) -> bool:
    """Whether some results have fewer digits than float32, whose ops are not moved."""
    return any(value.dtype.kind in "fV" and value.dtype.itemsize < 4 for value in results.values())


def _moved(runner: Run, arguments: Arguments, run: int, sign: float = 1.0) -> Arguments:
    Move.alike, Move.sign, Move.random = run % 2 == 0, sign, Random(run)
    return {name: np.array(value) for name, value in runner(**arguments).items()}


def _runner(content: bytes) -> Run:
    from litefuse.litert.runtime.interpreter import Interpreter

    runner: Any = Interpreter(model_content=content, custom_ops=[Move]).get_signature_runner()
    return runner
