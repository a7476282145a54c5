"""``litefuse convert``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.shell_completion import CompletionItem

from litefuse.support.options.forms import FORMS, QUANTIZATIONS, RNN_FORMS, CompositeForm
from litefuse.support.options.limits import MAX_CONSTANT_BYTES, MAX_OPS
from litefuse.tools.cli.json_output import json_option, wrote
from litefuse.tools.cli.output import (
    HTML,
    attempted,
    check_page,
    check_writable,
    is_verbose,
    print_result,
    progress,
    save_page,
)
from litefuse.tools.cli.parameters import (
    ALL,
    CHECK_FILE,
    MIN_RUNTIME,
    OUTPUT,
    PATH,
    QUIET,
    TARGET,
    OptionalValueCommand,
    beginning,
    file_options,
    parse_renames,
    parse_size,
    process_limit_options,
    split_names,
)
from litefuse.tools.cli.quantization_options import integer_io, quantization_option_group

if TYPE_CHECKING:
    from litefuse.support.report.sections import Section
    from litefuse.support.result import ConversionResult
    from litefuse.tools.benchmarking.measurement import Benchmark


def _complete_composites(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes ``NAME=FORM``: the names of litefuse's own fusions, and the forms."""
    name, equals, _ = incomplete.partition("=")
    if equals:
        return beginning((f"{name}={form}" for form in FORMS), incomplete)
    from litefuse.support.plug_ins.own_classes import own_classes

    names = sorted({name for class_ in own_classes("litefuse.fusions", "fusion") for name in class_.arguments})
    return beginning((*FORMS, *(f"{name}=" for name in names)), incomplete)


