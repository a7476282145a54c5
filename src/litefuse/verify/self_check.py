"""The self-check of a fusion: the composite's body is the specification; its replacement must compute the same."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.composites.outcome import CheckResult, CheckTerms
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.inputs.kinds import Kind, kinds_of
from litefuse.inputs.model_inputs import LEVELS, OTHER_NUMBERS, Manner
from litefuse.ir.mlir import func, ir
from litefuse.ir.types import TensorType, tensor_type_of
from litefuse.pipeline.stages import Lowering
from litefuse.verify.call_site import asks_for_nan, constant_arguments
from litefuse.verify.elements import Elements, elements
from litefuse.verify.inputs import Arguments, DrawnArguments, reason_against
from litefuse.verify.standalone import StandaloneModel, standalone_model
from litefuse.verify.steps import HALVINGS, beside_a_step, may_have_steps

if TYPE_CHECKING:
    from litefuse.verify.rounding import Rounding

__all__ = ["self_check"]

# The sizes of dynamic dimensions, in turn; the third call on the same interpreter shows whether state is left over.
_SIZES = (1, 3, 3)
# Those for which a fusion is asked for further inputs: they grow and shrink.
_GIVEN_SIZES = (130, 2, 3, 1)
# Draws beyond these calls take this share of the time that the check took until then, or so many seconds, or
# more for kernels: nobody but the check reads their code.
_SHARE, _SECONDS = 0.25, 0.01
_KERNEL_SECONDS = 0.2
# So many ways are searched for steps, in such manners at their ends.
_WAYS, _MOST_WAYS = 6, 24
_ENDS = tuple(product((Manner(), Manner(scale=10)), (Manner(), Manner(scale=0), Manner(scale=10), Manner(scale=0.1))))
# More elements of all arguments are drawn with a smaller size.
_MOST_ELEMENTS = 1 << 17
# A call with so many takes no longer than one with fewer.
_NO_TIME = 1 << 12
_NORMAL = Kind("normal numbers", Manner(), 3)


def self_check(
    module: ir.Module,
    composite: func.FuncOp,
    replacement: func.FuncOp,
    terms: CheckTerms,
    *,
    lowering: Lowering | None = None,
    seed: int = 0,
    thorough: bool = False,
) -> CheckResult:
    """Runs a composite and its replacement on the same inputs in the stock runtime.

    Each runs three times in a row on one interpreter, with dynamic dimensions of size 1, 3 and 3; then on other numbers
    while no result moves with its arguments; once more to pick each row of the tables that arguments index, where
    that is cheap; and then on other kinds of numbers, in sizes that grow and shrink, see ``litefuse.inputs.kinds``, and
    on both sides of steps, see ``litefuse.verify.steps``, as long as these take no more than a quarter of the
    processor's time until then, or 10 ms, or 200 ms for kernels. The arguments are drawn from
    the composite's body, see ``litefuse.inputs``; those that are constants at all of its calls are these constants.

    Each element of a float result may differ by the tolerance, relative to the element, or to what the operations
    behind it move it by where each of them is moved relatively, see ``litefuse.verify.rounding``.

    Args:
        module: The module that holds both.
        composite: The annotated function with its own body.
        replacement: A function of the same arguments with the fused op.
        terms: The fusion's terms for the comparison.
        lowering: How the module itself is lowered; None: without state or options.
        seed: The seed of the random inputs.
        thorough: Whether all kinds are drawn in all sizes, however long that takes.
    """
    begin = time.process_time()
    if len(terms.open_results) == len(composite.type.results) > 0:
        return CheckResult(unchecked="the values of all its results are left open")
    types = [tensor_type_of(kind) for kind in composite.type.inputs]
    try:
        specifications = _specifications(module, composite, types, lowering)
    except LitefuseError as error:
        return CheckResult(unchecked=f"the composite cannot be converted alone: {_first_line(error)}")
    try:
        fused = standalone_model(module, replacement, lowering)
    except LitefuseError as error:
        return CheckResult(problem=f"the fused op cannot be converted alone: {_first_line(error)}")
    try:
        runners = {model: _runner(model) for model in {*specifications.values()}}
        bodies = {size: _Body(model, runners[model]) for size, model in specifications.items()}
        found = _Body(fused, _runner(fused))
    except (LitefuseError, RuntimeError, ValueError) as error:
        return CheckResult(unchecked=f"the runtime does not load it: {error}")
    random = Random(seed)

    def given(size: int) -> Arguments | None:
        if terms.inputs is None:
            return None
        values = terms.inputs(size, np.random.default_rng(random.getrandbits(64)))
        return None if values is None else {f"x{index}": value for index, value in enumerate(values)}

    fixed = [given(size) for size in _SIZES]
    for size, arguments in zip(_SIZES, fixed, strict=True):
        if arguments is None and (reason := reason_against(types, size)) is not None:
            return CheckResult(unchecked=reason)
    results = [tensor_type_of(kind) for kind in composite.type.results]
    result = CheckResult()
    asks = asks_for_nan(module, composite)
    own = constant_arguments(module, composite) if None in fixed else []
    for constants, limit in product((own, []) if own else ([],), LEVELS if None in fixed else LEVELS[:1]):
        drawn = DrawnArguments(specifications, results, random, Manner(limit, in_range=terms.ids_in_range))
        seconds = _KERNEL_SECONDS if fused.for_kernels else _SECONDS
        draws = _Draws(drawn, types, fixed, given, constants, None if thorough else begin, seconds)
        result = _compare(_Runs(bodies, found, terms, asks_for_nan=asks), draws)
        if not isinstance(result, str):
            return result
    return CheckResult(unchecked=f"the composite does not run on random inputs: {result}")


def _runner(model: StandaloneModel) -> Any:
    """Returns a function that runs a model; loads the runtime, with litefuse's wrapper if kernels are to run."""
    if model.for_kernels:
        from litefuse.runtime.interpreter import Interpreter
    else:
        from ai_edge_litert.interpreter import Interpreter
    return Interpreter(model_content=model.content).get_signature_runner()


