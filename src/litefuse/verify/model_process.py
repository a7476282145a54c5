"""Entry point of the child process that calls LiteRT models for a verification: a crash stays in that process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from litefuse.errors import LitefuseError
from litefuse.inputs.model_inputs import ModelInputs
from litefuse.inputs.tables import Tables
from litefuse.quantization.dataset import Samples
from litefuse.quantization.samples import calls_by_specs
from litefuse.runtime.custom_op import CustomOp
from litefuse.runtime.inputs import InputSpec, fit_inputs
from litefuse.runtime.loading import load_kernels
from litefuse.runtime.transfer import unpickle_kernels
from litefuse.verify.converted import ConvertedModel
from litefuse.verify.coverage import Coverage
from litefuse.verify.drawn_rounds import Plan, drawn_rounds
from litefuse.verify.original import Arrays, Call

__all__ = ["MODEL", "ModelCalls", "ModelJob", "call_model"]


#: The function to run in the process of a model.
MODEL = "litefuse.verify.model_process:call_model"

_NONE = Tables()


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
        level: The first of the levels at which inputs are drawn, see ``litefuse.inputs``.
        tables: The contents of the original's tables.
        delegates: Whether LiteRT may use its default delegates, which is XNNPACK.
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

    @property
    def is_given(self) -> bool:
        """Whether inputs are given, not drawn."""
        return self.inputs is not None or self.samples is not None


class ModelCalls(NamedTuple):
    """The calls and their outputs.

    Attributes:
        rounds: The calls; each round begins with the initial state of the model.
        found: The model's outputs for each call.
        outputs: The names of each signature's outputs.
        moving: Those that depend on inputs.
        coverage: How many rows and words drawn inputs reached.
        limit: The exclusive upper bound of drawn integers, if the model takes nothing else.
        beyond: Calls not made yet that pick rows that only the original has, and a description of each.
        dtypes: The dtypes of quantized outputs, by signature and name.
    """

    rounds: list[list[Call]]
    found: list[list[Arrays]]
    outputs: dict[str, tuple[str, ...]]
    moving: dict[str, frozenset[str]]
    coverage: tuple[Coverage, ...] = ()
    limit: int | None = None
    beyond: tuple[tuple[Call, str], ...] = ()
    dtypes: Mapping[tuple[str, str], str] = MappingProxyType({})


def call_model(job: ModelJob, announce: Callable[[str], None]) -> ModelCalls:
    """Loads the model and calls it.

    Raises:
        LitefuseError: A kernel cannot be imported, or the model cannot be loaded or called.
    """
    if job.registered or job.kernel_modules or job.custom_ops:
        announce("import the kernels")
    unpickle_kernels(job.registered or {})
    load_kernels(job.kernel_modules)
    custom_ops: list[type[CustomOp] | str] = [
        each if isinstance(each, str) else pickle.loads(each) for each in job.custom_ops
    ]
    announce("load the model")
    converted = ConvertedModel(job.model, job.signatures, custom_ops, announce, delegates=job.delegates)
    if job.rounds is not None:
        rounds = [list(each) for each in job.rounds]
        found = [converted.call(each) for each in rounds]
    elif job.samples is not None:
        sampled = calls_by_specs(job.samples, converted.every_spec(), converted.specs)
        rounds = [[Call(key, inputs) for key, of_signature in sampled.items() for inputs in of_signature]]
        found = [converted.call(each) for each in rounds]
    elif job.inputs is not None:
        rounds = [_given_calls(converted.specs, job.inputs, job.times)]
        found = [converted.call(each) for each in rounds]
    else:
        inputs = _model_inputs(job.model)
        inputs.widen(job.tables)
        plan = Plan(job.times, job.seed, job.shapes or {}, job.tolerance, job.seconds, job.level, job.tables)
        drawn = drawn_rounds(converted, inputs, plan)
        announce("close the model")
        return ModelCalls(
            drawn.rounds,
            drawn.found,
            converted.outputs,
            inputs.moving,
            drawn.coverage,
            drawn.limit,
            drawn.beyond,
            converted.dtypes,
        )
    announce("close the model")
    moving = _model_inputs(job.model).moving
    return ModelCalls(rounds, found, converted.outputs, moving, dtypes=converted.dtypes)


def _given_calls(specs: Mapping[str, Sequence[InputSpec]], given: Iterable[Arrays], times: int) -> list[Call]:
    if len(specs) > 1:
        raise LitefuseError("inputs are for one signature", hint=f"Name it; the model has {', '.join(specs)}.")
    key, of_signature = next(iter(specs.items()))
    calls: list[Call] = []
    for each in given:
        calls += [Call(key, fit_inputs(each, of_signature, "the inputs lack", "inputs"))] * times
    return calls


def _model_inputs(model: str | bytes) -> ModelInputs:
    return ModelInputs(model) if isinstance(model, bytes) else ModelInputs.of_file(model)
