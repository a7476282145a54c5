"""Public function ``export_micro()``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litefuse.conversion.verify.reference import name_and_content
from litefuse.conversion.verify.targets.check import FileChecks, file_checks
from litefuse.conversion.verify.targets.target_check import RefusedOps, TargetReport, verdict_text
from litefuse.errors import LitefuseError
from litefuse.litert.cpp.folders import check_empty, new_folder
from litefuse.litert.export.edited_file import complete_file
from litefuse.litert.inputs.kinds import keeps_state
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_content import check_model
from litefuse.litert.runtime.model_reader import Model, Signature
from litefuse.litert.targets.micro import Micro
from litefuse.litert.targets.op_table import CUSTOM
from litefuse.litert.targets.question import Answer
from litefuse.support.cloud.paths import local, not_url
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.files.whole_file import write_new
from litefuse.support.options.limits import Limits
from litefuse.support.progress.show import shown_progress
from litefuse.support.report.json_form import json_form
from litefuse.tools.scaffold.micro.cpp import KNOWN_CUSTOM_OPS, used_ops
from litefuse.tools.scaffold.micro.tensors import Port, identifier, main_signature, ports
from litefuse.tools.scaffold.micro.texts import Application, application_files

if TYPE_CHECKING:
    from litefuse.support.result import ConversionResult

# The arena has this part of the measured size more, and is a multiple of so many bytes.
_MARGIN, _ROUND = 8, 1024
_CALLS = 2


@dataclass(frozen=True)
class MicroProject:
    """A written application.

    Attributes:
        folder: The folder.
        files: Its files, relative to it.
        name: The C++ namespace, which is also the name of the program.
        ops: The kinds of ops that are registered, the custom ones too.
        custom_ops: Those that need kernels of the user's.
        arena: The bytes of the arena.
        measured: The bytes that it needs on this machine; None if that was not measured.
        calls: How many calls the program compares with tflite-micro's Python package.
        notes: What users should know, in sentences.
    """

    folder: Path
    files: tuple[str, ...]
    name: str
    ops: tuple[str, ...]
    custom_ops: tuple[str, ...]
    arena: int
    measured: int | None
    calls: int
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``."""
        return json_form(self)


