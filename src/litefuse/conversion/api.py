"""Public function ``convert()``."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from litefuse.conversion.conversion_process import convert_here, convert_in_worker, log_report, with_file_check
from litefuse.conversion.job import ConversionJob
from litefuse.conversion.quantization.option_checks import check_quantization
from litefuse.conversion.verify.targets.conversion_step import check_required, with_target_checks
from litefuse.errors import LitefuseError, UnsupportedOpsError
from litefuse.frontends.source_of import source_of
from litefuse.fusions.recognizers.recognizer import pickle_registered
from litefuse.ir.installation import check_engine
from litefuse.litert.export.runtime_versions import RuntimeLimit
from litefuse.litert.metadata.description import Finish
from litefuse.litert.runtime.model_content import check_model
from litefuse.litert.targets import chosen_targets
from litefuse.support.cloud.paths import local
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.options.conversion import Conversion, FileQuantization, Quantization
from litefuse.support.options.declared import takes
from litefuse.support.options.forms import QUANTIZATIONS
from litefuse.support.plug_ins.entry_points import find_plug_ins
from litefuse.support.processes.limits import chosen_limits, processes_limited
from litefuse.support.processes.process import prepare_worker, run_in_worker
from litefuse.support.progress.show import shown_progress
from litefuse.support.result import ConversionResult

if TYPE_CHECKING:
    from litefuse.support.report import Report

__all__ = ["ConversionResult", "convert", "quantize"]

_QUANTIZATION_RUNNER = "litefuse.conversion.quantization_step:run_quantization"


@takes(Conversion, source_of)
def convert(model: object, options: Conversion) -> ConversionResult:
    """Converts a TensorFlow model to LiteRT, with its composites fused.

    The work is done in a child process, which is kept for the next call: a crash of the lowering engine does not affect
    this process, and a TensorFlow loaded here does not affect the engine.

    Args:
        model: The folder of a SavedModel, or one with exactly one SavedModel in it, or with several versions; a file
            with a frozen graph (``.pb``, or ``.pbtxt`` for its text form); a ``.keras`` or ``.h5`` file; a Keras model
            (Keras 3 on TensorFlow or JAX, or Keras 2); a ``tf.function`` with an input signature or one trace; a
            concrete function; a ``tf.Module`` with such functions, or a mapping from keys to them, each of which
            becomes a signature; or an exported JAX function.
        options: Each of them is an argument.

    Returns:
        The model and the report.

    Raises:
        SavedModelError: The SavedModel cannot be read, or a given shape does not fit the input.
        LitefuseError: ``model`` is not something that can be converted, or cannot be exported.
        ConversionError: It cannot be converted.
        FileCheckError: LiteRT does not run the written file.
        NotAcceleratedError: A target does not take all of it (``Checks(targets="required")``).
        MetadataError: ``metadata`` or ``rename`` do not fit their format, or the model.
        QuantizationError: The difference from quantization exceeds ``max_error``, or an op is not integer that had to
            be (``require_integer``).
        LimitError: It exceeds ``max_ops``, ``max_constant_bytes``, ``timeout`` or ``memory``; ``limit`` says which.
        MissingEngineError: The lowering engine is not installed, or has no package for this platform.
        EngineCrashError: The conversion process died; the module that it worked on is saved for a bug report.
    """
    begun = time.perf_counter()
    limits, debug = options.limits, options.debug
    processes = chosen_limits(limits.timeout, limits.memory)
    if debug.in_process and (processes.timeout is not None or processes.memory is not None):
        raise LitefuseError(
            "timeout and memory limit the process of the conversion, which in_process does without",
            hint="Leave out in_process (on the command line, --in-process), or the limits.",
        )
    check_engine()
    source = source_of(model)
    options = replace(options, target=chosen_targets(options.target))
    job = _job(options)
    check_required(options)
    if debug.dump_ir is not None:
        from litefuse.conversion.pipeline.module_dump import prepare_dump_folder

        prepare_dump_folder(debug.dump_ir)
    folder = make_temporary_folder(limits.temporary_folder)
    job = replace(job, source=source.folder(Path(folder.name, "saved_model")), output=Path(folder.name, "model.tflite"))
    if not debug.in_process and processes.memory is None:
        prepare_worker("litefuse.conversion.run")
    try:
        with (
            processes_limited(processes),
            shown_progress(f"Converting {source.name}", show=options.progress, also=options.on_step) as on_step,
            source.opened(job.source, on_step) as timings,
        ):
            processes.check_time("export")
            job = _with_samples(job, options.quantize, folder.name, on_step)
            if not debug.in_process:
                job = replace(job, plug_ins=find_plug_ins(), registered=pickle_registered(), kernels=_kernels())
            run = convert_here if debug.in_process else convert_in_worker
            if options.checks.targets and job.chooses_form:
                from litefuse.conversion.recurrent_forms import convert_to_smallest

                report, job = convert_to_smallest(job, lambda form: run(form, on_step), on_step)
            else:
                report = run(job, on_step)
            source_size = source.size(job.source)
            if options.composites.generates or options.generate_kernels:
                from litefuse.conversion.generating import with_kernels

                made = Path(folder.name, "kernels")
                report = with_kernels(report, job, made, lambda again: run(again, on_step), on_step)
            report = with_file_check(report, job, on_step)
            report = with_target_checks(report, job, on_step)
    except BaseException as error:
        folder.cleanup()
        if isinstance(error, UnsupportedOpsError) and isinstance(model, (str, os.PathLike)):
            error.hint = error.hint.replace("--from MODEL", f"--from {shlex.quote(os.fsdecode(cast('str', model)))}")
        raise
    report = replace(
        report,
        source=source.name,
        source_size=source_size,
        seconds=time.perf_counter() - begun,
        timings={**timings, **report.timings},
    )
    log_report(report)
    kernels = Path(folder.name, "kernels")
    return ConversionResult(report, job.output, folder, kernels if kernels.is_dir() else None)


@takes(FileQuantization)
def quantize(model: str | os.PathLike[str] | ConversionResult, options: FileQuantization) -> ConversionResult:
    """Quantizes a LiteRT model of any converter, as :func:`convert` does with what it converts.

    The model is quantized and measured in a child process, with the kernels of custom ops that are registered here. A
    model without signatures gets the signature ``serving_default``, by the names of its inputs and outputs.

    Args:
        model: The file of a LiteRT model in floating point, or the result of a conversion.
        options: Each of them is an argument.

    Returns:
        The quantized model and the report.

    Raises:
        LitefuseError: ``model`` is not a LiteRT model, or it cannot be quantized like this.
        FileCheckError: LiteRT does not run the written file.
        QuantizationError: The difference exceeds ``max_error``.
        LimitError: It exceeds ``timeout`` or ``memory``.
        EngineCrashError: The child process died.
    """
    begun = time.perf_counter()
    if not isinstance(cast("object", model), (str, os.PathLike, ConversionResult)):
        raise LitefuseError(f"a model is the path of a LiteRT file, or the result of a conversion, not {model!r}")
    if not isinstance(model, ConversionResult):
        model = check_model(local(model), f"--quantize {options.quantize.scheme or 'FORM'}")
    source = (model.path if isinstance(model, ConversionResult) else model).absolute()
    job, limits = _job(Conversion(**vars(options))), options.limits
    if (form := options.quantize.scheme) is None:
        raise LitefuseError(
            "neither a form of quantization nor a recipe was given", hint=f"The forms are {', '.join(QUANTIZATIONS)}."
        )
    if form == "qat":
        raise LitefuseError(
            "fake-quantization nodes are those of a TensorFlow model; a LiteRT model has none",
            hint="Pass quantize='qat' to convert (on the command line, litefuse convert --quantize qat).",
        )
    folder = make_temporary_folder(limits.temporary_folder)
    job = replace(
        job,
        source=source,
        output=Path(folder.name, "model.tflite"),
        finish=job.finish or Finish.of(None, None),
        plug_ins=find_plug_ins(),
        kernels=_kernels(),
    )
    try:
        with (
            processes_limited(chosen_limits(limits.timeout, limits.memory)),
            shown_progress(f"Quantizing {source}", show=options.progress, also=options.on_step) as on_step,
        ):
            job = _with_samples(job, options.quantize, folder.name, on_step)
            report = cast("Report", run_in_worker(_QUANTIZATION_RUNNER, job, on_step))
            report = with_file_check(report, job, on_step)
    except BaseException:
        folder.cleanup()
        raise
    report = replace(report, seconds=time.perf_counter() - begun)
    log_report(report)
    return ConversionResult(report, job.output, folder)


def _job(options: Conversion) -> ConversionJob:
    """Returns what conversions and quantizations have in common."""
    RuntimeLimit.of(options.min_runtime)  # it is checked before the work begins
    options = replace(options, quantize=check_quantization(options.quantize, options.target))
    finish = Finish.of(local(options.metadata), options.rename) or None
    return ConversionJob(source=Path(), output=Path(), options=options.to_send, finish=finish)


def _with_samples(
    job: ConversionJob, quantization: Quantization, folder: str, on_step: Callable[[str], None]
) -> ConversionJob:
    if quantization.samples is None:
        return job
    from litefuse.conversion.quantization.dataset import obtain_samples

    return replace(job, samples=obtain_samples(quantization, Path(folder), on_step))


def _kernels() -> dict[str, bytes]:
    if "litefuse.litert.runtime.custom_op" not in sys.modules:
        return {}  # none are registered: the runtime need not be loaded
    from litefuse.litert.runtime.transfer import registered_by_value

    return registered_by_value()
