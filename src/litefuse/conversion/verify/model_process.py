"""Calls LiteRT models for a verification, in a child process: a crash stays in that process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.dataset import Samples
from litefuse.conversion.quantization.samples import calls_by_specs, kind_of_calls
from litefuse.conversion.verify.converted import ConvertedModel
from litefuse.conversion.verify.drawn_rounds import Kinds, Plan, drawn_rounds
from litefuse.conversion.verify.original import Arrays, Call
from litefuse.conversion.verify.verification import Coverage
from litefuse.errors import LitefuseError
from litefuse.litert.cpp.compiler import is_sanitized, sanitizer_environment
from litefuse.litert.inputs.kinds import keeps_state, kinds_of, work_of
from litefuse.litert.inputs.model_inputs import ModelInputs, Tables
from litefuse.litert.runtime.custom_op import CustomOp
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.input_specs import InputSpec, fit_inputs
from litefuse.litert.runtime.loading import load_kernels
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.transfer import unpickle_kernels
from litefuse.support.processes.process import run_model

#: The function to run in the process of a model.
MODEL = "litefuse.conversion.verify.model_process:call_model"

_NONE = Tables()
# So many runs are moved for a call, and so many numbers in all together.
_RUNS = 12
_MOST_MOVES = 1 << 24


@dataclass(frozen=True)
class ModelJob:
    """The job of the process: the model to call, and its inputs.

    Attributes:
        model: The model's file, or its content.
        signatures: The keys of the signatures to call; None for all.
        custom_ops: Kernels to use before all others: pickled classes, and paths of libraries.
        registered: The kernels that the caller registered, pickled, by their ops.
        kernel_modules: Files and modules that register more of them.
        rounds: The calls; None: those of ``inputs``, or drawn ones.
        inputs: The inputs of one signature; each is for ``times`` calls.
        samples: Samples of all signatures; each is for one call.
        times: How often each signature is called with each of the inputs, or with drawn ones.
        seed: The seed of drawn inputs.
        shapes: Shapes of drawn inputs by their names.
        tolerance: How far outputs have to move, if inputs are drawn.
        seconds: How long the calls that are there to reach every row of tables may take.
        level: The first of the levels at which inputs are drawn, see ``litefuse.litert.inputs``.
        tables: The contents of the original's tables.
        delegates: Whether LiteRT may use its default delegates, which is XNNPACK.
        kinds: Whether further kinds of numbers are drawn.
        moves: What moves by rounding, if the result is how far that moves the outputs of the only round: ``ops``, or
            ``all``: arguments as well, where ops cannot be moved.
    """

    model: str | bytes
    signatures: tuple[str, ...] | None = None
    custom_ops: tuple[bytes | str, ...] = ()
    registered: Mapping[str, bytes] | None = None
    kernel_modules: tuple[str, ...] = ()
    rounds: tuple[tuple[Call, ...], ...] | None = None
    inputs: tuple[Arrays, ...] | None = None
    samples: Samples | None = None
    times: int = 1
    seed: int = 0
    shapes: Mapping[str, tuple[int, ...]] | None = None
    tolerance: float = 1e-4
    seconds: float = 120.0
    level: int = 0
    tables: Tables = _NONE
    delegates: bool = True
    kinds: bool = False
    moves: Literal["ops", "all"] | None = None

    @property
    def is_given(self) -> bool:
        """Whether inputs are given, not drawn."""
        return self.inputs is not None or self.samples is not None

    def load_kernels(self) -> list[type[CustomOp] | str]:
        """Registers the kernels of the caller; returns those to use before all others.

        Raises:
            LitefuseError: One cannot be imported.
        """
        unpickle_kernels(self.registered or {})
        load_kernels(self.kernel_modules)
        return [kernel if isinstance(kernel, str) else pickle.loads(kernel) for kernel in self.custom_ops]


class ModelCalls(NamedTuple):
    """The calls and their outputs.

    Attributes:
        rounds: The calls; each round begins with the initial state of the model.
        results: The model's outputs for each call.
        outputs: The names of each signature's outputs.
        moving: Those that depend on inputs.
        coverage: How many rows and words drawn inputs reached.
        limit: The exclusive upper bound of drawn integers, if the model takes nothing else.
        beyond: Calls not made yet that pick rows that only the original has, and a description of each.
        dtypes: The dtypes of quantized outputs, by signature and name.
        samples: The kind of the samples that were given; empty without.
    """

    rounds: list[list[Call]]
    results: list[list[Arrays]]
    outputs: dict[str, tuple[str, ...]]
    moving: dict[str, frozenset[str]]
    coverage: tuple[Coverage, ...] = ()
    limit: int | None = None
    beyond: tuple[tuple[Call, str], ...] = ()
    dtypes: Mapping[tuple[str, str], str] = MappingProxyType({})
    samples: str = ""


def call_model(job: ModelJob, announce: Callable[[str], None]) -> ModelCalls:
    """Loads the model and calls it.

    Raises:
        LitefuseError: A kernel cannot be imported, or the model cannot be loaded or called.
    """
    if job.registered or job.kernel_modules or job.custom_ops:
        announce("import the kernels")
    custom_ops = job.load_kernels()
    announce("load the model")
    converted = ConvertedModel(job.model, job.signatures, custom_ops, announce, delegates=job.delegates)
    samples = ""
    if job.rounds is not None:
        rounds = [list(calls) for calls in job.rounds]
    elif job.samples is not None:
        sampled = calls_by_specs(job.samples, converted.every_spec(), converted.specs, job.model)
        samples = kind_of_calls(sampled)
        rounds = [[Call(key, inputs) for key, of_signature in sampled.items() for inputs in of_signature]]
    elif job.inputs is not None:
        rounds = [_given_calls(converted.specs, job.inputs, job.times)]
    else:
        inputs = _model_inputs(job.model)
        inputs.widen(job.tables)
        plan = Plan(job.times, job.seed, job.shapes or {}, job.tolerance, job.seconds, job.level, job.tables)
        with content_of(job.model) as content:
            nan = job.tables.asks_for_nan or inputs.tables.asks_for_nan
            plan = plan._replace(kinds=_kinds(content, job.tables.numbers, nan=nan) if job.kinds else None)
            drawn = drawn_rounds(converted, inputs, plan)
        announce("close the model")
        return ModelCalls(
            drawn.rounds,
            drawn.results,
            converted.outputs,
            inputs.moving,
            drawn.coverage,
            drawn.limit,
            drawn.beyond,
            converted.dtypes,
        )
    outputs = [_moved(job, converted, custom_ops)] if job.moves else [*map(converted.call, rounds)]
    announce("close the model")
    moving = _model_inputs(job.model).moving
    return ModelCalls(rounds, outputs, converted.outputs, moving, dtypes=converted.dtypes, samples=samples)


def _kinds(content: Any, numbers: Iterable[float], *, nan: bool) -> Kinds:
    """Returns further kinds of numbers; NaN is one where a model asks for it: others give what their kernels give."""
    model = Model(content)
    kinds = [kind for kind in kinds_of(content, numbers=numbers) if nan or not kind.undefined]
    return Kinds(kinds, work_of(model), keeps_state(model))


def _moved(job: ModelJob, converted: ConvertedModel, custom_ops: Sequence[type[CustomOp] | str]) -> list[Arrays]:
    """Returns how far rounding moves the outputs of calls, see ``Rounding.spread``."""
    from litefuse.conversion.verify.moves import Move
    from litefuse.conversion.verify.rounding import Rounding  # few models need it, and the schema that it loads

    calls = job.rounds[0] if job.rounds else ()
    made: list[Call] = []
    with content_of(job.model) as content:
        stateful = keeps_state(Model(content))

        def runs(model: ConvertedModel) -> Callable[..., Arrays]:
            run = model.new_round()

            def again(**inputs: npt.NDArray[Any]) -> Arrays:
                call = made[-1]._replace(inputs=inputs, kind=None)
                return model.call([*made[:-1], call])[-1] if stateful else run(call)

            return again

        def load(copy: bytes) -> Callable[..., Arrays]:
            return runs(ConvertedModel(copy, job.signatures, [Move, *custom_ops], delegates=job.delegates))

        Move.left = _MOST_MOVES
        run = runs(converted)
        rounding = Rounding(content, run if job.moves == "all" else None, load, timed=False)
        spreads: list[Arrays] = []
        for call in calls:
            made.append(call)
            spread: Arrays = {}
            for moved in islice(rounding.spreads(call.inputs, run(**call.inputs)), _RUNS):
                spread = moved
            if rounding.resized or rounding.any_may_come_first:
                spread = dict.fromkeys(spread, np.array(np.inf))  # of what saturates inside, any may come first
            spreads.append(spread)
    return spreads


def _given_calls(specs: Mapping[str, Sequence[InputSpec]], given: Iterable[Arrays], times: int) -> list[Call]:
    if len(specs) > 1:
        raise LitefuseError("inputs are for one signature", hint=f"Name it; the model has {', '.join(specs)}.")
    key, of_signature = next(iter(specs.items()))
    calls: list[Call] = []
    for inputs in given:
        calls += [Call(key, fit_inputs(inputs, of_signature, "the inputs lack", "inputs"))] * times
    return calls


def _model_inputs(model: str | bytes) -> ModelInputs:
    return ModelInputs(model) if isinstance(model, bytes) else ModelInputs.of_file(model)


def run_job(job: ModelJob, where: str, announce: Callable[[str], None] = lambda _: None) -> ModelCalls:
    """Calls a model in a process, which loads libraries that were built with the address sanitizer, too.

    Raises:
        ModelCrashError: The process died.
        LitefuseError: A kernel cannot be imported, or the model cannot be loaded or called.
    """
    kernels = (*job.custom_ops, *job.kernel_modules)
    return cast("ModelCalls", run_with_kernels(MODEL, job, where, kernels, announce))


def run_with_kernels(
    target: str,
    argument: object,
    where: str,
    kernels: Iterable[bytes | str],
    announce: Callable[[str], None] = lambda _: None,
) -> Any:
    """Runs a function in a process for models, see ``run_model``, with the environment that the kernels need.

    Args:
        target: The function, as ``package.module:function``.
        argument: Its argument.
        where: The model, for messages.
        kernels: The kernels that the function loads: pickled classes, paths of libraries, files and modules.
        announce: Called here with each step that the function announces there.

    Raises:
        ModelCrashError: The process died.
        LitefuseError: The error that the function raised.
    """
    libraries = [kernel for kernel in kernels if isinstance(kernel, str)]
    environment = sanitizer_environment() if any(map(is_sanitized, libraries)) else None
    return run_model(target, argument, where, announce, environment=environment)
