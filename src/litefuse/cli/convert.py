"""``litefuse convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from litefuse.cli.output import check_writable, print_json, print_sections, progress
from litefuse.forms import FORMS, RNN_FORMS, CompositeForm, RnnForm

__all__ = ["OptionalValueCommand", "convert"]

_ALL = "*"
_OPTIONAL_VALUES = frozenset({"--allow-custom-ops", "--require-fused"})


class OptionalValueCommand(TyperCommand):
    """A command with options that may stand alone or, after ``=``, with a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        options = [f"{arg}={_ALL}" if arg in _OPTIONAL_VALUES else arg for arg in args[:end]]
        return super().parse_args(ctx, [*options, *args[end:]])


def convert(
    saved_model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="The folder of a SavedModel, a .keras or .h5 file, or the file of a frozen graph (.pb, .pbtxt).",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write, whole or not at all; a file that is there is replaced. "
            "Default: the model's name and .tflite, in the current folder.",
        ),
    ] = None,
    signature: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="A signature to convert; may be repeated. Default: all."),
    ] = None,
    tags: Annotated[
        str | None, typer.Option(metavar="A,B", help="The tags of the graph to convert. Default: serve.")
    ] = None,
    input_arrays: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="The tensors that are a frozen graph's inputs. Default: its placeholders."),
    ] = None,
    output_arrays: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="The tensors that are its outputs. Default: the one that nothing reads."),
    ] = None,
    shapes: Annotated[
        list[str] | None,
        typer.Option(
            "--shape",
            metavar="[SIGNATURE:]NAME=1,2,3",
            help="The shape of an input, ? for a size that stays as it is in the model; may be repeated.",
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(metavar="N", help="The first size of every input whose first size is open otherwise."),
    ] = None,
    allow_custom_ops: Annotated[
        str | None,
        typer.Option(
            metavar="[=OP,...]",
            help="Make custom ops of TensorFlow ops that LiteRT lacks and that litefuse has no kernel for: of any, or "
            "of those that are named.",
        ),
    ] = None,
    builtins_only: Annotated[
        bool,
        typer.Option(
            "--builtins-only",
            help="Make no custom ops of ops that LiteRT lacks, not even of those that litefuse has a kernel for.",
        ),
    ] = False,
    narrow: Annotated[
        bool,
        typer.Option(
            "--narrow",
            help="Make float32 of float64, in inputs and outputs too, and compute ops of int64 that LiteRT lacks in "
            "int32.",
        ),
    ] = False,
    composites: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FORM",
            help="What composites become, all or the named one: fuse (what their fusion makes of them, the default), "
            "builtin (the same, but no custom op), custom (a custom op), keep (STABLEHLO_COMPOSITE, which carries its "
            "body), inline (their body). May be repeated.",
        ),
    ] = None,
    rnn: Annotated[
        str,
        typer.Option(
            metavar="|".join(RNN_FORMS),
            help="What recurrent layers become that nobody annotated: one op, a loop, or whichever is faster.",
        ),
    ] = "auto",
    require_fused: Annotated[
        str | None,
        typer.Option(
            metavar="[=NAME,...]",
            help="Fail if a composite is not fused: any, or one of those that are named.",
        ),
    ] = None,
    check_fusions: Annotated[
        bool,
        typer.Option(
            "--check-fusions/--no-check-fusions",
            help="Apply a fusion only when fused op and composite agree on random inputs.",
        ),
    ] = True,
    check_custom_ops: Annotated[
        bool,
        typer.Option(
            "--check-custom-ops",
            help="Check the custom ops too that composites ask for (tfl_fusable_op), where there are kernels for them.",
        ),
    ] = False,
    kernels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE.py|MODULE",
            help="Python code that registers kernels of custom ops, to check with; may be repeated.",
        ),
    ] = None,
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Convert in this process, for a debugger in conversion code.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON on the standard output, and nothing else there.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    timings: Annotated[bool, typer.Option("--timings", help="Print the time of every step.")] = False,
) -> None:
    """Convert a SavedModel, or a file of Keras's, to LiteRT.

    Composites, which are functions annotated with experimental_implements, become fused ops; the report says which did
    and which did not, and why.

    The values of --allow-custom-ops and --require-fused follow an equals sign: --require-fused stands for all
    composites, --require-fused=lstm,gelu for these two.
    """
    target = output if output is not None else _default_output(saved_model)
    check_writable(target, "the model")
    if not in_process and not kernels:  # kernels may come with paths of their own
        from litefuse.engine.process import start_worker

        start_worker("litefuse.conversion")

    from litefuse.api import convert as convert_model
    from litefuse.cli.kernel_modules import import_kernels

    import_kernels(kernels or ())

    with progress(f"Converting {saved_model}", quiet=quiet) as on_step:
        result = convert_model(
            saved_model,
            signatures=signature or None,
            tags=None if tags is None else _split(tags),
            input_arrays=None if input_arrays is None else _split(input_arrays),
            output_arrays=None if output_arrays is None else _split(output_arrays),
            shapes=dict(map(_shape, shapes or ())),
            batch=batch,
            allow_custom_ops=_all_or_names(allow_custom_ops, "--allow-custom-ops"),
            builtins_only=builtins_only,
            narrow=narrow,
            composites=_forms(composites or []),
            rnn=_rnn_form(rnn),
            require_fused=_all_or_names(require_fused, "--require-fused"),
            check_fusions=check_fusions,
            check_custom_ops=check_custom_ops,
            in_process=in_process,
            temporary_folder=target.parent,
            on_step=on_step,
        )
        result.save(target, copy=False)
    if as_json:
        print_json(result.report.to_json())
    elif not quiet:
        from litefuse.report.sections import Section, report_sections

        print_sections([*report_sections(result.report, timings=timings), Section(f"Written to {target}")])


def _default_output(saved_model: Path) -> Path:
    name = (saved_model.stem if saved_model.is_file() else saved_model.name) or saved_model.absolute().name
    if name == "..":
        name = saved_model.resolve().name
    return Path(f"{name or 'model'}.tflite")


def _forms(values: list[str]) -> dict[str, CompositeForm]:
    forms: dict[str, CompositeForm] = {}
    for value in values:
        name, equals, form = value.rpartition("=")
        if form not in FORMS:
            raise typer.BadParameter(f"--composites takes {', '.join(FORMS)}, or NAME= and one of these, not {value!r}")
        forms[name if equals else _ALL] = form
    return forms


def _shape(value: str) -> tuple[str, tuple[int | None, ...]]:
    name, equals, sizes = value.rpartition("=")
    try:
        shape = tuple(None if size.strip() in {"?", "-1"} else int(size) for size in sizes.split(",") if size.strip())
    except ValueError:
        equals = ""
        shape = ()
    if not equals or not name:
        raise typer.BadParameter(f"--shape takes NAME= and sizes, such as x=1,28,28, not {value!r}")
    return name, shape


def _rnn_form(value: str) -> RnnForm:
    for form in RNN_FORMS:
        if form == value:
            return form
    raise typer.BadParameter(f"--rnn takes {', '.join(RNN_FORMS)}, not {value!r}")


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _all_or_names(value: str | None, option: str) -> bool | list[str]:
    if value is None or value == _ALL:
        return value == _ALL
    names = _split(value)
    if not names:
        raise typer.BadParameter(f"{option}= needs names; leave out the equals sign for all")
    return names