@click.command(cls=OptionalValueCommand)
@click.argument("model", type=PATH)
@click.option(
    "--output",
    "-o",
    type=OUTPUT,
    metavar="FILE",
    help="The file to write; an existing one is replaced once the conversion succeeds. "
    "Default: the model's name with .tflite, in the current folder.",
)
@click.option(
    "--signature", multiple=True, metavar="KEY", help="A signature to convert; may be repeated. Default: all."
)
@click.option("--tags", metavar="A,B", help="The tags of the graph to convert. Default: serve.")
@click.option(
    "--input-arrays",
    metavar="A,B",
    help="The tensors that are a frozen graph's inputs. Default: its placeholders.",
)
@click.option(
    "--output-arrays",
    metavar="A,B",
    help="The tensors that are a frozen graph's outputs. Default: the one that nothing reads.",
)
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="[SIGNATURE:]NAME=1,2,3",
    help="The shape of an input; ? keeps a size of the model. May be repeated.",
)
@click.option(
    "--batch",
    type=int,
    metavar="N",
    help="The batch size: the first size of every input whose first size is not fixed.",
)
@click.option(
    "--allow-custom-ops",
    metavar="[=OP,...]",
    help="Turn TensorFlow ops into custom ops: the named ones in any case; without names, all that LiteRT lacks and "
    "litefuse has no kernel for.",
)
@click.option(
    "--builtins-only",
    is_flag=True,
    help="Never turn ops that LiteRT lacks into custom ops, not even if litefuse has a kernel for them.",
)
@click.option(
    "--narrow",
    is_flag=True,
    help="Convert float64 to float32, inputs and outputs included, and compute int64 ops that LiteRT lacks in int32.",
)
@click.option(
    "--widen",
    is_flag=True,
    help="Convert float16 and bfloat16 to float32, inputs and outputs included, such as in a mixed-precision model.",
)
@click.option(
    "--composites",
    multiple=True,
    shell_complete=_complete_composites,
    metavar="[NAME=]FORM",
    help="What composites become, all or the named one: fuse (apply their fusion, the default), builtin (the same, but "
    "never a custom op), custom (a custom op), keep (a STABLEHLO_COMPOSITE, which carries its body), generate (the "
    "same, with a C++ kernel generated from the body, in a folder beside the model), inline (their body). For "
    "recognized layers: 'odml.*=keep'. May be repeated.",
)
@click.option(
    "--generate-kernels",
    is_flag=True,
    help="Also generate C++ kernels for chains of other ops that make the whole model faster.",
)
@click.option(
    "--rnn",
    type=click.Choice(RNN_FORMS),
    default="auto",
    help="What recurrent layers become: one op, a loop (unless annotated), or whichever is faster.",
)
@click.option(
    "--target",
    "targets",
    type=TARGET,
    multiple=True,
    default=("cpu",),
    help="Where the model will run: LiteRT's interpreter (cpu), its CompiledModel on the CPU (litert) or GPU (gpu), "
    "tflite-micro (micro), an Arm Ethos-U NPU (ethos-u), or OpenVINO (openvino). For gpu, micro and ethos-u, recurrent "
    "layers become one op or are unrolled, and all sizes are fixed: the batch is 1 unless --batch or --shape sets it. "
    "For litert and openvino, recurrent layers are loops. May be repeated.",
)
@click.option(
    "--quantize",
    type=click.Choice(QUANTIZATIONS),
    help="Shrink the weights with litert-quantizer: int8 for products in int8 (dynamic) or float32 (weights), or "
    "float16; or compute in integers: int8 or int16 with --representative-dataset, qat (int8) with the ranges that the "
    "model's fake-quantization nodes learned; or use the smallest weight type per layer that stays within --max-error "
    "(auto).",
)
@quantization_option_group
@click.option(
    "--max-error",
    type=click.FloatRange(min=0),
    metavar="E",
    help="With --quantize, fail if an output changes by more than this, relative to its largest value.",
)
@MIN_RUNTIME
@click.option(
    "--require-fused",
    metavar="[=[checked,]NAME,...]",
    help="Fail unless composites are fused: all, or those with these names or patterns. With 'checked', also fail "
    "unless each was compared with its body.",
)
@click.option(
    "--require-accelerated",
    is_flag=True,
    help="Fail with exit code 5 if the software of a target other than cpu refuses an op or computes other numbers, or "
    "is not installed.",
)
@click.option(
    "--check-fusions",
    metavar="[=thorough]",
    default=ALL,
    help="Apply a fusion only if fused op and composite agree on random inputs (default); with =thorough, on all kinds "
    "of inputs, however long it takes.",
)
@click.option("--no-check-fusions", is_flag=True, help="Apply fusions without comparing them with their composites.")
@click.option(
    "--check-custom-ops",
    is_flag=True,
    help="Compare kernels of composites even with bodies that look like placeholders.",
)
@file_options
@CHECK_FILE
@click.option(
    "--check/--no-check",
    default=True,
    help="Compile and run the file with the software of each target other than cpu, if installed, as litefuse check "
    "does; the report has the verdict.",
)
@click.option(
    "--plug-in",
    "--kernels",
    "plug_ins",
    multiple=True,
    metavar="FILE.py|MODULE|LIB.so",
    help="Python code that registers fusions, recognizers or kernels for the checks, or a library of native kernels; "
    "may be repeated.",
)
@click.option(
    "--max-ops",
    type=click.IntRange(min=1),
    default=MAX_OPS,
    show_default=True,
    metavar="N",
    help="The most ops that the model may have once its calls are inlined.",
)
@click.option(
    "--max-constant-bytes",
    type=parse_size,
    default=MAX_CONSTANT_BYTES,
    metavar="BYTES",
    help="The most bytes of new constants, beyond those in the model's files, such as 1G. Default: 256M.",
)
@process_limit_options
@click.option(
    "--dump-ir",
    type=OUTPUT,
    metavar="DIR",
    help="Write the MLIR module as text after each pass that changes it, and index.txt with the time of every pass. "
    "DIR must be new, empty or from an earlier conversion.",
)
@click.option(
    "--after",
    multiple=True,
    metavar="PASS",
    help="With --dump-ir, write the module only after this pass; may be repeated.",
)
@click.option("--in-process", is_flag=True, help="Convert in this process, so that breakpoint() works in plug-ins.")
@HTML
@json_option("Print the report as JSON to standard output, errors included, and nothing else.")
@QUIET
@click.option("--timings", is_flag=True, help="Print the time of every step.")
def convert(
    model: Path,
    output: Path | None,
    signature: tuple[str, ...],
    tags: str | None,
    input_arrays: str | None,
    output_arrays: str | None,
    shapes: tuple[str, ...],
    allow_custom_ops: str | None,
    composites: tuple[str, ...],
    targets: tuple[str, ...],
    representative_dataset: Path | None,
    quantized_io: str | None,
    recipe: Path | None,
    metadata: Path | None,
    renames: tuple[str, ...],
    require_fused: str | None,
    check_fusions: str,
    no_check_fusions: bool,
    plug_ins: tuple[str, ...],
    timeout: float | None,
    memory: int | None,
    dump_ir: Path | None,
    after: tuple[str, ...],
    in_process: bool,
    html: Path | None,
    quiet: bool,
    timings: bool,
    **options: Any,
) -> None:
    """Convert a SavedModel or a Keras file to LiteRT.

    MODEL is the folder of a SavedModel, a folder that contains one, a .keras or .h5 file, or a frozen graph (.pb,
    .pbtxt).

    Composites, the functions annotated with experimental_implements, become fused ops. The report lists what each one
    became, or why it was not fused.

    Values of --allow-custom-ops and --require-fused follow an equals sign: --require-fused requires all composites,
    --require-fused=lstm,gelu these two.
    """
    if after and dump_ir is None:
        raise click.BadParameter("--after needs --dump-ir")
    path = output if output is not None else _default_output(model)
    read = (model, *filter(None, (representative_dataset, recipe, metadata)))
    check_writable(path, "the model", reads=read)
    check_page(html, (*read, path))

    from litefuse.conversion.api import convert as convert_model
    from litefuse.litert.runtime.loading import load_kernels

    load_kernels(plug_ins)

    # Other options are arguments of the same names. A debugger in conversion code has the terminal to itself.
    with progress(f"Converting {model}", quiet=quiet or in_process) as on_step:
        result = convert_model(
            model,
            signatures=signature or None,
            tags=split_names(tags),
            input_arrays=split_names(input_arrays),
            output_arrays=split_names(output_arrays),
            shapes=dict(map(_shape, shapes)),
            allow_custom_ops=_all_or_names(allow_custom_ops, "--allow-custom-ops"),
            composites=_forms(composites),
            target=targets,
            representative_dataset=representative_dataset,
            quantized_io=integer_io(quantized_io),
            recipe=recipe,
            metadata=metadata,
            rename=parse_renames(renames),
            require_fused=_all_or_names(require_fused, "--require-fused"),
            check_fusions=not no_check_fusions and _is_thorough(check_fusions),
            timeout=timeout,
            memory=memory,
            in_process=in_process,
            dump_ir=dump_ir,
            dump_ir_after=after,
            temporary_folder=path.parent,
            on_step=on_step,
            **options,
        )
        result.save(path, copy=False)
        wrote(path, result.kernels)
        if html is not None:
            arrays = split_names(input_arrays), split_names(output_arrays)
            limits = timeout, memory
            _write_page(html, result, model, split_names(tags), arrays, plug_ins, limits, on_step)

    def sections() -> list[Section]:
        from litefuse.support.report.conversion_sections import report_sections

        return report_sections(
            result.report,
            details=is_verbose(),
            timings=timings,
            written=str(path),
            original=str(model),
            kernels=str(result.kernels or ""),
        )

    print_result(result.report.to_json, sections, quiet=quiet)


