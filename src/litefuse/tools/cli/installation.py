"""The commands about litefuse itself: ``demo``, and ``doctor`` with ``cache``, ``fusions`` and ``schema``."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from litefuse.errors import LitefuseError
from litefuse.tools.cli.command import Command, Group, all_options_applied, parse_size, value_for_all
from litefuse.tools.cli.failures import ExitCode
from litefuse.tools.cli.output import is_verbose, print_result, print_sections, progress
from litefuse.tools.cli.parameters import beginning


@click.group(cls=Group, invoke_without_command=True, subcommand_metavar="[COMMAND]")
@click.pass_context
def doctor(context: click.Context) -> None:
    """Check the installation, and show what is missing or broken; with -v, all of it.

    Checks Python, the system, memory and disk space; installed packages, and whether they are compatible and safe; the
    lowering engine and the runtime, each loaded and run in a separate process; kernels, the compiler, extras and
    plug-ins.

    The exit code is 0 if everything required works, and 1 if not; optional features may be missing.
    """
    if context.invoked_subcommand is not None:
        return
    from litefuse.tools.environment.doctor import diagnose, diagnosis_sections

    with all_options_applied(context):
        with progress("Looking at the installation"):
            diagnosis = diagnose()
        code = ExitCode.DONE if diagnosis.ok else ExitCode.FAILED
        print_result(diagnosis.to_json, lambda: diagnosis_sections(diagnosis, details=is_verbose()), code)


@click.command(cls=Command)
def demo() -> None:
    """Convert, run and check a small model.

    The model comes with litefuse, along with a kernel of its custom op, in Python, and TensorFlow's results. The
    conversion compares each fused op with what it replaces; then the stock LiteRT interpreter runs the converted model,
    and every output is compared with TensorFlow's.
    """
    from litefuse.conversion.api import convert
    from litefuse.litert.runtime.custom_op import custom_op
    from litefuse.support.report.conversion_sections import report_sections
    from litefuse.support.report.sections import Section
    from litefuse.tools.demo import SAVED_MODEL
    from litefuse.tools.demo.check import MyCustomFusedOp, compare

    custom_op(MyCustomFusedOp.op_name)(MyCustomFusedOp)
    with progress("Converting the demo") as on_step:
        result = convert(SAVED_MODEL, require_fused=True, on_step=on_step)
    print_sections(report_sections(result.report)[:1])  # the answer
    if not value_for_all("quiet"):
        click.echo()

    comparisons = compare(result.model_bytes)
    print_sections(
        [
            Section(
                "Stock interpreter, with a Python kernel, against TensorFlow",
                [
                    (
                        f"{comparison.call}",
                        comparison.signature,
                        f"{comparison.batch}",
                        comparison.output,
                        f"{comparison.max_error:.1e}",
                        "ok" if comparison.equal else f"DIFFERS: {comparison.problem}",
                    )
                    for comparison in comparisons
                ],
                headings=("call", "signature", "batch", "output", "max error", ""),
                right=frozenset({0, 2, 4}),
                judgements=["good" if comparison.equal else "bad" for comparison in comparisons],
            )
        ]
    )
    different = sum(not comparison.equal for comparison in comparisons)
    if different:
        raise LitefuseError(f"{different} of {len(comparisons)} outputs differ from TensorFlow's")
    if not value_for_all("quiet"):
        click.echo(f"\nOK: the file computes what TensorFlow computed. {MyCustomFusedOp.op_name} is a custom op, whose")
        click.echo("kernel comes with litefuse; litefuse report MODEL draws what became of a model.")


_OWN = "litefuse"


@doctor.command("fusions")
def fusions() -> None:
    """List the composites that litefuse fuses.

    Shows what each becomes and, if plug-ins add fusions, where the conversion code is from.
    """
    from litefuse.fusions import registered_fusions
    from litefuse.support.report.sections import Section

    rows = [(name, _first_line(cls), _origin(cls)) for name, cls in registered_fusions().items()]
    other = ("any other", "With the attribute tfl_fusable_op: true, it becomes a custom op of its name.", "")
    has_others = any(origin != _OWN for _, _, origin in rows)
    count = 3 if has_others else 2
    headings = ("composite", "what it becomes", "from")[:count]
    print_result(
        lambda: {"fusions": [dict(zip(("composite", "becomes", "origin"), row, strict=True)) for row in rows]},
        lambda: [Section(f"Fusions: {len(rows):,}", [row[:count] for row in (*rows, other)], headings=headings)],
    )


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0].replace("``", "")


def _origin(cls: type) -> str:
    """Returns the distribution that a fusion comes from, or its module."""
    from litefuse.support.plug_ins.entry_points import find_plug_ins

    if cls.__module__.partition(".")[0] == "litefuse":
        return _OWN
    for plug_in in find_plug_ins("litefuse", "litefuse.fusions"):
        if cls.__module__ == plug_in.module or cls.__module__.startswith(f"{plug_in.module}."):
            return plug_in.package or plug_in.module
    return cls.__module__


def _complete_commands(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from litefuse.tools.documents.document import COMMANDS

    before: tuple[str, ...] = context.params.get("command") or ()
    names = (command.split() for command in COMMANDS)
    rest = [name[len(before)] for name in names if tuple(name[: len(before)]) == before and len(name) > len(before)]
    return beginning(dict.fromkeys(rest), incomplete)


@doctor.command("schema")
@click.argument("command", nargs=-1, shell_complete=_complete_commands)
def schema(command: tuple[str, ...]) -> None:
    """Print the JSON Schema of what a command prints with --json.

    COMMAND is a command, such as convert or kernels list. Without it, all commands are listed with the addresses of
    their schemas, which are also in their output.
    """
    from litefuse.support.report.sections import Section
    from litefuse.tools.documents.document import COMMANDS, address, schema_text

    name = " ".join(" ".join(command).split())
    if not name:
        rows = [(command_name, address(command_name)) for command_name in COMMANDS]
        print_sections([Section("Schemas", rows, headings=("command", "address"))])
        return
    if name not in COMMANDS:
        raise click.BadParameter(f"{name!r} prints no JSON; these do: {', '.join(COMMANDS)}")
    click.echo(schema_text(name), nl=False)


_DAY = 24 * 3600.0


def _parse_kept(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, float]:
    """Parses what remains in the cache: a number of bytes, or of days since the last use."""
    days = (value or "").removesuffix("d")
    if value is None or (days != value and days.isdecimal()):
        return 0, int(days or 0) * _DAY
    return parse_size(value), 0.0


@doctor.command("cache")
@click.option("--clear", is_flag=True, help="Empty the cache.")
@click.option(
    "--keep",
    callback=_parse_kept,
    metavar="BYTES|DAYSd",
    help="With --clear: keep the latest entries up to this size, such as 5G, or those used in this many days, such as "
    "30d.",
)
def cache(clear: bool, keep: tuple[int, float]) -> None:
    """Show or remove files fetched from URLs.

    Models and samples at URLs are fetched once into a cache that all commands share: the folder that the environment
    variable LITEFUSE_CACHE names, or the system's cache folder for users. Nothing is removed automatically.

    Do not clear the cache while another command reads from it.
    """
    if not clear and any(keep):
        raise click.UsageError("--keep needs --clear.")
    from litefuse.support.cloud.cache import cache_folder, cached_entries, clear_cache
    from litefuse.support.report.sections import Section

    size = clear_cache(keep[0], unused_for=keep[1]) if clear else 0
    entries = cached_entries()
    total = sum(entry.size for entry in entries)
    told = [{"url": entry.url, "folder": str(entry.folder), "bytes": entry.size} for entry in entries]
    note = f"{size:,} bytes were removed." if clear else ""
    rows = [(entry.url, f"{entry.size:,}") for entry in entries]
    title = f"{cache_folder()}: {total:,} bytes"
    print_result(
        lambda: {"folder": str(cache_folder()), "bytes": total, "removed_bytes": size, "entries": told},
        lambda: [Section(title, rows, headings=("from", "bytes"), right=frozenset({1}), note=note)],
    )
