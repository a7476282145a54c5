"""The arguments on which the self-check compares a composite with its replacement."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product

from litefuse.conversion.verify.check_calls import SIZES, Calls, Draw
from litefuse.conversion.verify.inputs import Arguments, DrawnArguments
from litefuse.conversion.verify.steps import beside_a_step
from litefuse.ir.types import TensorType
from litefuse.litert.inputs.kinds import Kind
from litefuse.litert.inputs.model_inputs import OTHER_NUMBERS, Manner

__all__ = ["BESIDE_A_STEP", "Draws"]

#: The kind of numbers on both sides of a step.
BESIDE_A_STEP = "numbers beside a step"
# Those for which a fusion is asked for further inputs: they grow and shrink.
_FURTHER_SIZES = (130, 2, 3, 1)
# Draws beyond these calls take this share of the time that the check took until then, or so many seconds, or
# more for kernels: nobody but the check reads their code. So does what rounding allows where results differ.
_SHARE, _SECONDS = 0.25, 0.01
_KERNEL_SECONDS = 1.0
# So many ways are searched for steps, in such manners at their ends.
_WAYS, _MOST_WAYS = 6, 24
_ENDS = tuple(product((Manner(), Manner(scale=10)), (Manner(), Manner(scale=0), Manner(scale=10), Manner(scale=0.1))))
# More elements of all arguments are drawn with a smaller size.
_MOST_ELEMENTS = 1 << 17
# A call with so many takes no longer than one with fewer.
_NO_TIME = 1 << 12
_NORMAL = Kind("normal numbers", Manner(), 3)


class Draws:
    """Draws the arguments of all calls.

    Args:
        drawn: Draws arguments.
        types: Their types.
        fixed: The arguments that the fusion gives, for each of ``SIZES``; None where they are drawn.
        further: Returns those of the fusion for other sizes.
        constants: For each call of the composite in the module, the arguments that are constants there.
        begin: When the check began, of the processor's time; None: it may take as long as it likes.
        kernel: Whether a kernel stands for the body.
    """

    def __init__(
        self,
        drawn: DrawnArguments,
        types: Sequence[TensorType],
        fixed: Sequence[Arguments | None],
        further: Callable[[int], Arguments | None],
        constants: Sequence[Arguments],
        *,
        begin: float | None,
        kernel: bool,
    ) -> None:
        self.drawn = drawn
        self._types = types
        self._fixed = fixed
        self._further_of = further
        self._constants = constants
        self._begin = begin
        self._least = _KERNEL_SECONDS if kernel else _SECONDS
        self._owned = self._number = 0
        self._seconds = math.inf
        self._end = self._end_of_rounding = math.inf

    @property
    def open(self) -> bool:
        """Whether all numbers are random."""
        return None in self._fixed

    def in_time(self) -> bool:
        """Whether there is time to see what rounding allows where results differ."""
        return time.process_time() < self._end_of_rounding

    def calls(self, composite: Calls) -> Iterator[Draw]:
        """Yields the calls, one after the other."""
        for size, arguments in zip(SIZES, self._fixed, strict=True):
            begin = time.process_time()
            drawn = self._own(self.drawn.draw(size)) if arguments is None else arguments
            yield self._draw(drawn, _NORMAL._replace(size=size), usual=True)
            self._seconds = min(self._seconds, time.process_time() - begin)
        if self.open:
            for manner in OTHER_NUMBERS:  # while no result moves: such results would always pass
                if self.drawn.moving and not composite.moved:
                    name = "equal numbers" if manner.constant else f"numbers times {manner.scale:g}"
                    drawn = self._own(self.drawn.draw(SIZES[-1], manner))
                    yield self._draw(drawn, Kind(name, manner, SIZES[-1]))
            for arguments in self.drawn.covering():
                kind = Kind("the rows of its tables", Manner(covering=True), SIZES[0])
                yield self._draw(self._own(arguments), kind)
        if self._begin is not None:
            now = time.process_time()
            seconds = max(self._least, _SHARE * (now - self._begin))
            self._end, self._end_of_rounding = now + seconds, now + 2 * seconds
        yield from self._further(composite)
        if self.open and composite.may_have_steps():
            yield from self._beside_steps(composite)

    def _draw(self, arguments: Arguments, kind: Kind, *, usual: bool = False, foreign: bool = False) -> Draw:
        self._number += 1
        return Draw(self._number, arguments, kind, usual, foreign)

    def _own(self, arguments: Arguments) -> Arguments:
        self._owned += 1
        return {**arguments, **self._constants[self._owned % len(self._constants)]} if self._constants else arguments

    def _further(self, composite: Calls) -> Iterator[Draw]:
        """Yields calls with other kinds of numbers and in other sizes, while there is time."""
        if self.open:
            kinds = composite.kinds(thorough=self._begin is None)
        else:
            kinds = [_NORMAL._replace(size=size) for size in _FURTHER_SIZES]
        if self._constants:
            kinds = [*kinds, _NORMAL]
        for number, kind in enumerate(kinds):
            size = composite.size(kind.size)
            while size > SIZES[-1] and self._elements(size) > _MOST_ELEMENTS:
                size = SIZES[-1]
            longer = max(1.0, self._elements(size) / max(self._elements(SIZES[-1]), _NO_TIME))
            if time.process_time() + self._seconds * longer > self._end:
                continue
            foreign = bool(self._constants) and number == len(kinds) - 1
            arguments = None if self.open else self._further_of(size)
            if arguments is None:
                arguments = self.drawn.draw(size, kind.manner)
            arguments = arguments if foreign else self._own(arguments)
            yield self._draw(arguments, kind._replace(size=size), foreign=foreign)

    def _beside_steps(self, composite: Calls) -> Iterator[Draw]:
        """Yields calls on both sides of steps of the composite's results."""
        longest = 0.0
        for number in range(_MOST_WAYS if self._begin is None else _WAYS):
            begin = time.process_time()
            if begin + longest > self._end:
                return
            kind = Kind(BESIDE_A_STEP, Manner(), composite.size((3, 2, 1)[number % 3]))
            first, last = _ENDS[number % len(_ENDS)]
            one, other = (self._own(self.drawn.draw(kind.size, manner)) for manner in (first, last))
            with suppress(Exception):  # whatever a kernel raises: the composite does not take such numbers
                for arguments in [*beside_a_step(composite.body(kind.size), one, other)]:
                    yield self._draw(arguments, kind)
            longest = max(longest, time.process_time() - begin)

    def _elements(self, size: int) -> int:
        return sum(math.prod(size if dim is None else dim for dim in kind.shape or ()) for kind in self._types)
