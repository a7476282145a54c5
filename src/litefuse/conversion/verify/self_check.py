"""The self-check of a fusion: the composite's body is the specification; its replacement must compute the same."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any

import numpy as np

from litefuse.conversion.pipeline.lowering import Lowering
from litefuse.conversion.verify.check_calls import SIZES, Body, Call, Calls, Refusal, first_line, in_one_line
from litefuse.conversion.verify.check_draws import (
    JUDGED_FIRST,
    DrawnArguments,
    Draws,
    asks_for_nan,
    constant_arguments,
    reason_against,
)
from litefuse.conversion.verify.standalone import StandaloneModel, standalone_model
from litefuse.conversion.verify.steps import Arguments
from litefuse.errors import LitefuseError
from litefuse.fusions.composites.outcome import CheckResult, CheckTerms
from litefuse.ir.mlir import func, ir
from litefuse.ir.types import TensorType, tensor_type_of
from litefuse.litert.inputs.model_inputs import LEVELS, Manner


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
    that is cheap; and then on other kinds of numbers, in sizes that grow and shrink, see ``inputs.kinds``, and
    on both sides of steps, see ``verify.steps``, as long as these take no more than a quarter of the
    processor's time until then, or 10 ms, or a second for kernels. The arguments are drawn from
    the composite's body, see ``litert.inputs``; those that are constants at all of its calls are these constants.

    Each element of a float result may differ by the tolerance, relative to the element, or to what the operations
    behind it move it by where each of them is moved relatively, see ``litefuse.conversion.verify.rounding``.

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
        specifications = _specifications(module, composite, types, lowering, terms.kernel)
    except LitefuseError as error:
        return CheckResult(unchecked=f"the composite cannot be converted alone: {first_line(error)}")
    try:
        fused = standalone_model(module, replacement, lowering)
    except LitefuseError as error:
        return CheckResult(problem=f"the fused op cannot be converted alone: {first_line(error)}")
    try:
        runners = {model: _runner(model) for model in {*specifications.values()}}
        bodies = {size: Body(model, runners[model]) for size, model in specifications.items()}
        replaced = Body(fused, _runner(fused))
    except (LitefuseError, RuntimeError, ValueError) as error:
        return CheckResult(unchecked=f"the runtime does not load it: {in_one_line(error)}")
    random = Random(seed)

    def given(size: int) -> Arguments | None:
        if terms.inputs is None:
            return None
        values = terms.inputs(size, np.random.default_rng(random.getrandbits(64)))
        return None if values is None else {f"x{index}": value for index, value in enumerate(values)}

    fixed = [given(size) for size in SIZES]
    for size, arguments in zip(SIZES, fixed, strict=True):
        if arguments is None and (reason := reason_against(types, size)) is not None:
            return CheckResult(unchecked=reason)
    results = [tensor_type_of(kind) for kind in composite.type.results]
    refusals: list[Refusal] = []
    asks = asks_for_nan(module, composite)
    own = constant_arguments(module, composite) if None in fixed else []
    for constants, limit in product((own, []) if own else ([],), LEVELS if None in fixed else LEVELS[:1]):
        drawn = DrawnArguments(specifications, results, random, Manner(limit, in_range=terms.ids_in_range))
        draws = Draws(drawn, types, fixed, given, constants, None if thorough else begin, fused.for_kernels)
        result = _compare(Calls(bodies, replaced, terms, asks_for_nan=asks, timed=not thorough), draws)
        if isinstance(result, CheckResult):
            refused = next((refusal.text for refusal in refusals if refusal.of_kernel), None)
            return result._replace(note=refused or result.note)
        refusals.append(result)
    return CheckResult(unchecked=refusals[0].text)


def _runner(model: StandaloneModel) -> Any:
    """Returns a function that runs a model; loads the runtime, with litefuse's wrapper if kernels are to run."""
    if model.for_kernels:
        from litefuse.litert.runtime.interpreter import Interpreter
    else:
        from ai_edge_litert.interpreter import Interpreter
    return Interpreter(model_content=model.content).get_signature_runner()


def _specifications(
    module: ir.Module, composite: func.FuncOp, types: Sequence[TensorType], lowering: Lowering | None, kernel: str
) -> dict[int, StandaloneModel]:
    """Returns the composite as a model for each size of dynamic dimensions; one for all if that can be converted."""

    def of_size(size: int | None = None) -> StandaloneModel:
        return standalone_model(module, composite, lowering, size=size, without=kernel)

    try:
        return dict.fromkeys(SIZES, of_size())
    except LitefuseError:  # as of ops that are lowered only with static shapes
        if any(kind.shape is None or None in kind.shape for kind in types):
            return {size: of_size(size) for size in dict.fromkeys(SIZES)}
        return dict.fromkeys(SIZES, of_size(1))


def _compare(calls: Calls, draws: Draws) -> CheckResult | Refusal:
    """Compares the two; returns the refusal if one of them does not take arguments that it has to take."""
    worst, notes = 0.0, dict[str, None]()

    def verdict(call: Call) -> CheckResult:
        nonlocal worst
        if not calls.agrees(call):
            calls.allow_for_rounding(call)
        result, place = calls.verdict(call), call.draw.place
        if result.note is not None:
            notes[f"{result.note}, {place}"] = None
        if result.problem is None:
            worst = max(worst, result.error or 0.0)
        elif call.draw.foreign:
            notes[f"with other constants than the model's, {result.problem}, {place}"] = None
        else:
            return result._replace(problem=f"it computes something else: {result.problem}, {place}")
        return CheckResult()

    differing: list[Call] = []
    for draw in draws.calls(calls):
        call = calls.once(draw)
        if isinstance(call, Refusal):
            if draw.usual:
                return call
            if call.of_kernel and not draw.foreign:
                notes[f"{call.text}, {draw.place}"] = None
            continue  # the composite does not take such numbers
        if isinstance(call, CheckResult):
            if not draw.foreign:
                return call if call.problem is None else call._replace(problem=f"{call.problem}, {draw.place}")
            continue
        if not calls.agrees(call) and not draw.usual:
            differing.append(call)  # to see what rounding allows takes longer than a call
            continue
        if (result := verdict(call)).problem is not None:
            return result
    for call in sorted(differing, key=lambda call: [*JUDGED_FIRST, call.draw.kind.name].index(call.draw.kind.name)):
        if draws.in_time() and (result := verdict(call)).problem is not None:
            return result
    if draws.open and draws.drawn.moving and not calls.moved:
        return CheckResult(unchecked="its results do not change on random inputs; give others in check_inputs")
    return CheckResult(worst, note=next(iter(notes), None))
