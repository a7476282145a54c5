"""``litefuse inspect`` and ``litefuse diff``, which look into models without running them."""

from __future__ import annotations

from pathlib import Path

import click

from litefuse.tools.cli.command import Command
from litefuse.tools.cli.failures import ExitCode
from litefuse.tools.cli.output import print_result, progress
from litefuse.tools.cli.parameters import PATH, PLUG_INS, TAGS


@click.command(cls=Command)
@click.argument("model", type=PATH)
@TAGS
@click.option(
    "--ops", is_flag=True, help="List every op: layer, types, options; for a SavedModel, the nodes of functions."
)
@click.option("--tensors", is_flag=True, help="List every tensor of a .tflite file: type, bytes, scales, zero points.")
@click.option("--sizes", is_flag=True, help="Show what takes space in a .tflite file: layers, largest tensors.")
@click.option("--all", "everything", is_flag=True, help="Show lists and names in full.")
@PLUG_INS
def inspect(
    model: Path,
    tags: tuple[str, ...] | None,
    ops: bool,
    tensors: bool,
    sizes: bool,
    everything: bool,
    plug_ins: tuple[str, ...],
) -> None:
    """Show what a model contains.

    MODEL is the folder of a SavedModel, a .keras, .h5, .tflite or .litertlm file, or a frozen graph (.pb, .pbtxt).

    For a SavedModel or Keras file: signatures, composites and their call sites, variables and whether they change, ops,
    assets. For a LiteRT model: signatures, subgraphs, ops, options of custom ops, dtypes, and the scales and zero
    points of quantized tensors.
    """
    from dataclasses import replace

    from litefuse.litert.runtime.model_content import is_litert_model
    from litefuse.support.files.readable import is_there
    from litefuse.tools.language_models import is_bundle

    is_file = is_there(model) and model.is_file()
    lists = [name for name, asked in (("ops", ops), ("tensors", tensors), ("sizes", sizes)) if asked]
    is_litert = is_file and (model.suffix in {".tflite", ".litertlm"} or is_bundle(model) or is_litert_model(model))
    if is_litert:
        from litefuse.litert.inspection.litert_model import inspect_litert_model
        from litefuse.litert.inspection.litert_model_facts import litert_model_sections
        from litefuse.tools.language_models.bundle import opened_model

        with opened_model(model) as (file, bundle):
            litert_facts = inspect_litert_model(file)
            if bundle:
                litert_facts = replace(litert_facts, source=str(model))
        print_result(
            litert_facts.to_json,
            lambda: [*bundle, *litert_model_sections(litert_facts, lists, everything=everything)],
        )
        return
    for option, asked in (("--tensors", tensors), ("--sizes", sizes)):
        if asked:
            raise click.UsageError(
                f"{option} is for .tflite files. Variables of a SavedModel with their sizes are shown without it."
            )

    from litefuse.ir.installation import check_engine

    check_engine()

    from litefuse.support.processes.limits import process_limits
    from litefuse.support.processes.process import prepare_worker, run_in_worker

    if process_limits().memory is None:
        prepare_worker("litefuse.tools.saved_models.inspection")

    from litefuse.frontends.source_of import source_of
    from litefuse.litert.inspection.saved_model_facts import (
        INSPECT,
        InspectionJob,
        SavedModelFacts,
        saved_model_sections,
    )
    from litefuse.support.files.temporary import make_temporary_folder

    source = source_of(model, plug_ins)
    with (
        progress(f"Reading {model}") as on_step,
        make_temporary_folder() as temporary,
        source.opened(folder := source.folder(Path(temporary, "saved_model")), on_step),
    ):
        job = InspectionJob(folder, tags, nodes=ops)
        worker: SavedModelFacts = run_in_worker(INSPECT, job, on_step)
    facts = replace(worker, source=source.name)
    print_result(facts.to_json, lambda: saved_model_sections(facts, everything=everything))


@click.command(cls=Command)
@click.argument("before", type=PATH, metavar="A.tflite")
@click.argument("after", type=PATH, metavar="B.tflite")
@click.option("--all", "everything", is_flag=True, help="Show lists and names in full.")
def diff(before: Path, after: Path, everything: bool) -> None:
    """Compare two LiteRT files without running them.

    Shows what another converter version or option changed: ops that were added, removed or moved, and their options;
    dtypes, shapes and scales of tensors; signatures; weights, number by number, quantized ones dequantized; metadata;
    sizes. The order of ops and tensors within the files does not count.

    The exit code is 0 if the files differ in layout at most, 1 if they differ otherwise, and 4 if one of them cannot be
    read.
    """
    from litefuse.litert.differences.compare import diff as differences_of
    from litefuse.litert.differences.model_diff import diff_sections

    with progress(f"Comparing {before} with {after}"):
        difference = differences_of(before, after)
    code = ExitCode.FAILED if difference.verdict == "differs" else ExitCode.DONE
    print_result(difference.to_json, lambda: diff_sections(difference, everything=everything), code)