def _specifications(
    module: ir.Module, composite: func.FuncOp, types: Sequence[TensorType], lowering: Lowering | None
) -> dict[int, StandaloneModel]:
    """Returns the composite as a model for each size of dynamic dimensions; one for all if that can be converted."""
    try:
        return dict.fromkeys(_SIZES, standalone_model(module, composite, lowering))
    except LitefuseError:  # as of ops that are lowered only with static shapes
        if any(kind.shape is None or None in kind.shape for kind in types):
            return {size: standalone_model(module, composite, lowering, size=size) for size in dict.fromkeys(_SIZES)}
        return dict.fromkeys(_SIZES, standalone_model(module, composite, lowering, size=1))


class _Draw(NamedTuple):
    """The arguments of a call.

    Attributes:
        arguments: The arguments.
        kind: The kind of numbers, and the size of dynamic dimensions.
        usual: Whether the composite has to take them.
        foreign: Whether constants of the composite's calls have other values.
    """

    arguments: Arguments
    kind: Kind
    usual: bool = False
    foreign: bool = False


class _Draws:
    """Draws the arguments of all calls.

    Args:
        drawn: Draws arguments.
        types: Their types.
        fixed: The arguments that the fusion gives, for each of ``_SIZES``; None where they are drawn.
        given: Returns them for other sizes.
        constants: For each call of the composite in the module, the arguments that are constants there.
        begin: When the check began; None: it may take as long as it likes.
        seconds: The least time that further calls take.
    """

    def __init__(
        self,
        drawn: DrawnArguments,
        types: Sequence[TensorType],
        fixed: Sequence[Arguments | None],
        given: Callable[[int], Arguments | None],
        constants: Sequence[Arguments],
        begin: float | None,
        seconds: float,
    ) -> None:
        self.drawn = drawn
        self._types = types
        self._fixed = fixed
        self._given = given
        self._constants = constants
        self._begin = begin
        self._least = seconds
        self._count = 0
        self._seconds = math.inf

    @property
    def open(self) -> bool:
        """Whether all numbers are random."""
        return None in self._fixed

    def _own(self, arguments: Arguments) -> Arguments:
        self._count += 1
        return {**arguments, **self._constants[self._count % len(self._constants)]} if self._constants else arguments

    def each(self, runs: _Runs) -> Iterator[_Draw]:
        """Yields the calls, one after the other."""
        for size, arguments in zip(_SIZES, self._fixed, strict=True):
            begin = time.process_time()
            drawn = self._own(self.drawn.draw(size)) if arguments is None else arguments
            yield _Draw(drawn, _NORMAL._replace(size=size), usual=True)
            self._seconds = min(self._seconds, time.process_time() - begin)
        if self.open:
            for manner in OTHER_NUMBERS:  # while no result moves: such results would always pass
                if self.drawn.moving and not runs.moved:
                    name = "equal numbers" if manner.constant else f"numbers times {manner.scale:g}"
                    drawn = self._own(self.drawn.draw(_SIZES[-1], manner))
                    yield _Draw(drawn, Kind(name, manner, _SIZES[-1]))
            for arguments in self.drawn.covering():
                yield _Draw(self._own(arguments), Kind("the rows of its tables", Manner(covering=True), _SIZES[0]))
        yield from self._further(runs)

    def _further(self, runs: _Runs) -> Iterator[_Draw]:
        """Yields calls with other kinds of numbers and in other sizes, while there is time."""
        now = time.process_time()
        end = math.inf if self._begin is None else now + max(self._least, _SHARE * (now - self._begin))
        if self.open:
            further = runs.kinds(thorough=self._begin is None)
        else:
            further = [_NORMAL._replace(size=size) for size in _GIVEN_SIZES]
        if self._constants:
            further = [*further, _NORMAL]
        for number, kind in enumerate(further):
            size = runs.size(kind.size)
            while size > _SIZES[-1] and self._elements(size) > _MOST_ELEMENTS:
                size = _SIZES[-1]
            longer = max(1.0, self._elements(size) / max(self._elements(_SIZES[-1]), _NO_TIME))
            if time.process_time() + self._seconds * longer > end:
                continue
            foreign = bool(self._constants) and number == len(further) - 1
            arguments = None if self.open else self._given(size)
            if arguments is None:
                arguments = self.drawn.draw(size, kind.manner)
            yield _Draw(arguments if foreign else self._own(arguments), kind._replace(size=size), foreign=foreign)

        if self.open and runs.may_have_steps():
            yield from self._beside_steps(runs, end)

    def _beside_steps(self, runs: _Runs, end: float) -> Iterator[_Draw]:
        """Yields calls on both sides of steps of the composite's results."""
        for number in range(_MOST_WAYS if self._begin is None else _WAYS):
            kind = Kind("numbers beside a step", Manner(), runs.size((3, 2, 1)[number % 3]))
            first, last = _ENDS[number % len(_ENDS)]
            one, other = (self._own(self.drawn.draw(kind.size, manner)) for manner in (first, last))
            begin = time.process_time()
            if begin + 2 * HALVINGS * self._seconds > end:
                return
            try:
                calls = list(beside_a_step(runs.body(kind.size), one, other))
            except Exception:  # noqa: BLE001  whatever a kernel raises: the composite does not take such numbers
                continue
            yield from (_Draw(arguments, kind) for arguments in calls)

    def _elements(self, size: int) -> int:
        return sum(math.prod(size if dim is None else dim for dim in kind.shape or ()) for kind in self._types)


