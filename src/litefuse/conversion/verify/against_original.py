"""Compares a converted model with the original: calls both with the same inputs and compares their outputs."""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.dataset import obtain_samples
from litefuse.conversion.verify.layers.comparison import look_into, worst_call
from litefuse.conversion.verify.layers.layers import Layers
from litefuse.conversion.verify.model_process import ModelCalls, ModelJob, run_job
from litefuse.conversion.verify.original import Arrays, Call, RefusedCallError
from litefuse.conversion.verify.quantized.float_copy import is_quantized_file
from litefuse.conversion.verify.reference import CallReference, Outputs, Reference, name_and_content, opened, path_of
from litefuse.conversion.verify.verdicts import Evidence, verdicts
from litefuse.conversion.verify.verification import OutputVerdict, Verification, differing_call
from litefuse.errors import EngineCrashError, InterpreterError, LitefuseError, ModelCrashError
from litefuse.litert.inputs.drawer import LEVELS
from litefuse.litert.inputs.kinds import keeps_state
from litefuse.litert.results.difference import difference, difference_of_elements
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.input_specs import GivenArrays, given_arrays
from litefuse.litert.runtime.model_content import check_model, is_litert_model
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.transfer import kernels_by_value, registered_by_value
from litefuse.support.files.readable import check_there, is_there
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.options.declared import answering
from litefuse.support.options.input_shapes import drawn_shapes
from litefuse.support.options.limits import Limits
from litefuse.support.options.names import listed_names, refuse_one_string
from litefuse.support.options.quantization import Preprocess, Quantization, RepresentativeDataset
from litefuse.support.processes.limits import chosen_limits, processes_limited
from litefuse.support.progress.show import shown_progress
from litefuse.support.result import ConversionResult

if TYPE_CHECKING:
    from litefuse.litert.runtime.custom_op import CustomOp

_T = TypeVar("_T")
_TOLERANCE = 1e-4


