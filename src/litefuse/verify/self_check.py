"""The self-check of a fusion: the composite's body is the specification, and what replaces it must compute the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.engine.mlir import func, ir
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.fusions.composite import TensorType, tensor_type_of
from litefuse.pipeline.stages import Lowering
from litefuse.verify.inputs import random_inputs
from litefuse.verify.result import CheckResult, InputsOfSize
from litefuse.verify.standalone import StandaloneModel, standalone_model

__all__ = ["self_check"]

# Unknown dimensions get these sizes in turn; the third call on the same interpreter sees whether state is left over.
_SIZES = (1, 3, 3)


def self_check(
    module: ir.Module,
    composite: func.FuncOp,
    replacement: func.FuncOp,
    *,
    tolerance: float,
    inputs: InputsOfSize | None = None,
    lowering: Lowering | None = None,
    seed: int = 0,
) -> CheckResult:
    """Runs a composite and its replacement on the same random inputs in the stock runtime.

    Each runs three times in a row on one interpreter, with unknown dimensions of size 1, 3 and 3.

    Args:
        module: The module that holds both.
        composite: The annotated function with its own body.
        replacement: A function of the same arguments with the fused op.
        tolerance: The largest relative difference of float results that is allowed; others must be equal.
        inputs: Where the inputs come from, if the composite is not defined for any random values.
        lowering: How the module itself is lowered; None: as one without state or options.
        seed: The seed of the random inputs.
    """
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

    def values(size: int) -> Sequence[npt.NDArray[Any]] | str:
        given = inputs(size, np.random.default_rng(random.getrandbits(64))) if inputs is not None else None
        return given if given is not None else random_inputs(types, size, random)

    return _compare(expected, found, values, tolerance)


def _runner(model: StandaloneModel) -> Any:
    """A function that runs a model. The runtime is loaded here, and ours around it where kernels are to run."""
    if model.for_kernels:
        from litefuse.runtime.interpreter import Interpreter
    else:
        from ai_edge_litert.interpreter import Interpreter
    return Interpreter(model_content=model.content).get_signature_runner()


def _specifications(
    module: ir.Module, composite: func.FuncOp, types: Sequence[TensorType], lowering: Lowering | None
) -> dict[int, StandaloneModel]:
    """The composite as a model for each size of its unknown dimensions; one for all where that can be converted."""
    try:
        return dict.fromkeys(_SIZES, standalone_model(module, composite, lowering))
    except LitefuseError:  # as of ops that are lowered only if their sizes are known
        if any(kind.shape is None or None in kind.shape for kind in types):
            return {size: standalone_model(module, composite, lowering, size=size) for size in dict.fromkeys(_SIZES)}
        return dict.fromkeys(_SIZES, standalone_model(module, composite, lowering, size=1))


def _compare(
    specifications: Mapping[int, Any],
    fused: Any,
    inputs: Callable[[int], Sequence[npt.NDArray[Any]] | str],
    tolerance: float,
) -> CheckResult:
    worst = 0.0
    for size in _SIZES:
        found = _compare_once(specifications[size], fused, inputs(size))
        if isinstance(found, CheckResult):
            return found
        worst = max(worst, found)
    if worst > tolerance:
        return CheckResult(
            worst, f"it computes something else: the relative error is {worst:.2g}, and {tolerance:.0e} is allowed"
        )
    return CheckResult(worst)


def _compare_once(specification: Any, fused: Any, values: Sequence[npt.NDArray[Any]] | str) -> float | CheckResult:
    """The largest difference on one set of inputs, or why there is none."""
    if isinstance(values, str):
        return CheckResult(unchecked=values)
    named = {f"x{index}": value for index, value in enumerate(values)}
    try:
        expected = specification(**named)
    except (RuntimeError, ValueError) as error:
        return CheckResult(unchecked=f"the composite does not run on random inputs: {error}")
    try:
        found = fused(**named)
    except InterpreterError as error:  # a custom op without a kernel
        return CheckResult(unchecked=error.message)
    except (RuntimeError, ValueError) as error:
        return CheckResult(problem=f"the fused op does not run: {error}")
    worst = 0.0
    for name, value in expected.items():
        difference = _difference(found[name], value)
        if isinstance(difference, str):
            return CheckResult(problem=f"result {name[1:]} is {difference}")
        worst = max(worst, difference)
    return worst


def _difference(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float | str:
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype}{list(found.shape)}, the composite's {expected.dtype}{list(expected.shape)}"
    if not expected.size:
        return 0.0
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else float("inf")
    if not np.array_equal(np.isnan(found), np.isnan(expected)):
        return float("inf")
    if np.isnan(expected).all():
        return 0.0
    a, b = np.nan_to_num(found.astype(np.float64)), np.nan_to_num(expected.astype(np.float64))
    return float(np.max(np.abs(a - b)) / max(1.0, float(np.max(np.abs(b)))))


def _first_line(error: LitefuseError) -> str:
    return str(error).splitlines()[0].rstrip(":")
