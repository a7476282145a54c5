"""What the process runs that calls LiteRT models, for a verification: the runtime and kernels may die there."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from litefuse.errors import InterpreterError, LitefuseError
from litefuse.kernel_modules import import_kernels
from litefuse.runtime.custom_op import CustomOp
from litefuse.runtime.inputs import InputSpec, fit_inputs, no_input
from litefuse.runtime.transfer import unpickle_kernels
from litefuse.verify.converted import ConvertedModel, random_calls
from litefuse.verify.original import Arrays, Call

__all__ = ["ModelCalls", "ModelJob", "call_model"]

# The first sizes of inputs where they are open: a model that is right for one alone is common.
_BATCHES = (1, 3)
# The other sizes that are open, in the order in which they are tried: of images few models take the least.
_SIZES = (7, 32, 224, 1)
# What integers are less than: they may be indices, of which 0 is always one.
_LIMITS = (10, 2, 1)


@dataclass(frozen=True)
class ModelJob:
    """What the process is to do.

    Attributes:
        model: The model's file, or its content.
        signatures: The keys of the signatures to call; None for all.
        custom_ops: Kernels to use before all others: pickled classes, and paths of libraries.
        registered: The kernels that the caller registered, pickled, by their ops.
        kernel_modules: Files and modules that register more of them.
        rounds: The calls; None: those of ``inputs``, or random ones.
        inputs: The inputs of one signature; each is for ``times`` calls.
        times: How often each signature is called with each of the inputs, or with random ones.
        seed: The seed of random inputs.
        shapes: Shapes of random inputs by their names.
    """

    model: str | bytes
    signatures: tuple[str, ...] | None = None
    custom_ops: tuple[bytes | str, ...] = ()
    registered: Mapping[str, bytes] | None = None
    kernel_modules: tuple[str, ...] = ()
    rounds: tuple[tuple[Call, ...], ...] | None = None
    inputs: tuple[Arrays, ...] | None = None
    times: int = 1
    seed: int = 0
    shapes: Mapping[str, tuple[int, ...]] | None = None


class ModelCalls(NamedTuple):
    """What came of it.

    Attributes:
        rounds: The calls; each round begins with the state that the model has at first.
        found: What the model gave in each.
        outputs: The names of each signature's outputs.
    """

    rounds: list[list[Call]]
    found: list[list[Arrays]]
    outputs: dict[str, tuple[str, ...]]


def call_model(job: ModelJob, announce: Callable[[str], None]) -> ModelCalls:
    """Loads the model and calls it.

    Raises:
        LitefuseError: A kernel cannot be imported, or the model cannot be loaded or called.
    """
    if job.registered or job.kernel_modules or job.custom_ops:
        announce("import the kernels")
    unpickle_kernels(job.registered or {})
    import_kernels(job.kernel_modules)
    custom_ops: list[type[CustomOp] | str] = [
        each if isinstance(each, str) else pickle.loads(each) for each in job.custom_ops
    ]
    announce("load the model")
    converted = ConvertedModel(job.model, job.signatures, custom_ops, announce)
    if job.rounds is not None:
        rounds = [list(each) for each in job.rounds]
        found = [converted.call(each) for each in rounds]
    elif job.inputs is not None:
        rounds = [_given_calls(converted.specs, job.inputs, job.times)]
        found = [converted.call(each) for each in rounds]
    else:
        rounds, found = _random_rounds(converted, job.seed, job.times, job.shapes or {})
    announce("close the model")
    return ModelCalls(rounds, found, converted.outputs)


def _given_calls(specs: Mapping[str, Sequence[InputSpec]], given: Iterable[Arrays], times: int) -> list[Call]:
    if len(specs) > 1:
        raise LitefuseError("inputs are for one signature", hint=f"Name it; the model has {', '.join(specs)}.")
    key, of_signature = next(iter(specs.items()))
    calls: list[Call] = []
    for each in given:
        calls += [Call(key, fit_inputs(each, of_signature, "the inputs lack", "inputs"))] * times
    return calls


def _random_rounds(
    converted: ConvertedModel, seed: int, times: int, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[list[list[Call]], list[list[Arrays]]]:
    """Calls for each batch size, and what the model gives: with the first sizes and numbers that it takes."""
    every = {spec.name: spec for specs in converted.specs.values() for spec in specs}
    if unknown := sorted(shapes.keys() - every.keys()):
        raise no_input(unknown, list(every.values()))
    left = [spec for name, spec in every.items() if name not in shapes]
    batches = _BATCHES if any(spec.shape and spec.shape[0] is None for spec in left) else _BATCHES[:1]
    sizes = _SIZES if any(None in spec.shape[1:] for spec in left) else _SIZES[:1]
    refused: LitefuseError | None = None
    for size, limit in product(sizes, _LIMITS):
        rounds = [
            random_calls(converted.specs, times=times, seed=seed, batch=batch, size=size, limit=limit, shapes=shapes)
            for batch in batches
        ]
        try:
            return rounds, [converted.call(each) for each in rounds]
        except InterpreterError as error:
            refused = refused or error
    assert refused is not None
    raise refused
