"""The arguments on which the self-check compares a composite with its replacement: constants of its calls, or drawn."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.check_calls import SIZES, Calls, Draw
from litefuse.conversion.verify.standalone import StandaloneModel
from litefuse.conversion.verify.steps import Arguments, beside_a_step, moved_in_part
from litefuse.ir.call_graph import callees, calls_in, function_symbol, functions, operands_of_calls, operations
from litefuse.ir.constants import DENSE_CONSTANTS, elements_of, strings_of_constant, without_copies
from litefuse.ir.defining_ops import through_calls
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.types import TensorType, tensor_type_of
from litefuse.litert.inputs.drawer import Drawer
from litefuse.litert.inputs.kinds import Kind
from litefuse.litert.inputs.model_inputs import OTHER_NUMBERS, Manner, ModelInputs

_ASKING = frozenset({"tf.IsFinite", "tf.IsInf", "tf.IsNan"})
_COMPARISONS = frozenset({"tf.Equal", "tf.NotEqual", "tf.Less", "tf.LessEqual", "tf.Greater", "tf.GreaterEqual"})

# More of them are weights, of which any numbers do.
_MOST_OF_CONSTANTS = 1 << 18


def constant_arguments(module: ir.Module, function: func.FuncOp) -> list[Arguments]:
    """Returns, for each call of a function, the arguments that are constants at all of its calls.

    Such as axes, anchors, tables and matrices of filters: the function may need them as they are.
    """
    calls = calls_in(module)
    values = [
        {f"x{index}": _constant(through_calls(calls, operand)) for index, operand in enumerate(operands)}
        for operands in operands_of_calls(calls, function)
    ]
    if not values:
        return []
    constant = [name for name in values[0] if all(value[name] is not None for value in values)]
    distinct: list[Arguments] = []
    for of_call in values:
        arguments = {name: value for name in constant if (value := of_call[name]) is not None}
        if not any(_are_equal(arguments, other) for other in distinct):
            distinct.append(arguments)
    return distinct if constant else []


def asks_for_nan(module: ir.Module, function: func.FuncOp) -> bool:
    """Whether a function tells NaN or infinities from numbers: its results are then meaningful for these."""
    by_symbol = functions(module)
    waiting, seen = [function_symbol(function)], set[str]()
    while waiting:
        symbol = waiting.pop()
        if symbol in seen or symbol not in by_symbol:
            continue
        seen.add(symbol)
        for op in operations(by_symbol[symbol]):
            if op.name in _ASKING or (op.name in _COMPARISONS and _with_itself_or_infinity(op)):
                return True
            waiting += callees(op)
    return False


def _with_itself_or_infinity(op: ir.OpView) -> bool:
    constants = [_constant(operand) for operand in op.operands]
    kinds = [operand.type for operand in op.operands]
    if all(isinstance(kind, ir.RankedTensorType) and kind.rank == 0 for kind in kinds):
        return False  # an option, such as whether a threshold for scores is -inf
    if any(constant is not None and constant.dtype.kind == "f" and np.isinf(constant).any() for constant in constants):
        return True
    return op.name in {"tf.Equal", "tf.NotEqual"} and op.operands[0] == op.operands[1]


def _are_equal(one: Arguments, other: Arguments) -> bool:
    return all(np.array_equal(value, other[name]) for name, value in one.items())


def _constant(operand: ir.Value) -> npt.NDArray[Any] | None:
    owner = producer(without_copies(operand), *DENSE_CONSTANTS)
    if owner is None:
        return None
    kind = owner.results[0].type
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
        return None
    try:
        if math.prod(kind.shape) > _MOST_OF_CONSTANTS:
            return None
        if tensor_type_of(kind).dtype == "string":
            return strings_of_constant(owner.results[0])
        numbers = elements_of(owner.results[0])
        # Of numpy's two kinds of int64, the runtime takes one.
        return None if numbers is None else numbers.astype(str(numbers.dtype))
    except (AttributeError, TypeError, ValueError):  # what numpy has not
        return None


_MOST_OF_ARGUMENTS = 1 << 25
# The limits of picking every row of a table: elements of arguments and results, and calls.
_COVERING_ELEMENTS = 1 << 22
_COVERING_CALLS = 256


def reason_against(types: Sequence[TensorType], size: int) -> str | None:
    """Returns why there can be no arguments of these types, with dynamic dimensions of a size; None if there can."""
    elements = sum(math.prod(size if dim is None else dim for dim in kind.shape or ()) for kind in types)
    if elements > _MOST_OF_ARGUMENTS:  # the arguments would take several times the memory of a conversion
        return f"its arguments have {elements / 1e6:.0f} million elements"
    for index, kind in enumerate(types):
        if kind.shape is None:
            return f"argument {index} is of unknown rank"
    return None


class DrawnArguments:
    """Draws the arguments of a function's calls, different ones each time.

    Args:
        models: The function as a model, for each size of its dynamic dimensions: one for all, or several.
        results: The types of its results.
        random: The source of randomness. Python's own: numpy's takes 7 MB and as long to load as the runtime.
        manner: How arguments are drawn, unless a call says otherwise.
    """

    def __init__(
        self,
        models: Mapping[int, StandaloneModel],
        results: Sequence[TensorType],
        random: Random,
        manner: Manner,
    ) -> None:
        read = {model: ModelInputs(model.content) for model in {*models.values()}}
        self._inputs = {size: read[model] for size, model in models.items()}
        self._results = results
        self._manner = manner
        self._any_size = len(read) == 1
        self._last: Arguments = {}
        first = next(iter(read.values()))
        (self._key,) = first.signatures
        self._drawers: dict[ModelInputs, Drawer] = {
            inputs: inputs.drawer(self._key, random) for inputs in read.values()
        }
        #: The results that depend on arguments.
        self.moving = first.moving[self._key]

    def draw(self, size: int, manner: Manner | None = None) -> Arguments:
        """Draws the arguments of one call, with dynamic dimensions of a size."""
        inputs = self._inputs.get(size, self._inputs[next(iter(self._inputs))])
        manner = (manner or Manner())._replace(limit=self._manner.limit, in_range=self._manner.in_range)
        drawer = self._drawers[inputs]
        self._last = drawer.draw(inputs.shapes(self._key, batch=size, size=size), manner)
        return self._last

    def covering(self) -> Iterator[Arguments]:
        """Yields calls that pick the rows of tables that no call has picked, where they are cheap.

        Other arguments keep their values where their shapes allow: they may be the tables.
        """
        if not self._any_size:
            return
        (inputs,) = {*self._inputs.values()}
        drawer = self._drawers[inputs]
        left = drawer.left
        if not left:
            return
        size = max(_size_for(inputs.signatures[self._key][name].shape, count) for name, count in left.items())
        shapes = inputs.shapes(self._key, batch=size, size=size)
        drawn = {
            name: shape for name, shape in shapes.items() if name in left or self._last[name].shape != tuple(shape)
        }
        results = [tuple(size if dim is None else dim for dim in kind.shape or ()) for kind in self._results]
        calls = max(math.ceil(count / max(math.prod(shapes[name]), 1)) for name, count in left.items())
        elements = sum(map(math.prod, [*drawn.values(), *results]))
        if calls > _COVERING_CALLS or calls * elements > _COVERING_ELEMENTS:
            return
        while drawer.left:
            before = drawer.left
            yield {**self._last, **drawer.draw(drawn, Manner(covering=True))}
            drawer.settle(ran=True)
            if drawer.left == before:
                return


def _size_for(shape: Sequence[int | None], count: int) -> int:
    """Returns the smallest size of the dynamic dimensions of a shape with which it holds so many elements."""
    known = math.prod(dim for dim in shape if dim is not None)
    return math.ceil((count / max(known, 1)) ** (1 / shape.count(None))) if None in shape else 1


# The kinds of numbers on both sides of a step: further from it, rounding explains less of what differs.
_AT_STEPS = ("numbers beside a step", "numbers next to a step")
# Those for which a fusion is asked for further inputs: they grow and shrink.
_FURTHER_SIZES = (130, 2, 3, 1)
# Draws beyond these calls take this share of the time that the check took until then, or so many seconds, or
# more for kernels: nobody but the check reads their code. So does what rounding allows where results differ.
_SHARE, _SECONDS = 0.25, 0.01
_KERNEL_SECONDS = 1.0
# So many ways are searched for steps, from arguments in one of these manners to others.
_WAYS, _MOST_WAYS = 8, 48
_COLUMNS = Manner(columns=True)
_FROM = (_COLUMNS, Manner(), Manner(), _COLUMNS, Manner(scale=10))
_TO = (_COLUMNS, _COLUMNS, Manner(scale=0), _COLUMNS, Manner(scale=0.1))
# More elements of all arguments are drawn with a smaller size.
_MOST_ELEMENTS = 1 << 17
# A call with so many takes no longer than one with fewer.
_NO_TIME = 1 << 12
_NORMAL = Kind("normal numbers", Manner(), 3)
# Of rows: where more of them pass than a limit allows, and where some are equal.
_OF_ROWS = (
    Kind("rows that repeat", Manner(columns=True, repeated=True), 12),
    Kind("columns of different numbers", _COLUMNS, 130),
    Kind("columns of different numbers", Manner(columns=True, scale=3), 3),
)
#: The kinds in which a right result seldom differs, as it may where many numbers are large or equal.
JUDGED_FIRST = (_AT_STEPS[0], *dict.fromkeys(kind.name for kind in _OF_ROWS), _AT_STEPS[1])


@dataclass
class Draws:
    """Draws the arguments of all calls.

    Attributes:
        drawn: Draws arguments.
        types: Their types.
        fixed: The arguments that the fusion gives, for each of ``SIZES``; None where they are drawn.
        further: Returns those of the fusion for other sizes.
        constants: For each call of the composite in the module, the arguments that are constants there.
        begin: When the check began, of the processor's time; None: it may take as long as it likes.
        kernel: Whether a kernel stands for the body.
    """

    drawn: DrawnArguments
    types: Sequence[TensorType]
    fixed: Sequence[Arguments | None]
    further: Callable[[int], Arguments | None]
    constants: Sequence[Arguments]
    begin: float | None
    kernel: bool
    _owned: int = 0
    _number: int = 0
    _seconds: float = math.inf
    _end: float = math.inf
    _end_of_rounding: float = math.inf

    @property
    def open(self) -> bool:
        """Whether all numbers are random."""
        return None in self.fixed

    def in_time(self) -> bool:
        """Whether there is time to see what rounding allows where results differ."""
        return time.process_time() < self._end_of_rounding

    def calls(self, composite: Calls) -> Iterator[Draw]:
        """Yields the calls, one after the other."""
        for size, arguments in zip(SIZES, self.fixed, strict=True):
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
        if self.begin is not None:
            now = time.process_time()
            seconds = max(_KERNEL_SECONDS if self.kernel else _SECONDS, _SHARE * (now - self.begin))
            self._end, self._end_of_rounding = now + seconds, now + 2 * seconds
        yield from self._further(composite)
        if self.open and composite.may_have_steps():
            yield from self._beside_steps(composite)

    def _draw(self, arguments: Arguments, kind: Kind, *, usual: bool = False, foreign: bool = False) -> Draw:
        self._number += 1
        return Draw(self._number, arguments, kind, usual, foreign)

    def _own(self, arguments: Arguments) -> Arguments:
        self._owned += 1
        return {**arguments, **self.constants[self._owned % len(self.constants)]} if self.constants else arguments

    def _further(self, composite: Calls) -> Iterator[Draw]:
        """Yields calls with other kinds of numbers and in other sizes, while there is time."""
        if self.open:
            kinds = [*composite.kinds(thorough=self.begin is None), *_OF_ROWS]
            if self.begin is None:
                kinds += [kind._replace(size=size) for kind in _OF_ROWS for size in _FURTHER_SIZES]
        else:
            kinds = [_NORMAL._replace(size=size) for size in _FURTHER_SIZES]
        if self.constants:
            kinds = [*kinds, _NORMAL]
        for number, kind in enumerate(kinds):
            size = composite.size(kind.size)
            while size > SIZES[-1] and self._elements(size) > _MOST_ELEMENTS:
                size = SIZES[-1]
            longer = max(1.0, self._elements(size) / max(self._elements(SIZES[-1]), _NO_TIME))
            if time.process_time() + self._seconds * longer > self._end:
                continue
            foreign = bool(self.constants) and number == len(kinds) - 1
            arguments = None if self.open else self.further(size)
            if arguments is None:
                arguments = self.drawn.draw(size, kind.manner)
            arguments = arguments if foreign else self._own(arguments)
            yield self._draw(arguments, kind._replace(size=size), foreign=foreign)

    def _beside_steps(self, composite: Calls) -> Iterator[Draw]:
        """Yields calls on both sides of steps of the composite's results."""
        longest = 0.0
        for number in range(_MOST_WAYS if self.begin is None else _WAYS):
            begin = time.process_time()
            if begin + longest > self._end:
                return
            kind = Kind(_AT_STEPS[0], Manner(), composite.size((3, 2, 3, 1)[number % 4]))
            one, other = (self._own(self.drawn.draw(kind.size, ends[number % len(ends)])) for ends in (_FROM, _TO))
            run = composite.body(kind.size, replaced=number % 2 == 1)
            with suppress(Exception):  # whatever a kernel raises: the composite does not take such numbers
                for place, arguments in enumerate([*beside_a_step(run, one, moved_in_part(one, other, number))]):
                    yield self._draw(arguments, kind._replace(name=_AT_STEPS[place // 2]))
            longest = max(longest, time.process_time() - begin)

    def _elements(self, size: int) -> int:
        return sum(math.prod(size if dim is None else dim for dim in kind.shape or ()) for kind in self.types)
