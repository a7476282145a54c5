"""The step of a conversion that quantizes the file, and the quantization of LiteRT models of any converter.

A LiteRT model is quantized without the lowering engine, which only fake-quantization nodes need.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from litefuse.conversion.job import ConversionJob
from litefuse.conversion.pipeline.steps import Steps
from litefuse.errors import LitefuseError, QuantizationError
from litefuse.kernels import PACK, PYTHON_ONLY
from litefuse.litert.export.op_codes import ModelSummary, NewerOp, newer_ops, too_old
from litefuse.litert.export.runtime_versions import RuntimeLimit
from litefuse.litert.runtime.custom_op import package_kernels
from litefuse.litert.runtime.flatbuffer import content_of, shared_files
from litefuse.litert.runtime.kernel_pack import by_kernel
from litefuse.litert.runtime.transfer import unpickle_kernels
from litefuse.litert.targets import traits_of
from litefuse.support import report as reports
from litefuse.support.options.forms import INTEGER_ACTIVATIONS
from litefuse.support.options.quantization import Quantization
from litefuse.support.plug_ins.entry_points import take_plug_ins
from litefuse.support.report import Report

if TYPE_CHECKING:
    from litefuse.conversion.pipeline.lowering import Lowering
    from litefuse.conversion.quantization.difference import Difference
    from litefuse.conversion.quantization.recurrent.lstms import FloatLayer
    from litefuse.ir.mlir import ir


@shared_files()
def run_quantization(job: ConversionJob, announce: Callable[[str], None]) -> Report:
    """Quantizes a LiteRT model from another process, with the kernels that the job contains.

    Args:
        job: A conversion whose source is the model's file.
        announce: Called with the name of the step at its start.

    Raises:
        LitefuseError: The model cannot be read, quantized or written.
    """
    from litefuse.conversion.quantization.litert_quantizer import prepare_model
    from litefuse.litert.inspection.litert_model import inspect_litert_model
    from litefuse.litert.metadata.description import Finish
    from litefuse.litert.metadata.finish import finish_file

    take_plug_ins(job.plug_ins)
    unpickle_kernels(job.kernels)
    steps = Steps(announce)
    steps.begin("quantize")
    partial = job.output.with_name(job.output.name + ".part")
    try:
        model = inspect_litert_model(job.source)
        custom_ops = sorted({operator.name for operator in model.custom_operators if operator.kind == "custom"})
        summary = ModelSummary(model.op_counts, tuple(custom_ops))
        prepare_model(job.source, partial)
        quantization, summary = quantize_file(partial, job, summary, announce)
        facts = inspect_litert_model(partial)
        renamed = finish_file(partial, job.finish or Finish(), files_of=job.source, where=str(job.source))
        partial.replace(job.output)
    finally:
        partial.unlink(missing_ok=True)
    foreign, own = by_kernel(summary.custom_ops, job.output)
    steps.begin("")
    return Report(
        source=str(job.source),
        signatures=tuple(signature.key for signature in facts.signatures),
        renamed=reports.RenamedReport.all_of(renamed) if renamed else (),
        op_counts=summary.op_counts,
        custom_ops=foreign,
        runtime_ops=own,
        pack_kernels=tuple(name for name in foreign if name in PACK),
        python_kernels=tuple(name for name in foreign if name in PYTHON_ONLY),
        package_kernels=package_kernels(foreign),
        quantization=quantization,
        least_runtime=facts.least_runtime,
        size=job.output.stat().st_size,
        source_size=job.source.stat().st_size,
        timings=steps.timings,
    )


def quantize_file(
    path: Path, job: ConversionJob, summary: ModelSummary, announce: Callable[[str], None]
) -> tuple[reports.QuantizationReport, ModelSummary]:
    """Quantizes the model in a file in place; returns the report and the new summary.

    Raises:
        LitefuseError: The model cannot be quantized like this.
        QuantizationError: The result is not what was required.
    """
    size, target = path.stat().st_size, path.with_name(path.name + ".quantized")
    left: list[FloatLayer] = []
    try:
        options, difference, instead = _quantized(path, target, job, left, announce)
        target.replace(path)
    finally:
        target.unlink(missing_ok=True)
    result = _checked(path, options, summary, size, difference, instead=instead)
    if options.scheme == "int16" and left and job.rnn_form == "fused":
        raise QuantizationError(
            f"{len(left)} recurrent op(s) would stay in floating point: {left[0].reason}",
            hint="Quantize to int8, or leave out rnn='fused' and the target (on the command line, --rnn, --target).",
        )
    return result


def _quantized(
    path: Path, target: Path, job: ConversionJob, left: list[FloatLayer], announce: Callable[[str], None]
) -> tuple[Quantization, Difference, str]:
    """Quantizes a model in the form that was asked for, or in the next one that its oldest runtime has.

    Returns:
        The form, the difference, and why it is another form; empty if it is not.

    Raises:
        LitefuseError: The model cannot be quantized like this, or the runtime has no such form.
    """
    from litefuse.conversion.quantization.equal_ops import write_equal_ops
    from litefuse.conversion.quantization.integer_composites import take_conversions_in
    from litefuse.conversion.quantization.post_training import quantize_model
    from litefuse.conversion.quantization.recipe import kept_results
    from litefuse.conversion.quantization.runtime_forms import fuse_activations, limit_selections, write_for_older
    from litefuse.conversion.quantization.tables import look_rows_up, separate_shapes
    from litefuse.litert.export.edited_file import Edit, edit_file

    traits, options = traits_of(job.options.target), job.options.quantize
    kept = kept_results(path, options)
    edits: list[Edit] = [separate_shapes]
    if all(entry["operation"] != "GATHER" for entry in options.entries):
        edits.append(lambda model: look_rows_up(model, kept))
    if options.scheme in INTEGER_ACTIVATIONS:
        bits = INTEGER_ACTIVATIONS[options.scheme]
        edits.append(lambda model: fuse_activations(model, kept))
        edits.append(lambda model: write_equal_ops(model, bits, kept, traits))
    edit_file(path, *edits)

    def is_generated(name: str) -> bool:
        return job.options.composites[name] == "generate"

    def quantized(target: Path, form: Quantization) -> Difference:
        left.clear()
        return quantize_model(path, target, form, job.samples, traits=traits, left=left, announce=announce)

    lacking: list[NewerOp] = []
    oldest = RuntimeLimit.of(job.options.min_runtime)
    for form, described in (options, ""), *_older_forms(options):
        chosen, difference, instead = form, quantized(target, form), ""
        if form.has_mixed_activations and not (difference.error or 0.0) <= form.allowed_error:
            edit_file(path, lambda model: write_equal_ops(model, 16, kept, traits))
            chosen, difference, instead = _widened(target, form, difference, quantized)
        if "SELECT_V2" in traits.avoided:
            edit_file(target, limit_selections)
        edit_file(target, lambda model: take_conversions_in(model, is_generated))
        if oldest is None:
            return chosen, difference, instead
        edit_file(target, partial(write_for_older, limit=oldest))
        with content_of(target) as content:
            newer = newer_ops(content, oldest)
        if not newer:
            return chosen, difference, instead or _reason(described, oldest, lacking)
        lacking = lacking or newer
    assert oldest is not None
    raise too_old(oldest, lacking)


def _widened(
    target: Path, form: Quantization, mixed: Difference, quantized: Callable[[Path, Quantization], Difference]
) -> tuple[Quantization, Difference, str]:
    """Takes int16 throughout in the place of a mixture with int8, if it is closer and no more ops stay real.

    In a mixture, loops, states and tables are int8 even where all layers are int16.
    """
    error, whole = mixed.error or 0.0, target.with_name(target.name + ".int16")
    first, last = ("int8" if end is True else end for end in form.io)
    plain = replace(form, form="int16", io=(first, last))
    try:
        difference = quantized(whole, plain)
        if len(difference.floats) > len(mixed.floats) or (difference.error or 0.0) >= error:
            return form, mixed, ""
        whole.replace(target)
        return plain, difference, f"int16 throughout: mixed with int8, outputs differ by {error:.1g}"
    except LitefuseError:  # what is wrong with int8 is told then
        return form, mixed, ""
    finally:
        whole.unlink(missing_ok=True)


def _reason(described: str, limit: RuntimeLimit, lacking: Sequence[NewerOp]) -> str:
    """Returns why a form was chosen in place of another; empty if it was the first."""
    return f"{described}, as {limit} has no {lacking[0].op} version {lacking[0].version}" if lacking else ""


def _older_forms(options: Quantization) -> Iterator[tuple[Quantization, str]]:
    """Yields the forms to try where the oldest runtime lacks the one that was asked for, with their names."""
    if options.granularity != "tensor" and options.scheme not in {"auto", "recipe", "float16"}:
        yield replace(options, granularity="tensor"), "one scale for each tensor"
    if options.scheme == "dynamic":
        yield replace(options, form="weights"), "int8 weights for products in float32"


def quantize_trained_module(
    module: ir.Module, lowering: Lowering, path: Path, job: ConversionJob, summary: ModelSummary
) -> tuple[reports.QuantizationReport, ModelSummary]:
    """Writes a model in integers with the ranges of its fake quantization; returns the report and the new summary.

    Raises:
        LitefuseError: The model has no such ranges, or LiteRT does not run the result.
        QuantizationError: The result is not what was required.
    """
    from litefuse.conversion.quantization.training_aware import quantize_trained
    from litefuse.passes.fake_quantization.pairs import NodesFound

    options = job.options.quantize
    size, difference = quantize_trained(
        module,
        lowering.weights,
        path,
        lowering.fake_quantization or NodesFound(),
        [entry.symbol for entry in lowering.entry_points] if options.has_integer_ends else [],
        int4=traits_of(job.options.target).int4 is None,
        layers=options.measure_layers,
    )
    return _checked(path, options, summary, size, difference)


def _checked(
    path: Path, options: Quantization, summary: ModelSummary, size: int, difference: Difference, *, instead: str = ""
) -> tuple[reports.QuantizationReport, ModelSummary]:
    """Checks what was required of the result, and reports it."""
    from litefuse.conversion.quantization.effect import check_difference
    from litefuse.conversion.quantization.float_ops import require_integer
    from litefuse.litert.inspection.litert_model import inspect_litert_model

    assert options.scheme is not None
    if options.require_integer:
        require_integer(difference.floats)
    if options.allowed_error < math.inf:
        check_difference(difference.error, difference.unchecked, options.allowed_error, difference.inputs)
    report = reports.QuantizationReport(
        options.scheme, size, weights=options.text(), instead=instead, **difference._asdict()
    )
    return report, summary._replace(op_counts=inspect_litert_model(path).op_counts)
