"""Calls of a composite and of its replacement with the same arguments, and how far their results may differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from litefuse.conversion.verify.standalone import StandaloneModel
from litefuse.conversion.verify.steps import Arguments, may_have_steps
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.fusions.composites.outcome import CheckResult, CheckTerms
from litefuse.litert.inputs.kinds import Kind, kinds_of
from litefuse.litert.results.difference import Elements, elements, up_to
from litefuse.support.plug_ins.entry_points import raised_at

if TYPE_CHECKING:
    from litefuse.conversion.verify.rounding import Rounding

#: The sizes of dynamic dimensions, in turn; the third call on the same interpreter shows whether state is left over.
SIZES = (1, 3, 3)
# So many runs with moved ops of the composite come before those of its replacement.
_FIRST_RUNS = 6


class Body(NamedTuple):
    """The composite, or its replacement, as a model, and what runs it."""

    model: StandaloneModel
    run: Any


class Draw(NamedTuple):
    """The arguments of a call.

    Attributes:
        number: Which call it is, from 1.
        arguments: The arguments.
        kind: The kind of numbers, and the size of dynamic dimensions.
        usual: Whether the composite has to take them.
        foreign: Whether constants of the composite's calls have other values.
    """

    number: int
    arguments: Arguments
    kind: Kind
    usual: bool = False
    foreign: bool = False

    @property
    def place(self) -> str:
        """Which call it is, for messages."""
        return f"with {self.kind.name} (call {self.number}, size {self.kind.size})"


class Refusal(NamedTuple):
    """The composite, or its kernel, does not run on the arguments of a call.

    Attributes:
        text: What happened.
        of_kernel: Whether the composite takes them.
    """

    text: str
    of_kernel: bool = False


@dataclass
class Call:
    """A call of both with the same arguments.

    Attributes:
        draw: The arguments.
        expected: The composite's results.
        computed: Those of the replacement, of the same dtypes.
        errors: The errors of the results that are compared, less what rounding allows as far as that is known.
        spread: How far rounding moves the elements of results, as far as that is known.
        resized: Whether results have other shapes; False once rounding is known to change them.
    """

    draw: Draw
    expected: Arguments
    computed: Arguments
    errors: dict[str, Elements]
    resized: bool
    spread: Arguments = field(default_factory=dict[str, Any])


class Calls:
    """Runs a composite and its replacement.

    Args:
        bodies: The composite, for each size of unknown dimensions: one for all, or several.
        fused: The replacement.
        terms: The terms of the comparison.
        asks_for_nan: Whether the composite tells NaN and infinities from numbers.
        timed: Whether rounding is told from fewer runs where these take long, see :class:`Rounding`.

    Attributes:
        moved: Whether a result differed from one of its shape in the previous call, by more than is allowed.
    """

    def __init__(
        self, bodies: Mapping[int, Body], fused: Body, terms: CheckTerms, *, asks_for_nan: bool, timed: bool = True
    ) -> None:
        self.moved = False
        self._timed = timed
        self._terms = terms
        self._open = {f"y{index}" for index in terms.open_results}
        self._bodies = bodies
        self._fused = fused
        self._asks_for_nan = asks_for_nan
        self._roundings: dict[StandaloneModel, Rounding] = {}
        self._last: Arguments = {}

    def size(self, wanted: int) -> int:
        """Returns the size that is closest to one, of those that the composite takes."""
        if len({body.model for body in self._bodies.values()}) == 1:
            return wanted
        return min(self._bodies, key=lambda size: abs(size - wanted))

    def body(self, size: int, *, replaced: bool = False) -> Callable[[Arguments], Arguments]:
        """Returns a function that runs the composite, or its replacement."""
        run = self._fused.run if replaced else self._body(size).run
        return lambda arguments: {name: np.array(value) for name, value in run(**arguments).items()}

    def may_have_steps(self) -> bool:
        """Whether results of the composite may jump."""
        return may_have_steps(self._body(SIZES[-1]).model.content)

    def kinds(self, *, thorough: bool) -> list[Kind]:
        """Returns further kinds of numbers to draw."""
        return kinds_of(self._body(SIZES[-1]).model.content, thorough=thorough)

    def _body(self, size: int) -> Body:
        return self._bodies.get(size, self._bodies[SIZES[0]])

    def once(self, draw: Draw) -> Call | CheckResult | Refusal:
        """Runs both; returns why nothing can be compared, or what differs but numbers."""
        try:
            expected = self.body(draw.kind.size)(draw.arguments)
        except Exception as error:  # noqa: BLE001  whatever a kernel raises
            return Refusal(f"the composite does not run on random inputs: {error}")
        try:
            computed = {name: np.array(value) for name, value in self._fused.run(**draw.arguments).items()}
        except InterpreterError as error:  # a custom op without a kernel
            return CheckResult(unchecked=error.message)
        except Exception as error:  # noqa: BLE001  as above
            if self._terms.kernel or draw.kind.undefined:  # a kernel may know of its inputs what its body does not say
                of_kernel = not draw.kind.undefined
                return Refusal(f"its kernel does not run on random inputs: {in_one_line(error)}", of_kernel=of_kernel)
            return CheckResult(problem=f"the fused op does not run: {in_one_line(error)}")
        self._note_movement(expected)
        resized = any(computed[name].shape != value.shape for name, value in expected.items())
        call = Call(draw, expected, computed, {}, resized)
        if any(computed[name].dtype != value.dtype for name, value in expected.items()):
            return CheckResult(problem=_other_type(call))
        for index, count in () if resized else self._terms.counts.items():
            name = f"y{index}"
            computed[name] = up_to(expected[f"y{count}"], computed[name], expected[name])
        if not resized:
            call.errors = {
                name: elements(computed[name], value) for name, value in expected.items() if name not in self._open
            }
        return call

    def agrees(self, call: Call) -> bool:
        """Whether no element differs by more than is allowed, and nothing by its shape."""
        return not call.resized and all(errors.error <= self._terms.tolerance for errors in call.errors.values())

    def allow_for_rounding(self, call: Call) -> None:
        """Makes the errors of a call relative to what the body's operations are relative to, or the fused op's.

        What moves far enough does so in the first runs, as a rule; what is wrong does not in all of them. Calls with
        NaN and infinities stay as they are, unless the composite asks for these: what differs there is only noted.
        """
        if call.draw.kind.undefined and not self._asks_for_nan and not call.resized:
            return
        body = self._body(call.draw.kind.size)
        # Kernels compute in one step, and some give other numbers each time.
        functions = [(body, call.expected), *([] if self._fused.model.for_kernels else [(self._fused, None)])]
        runs = [
            (rounding, rounding.spreads(call.draw.arguments, results))
            for rounding, results in ((self._rounding(function), results) for function, results in functions)
        ]
        for count, (rounding, spreads) in product((_FIRST_RUNS, None), runs):
            for spread in islice(spreads, count):
                self._allow(call, rounding, spread)
                if self.agrees(call):
                    return

    def _allow(self, call: Call, rounding: Rounding, moved: Arguments) -> None:
        if call.resized:  # where that depends on rounding, such as the count of what is above a threshold
            call.resized = not rounding.resized
            return
        for name, errors in call.errors.items():
            if errors.error <= self._terms.tolerance:
                continue
            spread = np.maximum(call.spread.get(name, 0.0), moved[name])
            if not call.draw.usual and rounding.any_may_come_first:
                spread = np.full(spread.shape, np.inf)  # of what saturates inside, any may come first
            call.spread[name] = spread
            call.errors[name] = elements(call.computed[name], call.expected[name], spread)

    def verdict(self, call: Call) -> CheckResult:
        """Returns the largest error of a call, what is wrong with it, and what differs without fault."""
        if call.resized:
            return CheckResult(problem=_other_type(call))
        strict = call.draw.usual or (call.draw.kind.undefined and self._asks_for_nan)
        largest, of_largest, note = Elements(0.0), "", None
        for name, errors in call.errors.items():
            value, error, undefined = call.expected[name], errors, errors.undefined
            result = f" of result {name[1:]} ({value.dtype}{list(value.shape)})" if len(call.expected) > 1 else ""
            if strict and undefined:
                error = Elements(float("inf"), undefined)
            elif call.draw.kind.undefined and not strict and errors.error > self._terms.tolerance:
                undefined, error = errors.place, Elements(0.0)
            note = note or (f"{undefined}{result}" if undefined else None)
            if error.error > largest.error:
                largest, of_largest = error, result
        if largest.error <= self._terms.tolerance:
            return CheckResult(largest.error, note=note)
        problem = f"the relative error{of_largest} is {largest.error:.2g}, and {self._terms.tolerance:.0e} is allowed"
        return CheckResult(largest.error, f"{problem}: {largest.place}")

    def _rounding(self, function: Body) -> Rounding:
        from litefuse.conversion.verify.rounding import (
            Rounding,  # few comparisons need it, and the schema that it loads
        )

        if function.model not in self._roundings:
            self._roundings[function.model] = Rounding(function.model.content, function.run, timed=self._timed)
        return self._roundings[function.model]

    def _note_movement(self, expected: Arguments) -> None:
        for name, value in expected.items():
            last = self._last.get(name)
            if name not in self._open and last is not None and (last.shape, last.dtype) == (value.shape, value.dtype):
                difference = elements(last, value)
                self.moved |= difference.error > self._terms.tolerance or bool(difference.undefined)
            self._last[name] = value


def _other_type(call: Call) -> str:
    """Says which result has another dtype or shape."""
    for name, value in call.expected.items():
        computed = call.computed[name]
        if (computed.dtype, computed.shape) != (value.dtype, value.shape):
            types = (f"{array.dtype}{list(array.shape)}" for array in (computed, value))
            return "result {} is {}, the composite's {}".format(name[1:], *types)
    raise AssertionError(call)


def in_one_line(error: Exception) -> str:
    """Returns an error's message with what to do, and with the line of a kernel in Python that raised it."""
    line = raised_at(error)
    if not isinstance(error, LitefuseError):
        notes = getattr(error, "__notes__", ())  # of a kernel: its op and node
        text = " ".join(str(error).split())
        return f"{type(error).__name__}: {text} ({line}); {', '.join(notes)}" if notes else text
    where = f"{error.where}: " if error.where else ""
    return ". ".join(filter(None, (f"{where}{error.message}", error.hint))).rstrip(".") + (f" ({line})" if line else "")


def first_line(error: Exception) -> str:
    """Returns the first line of an error's message, or its type if it has none."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(":")
