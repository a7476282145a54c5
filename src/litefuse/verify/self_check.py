"""The self-check of a fusion: the composite's body is the specification; its replacement must compute the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.composites.outcome import CheckResult, CheckTerms
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.inputs.model_inputs import LEVELS, OTHER_NUMBERS, Manner
from litefuse.ir.mlir import func, ir
from litefuse.ir.types import TensorType, tensor_type_of
from litefuse.pipeline.stages import Lowering
from litefuse.verify.inputs import Arguments, DrawnArguments, reason_against
from litefuse.verify.standalone import StandaloneModel, standalone_model

__all__ = ["self_check"]

# The sizes of dynamic dimensions, in turn; the third call on the same interpreter shows whether state is left over.
_SIZES = (1, 3, 3)


def self_check(
    module: ir.Module,
    composite: func.FuncOp,
    replacement: func.FuncOp,
    terms: CheckTerms,
    *,
    lowering: Lowering | None = None,
    seed: int = 0,
) -> CheckResult:
    """Runs a composite and its replacement on the same inputs in the stock runtime.

    Each runs three times in a row on one interpreter, with dynamic dimensions of size 1, 3 and 3; then on other numbers
    while no result moves with its arguments; and once more to pick each row of the tables that arguments index, where
    that is cheap. The arguments are drawn from the composite's body, see ``litefuse.inputs``.

    Args:
        module: The module that holds both.
        composite: The annotated function with its own body.
        replacement: A function of the same arguments with the fused op.
        terms: The fusion's terms for the comparison.
        lowering: How the module itself is lowered; None: without state or options.
        seed: The seed of the random inputs.
    """
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
        expected = {size: runners[model] for size, model in specifications.items()}
        found = _runner(fused)
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
    for limit in LEVELS if None in fixed else LEVELS[:1]:
        drawn = DrawnArguments(specifications, results, random, Manner(limit, in_range=terms.ids_in_range))
        result = _compare(_Runs(expected, found, terms.open_results), drawn, fixed, terms.tolerance)
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


def _compare(
    runs: _Runs, drawn: DrawnArguments, given: Sequence[Arguments | None], tolerance: float
) -> CheckResult | str:
    """Compares the two; returns the message of the composite's model if it refuses the arguments.

    Args:
        runs: The two.
        drawn: Draws arguments.
        given: The arguments that the fusion gives, for each size; None where they are drawn.
        tolerance: The allowed difference.
    """
    worst = _Worst(0.0)

    def other_numbers() -> Iterator[tuple[int, Arguments]]:
        """Yields calls with other numbers while no result moves: such results would always pass."""
        for manner in OTHER_NUMBERS:
            if drawn.moving and not runs.moved(tolerance):
                yield _SIZES[-1], drawn.draw(_SIZES[-1], manner)

    calls = [(size, each or drawn.draw(size)) for size, each in zip(_SIZES, given, strict=True)]
    covering = ((_SIZES[0], each) for each in drawn.covering())
    for number, (size, arguments) in enumerate(chain(calls, *((other_numbers(), covering) if None in given else ()))):
        found = runs.once(size, arguments)
        if isinstance(found, str):
            if number < len(calls):
                return found
            continue  # the composite does not take such numbers
        if isinstance(found, CheckResult):
            return found
        worst = max(worst, found)
        if not worst.error <= tolerance:
            problem = f"the relative error{worst.result} is {worst.error:.2g}, and {tolerance:.0e} is allowed"
            return CheckResult(worst.error, f"it computes something else: {problem}")
    if None in given and drawn.moving and not runs.moved(tolerance):
        hint = "give others in check_inputs of the fusion"
        return CheckResult(unchecked=f"its results stand still on random inputs; {hint}")
    return CheckResult(worst.error)


class _Worst(NamedTuple):
    """The largest difference, and its result if there are several."""

    error: float
    result: str = ""


class _Runs:
    """Runs a composite and its replacement.

    Args:
        specifications: Runs the composite, for each size of unknown dimensions.
        fused: Runs the replacement.
        open_results: The indices of results of which only shape and dtype are compared.
    """

    def __init__(self, specifications: Mapping[int, Any], fused: Any, open_results: Collection[int]) -> None:
        self._open = {f"y{index}" for index in open_results}
        self._specifications = specifications
        self._fused = fused
        self._last: dict[str, tuple[int, npt.NDArray[Any]]] = {}
        self._movement = 0.0

    def moved(self, tolerance: float) -> bool:
        """Whether a result differed from one of its shape in the previous call, by more than is allowed."""
        return not self._movement <= tolerance

    def once(self, size: int, arguments: Arguments) -> _Worst | CheckResult | str:
        """Returns the largest difference, or why there is none; a text if the composite refuses the arguments."""
        try:
            expected = self._specifications[size](**arguments)
        except Exception as error:  # noqa: BLE001  whatever a kernel raises
            return str(error)
        try:
            found = self._fused(**arguments)
        except InterpreterError as error:  # a custom op without a kernel
            return CheckResult(unchecked=error.message)
        except Exception as error:  # noqa: BLE001  as above
            return CheckResult(problem=f"the fused op does not run: {error}")
        worst = _Worst(0.0)
        for name, value in expected.items():
            difference = _difference(found[name], value)
            if isinstance(difference, str):
                return CheckResult(problem=f"result {name[1:]} is {difference}")
            if name in self._open:
                continue
            which = f" of result {name[1:]} ({value.dtype}{list(value.shape)})" if len(expected) > 1 else ""
            worst = max(worst, _Worst(difference, which))
            last = self._last.get(name)
            if last is not None and (last[0] == size or last[1].shape == value.shape):
                movement = _difference(last[1], value)
                self._movement = max(self._movement, movement if isinstance(movement, float) else float("inf"))
            self._last[name] = size, np.array(value)
        return worst


def _difference(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float | str:
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype}{list(found.shape)}, the composite's {expected.dtype}{list(expected.shape)}"
    if not expected.size or np.array_equal(found, expected):
        return 0.0
    if expected.dtype.kind != "f":
        return float("inf")
    if not np.array_equal(np.isnan(found), np.isnan(expected)):
        return float("inf")
    finite = np.isfinite(expected)
    infinite = np.isinf(expected)
    if not np.array_equal(found[infinite], expected[infinite]) or np.isinf(found[finite]).any():
        return float("inf")
    if not finite.any():
        return 0.0
    a, b = found[finite].astype(np.float64), expected[finite].astype(np.float64)
    return float(np.max(np.abs(a - b)) / max(1.0, float(np.max(np.abs(b)))))


def _first_line(error: LitefuseError) -> str:
    return str(error).splitlines()[0].rstrip(":")
