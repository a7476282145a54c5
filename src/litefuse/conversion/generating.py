"""The step of a conversion that generates kernels, for composites (``composites="generate"``) and chains of ops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from litefuse.conversion.job import ConversionJob
from litefuse.errors import NotFusedError
from litefuse.litert.metadata.description import Finish
from litefuse.support.options.input_shapes import InputShapes
from litefuse.support.report import CompositeReport, Report

if TYPE_CHECKING:
    from litefuse.kernels.generator.generate import Generated


def with_kernels(
    report: Report,
    job: ConversionJob,
    folder: Path,
    convert: Callable[[ConversionJob], Report],
    on_step: Callable[[str], None],
) -> Report:
    """Generates kernels for the composites whose form says so, and returns the report with the result.

    Where a kernel is declined, the model is converted again with the composite's body in its place, in which XNNPACK
    takes its ops.

    Args:
        report: The report of the conversion, in which they are STABLEHLO_COMPOSITEs.
        job: The conversion; its output is read, and replaced where a kernel is declined.
        folder: The folder to write the kernels to, which does not exist; it is not made where there are none.
        convert: Converts.
        on_step: Called with each step's name.

    Raises:
        NotFusedError: A composite that had to be fused has no kernel.
        LitefuseError: No C++ compiler found.
    """
    wanted = {composite.name for composite in report.composites if _is_kept(composite, job)}
    generated: Generated | None = None
    if wanted:
        report, generated = _of_composites(report, job, wanted, folder, convert, on_step)
    return _of_chains(report, job, folder, generated, on_step) if job.options.generate_kernels else report


def _of_composites(
    report: Report,
    job: ConversionJob,
    wanted: set[str],
    folder: Path,
    convert: Callable[[ConversionJob], Report],
    on_step: Callable[[str], None],
) -> tuple[Report, Generated]:
    from litefuse.kernels.generator.called_shapes import known_shapes
    from litefuse.kernels.generator.generate import generate_kernels

    folder.mkdir()
    content = job.output.read_bytes()
    called = known_shapes(content, "model.tflite", on_step, are_given=job.options.input_shapes != InputShapes())
    generated = generate_kernels(content, wanted, folder, model="model.tflite", called=called, on_step=on_step)
    if generated.library is None:
        folder.rmdir()
    declined = {name: f"no kernel was generated: {reason}" for name, reason in generated.declined.items()}
    _require(declined, job)
    if declined:
        forms = job.options.composites
        forms = replace(forms, by_name={**forms.by_name, **dict.fromkeys(declined, "inline")})
        report = convert(replace(job, options=replace(job.options, composites=forms)))
    composites = tuple(
        replace(composite, reason=declined[composite.name])
        if composite.name in declined and composite.outcome == "inlined"
        else replace(composite, kernel=kernel, error=kernel.error, unchecked=None)
        if _is_kept(composite, job) and (kernel := generated.kernels.get(composite.name)) is not None
        else composite
        for composite in report.composites
    )
    return replace(report, composites=composites), generated


def _of_chains(
    report: Report, job: ConversionJob, folder: Path, found: Generated | None, on_step: Callable[[str], None]
) -> Report:
    from litefuse.kernels.generator.chain_kernels import generate_chains
    from litefuse.litert.inspection.litert_model import inspect_litert_model

    others = found if found is not None and found.library is not None else None
    chains = generate_chains(job.output, folder, model="model.tflite", others=others, on_step=on_step)
    if any(chain.kernel is not None for chain in chains):
        if job.finish is not None and job.finish.description is not None:
            from litefuse.litert.metadata.finish import finish_file

            # The file was written anew, without what was behind it.
            finish_file(job.output, Finish(job.finish.description), where=str(job.source))
        counts = inspect_litert_model(job.output).op_counts
        report = replace(report, op_counts=counts, size=job.output.stat().st_size)
    return replace(report, chains=chains)


def _is_kept(composite: CompositeReport, job: ConversionJob) -> bool:
    return job.options.composites[composite.name] == "generate" and composite.outcome == "fused"


def _require(declined: dict[str, str], job: ConversionJob) -> None:
    failed = {name: why for name, why in declined.items() if name in job.options.require_fused}
    if failed:
        listed = "\n".join(f"  {name!r}: {why}" for name, why in failed.items())
        raise NotFusedError(f"composites that had to be fused were not:\n{listed}")