def _write_page(
    html: Path,
    result: ConversionResult,
    model: Path,
    tags: list[str] | None,
    arrays: tuple[list[str] | None, list[str] | None],
    kernels: tuple[str, ...],
    limits: tuple[float | None, int | None],
    on_step: Callable[[str], None],
) -> None:
    def measured() -> Benchmark:
        from litefuse.tools.benchmarking.benchmark import benchmark

        on_step("measure")
        return benchmark(result.path, kernel_modules=kernels, timeout=limits[0], memory=limits[1])

    notes: list[str] = []
    save_page(
        html,
        result,
        model,
        benchmark=attempted("The time was not measured", measured, notes),
        tags=tags,
        input_arrays=arrays[0],
        output_arrays=arrays[1],
        signatures=result.report.signatures,
        notes=notes,
        on_step=on_step,
    )


def _default_output(model: Path) -> Path:
    from litefuse.support.files.readable import is_there

    name = (model.stem if is_there(model) and model.is_file() else model.name) or model.absolute().name
    if name == "..":
        name = model.resolve().name
    return Path(f"{name or 'model'}.tflite")


def _forms(values: Iterable[str]) -> dict[str, CompositeForm]:
    forms: dict[str, CompositeForm] = {}
    for value in values:
        name, equals, form = value.rpartition("=")
        if form not in FORMS:
            raise click.BadParameter(f"--composites takes {', '.join(FORMS)}, or NAME= and one of these, not {value!r}")
        forms[name if equals else ALL] = form
    return forms


def _shape(value: str) -> tuple[str, tuple[int | None, ...]]:
    name, equals, sizes = value.rpartition("=")
    try:
        shape = tuple(None if size.strip() in {"?", "-1"} else int(size) for size in sizes.split(",") if size.strip())
    except ValueError:
        equals = ""
        shape = ()
    if not equals or not name:
        raise click.BadParameter(f"--shape takes NAME= and sizes, such as x=1,28,28, not {value!r}")
    return name, shape


def _is_thorough(value: str) -> Literal[True, "thorough"]:
    if value not in {ALL, "thorough"}:
        raise click.BadParameter(f"--check-fusions takes =thorough or nothing, not {value!r}")
    return "thorough" if value == "thorough" else True


def _all_or_names(value: str | None, option: str) -> bool | list[str]:
    if value is None or value == ALL:
        return value == ALL
    names = split_names(value)
    if not names:
        raise click.BadParameter(f"{option}= needs names; leave out the equals sign for all")
    return names