def _compare(runs: _Runs, draws: _Draws) -> CheckResult | str:
    """Compares the two; returns the message of the composite's model if it refuses the arguments."""
    worst, notes = 0.0, dict[str, None]()
    for number, draw in enumerate(draws.each(runs)):
        where = f"with {draw.kind.name} (call {number + 1}, size {draw.kind.size})"
        found = runs.once(draw)
        if isinstance(found, str):
            if draw.usual:
                return found
            continue  # the composite does not take such numbers
        if isinstance(found, CheckResult):
            if not draw.foreign:
                return found if found.problem is None else found._replace(problem=f"{found.problem}, {where}")
            continue
        if not found.elements.error <= runs.terms.tolerance:
            error = found.elements.error
            problem = f"the relative error{found.result} is {error:.2g}, and {runs.terms.tolerance:.0e} is allowed: "
            problem += f"{found.elements.place}, {where}"
            if not draw.foreign:
                return CheckResult(error, f"it computes something else: {problem}")
            notes[f"with other constants than the model's, {problem}"] = None
            continue
        if found.elements.undefined:
            notes[f"{found.elements.undefined}{found.result}, {where}"] = None
        worst = max(worst, found.elements.error)
    if draws.open and draws.drawn.moving and not runs.moved:
        hint = "give others in check_inputs of the fusion"
        return CheckResult(unchecked=f"its results stand still on random inputs; {hint}")
    return CheckResult(worst, note=next(iter(notes), None))


