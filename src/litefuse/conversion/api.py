"""Public function ``convert()``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from litefuse.conversion.conversion_process import convert_here, convert_in_worker, log_report, with_file_check
from litefuse.conversion.job import ConversionJob
from litefuse.conversion.quantization.option_checks import (
    check_max_error,
    check_quantization,
    check_samples,
    check_target,
)
from litefuse.errors import LitefuseError
from litefuse.frontends.source_of import source_of
from litefuse.fusions.recognizers.recognizer import pickle_registered
from litefuse.ir.installation import check_engine
from litefuse.litert.export.runtime_versions import RuntimeLimit
from litefuse.litert.metadata.description import Finish
from litefuse.litert.targets import chosen_targets
from litefuse.support.cloud.paths import local, not_url
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.options.forms import (
    QUANTIZATIONS,
    RNN_FORMS,
    CompositeForm,
    CompositeForms,
    Quantization,
    RequiredComposites,
    RnnForm,
)
from litefuse.support.options.input_shapes import InputShapes
from litefuse.support.options.ir_dump import IrDump
from litefuse.support.options.limits import MAX_CONSTANT_BYTES, MAX_OPS, Limits
from litefuse.support.options.names import listed_names
from litefuse.support.options.names_elsewhere import checks_names
from litefuse.support.options.quantization import Granularity, QuantizedIo, RecipeEntries, Rotation, WeightBits
from litefuse.support.plug_ins.entry_points import find_plug_ins
from litefuse.support.processes.limits import ProcessLimits, processes_limited
from litefuse.support.processes.process import prepare_worker, run_in_worker
from litefuse.support.progress.show import shown_progress
from litefuse.support.result import ConversionResult

if TYPE_CHECKING:
    from litefuse.conversion.quantization.dataset import Preprocess, RepresentativeDataset, Samples
    from litefuse.support.report import Report

__all__ = ["ConversionResult", "convert", "quantize"]

_QUANTIZATION_RUNNER = "litefuse.conversion.quantization_step:run_quantization"


@checks_names
def convert(
    model: object,
    *,
    signatures: Iterable[str] | None = None,
    tags: Collection[str] | None = None,
    input_arrays: Iterable[str] | None = None,
    output_arrays: Iterable[str] | None = None,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
    batch: int | None = None,
    allow_custom_ops: bool | Collection[str] = False,
    builtins_only: bool = False,
    narrow: bool = False,
    widen: bool = False,
    composites: CompositeForm | Mapping[str, CompositeForm] = "fuse",
    generate_kernels: bool = False,
    rnn: RnnForm = "auto",
    target: str | Iterable[str] = "cpu",
    quantize: Quantization | None = None,
    representative_dataset: RepresentativeDataset | None = None,
    preprocess: Preprocess | None = None,
    quantized_io: QuantizedIo = False,
    require_integer: bool = False,
    quantization_layers: bool = False,
    weight_bits: WeightBits = 8,
    granularity: Granularity = "channel",
    rotate: Rotation | None = None,
    min_weight_elements: int | None = None,
    keep_float: Iterable[str] = (),
    keep_float_ops: Iterable[str] = (),
    recipe: RecipeEntries | None = None,
    max_error: float | None = None,
    min_runtime: str | None = None,
    metadata: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    rename: Mapping[str, str] | None = None,
    require_fused: bool | Collection[str] = False,
    require_accelerated: bool = False,
    check_fusions: bool | Literal["thorough"] = True,
    check_custom_ops: bool = False,
    check_file: bool = True,
    check: bool = True,
    max_ops: int = MAX_OPS,
    max_constant_bytes: int = MAX_CONSTANT_BYTES,
    timeout: float | None = None,
    memory: int | None = None,
    in_process: bool = False,
    dump_ir: str | os.PathLike[str] | None = None,
    dump_ir_after: str | Iterable[str] = (),
    temporary_folder: str | os.PathLike[str] | None = None,
    progress: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> ConversionResult:
    """Converts a TensorFlow model to LiteRT, with its composites fused.

    The work is done in a child process, which is kept for the next call: a crash of the lowering engine does not affect
    this process, and a TensorFlow loaded here does not affect the engine.

    Args:
        model: The folder of a SavedModel, or one with exactly one SavedModel in it, or with several versions; a file
            with a frozen graph (``.pb``, or ``.pbtxt`` for its text form); a ``.keras`` or ``.h5`` file; a Keras model
            (Keras 3 on TensorFlow or JAX, or Keras 2); a ``tf.function`` with an input signature or one trace; a
            concrete function; a ``tf.Module`` with such functions, or a mapping from keys to them, each of which
            becomes a signature; or an exported JAX function.
        signatures: The keys of the signatures to convert; None means all.
        tags: The tags of the meta graph to convert; None means the one for serving.
        input_arrays: The input tensors of a frozen graph, ``node`` or ``node:index``, which are also the inputs' names;
            None means the placeholders.
        output_arrays: The output tensors of a frozen graph; None means the only one that nothing reads.
        shapes: Shapes of inputs by their names (``SIGNATURE:NAME`` if signatures differ), in place of those in the
            model, which may have dynamic dimensions; None is a dimension that stays as it is. The shapes in the model
            are inferred from them again.
        batch: The first dimension of every input whose first dimension is otherwise dynamic.
        allow_custom_ops: True: allow custom ops for TensorFlow ops that LiteRT lacks, that have no exact rewriting into
            ops that it has, and that litefuse has no kernel for. Names of TensorFlow ops: make custom ops of these,
            whatever LiteRT and litefuse have for them, with their attributes as TFLiteConverter writes them, and of no
            others that litefuse has no kernel for. The interpreter needs kernels for them.
        builtins_only: Make no custom ops for ops that LiteRT lacks, even if litefuse has a kernel: the model runs in
            any LiteRT, or ``UnsupportedOpsError`` is raised.
        narrow: Convert float64 to float32 and complex128 to complex64, also inputs and outputs of signatures; and
            compute int64 ops that LiteRT lacks in int32, between two casts: int64 inputs, outputs and variables stay.
            Values out of range are then computed wrongly; constants out of range are an error.
        widen: Convert float16 and bfloat16 to float32, also inputs and outputs of signatures: a mixed-precision model
            then runs without the casts between its layers, and without their rounding.
        composites: The form of composites, one for all or each by name (or by a pattern such as ``lstm_*``). ``fuse``:
            the result of the registered fusion; ``builtin``: the same, but only builtin ops; ``custom``: a custom op
            with its name and attributes; ``keep``: the builtin STABLEHLO_COMPOSITE with its name and attributes, which
            contains the body in LiteRT ops and runs anywhere, and which a kernel or an accelerator may claim;
            ``generate``: the same, with a C++ kernel that is generated from the body, compiled, compared with it and
            faster (``kernels`` of the result), or else ``inline``: the ops of its body. Layers that are known by name
            take forms too (``odml.*``).
        generate_kernels: Generate kernels for chains of ops that are not composites, too. Those that are faster become
            STABLEHLO_COMPOSITEs, as with ``generate``, if they make the model as a whole faster.
        rnn: The form of recurrent layers: ``fused``, ``loop`` (for those without annotation), or ``auto``, the faster.
        target: Where the model is to run: ``cpu``, in LiteRT's interpreter; ``litert``, in its ``CompiledModel`` on the
            CPU; ``gpu``, there on the GPU; ``micro`` (``micro:64K``: with 64 KiB), in tflite-micro; ``ethos-u`` (or
            ``ethos-u:ethos-u65-256``), on an Arm NPU; ``openvino``, in OpenVINO. For ``micro`` and ``ethos-u``,
            recurrent layers become one op or are unrolled; for ``gpu`` they are unrolled, for ``litert`` and
            ``openvino`` loops. For ``gpu``, ``micro`` and ``ethos-u``, no dynamic dimension is left (an open batch is
            1), and other loops are an error unless ``rnn`` is ``loop``. Several share one form.
        quantize: Quantize the weights of products, convolutions and embeddings with litert-quantizer (the extra
            ``quantize``): ``dynamic``: int8, and LiteRT quantizes the activations on each call; ``weights``: int8,
            which LiteRT dequantizes to float32; ``float16``, likewise. Or compute in integers, with int8 weights:
            ``int8`` or ``int16``, which need a representative dataset, or ``qat``: int8 with the ranges of the model's
            fake-quantization nodes, without data. Or ``auto``: int4, int8, float16 or float32 for the weights of each
            layer, as small as ``max_error`` bears. The report says how much smaller the model is and how much its
            outputs differ from those before.
        representative_dataset: Inputs like those that the model will get, to calibrate the ranges of activations: an
            ``.npz`` file with an array for each input, whose first axis counts samples or rows of them; or samples, or
            a function that returns them, each a mapping from names of inputs to arrays, the array of the only input,
            or a pair of a signature's key and one of these; or ``FILE.py:FUNCTION``, such a function in a file, which
            runs in a process of its own, where it may use TensorFlow; or a folder of images, with ``preprocess``.
        preprocess: Makes a sample of each image in the folder: a function of a ``PIL.Image.Image``, or
            ``FILE.py:FUNCTION``.
        quantized_io: With ``int8`` and ``int16``, make inputs and outputs integers too, with scales: True for the
            form's own, or ``uint8`` with ``int8``; or a pair, of inputs and outputs.
        require_integer: With these, raise ``QuantizationError`` if an op does not compute in integers.
        quantization_layers: With ``quantize``, also measure the difference inside the model, tensor by tensor.
        weight_bits: The bits of weights: with 4, those that LiteRT has such kernels for (fully connected layers,
            convolutions and embeddings) take half the bytes of 8.
        granularity: What shares a scale: ``channel``, the weights of an output; ``tensor``; or ``block:N``, N weights
            in a row, with ``dynamic`` and 4 bits, of fully connected layers and embeddings.
        rotate: ``hadamard``: with ``dynamic`` and ``weights``, rotate the weights of fully connected layers and
            embeddings by a Hadamard matrix before they are rounded.
        min_weight_elements: With ``dynamic`` and ``weights``, weights of fewer elements stay float32; None: 1,024 with
            ``dynamic``, as in TensorFlow's converter, and 0 with ``weights``.
        keep_float: Regular expressions, searched for in the names of results: those ops stay in floating point.
        keep_float_ops: Kinds of ops that stay in floating point, such as ``SOFTMAX``.
        recipe: In place of ``quantize``: a recipe of litert-quantizer, the path of its JSON file or its entries.
        max_error: The largest difference that quantization may make to an output, relative to its largest element, else
            ``QuantizationError``; None: any.
        min_runtime: The oldest release that has to run the file: ``2.14`` of TensorFlow Lite, or ``litert:1.2``. What
            is quantized takes a form that it has: one scale for each tensor, or, with ``dynamic``, that of ``weights``.
        metadata: TensorFlow Lite Metadata for apps and people, which the file gets: a JSON file, or its entries. The
            names of associated files are relative to the JSON file, or to the current folder. ``{"labels": path}`` is a
            file with a line for each class, for the output that has as many elements.
        rename: New names of inputs and outputs by the old ones (``SIGNATURE:NAME`` of one signature alone). Samples,
            ``shapes`` and other arguments have the old names. The file records them for :func:`verify_model`.
        require_fused: Composites that must be fused, else ``NotFusedError``: True for all, or names and patterns. With
            ``checked`` among them, or alone, they must also be compared with their bodies.
        require_accelerated: Raise ``NotAcceleratedError`` unless every target takes all ops of the file and computes
            the numbers of the CPU, as its software says. It has to be installed.
        check_fusions: Apply a fusion only if it computes the same as the composite's body: both are run on random
            inputs in the stock runtime and compared. So are composites that become ops of their own names
            (``tfl_fusable_op``, ``custom``, ``keep``), if there is a kernel here: a registered one, litefuse's, or one
            of a plug-in. The report says what was not compared, and why. Beyond the first calls, the inputs are of
            other kinds and sizes as long as that takes no more than a quarter of the check's time; ``"thorough"``: all.
        check_custom_ops: Compare such kernels even with bodies that look like placeholders: their results are constants
            or arguments.
        check_file: Load the written file in LiteRT, and call each of its signatures, else ``FileCheckError``. A
            model with custom ops without kernels is not called; the report says so.
        check: Ask the software of other targets than ``cpu``, where installed; see :func:`litefuse.check`.
        max_ops: The maximum number of ops of the model with its calls inlined: a small file may describe any number.
        max_constant_bytes: The maximum bytes of created constants, each and together, beyond the size of the model's
            files: one element may represent a constant of any shape.
        timeout: The maximum time of the conversion in seconds, in all of its processes, which are then killed. The
            export of a model that is an object in this process is not interrupted, but counts. None for no limit.
        memory: The maximum memory of each of its processes in bytes, without mapped files such as the checkpoint. Only
            on Linux. None for no limit.
        in_process: Convert in this process, to debug conversion code. TensorFlow must not be loaded.
        dump_ir: A folder for the MLIR module after each pass that changes it, as text without large constants, and for
            ``index.txt``, which has the time of every pass. It is new, empty or from an earlier conversion.
        dump_ir_after: The names of passes: write the module only after these.
        temporary_folder: The folder for the model until it is saved; None: the system's folder for temporary files. A
            large model is saved faster on the same file system.
        progress: Show the stages and their times, in a terminal while they last, in a notebook below the cell, and
            elsewhere as lines on standard error.
        on_step: Called with the name of each step at its start, and where samples are run, with the number of those
            that are done and the time that is left.

    Returns:
        The model and the report.

    Raises:
        SavedModelError: The SavedModel cannot be read, or a given shape does not fit the input.
        LitefuseError: ``model`` is not something that can be converted, or cannot be exported.
        ConversionError: It cannot be converted.
        FileCheckError: LiteRT does not run the written file.
        NotAcceleratedError: A target does not take all of it (``require_accelerated``).
        MetadataError: ``metadata`` or ``rename`` do not fit their format, or the model.
        QuantizationError: The difference from quantization exceeds ``max_error``, or an op is not integer that had to
            be (``require_integer``).
        LimitError: It exceeds ``max_ops``, ``max_constant_bytes``, ``timeout`` or ``memory``; ``limit`` says which.
        MissingEngineError: The lowering engine is not installed, or has no package for this platform.
        EngineCrashError: The conversion process died; the module that it worked on is saved for a bug report.
    """
    processes = ProcessLimits(timeout, memory)
    if in_process and (timeout is not None or memory is not None):
        raise LitefuseError(
            "timeout and memory limit the process of the conversion, which in_process does without",
            hint="Leave out in_process=True (on the command line, --in-process), or the limits.",
        )
    check_engine()
    dump = IrDump.of(not_url(dump_ir), dump_ir_after)
    source = source_of(model)
    allowed = _switch(allow_custom_ops, "allow_custom_ops")
    if builtins_only and allowed:
        raise LitefuseError(
            "builtins_only forbids what allow_custom_ops allows",
            hint="Leave out one of the two (on the command line, --builtins-only or --allow-custom-ops).",
        )
    if rnn not in RNN_FORMS:
        raise LitefuseError(f"unknown form {rnn!r} of recurrent layers", hint=f"Choose from {', '.join(RNN_FORMS)}.")
    if check_fusions not in (True, False, "thorough"):
        raise LitefuseError(f"check_fusions is {check_fusions!r}", hint="It is True, False or 'thorough'.")
    chosen = chosen_targets(target)
    quantize, quantization = check_quantization(
        quantize,
        weight_bits=weight_bits,
        granularity=granularity,
        rotate=rotate,
        min_weight_elements=min_weight_elements,
        keep_float=keep_float,
        keep_float_ops=keep_float_ops,
        recipe=local(recipe),
    )
    if require_accelerated:
        from litefuse.conversion.verify.targets.conversion_step import check_required

        check_required(chosen, checked=check)
    check_target(quantize, quantization, chosen)
    check_max_error(quantize, max_error)
    check_samples(
        quantize,
        representative_dataset,
        options=quantization,
        quantized_io=quantized_io,
        require_integer=require_integer,
        preprocess=preprocess is not None,
    )
    _check_dataset(representative_dataset, preprocess)
    if quantization_layers and quantize is None:
        raise LitefuseError(
            "quantization_layers measures the effect of quantization, but no form was chosen",
            hint="Pass quantize as well (on the command line, --quantize).",
        )
    if dump is not None:
        from litefuse.conversion.pipeline.module_dump import prepare_dump_folder

        prepare_dump_folder(dump.folder)
    folder = make_temporary_folder(not_url(temporary_folder))
    job = ConversionJob(
        source=source.folder(Path(folder.name, "saved_model")),
        output=Path(folder.name, "model.tflite"),
        signatures=listed_names(signatures, "signatures"),
        tags=listed_names(tags, "tags"),
        input_arrays=listed_names(input_arrays, "input_arrays"),
        output_arrays=listed_names(output_arrays, "output_arrays"),
        input_shapes=InputShapes.of(shapes, batch),
        allow_custom_ops=allowed,
        builtins_only=builtins_only,
        narrow=narrow,
        widen=widen,
        composites=CompositeForms.of(composites),
        rnn=rnn,
        target=chosen,
        require_fused=RequiredComposites.of(require_fused),
        quantize=quantize,
        quantized_io=quantized_io,
        require_integer=require_integer,
        quantization_layers=quantization_layers,
        quantization=quantization,
        max_error=max_error,
        min_runtime=RuntimeLimit.of(min_runtime),
        check_fusions=check_fusions,
        check_custom_ops=check_custom_ops,
        finish=Finish.of(local(metadata), rename) or None,
        limits=Limits(max_ops, max_constant_bytes),
        dump_ir=dump,
    )
    if not in_process and memory is None:
        prepare_worker("litefuse.conversion.run")
    try:
        with (
            processes_limited(processes),
            shown_progress(f"Converting {source.name}", show=progress, also=on_step) as on_step,
            source.opened(job.source, on_step) as timings,
        ):
            processes.check_time("export")
            if representative_dataset is not None:
                job = replace(job, samples=_obtained(representative_dataset, folder.name, preprocess, on_step))
            if not in_process:
                job = replace(job, plug_ins=find_plug_ins(), fusions=pickle_registered(), kernels=_kernels())
            run = convert_here if in_process else convert_in_worker
            report = run(job, on_step)
            source_size = source.size(job.source)
            if job.composites.generates or generate_kernels:
                from litefuse.conversion.generating import with_kernels

                made = Path(folder.name, "kernels")
                report = with_kernels(
                    report, job, made, lambda again: run(again, on_step), on_step, chains=generate_kernels
                )
            if check_file:
                report = with_file_check(report, job, on_step, in_process=in_process)
            if check and chosen != ("cpu",):
                from litefuse.conversion.verify.targets.conversion_step import with_target_checks

                report = with_target_checks(report, job.output, job.target, on_step, required=require_accelerated)
    except BaseException:
        folder.cleanup()
        raise
    report = replace(report, source=source.name, source_size=source_size, timings={**timings, **report.timings})
    log_report(report)
    kernels = Path(folder.name, "kernels")
    return ConversionResult(report, job.output, folder, kernels if kernels.is_dir() else None)


@checks_names
def quantize(
    model: str | os.PathLike[str] | ConversionResult,
    form: Quantization | None = None,
    *,
    representative_dataset: RepresentativeDataset | None = None,
    preprocess: Preprocess | None = None,
    quantized_io: QuantizedIo = False,
    require_integer: bool = False,
    quantization_layers: bool = False,
    weight_bits: WeightBits = 8,
    granularity: Granularity = "channel",
    rotate: Rotation | None = None,
    min_weight_elements: int | None = None,
    keep_float: Iterable[str] = (),
    keep_float_ops: Iterable[str] = (),
    recipe: RecipeEntries | None = None,
    max_error: float | None = None,
    min_runtime: str | None = None,
    metadata: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    rename: Mapping[str, str] | None = None,
    check_file: bool = True,
    timeout: float | None = None,
    memory: int | None = None,
    temporary_folder: str | os.PathLike[str] | None = None,
    progress: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> ConversionResult:
    """Quantizes a LiteRT model of any converter, as :func:`convert` does with what it converts.

    The model is quantized and measured in a child process, with the kernels of custom ops that are registered here. A
    model without signatures gets the signature ``serving_default``, by the names of its inputs and outputs.

    Args:
        model: The file of a LiteRT model in floating point, or the result of a conversion.
        form: The form of the quantization, ``quantize`` of :func:`convert`; None with a recipe.
        representative_dataset: See :func:`convert`, as for all that follow.
        preprocess: Makes a sample of each image of a folder.
        quantized_io: Make inputs and outputs integers too.
        require_integer: Raise ``QuantizationError`` if an op does not compute in integers.
        quantization_layers: Also measure the difference inside the model.
        weight_bits: The bits of weights.
        granularity: What shares a scale.
        rotate: The rotation of weights.
        min_weight_elements: Weights of fewer elements stay float32.
        keep_float: Regular expressions of results whose ops stay in floating point.
        keep_float_ops: Kinds of ops that stay in floating point.
        recipe: A recipe of litert-quantizer, in place of ``form``.
        max_error: The largest difference that is allowed.
        min_runtime: The oldest release that has to run the file.
        metadata: Metadata in the place of that which the model has.
        rename: New names of inputs and outputs; samples have the old ones.
        check_file: Load the written file in LiteRT, and call each of its signatures.
        timeout: The maximum time in seconds.
        memory: The maximum memory of each process in bytes.
        temporary_folder: The folder for the model until it is saved.
        progress: Show the stages and their times.
        on_step: Called with the name of each step at its start.

    Returns:
        The quantized model and the report.

    Raises:
        LitefuseError: ``model`` is not a LiteRT model, or it cannot be quantized like this.
        FileCheckError: LiteRT does not run the written file.
        QuantizationError: The difference exceeds ``max_error``.
        LimitError: It exceeds ``timeout`` or ``memory``.
        EngineCrashError: The child process died.
    """
    source = (model.path if isinstance(model, ConversionResult) else Path(os.fspath(local(model)))).absolute()
    if form is None and recipe is None:
        raise LitefuseError(
            "neither a form of quantization nor a recipe was given", hint=f"The forms are {', '.join(QUANTIZATIONS)}."
        )
    form, options = check_quantization(
        form,
        weight_bits=weight_bits,
        granularity=granularity,
        rotate=rotate,
        min_weight_elements=min_weight_elements,
        keep_float=keep_float,
        keep_float_ops=keep_float_ops,
        recipe=local(recipe),
    )
    check_max_error(form, max_error)
    if form == "qat":
        raise LitefuseError(
            "fake-quantization nodes are those of a TensorFlow model; a LiteRT model has none",
            hint="Pass quantize='qat' to convert (on the command line, litefuse convert --quantize qat).",
        )
    check_samples(
        form,
        representative_dataset,
        options=options,
        quantized_io=quantized_io,
        require_integer=require_integer,
        preprocess=preprocess is not None,
    )
    _check_dataset(representative_dataset, preprocess)
    folder = make_temporary_folder(not_url(temporary_folder))
    job = ConversionJob(
        source=source,
        output=Path(folder.name, "model.tflite"),
        quantize=form,
        quantized_io=quantized_io,
        require_integer=require_integer,
        quantization_layers=quantization_layers,
        quantization=options,
        max_error=max_error,
        min_runtime=RuntimeLimit.of(min_runtime),
        finish=Finish.of(local(metadata), rename),
        plug_ins=find_plug_ins(),
        kernels=_kernels(),
    )
    try:
        with (
            processes_limited(ProcessLimits(timeout, memory)),
            shown_progress(f"Quantizing {source}", show=progress, also=on_step) as on_step,
        ):
            if representative_dataset is not None:
                job = replace(job, samples=_obtained(representative_dataset, folder.name, preprocess, on_step))
            report = cast("Report", run_in_worker(_QUANTIZATION_RUNNER, job, on_step))
            if check_file:
                report = with_file_check(report, job, on_step, in_process=False)
    except BaseException:
        folder.cleanup()
        raise
    log_report(report)
    return ConversionResult(report, job.output, folder)


def _check_dataset(dataset: RepresentativeDataset | None, preprocess: Preprocess | None) -> None:
    if dataset is not None:
        from litefuse.conversion.quantization.dataset import check_dataset

        check_dataset(dataset, preprocess)


def _obtained(
    dataset: RepresentativeDataset, folder: str, preprocess: Preprocess | None, on_step: Callable[[str], None]
) -> Samples:
    from litefuse.conversion.quantization.dataset import obtain_samples

    return obtain_samples(dataset, Path(folder), preprocess=preprocess, announce=on_step)


def _kernels() -> dict[str, bytes]:
    if "litefuse.litert.runtime.custom_op" not in sys.modules:
        return {}  # none are registered: the runtime need not be loaded
    from litefuse.litert.runtime.transfer import registered_by_value

    return registered_by_value()


def _switch(value: bool | Collection[str], argument: str) -> bool | frozenset[str]:
    return value if isinstance(value, bool) else frozenset(listed_names(value, argument) or ())
