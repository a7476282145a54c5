"""The step of a conversion that generates kernels for composites (``composites="generate"``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from litefuse.errors import NotFusedError
from litefuse.job import ConversionJob
from litefuse.report import CompositeReport, Report

__all__ = ["with_kernels"]


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
        LitefuseError: There is no C++ compiler.
    """
    wanted = {each.name for each in report.composites if _is_kept(each, job)}
    if not wanted:
        return report
    from litefuse.generator.generate import generate_kernels

    folder.mkdir()
    found = generate_kernels(job.output.read_bytes(), wanted, folder, model="model.tflite", on_step=on_step)
    if found.library is None:
        folder.rmdir()
    declined = {name: f"no kernel was generated: {reason}" for name, reason in found.declined.items()}
    _require(declined, job)
    if declined:
        inlined = {**job.composites.by_name, **dict.fromkeys(declined, "inline")}
        report = convert(replace(job, composites=replace(job.composites, by_name=inlined)))
    composites = tuple(
        replace(each, reason=declined[each.name])
        if each.name in declined and each.outcome == "inlined"
        else replace(each, kernel=found.kernels.get(each.name))
        if _is_kept(each, job)
        else each
        for each in report.composites
    )
    return replace(report, composites=composites)


def _is_kept(composite: CompositeReport, job: ConversionJob) -> bool:
    return job.composites[composite.name] == "generate" and composite.outcome == "fused"


def _require(declined: dict[str, str], job: ConversionJob) -> None:
    required = job.require_fused
    failed = (
        declined if required is True else {name: why for name, why in declined.items() if required and name in required}
    )
    if failed:
        listed = "\n".join(f"  {name!r}: {why}" for name, why in failed.items())
        raise NotFusedError(f"composites that had to be fused were not:\n{listed}")