@answering(limits=Limits)
def verify_model(
    model: ConversionResult | str | os.PathLike[str] | bytes,
    original: object = None,
    *,
    signatures: Iterable[str] | None = None,
    inputs: GivenArrays | Sequence[Mapping[str, npt.ArrayLike]] | None = None,
    expected: GivenArrays | None = None,
    samples: RepresentativeDataset | None = None,
    preprocess: Preprocess | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    repeat: int = 2,
    max_error: float | None = None,
    coverage: float = 120.0,
    tags: Iterable[str] | None = None,
    custom_ops: Iterable[type[CustomOp] | str | os.PathLike[str]] = (),
    kernels: Iterable[str] = (),
    allow_side_effects: bool = False,
    layers: bool = False,
    limits: Limits | Mapping[str, Any] | float | None = None,
    progress: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> Verification:
    """Calls a converted model and the original with the same inputs, and compares their outputs.

    The model runs in LiteRT, with litefuse's kernels for custom ops; the original runs in TensorFlow. Each has its own
    process, which gets this process's kernels by value: changes that kernels make there are not visible here. The
    signatures are called one after the other, all of them several times, on one interpreter, so that differences in
    state show. Without ``inputs``, inputs are drawn from the model's graph, different ones for each call. With a
    dynamic batch, there is one round of calls with batch size 1 and another, from the initial state, with 3. A third
    round fills gaps: calls with other numbers where outputs did not move, and calls until every row of a table was
    picked. A last one takes other kinds of numbers, in sizes that grow and shrink, and compares each element; quantized
    models do without. Quantized inputs and outputs are compared as the real numbers that they represent.

    TensorFlow runs the original, so the original should be trusted. One that has side effects is refused before that.

    Args:
        model: The result of a conversion, the file of a LiteRT model, or its content.
        original: The model that was converted: anything that :func:`litefuse.convert` takes. Or another LiteRT model,
            such as the one before quantization, which does not need TensorFlow. None: ``expected`` is given.
        signatures: The keys of the signatures to call; None for all of the LiteRT model.
        inputs: The inputs by name, or in an ``.npz`` file, or the array of the only one, or a list of mappings, for the
            only signature that is called.
        expected: The expected outputs of the first call, by name or in an ``.npz`` file, in place of an original.
        samples: Samples to call the model with, one after the other, in place of inputs, as
            :func:`litefuse.convert` takes them: real numbers, even if the model's inputs are integers.
        preprocess: Makes a sample of each image of a folder.
        shapes: Shapes of drawn inputs by their names.
        seed: The seed of drawn inputs.
        repeat: How often each signature is called with each of the inputs, or with drawn ones.
        coverage: How many seconds the model may be called to pick every row of its tables, and every word of its
            vocabularies, that have up to 50,000.
        max_error: The allowed error of an output. The error of real numbers is the largest difference, relative to the
            largest expected value; of other values, the share that differs. None: 1e-4, and the outputs of a quantized
            model are judged by its quantization. They are equal up to three times the error that rounding explains,
            if no op inside differs by more than its own rounding and that of its weights explain.
        tags: The tags of the graph in a SavedModel.
        custom_ops: Kernels to use before all others.
        kernels: Files and names of modules that register kernels, and libraries of native ones, loaded in the
            process that runs the model.
        allow_side_effects: Run the original even if its signatures have ops that write or read files, run code or open
            connections; see :mod:`litefuse.conversion.verify.side_effects`.
        layers: Also compare the tensors inside the model, in the call that differs most, with those of the same names
            in the original. The model that gets the verdict runs without that.
        limits: What it may take: seconds for all, or ``litefuse.Limits(timeout, memory)``; None for no limit.
        progress: Show the progress, as :func:`litefuse.convert` does.
        on_step: Called with each step.

    Returns:
        The verdict on each output: equal, differs, or inconclusive, because the output did not move or there was no
        time to pick every row.

    Raises:
        ModelCrashError: The process that ran the model died, in the runtime or in a kernel.
        LitefuseError: One of the two cannot be loaded or called, the original has side effects, or TensorFlow is not
            installed.
    """
    if (original is None) == (expected is None):
        raise LitefuseError("a verification takes either the original model or the expected outputs")
    if expected is not None and inputs is None:
        raise LitefuseError("expected outputs require inputs")
    if expected is not None and layers:
        raise LitefuseError("comparing layers requires an original")
    if expected is not None and not isinstance(expected, str | os.PathLike | Mapping):
        raise LitefuseError(f"expected is a {type(expected).__name__}", hint="Pass {'output': array}, or an .npz file.")
    if samples is not None and (inputs is not None or expected is not None):
        raise LitefuseError("samples replace inputs, and have no expected outputs")
    if preprocess is not None and samples is None:
        raise LitefuseError("preprocess requires a folder of images")
    refuse_one_string(kernels, "kernels")
    tags = listed_names(tags, "tags")
    if repeat < 1:
        raise LitefuseError(f"a model cannot be called {repeat} times")
    if (path := path_of(original)) is not None:
        check_there(path)
        first = path_of(model)
        is_other = first is not None and is_there(first) and first.suffix != ".tflite" and not is_litert_model(first)
        if is_other and is_litert_model(path):
            pasted = shlex.join(["litefuse", "verify", str(path), str(first)])
            raise LitefuseError("the original comes second", where=str(first), hint=f"Swap the two: {pasted}")
    name, content = name_and_content(model)
    if not isinstance(content, bytes):
        check_model(content)
    job = ModelJob(
        content,
        listed_names(signatures, "signatures"),
        custom_ops=kernels_by_value(custom_ops),
        registered=registered_by_value(),
        kernel_modules=tuple(kernels),
        inputs=None if inputs is None else _arrays(inputs),
        times=repeat if expected is None else 1,
        seed=seed,
        shapes=drawn_shapes(shapes),
        tolerance=_TOLERANCE if max_error is None else max_error,
        seconds=coverage,
    )
    chosen = Limits.of(limits, "limits")
    with (
        processes_limited(chosen_limits(chosen.timeout, chosen.memory)),
        shown_progress(f"Verifying {name}", show=progress, also=on_step) as announce,
        make_temporary_folder() as folder,
    ):
        if samples is not None:
            given = Quantization(samples=samples, preprocess=preprocess)
            job = replace(job, samples=obtain_samples(given, Path(folder), announce))
        if expected is None:
            manner = _Manner(allow_side_effects, layers, is_quantized_file(content), max_error is None)
            return _against(original, job, name, tags, announce, manner)
        ran = run_job(job, name, announce)
        ran = ran._replace(rounds=[ran.rounds[0][:1]], results=[ran.results[0][:1]])
        wanted = [[given_arrays(expected, "expected")]]
        return _verification(job, name, "the outputs that are expected", ran, wanted, _judged(job, ran, wanted, {}))


class _Manner(NamedTuple):
    """How a model is compared.

    Attributes:
        allow_side_effects: Whether an original with side effects is run.
        layers: Whether the result has the layers.
        quantized: Whether the model is quantized.
        by_steps: Whether a quantized one is judged by its quantization.
    """

    allow_side_effects: bool
    layers: bool
    quantized: bool
    by_steps: bool


def _against(
    original: object,
    job: ModelJob,
    name: str,
    tags: Iterable[str] | None,
    on_step: Callable[[str], None],
    manner: _Manner,
) -> Verification:
    with opened(original, tags, job, allow_side_effects=manner.allow_side_effects, announce=on_step) as reference:
        kinds = not (job.is_given or manner.quantized or (reference.file and is_quantized_file(reference.file)))
        job = replace(job, tables=reference.tables, kinds=kinds)
        ran, wanted = without_refused(job, *_call_both(job, name, reference.call, on_step))
        spreads = spreads_of(job, name, ran, wanted, reference)
        ran, wanted, refused = _beyond(job, name, ran, wanted, reference.call, on_step)
        judged = _judged(job, ran, wanted, refused, spreads=spreads)
        by_steps = manner.quantized and manner.by_steps
        if not manner.layers and not by_steps:
            return _verification(job, name, reference.name, ran, wanted, judged)
        look, flat = reference.look(ran.outputs), _flat(wanted)
        worst = worst_call(judged)
        numbers = {worst_call([output for output in judged if output.signature == key]) for key in ran.outputs}
        seen = {
            number: look_into(
                *(job, name, ran.rounds, flat, number, job.tolerance, look, on_step),
                quantized=manner.quantized,
                original=reference.file,
            )
            for number in sorted(numbers if by_steps else {worst})
        }
        if by_steps:
            judged = _judged(job, ran, wanted, refused, tuple(seen.values()))
        return _verification(job, name, reference.name, ran, wanted, judged, seen[worst] if manner.layers else None)


def _verification(
    job: ModelJob,
    name: str,
    original: str,
    ran: ModelCalls,
    wanted: Sequence[Sequence[Arrays]],
    outputs: tuple[OutputVerdict, ...],
    layers: Layers | None = None,
) -> Verification:
    return Verification(
        model=name,
        original=original,
        tolerance=job.tolerance,
        calls=sum(map(len, ran.rounds)),
        outputs=outputs,
        coverage=ran.coverage,
        limit=ran.limit,
        samples=ran.samples,
        layers=layers,
        differing=differing_call(outputs, _flat(ran.rounds), _flat(ran.results), _flat(wanted)),
    )


def _judged(
    job: ModelJob,
    ran: ModelCalls,
    wanted: Sequence[Sequence[Arrays]],
    refused: Mapping[str, str],
    seen: Sequence[Layers] | None = None,
    spreads: Mapping[int, Arrays] = MappingProxyType({}),
) -> tuple[OutputVerdict, ...]:
    """Returns the verdict on each output, judged by quantization where layers were."""
    evidence = Evidence(job.tolerance, ran.moving, ran.coverage, not job.is_given, refused, dtypes=ran.dtypes)
    evidence = evidence._replace(spreads=spreads)
    if seen is not None:
        explained, clipped = (
            {(layers.signature, name): error for layers in seen for name, error in getattr(layers, part).items()}
            for part in ("explained", "clipped")
        )
        faults = {
            (layers.signature, name): f"{layer.op} {layer.name} is {layer.fault}"
            for layers in seen
            for name, layer in layers.faulty.items()
        }
        evidence = evidence._replace(explained=explained, clipped=clipped, faults=faults)
    return tuple(verdicts(_flat(ran.rounds), _flat(ran.results), _flat(wanted), evidence))


def _call_both(
    job: ModelJob, name: str, call: CallReference, on_step: Callable[[str], None]
) -> tuple[ModelCalls, list[list[Arrays]]]:
    """Returns the outputs of the model and of the original.

    Drawn inputs that one of the two refuses or crashes on are drawn again, in narrower limits; before that, after a
    crash, without further kinds of numbers.
    """
    refused: LitefuseError | None = None
    while True:
        try:
            ran = run_job(job, name, on_step)
        except ModelCrashError as error:
            if job.kinds:
                job = replace(job, kinds=False)
                continue
            refused, level = refused or error, job.level + 1
        except LitefuseError as error:
            raise refused or error from None
        else:
            try:
                return ran, call(ran.rounds, ran.outputs)
            except (RefusedCallError, InterpreterError) as error:
                refused, level = refused or error, LEVELS.index(ran.limit) + 1
            except LitefuseError as error:
                if not job.kinds or not isinstance(error.__cause__, EngineCrashError):
                    raise
                job = replace(job, kinds=False)
                continue
        if job.is_given or level >= len(LEVELS):
            raise refused
        job = replace(job, level=level)


def _beyond(
    job: ModelJob,
    name: str,
    ran: ModelCalls,
    wanted: list[list[Arrays]],
    call: CallReference,
    on_step: Callable[[str], None],
) -> tuple[ModelCalls, list[list[Arrays]], dict[str, str]]:
    """Adds calls that pick rows that only the original's tables have, and says which of these the model refuses."""
    refused: dict[str, str] = {}
    for one_call, what in ran.beyond:
        try:
            expected = call([[one_call]], ran.outputs)
        except (RefusedCallError, InterpreterError):
            continue  # they have no such rows, either
        try:
            results = run_job(replace(job, rounds=((one_call,),)), name, on_step).results
        except InterpreterError:
            refused[one_call.signature] = what
            continue
        ran = ran._replace(rounds=[*ran.rounds, [one_call]], results=[*ran.results, *results])
        wanted = [*wanted, *expected]
    return ran, wanted, refused


def _flat(rounds: Iterable[Iterable[_T]]) -> list[_T]:
    return list(itertools.chain.from_iterable(rounds))


def _arrays(given: Any) -> tuple[Arrays, ...]:
    several: list[Any] = [*given] if isinstance(given, list | tuple) else [given]
    if not all(isinstance(inputs, Mapping) for inputs in several):
        several = [given]
    return tuple(given_arrays(inputs, "inputs") for inputs in several)


def without_refused(
    job: ModelJob, ran: ModelCalls, wanted: list[list[Arrays]]
) -> tuple[ModelCalls, list[list[Arrays]]]:
    """Leaves out calls with kinds of numbers that the original refuses, and what follows if the model keeps state."""
    *others, last = zip(ran.rounds, ran.results, wanted, strict=True)
    calls = [*zip(*last, strict=True)]

    def is_taken(made_by_both: tuple[Call, Arrays, Arrays]) -> bool:
        call, results, expected = made_by_both
        return call.kind is None or bool(expected) or not results

    if all(map(is_taken, calls)):
        return ran, wanted
    taken = [*(takewhile if _keeps_state(job) else filter)(is_taken, calls)]
    made = [*others, *([[*map(list, zip(*taken, strict=True))]] if taken else [])]
    rounds, results, expected = map(list, zip(*made, strict=True))
    return ran._replace(rounds=rounds, results=results), expected


def _keeps_state(job: ModelJob) -> bool:
    with content_of(job.model) as content:
        return keeps_state(Model(content))


def spreads_of(
    job: ModelJob, name: str, ran: ModelCalls, wanted: Sequence[Sequence[Arrays]], reference: Reference
) -> dict[int, Arrays]:
    """Returns how far rounding moves the outputs of calls, by the number of the call; of those alone that need it.

    The model is run with moved ops and, where these do not explain a difference, the original: an op of the model may
    stand for many of the original, whose numbers cancel out.
    """
    made = [*zip(_flat(ran.rounds), _flat(ran.results), _flat(wanted), strict=True)]
    differing = {
        (call.signature, key)
        for call, results, expected in made
        for key in results.keys() & expected.keys()
        if call.kind is None and not difference(results[key], expected[key]).error <= job.tolerance
    }
    kinds = {number: of_call for number, of_call in enumerate(made) if of_call[0].kind}
    spreads: dict[int, Arrays] = {number: {} for number in kinds}

    def differs(number: int) -> bool:
        call, results, expected = kinds[number]
        return call.kind is not None and any(
            difference_of_elements(results[key], value, call.kind, job.tolerance, spreads[number].get(key, 0.0)).error
            for key, value in expected.items()
            if key in results and (call.signature, key) not in differing
        )

    def moves(rounds: Sequence[Sequence[Call]], _: Outputs) -> list[list[Arrays]]:
        return run_job(replace(job, rounds=tuple(map(tuple, rounds)), moves="all"), name).results

    for run in filter(None, (moves, reference.moves)):
        places = [*filter(differs, kinds)]
        if not places:
            break
        if _keeps_state(job):
            places = [number for number in kinds if number <= places[-1]]
        with suppress(LitefuseError):  # of a crash, or the runtime refuses it
            for number, more in zip(places, run([[kinds[place][0] for place in places]], ran.outputs)[0], strict=True):
                expected, spread = kinds[number][2], spreads[number]
                for key, value in more.items():
                    if key in expected and value.shape in {(), expected[key].shape}:
                        spread[key] = np.maximum(spread.get(key, 0.0), value)
    return spreads
