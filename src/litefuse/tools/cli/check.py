"""``litefuse check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from litefuse.tools.cli.command import Command
from litefuse.tools.cli.failures import ExitCode
from litefuse.tools.cli.output import print_result, progress
from litefuse.tools.cli.parameters import KERNELS, MAX_ERROR, PATH, SEED, SHAPES, TARGET, TIMEOUT, parse_shapes

if TYPE_CHECKING:
    from litefuse.conversion.verify.targets.target_check import TargetCheck


@click.command(cls=Command)
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.option(
    "--target",
    "targets",
    type=TARGET,
    multiple=True,
    show_default="all whose software is installed",
    help="A target to check for; may be repeated. Variants: micro:64K, with this much memory; ethos-u:ethos-u65-256, "
    "this accelerator.",
)
@click.option("--require-accelerated", is_flag=True, help="Fail if a target refuses an op.")
@SEED
@SHAPES
@MAX_ERROR
@TIMEOUT
@KERNELS
def check(
    model: Path,
    targets: tuple[str, ...],
    require_accelerated: bool,
    shape: tuple[str, ...],
    timeout: float | None,
    **options: Any,
) -> None:
    """Check whether targets can run a LiteRT file.

    The software of each target compiles the file, and runs it if possible: LiteRT's CompiledModel (litert, gpu),
    tflite-micro (micro), Vela (ethos-u), OpenVINO (openvino), LiteRT.js in a browser (web), and the plug-ins of
    LiteRT's compiler for NPUs of Intel (intel-npu) and of vendors whose SDK is in a folder (qualcomm:FOLDER, mediatek,
    google-tensor, samsung). Outputs are compared with LiteRT's on the CPU. The report lists the refused ops, with the
    reason, their layers, and what to do.

    Where the software is not installed, a table of the target's ops is used: it can find ops to refuse, but cannot
    prove that the file runs.

    The exit code is 0 if every target takes the file, 1 if one refuses it or computes other numbers, 3 if that is not
    proven, as by a table, whose refused ops the CPU may run, 4 if the file cannot be checked, and, with
    --require-accelerated, 5 if a target refuses an op.

    --timeout limits each target; without it, 300 seconds do.
    """
    shapes = parse_shapes(shape)

    from litefuse.conversion.verify.targets.check import check as check_model
    from litefuse.conversion.verify.targets.target_check import target_sections

    with progress(f"Checking {model}") as on_step:
        # Other options are arguments of the same names.
        checked = check_model(model, targets or None, shapes=shapes, limits=timeout, on_step=on_step, **options)
    code = _exit_code(checked, require_accelerated=require_accelerated)
    print_result(checked.to_json, lambda: target_sections(checked), code)


def _exit_code(checked: TargetCheck, *, require_accelerated: bool) -> ExitCode:
    verdicts = {report.verdict for report in checked.reports}
    if "differs" in verdicts:
        return ExitCode.FAILED
    if require_accelerated and any(report.refused for report in checked.reports):
        return ExitCode.NOT_ACCELERATED
    if "refused" in verdicts:
        return ExitCode.FAILED
    is_proven = checked.ok and not any(report.table for report in checked.reports)
    return ExitCode.DONE if is_proven else ExitCode.INCONCLUSIVE