def export_micro(
    model: ConversionResult | str | os.PathLike[str] | bytes,
    folder: str | os.PathLike[str],
    *,
    arena_size: int | None = None,
    seed: int = 0,
    timeout: float | None = None,
    progress: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> MicroProject:
    """Writes an application that runs a LiteRT model on a microcontroller, with tflite-micro.

    The folder gets the model as an array in C++, the arena's size, an op resolver with the ops that the model has and
    no others, the inputs and outputs with dtypes, shapes, scales and zero points, a program that calls the model twice
    in a row and compares what it gives with tflite-micro's Python package, and a CMake file.

    The file is checked first, as by :func:`check` with the target ``micro``: it is run in tflite-micro, which also
    measures the arena. Where that is not installed, a table of its ops answers, and ``arena_size`` must be given.

    Args:
        model: The result of a conversion, the file of a LiteRT model of any converter, or its content.
        folder: The folder to write, a new or an empty one.
        arena_size: The bytes of the arena; None: those that were measured, and an eighth more. For a model with custom
            ops that tflite-micro has no kernels for, it must be given, and these kernels be written.
        seed: The seed of the inputs, which are drawn from the model.
        timeout: How long tflite-micro may take, in seconds; None for its default.
        progress: Show the progress, as :func:`litefuse.convert` does.
        on_step: Called with each step.

    Returns:
        What was written.

    Raises:
        InterpreterError: This is not a LiteRT model, or it is damaged.
        LitefuseError: tflite-micro does not take it, or computes other numbers, the arena is too small or not known, or
            the folder cannot be written.
    """
    target = Path(not_url(folder))
    check_empty(target)
    if arena_size is not None and arena_size < 1:
        raise LitefuseError(f"arena_size must be a number of bytes above 0, not {arena_size!r}")
    if isinstance(model, str | os.PathLike):
        check_model(local(model), "--target micro")
    name, content = name_and_content(model)
    source = Path(name).name if isinstance(model, str | os.PathLike) else "model.tflite"
    temporary = make_temporary_folder()
    try:
        path = Path(temporary.name, "model.tflite")
        if not isinstance(content, bytes):
            inspect_litert_model(Path(content))
            content = Path(content).read_bytes()
        path.write_bytes(content)
        inspect_litert_model(path)
        with content_of(str(path)) as data:
            behind = Model(data).has_buffers_behind
        if behind:
            complete_file(path)
        with (
            shown_progress(f"Exporting {name}", show=progress, also=on_step) as announce,
            file_checks(path, seed=seed, limits=Limits(timeout=timeout), on_step=announce) as checks,
        ):
            made = _application(checks, path.read_bytes(), name, source, arena_size)
    finally:
        temporary.cleanup()
    application, measured = made
    files = application_files(application)
    with new_folder(target):
        for file_name, text in files.items():
            write_new(target / file_name, text)
    return MicroProject(
        target,
        tuple(sorted(files)),
        application.name,
        (*application.ops, *application.custom_ops),
        application.foreign_ops,
        application.arena,
        measured,
        len(application.given),
        tuple(application.notes),
    )


def _application(
    checks: FileChecks, content: bytes, name: str, source: str, arena_size: int | None
) -> tuple[Application, int | None]:
    model = checks.model
    key, signature = main_signature(model, name)
    inputs, outputs = ports(model, signature, name)
    ops, custom_ops = used_ops(model)
    micro = Micro()
    report = checks.report(micro)
    answer = checks.asked.get(micro.name)
    only_custom = bool(report.refused) and all(refused.reason == CUSTOM for refused in report.refused)
    _check(report, custom_ops, name, arena_size, only_custom=only_custom)
    measured = None if answer is None or report.missing else answer.arena
    arena, arena_text = _arena(measured, arena_size, report, name)
    calls = [] if answer is None or only_custom else [*_samples(checks, answer, micro, key, signature, inputs, outputs)]
    remembers = keeps_state(model)
    application = Application(
        source,
        program_name(Path(source).stem),
        content,
        inputs,
        outputs,
        ops,
        custom_ops,
        len({op.text_option(1) for graph in model.graphs for op in graph.ops if op.name == "VAR_HANDLE"}),
        remembers,
        arena,
        arena_text,
        [given for given, _ in calls],
        [expected for _, expected in calls],
        [*_notes(report, inputs, outputs, signature, custom_ops, remembers=remembers, called=bool(calls))],
    )
    return application, measured


def program_name(stem: str) -> str:
    """Returns the name of a program and of its C++ namespace, for the model of a file of this name.

    It ends with ``model``, so that it is neither a word of C++ nor a namespace of tflite-micro's.
    """
    name = re.sub(r"^(?=\d)", "model_", identifier(stem, "model"))
    return name if name.endswith("model") else f"{name}_model"


def _check(
    report: TargetReport, custom_ops: Sequence[str], where: str, arena_size: int | None, *, only_custom: bool
) -> None:
    if only_custom:
        if arena_size is not None:
            return
        own = [op for op in custom_ops if op not in KNOWN_CUSTOM_OPS]
        what = f"the model has custom ops that tflite-micro has no kernels for: {', '.join(own or custom_ops)}"
        without_run = (
            "With the size of the arena (--arena-size BYTES, arena_size=...), the application is written without a run"
        )
        raise LitefuseError(
            what if own else f"tflite-micro's Python package does not run the custom op {', '.join(custom_ops)}",
            where=where,
            hint=f"{without_run}. It registers them with AddCustom, and its README says how their kernels are written."
            if own
            else f"{without_run}; Vela's report says how much memory (SRAM) it needs.",
        )
    if report.verdict in {"refused", "partly"} or report.refused:
        by_table = f" (by a table: {report.missing})" if report.missing else ""
        raise LitefuseError(
            f"tflite-micro refuses the model{by_table}:" + "".join(map(_refusal, report.refused)),
            where=where,
            hint="; ".join(dict.fromkeys(refused.hint for refused in report.refused if refused.hint)),
        )
    if report.verdict == "differs":
        raise LitefuseError(
            f"tflite-micro {verdict_text(report)}: an error of {report.error:.2g}",
            where=where,
            hint="litefuse check --target micro shows which outputs differ.",
        )


def _refusal(refused: RefusedOps) -> str:
    count = f"{refused.count} x " if refused.count > 1 else ""
    places = f", at {', '.join(refused.places)}" if refused.places else ""
    return f"\n  {count}{refused.op or 'the file'}: {refused.reason}{places}"


def _arena(measured: int | None, given: int | None, report: TargetReport, where: str) -> tuple[int, str]:
    """Returns the bytes of the arena, and where the number is from."""
    if measured is None:
        if given is None:
            raise LitefuseError(
                f"the size of the arena is not known: {report.missing or 'the model was not loaded'}",
                where=where,
                hint="Install it, or say how many bytes there are: --arena-size BYTES (arena_size=... in Python).",
            )
        why = report.missing or "tflite-micro's Python package does not run it"
        return given, (
            f"The arena has the {given:,} bytes that you asked for. What the model needs was not measured: {why}. "
            "If it is too small, Setup() fails; once it is large enough, ArenaUsedBytes() gives the bytes needed."
        )
    source = (
        f"On the machine that wrote this, the model needs {measured:,} bytes in {report.software}: for tensors, whose "
        "memory is shared where they are not needed together, and for what the ops keep"
    )
    less = "On 32 bits, pointers take half the space, so less may be enough: see ArenaUsedBytes()."
    if given is not None:
        if given < measured:
            raise LitefuseError(
                f"the model needs an arena of {measured:,} bytes, but there are {given:,}",
                where=where,
                hint="Make the model smaller, such as with --quantize int8, or the arena larger. On 32 bits, pointers "
                "take half of the room; the size is that of this machine.",
            )
        return given, f"The arena has the {given:,} bytes that you asked for. {source}. {less}"
    arena = -(-(measured + measured // _MARGIN) // _ROUND) * _ROUND
    return arena, (
        f"{source}. The arena has an eighth more, rounded up to {_ROUND:,} bytes, because kernels of vendors, such as "
        f"CMSIS-NN's, and other versions of tflite-micro need room of their own. {less}"
    )


def _samples(
    checks: FileChecks,
    answer: Answer,
    micro: Micro,
    key: str,
    signature: Signature | None,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yields the first calls of the first round, which begins with the model as it was loaded: inputs and outputs."""
    if signature is None or not answer.outputs:
        return
    (calls, outputs_of_calls), *_ = zip(checks.calls(micro), answer.outputs, strict=True)
    pairs = [(call, output) for call, output in zip(calls, outputs_of_calls, strict=True) if call.signature == key]
    for call, output in pairs[:_CALLS]:
        given = {signature.inputs[input_name]: value for input_name, value in call.inputs.items()}
        if output is None or any(port.tensor not in given for port in inputs):
            return
        expected = {signature.outputs[output_name]: value for output_name, value in output.items()}
        if any(port.tensor not in expected for port in outputs):
            return
        yield [given[port.tensor] for port in inputs], [expected[port.tensor] for port in outputs]


def _notes(
    report: TargetReport,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    signature: Signature | None,
    custom_ops: Sequence[str],
    *,
    remembers: bool,
    called: bool,
) -> Iterator[str]:
    if report.missing:
        yield f"The ops were checked by a table, which proves nothing: {report.missing}."
    if foreign := [op for op in custom_ops if op not in KNOWN_CUSTOM_OPS]:
        yield f"You must write kernels for {', '.join(foreign)}: the program does not link without them."
    if opened := [port.name for port in (*inputs, *outputs) if port.open]:
        yield f"The file leaves sizes of {', '.join(opened)} open, which tflite-micro takes for 1."
    if remembers:
        yield "The model keeps variables between calls; Reset() makes the next call the first again."
    if report.verdict == "inconclusive":
        yield f"The comparison with LiteRT is inconclusive: {report.not_compared or 'the outputs do not move'}."
    if signature is None:
        yield "The file has no signature: the names are those of tensors, and the program calls it with zeros."
    elif not called and not report.missing and not foreign:
        yield "Without samples, the program calls the model with zeros."