class _Worst(NamedTuple):
    """The largest error of a call, and its result if there are several."""

    elements: Elements
    result: str = ""


class _Body(NamedTuple):
    """The composite, or its replacement, as a model, and what runs it."""

    model: StandaloneModel
    run: Any


class _Runs:
    """Runs a composite and its replacement.

    Args:
        bodies: The composite, for each size of unknown dimensions: one for all, or several.
        fused: The replacement.
        terms: The terms of the comparison.
        asks_for_nan: Whether the composite tells NaN and infinities from numbers.

    Attributes:
        moved: Whether a result differed from one of its shape in the previous call, by more than is allowed.
    """

    def __init__(self, bodies: Mapping[int, _Body], fused: _Body, terms: CheckTerms, *, asks_for_nan: bool) -> None:
        self.terms = terms
        self.moved = False
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

    def body(self, size: int) -> Callable[[Arguments], Arguments]:
        """Returns a function that runs the composite."""
        run = self._body(size).run
        return lambda arguments: {name: np.array(value) for name, value in run(**arguments).items()}

    def may_have_steps(self) -> bool:
        """Whether results of the composite may jump."""
        return may_have_steps(self._body(_SIZES[-1]).model.content)

    def kinds(self, *, thorough: bool) -> list[Kind]:
        """Returns further kinds of numbers to draw."""
        return kinds_of(self._body(_SIZES[-1]).model.content, thorough=thorough)

    def _body(self, size: int) -> _Body:
        return self._bodies.get(size, self._bodies[_SIZES[0]])

    def once(self, draw: _Draw) -> _Worst | CheckResult | str:
        """Returns the largest error, or why there is none; a text if the composite refuses the arguments."""
        body = self._body(draw.kind.size)
        try:
            expected = body.run(**draw.arguments)
        except Exception as error:  # noqa: BLE001  whatever a kernel raises
            return str(error)
        try:
            found = self._fused.run(**draw.arguments)
        except InterpreterError as error:  # a custom op without a kernel
            return CheckResult(unchecked=error.message)
        except Exception as error:  # noqa: BLE001  as above
            if draw.kind.undefined:
                return str(error)
            if self.terms.kernel:  # which may know of its inputs what its body does not say
                return CheckResult(unchecked=f"its kernel does not run on random inputs: {error}")
            return CheckResult(problem=f"the fused op does not run: {error}")
        resized = any(found[name].shape != value.shape for name, value in expected.items())
        if resized and self._resizes(body, draw.arguments, expected):
            return _Worst(Elements(0.0))
        for name, value in expected.items():
            if (found[name].dtype, found[name].shape) != (value.dtype, value.shape):
                made, wanted = (f"{each.dtype}{list(each.shape)}" for each in (found[name], value))
                return CheckResult(problem=f"result {name[1:]} is {made}, the composite's {wanted}")
        self._note_movement(expected)
        worst = _Worst(Elements(0.0))
        for name, (value, difference) in self._differences(body, draw, found, expected).items():
            which = f" of result {name[1:]} ({value.dtype}{list(value.shape)})" if len(expected) > 1 else ""
            if difference.undefined and not worst.elements.undefined:
                worst = worst._replace(elements=worst.elements._replace(undefined=difference.undefined))
            if difference.error > worst.elements.error:
                worst = _Worst(difference._replace(undefined=worst.elements.undefined), which)
        return worst

    def _differences(
        self, body: _Body, draw: _Draw, found: Arguments, expected: Arguments
    ) -> dict[str, tuple[npt.NDArray[Any], Elements]]:
        compared = {name: (value, elements(found[name], value)) for name, value in expected.items()}
        compared = {name: each for name, each in compared.items() if name not in self._open}
        if any(each.error > self.terms.tolerance for _, each in compared.values()):
            compared = self._rounded(body, draw, found, expected, compared)
        strict = draw.usual or (draw.kind.undefined and self._asks_for_nan)
        for name, (value, each) in compared.items():
            if strict and each.undefined:
                compared[name] = value, Elements(float("inf"), each.undefined)
            elif draw.kind.undefined and not strict and each.error > self.terms.tolerance:
                compared[name] = value, Elements(0.0, undefined=each.place)
        return compared

    def _rounded(
        self,
        body: _Body,
        draw: _Draw,
        found: Arguments,
        expected: Arguments,
        compared: dict[str, tuple[npt.NDArray[Any], Elements]],
    ) -> dict[str, tuple[npt.NDArray[Any], Elements]]:
        """Returns the errors relative to what the operations of the body are relative to, or of the fused op."""
        spread: Arguments = {}
        # Kernels compute in one step, and some give other numbers each time.
        moved = [(body, expected)] if self._fused.model.for_kernels else [(body, expected), (self._fused, None)]
        for many, (function, results) in product((False, True), moved):
            rounding = self._rounding(function)
            more = rounding.spread(draw.arguments, results, many=many)
            for name, (value, each) in compared.items():
                if each.error > self.terms.tolerance and more is not None:
                    spread[name] = np.maximum(spread.get(name, 0.0), more[name])
                    if rounding.of_arguments and not draw.usual and self.may_have_steps():
                        spread[name] = np.full(value.shape, np.inf)  # of what saturates inside, any may come first
                    compared[name] = value, elements(found[name], value, spread[name])
            if all(each.error <= self.terms.tolerance for _, each in compared.values()):
                break
        return compared

    def _rounding(self, function: _Body) -> Rounding:
        from litefuse.verify.rounding import Rounding  # few comparisons need it, and the schema that it loads

        if function.model not in self._roundings:
            self._roundings[function.model] = Rounding(*function)
        return self._roundings[function.model]

    def _resizes(self, body: _Body, arguments: Arguments, expected: Arguments) -> bool:
        """Whether the shape of a result depends on rounding, such as the count of what is above a threshold."""
        rounding = self._rounding(body)
        return any(
            rounding.spread(arguments, expected, many=many) is not None and rounding.resized for many in (False, True)
        )

    def _note_movement(self, expected: Arguments) -> None:
        for name, value in expected.items():
            last = self._last.get(name)
            if name not in self._open and last is not None and (last.shape, last.dtype) == (value.shape, value.dtype):
                difference = elements(last, value)
                self.moved |= difference.error > self.terms.tolerance or bool(difference.undefined)
            self._last[name] = np.array(value)


def _first_line(error: LitefuseError) -> str:
    return str(error).splitlines()[0].rstrip(":")
