"""Checks a file for targets: asks their software, and compares the numbers that it gives with the CPU's."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from litefuse.conversion.verify.model_process import MODEL, ModelCalls, ModelJob
from litefuse.conversion.verify.reference import name_and_content
from litefuse.conversion.verify.targets.comparison import Comparison
from litefuse.conversion.verify.targets.target_check import RefusedOps, TargetCheck, TargetReport, TargetVerdict
from litefuse.conversion.verify.verification import OutputVerdict
from litefuse.errors import EngineCrashError, LimitError, LitefuseError
from litefuse.litert.export.edited_file import sign_file
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.transfer import registered_by_value
from litefuse.litert.targets import ASK, find_target, target_names
from litefuse.litert.targets.op_table import refused_by_table
from litefuse.litert.targets.question import Answer, Question, Refusal, TargetCall
from litefuse.litert.targets.target import Hint, Target
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.options.declared import answering
from litefuse.support.options.input_shapes import drawn_shapes
from litefuse.support.options.limits import Limits
from litefuse.support.options.names import refuse_one_string
from litefuse.support.plug_ins.entry_points import find_plug_ins
from litefuse.support.processes.limits import ProcessLimits, process_limits, processes_limited
from litefuse.support.processes.process import run_alone
from litefuse.support.progress.show import shown_progress
from litefuse.support.progress.stages import Step

if TYPE_CHECKING:
    from litefuse.support.result import ConversionResult


def located(
    model: Model, refusals: Iterable[Refusal], by_table: Sequence[Refusal], hints: Sequence[Hint]
) -> tuple[RefusedOps, ...]:
    """Returns refused ops with their places; ops of one name and reason together.

    A refusal with the names of results is looked up. One without is about the ops of its name that the table refuses as
    well, or else about some of those with its name.

    Args:
        model: The model.
        refusals: The refusals of the target's software.
        by_table: Those of its table.
        hints: What helps.
    """
    made = {
        graph.tensor(index).name: op.name
        for graph in model.graphs
        for op in graph.ops
        for index in op.outputs
        if index >= 0
    }
    refusals = list(refusals)
    reasons = Counter(op for op, _ in {(refusal.op, refusal.reason) for refusal in refusals if not refusal.names})
    places_of: dict[tuple[str, str], list[str]] = {}
    inexact: set[tuple[str, str]] = set()
    seen: set[str] = set()
    for refusal in refusals:
        if refusal.names:
            name = next(
                (given for given in map(_without_suffix, refusal.names, [made] * len(refusal.names)) if given), ""
            )
            if name in seen and name:
                continue  # Vela has several operators for one of the file
            seen.add(name)
            places_of.setdefault((made.get(name, refusal.op), refusal.reason), []).append(name or refusal.names[0])
            continue
        key = refusal.op, refusal.reason
        places = [other.names[0] for other in by_table if other.op == refusal.op and other.names]
        if places and reasons[refusal.op] > 1 and refusal.op:
            inexact.add(key)  # the table does not say which of them for which reason
        if not places and refusal.op:
            every = [(op, graph) for graph in model.graphs for op in graph.ops if op.name == refusal.op]
            places = [graph.tensor(op.outputs[0]).name for op, graph in every if op.outputs and op.outputs[0] >= 0]
            if len(places) > 1 and refusal.reason != "no such op":
                inexact.add(key)
        places_of.setdefault(key, []).extend(places)
    return tuple(
        RefusedOps(op, reason, max(len(names), 1), tuple(names), (op, reason) not in inexact, _hint(op, reason, hints))
        for (op, reason), names in places_of.items()
    )


def _without_suffix(name: str, made: dict[str, str]) -> str:
    """Returns the name of the result in the file; Vela makes some ops two, the first with a name of its own."""
    return (
        name
        if name in made
        else next((name.removesuffix(end) for end in ("_act",) if name.removesuffix(end) in made), "")
    )


def _hint(op: str, reason: str, hints: Sequence[Hint]) -> str:
    from litefuse.passes.legalize.decomposition import decomposed_ops  # for refusals alone

    fits = (hint for hint in hints if not hint.op or re.fullmatch(hint.op, op))
    told = (fit for fit in fits if re.search(fit.reason, reason))
    return next((fit.text for fit in told if not fit.rewritten or op in decomposed_ops()), "")


# How far an output may be from XNNPACK's, in units of how far LiteRT's other kernels are from it, and still be right.
_SPREADS = 4.0


@answering(limits=Limits)
def check(
    model: ConversionResult | str | os.PathLike[str] | bytes,
    targets: str | Iterable[str] | None = None,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    max_error: float = 1e-4,
    limits: Limits | Mapping[str, Any] | float | None = None,
    kernels: Iterable[str] = (),
    progress: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> TargetCheck:
    """Checks a LiteRT file for targets, with the software that runs or compiles it there.

    Each target's software is asked in a process of its own. Where it runs the file, it is called with inputs that are
    drawn from the model, two in a row for each signature, and its outputs are compared with those of LiteRT on the CPU.
    Integers may be two steps apart: each implementation approximates activations in its own way.

    Where the software is not installed, a table of the ops that the target takes answers. The report says so: a table
    may refuse a file, but never proves that the target takes it.

    Args:
        model: The result of a conversion, the file of a LiteRT model of any converter, or its content.
        targets: The names of the targets, such as ``gpu``, or of variants, such as ``micro:64K``; None for all whose
            software is installed.
        shapes: Shapes of drawn inputs by their names, where the file leaves them open.
        seed: The seed of drawn inputs.
        max_error: The allowed error of an output, relative to its largest value.
        limits: What the software of each target may take: seconds, or ``litefuse.Limits(timeout, memory)``. None for
            its default time.
        kernels: Files and names of modules that register kernels of custom ops, and libraries of native ones,
            with which the file runs on the CPU.
        progress: Show the progress, as :func:`litefuse.convert` does.
        on_step: Called with each step.

    Returns:
        What each target makes of the file: the ops that it refuses, why, where they are from and what helps, and the
        verdict on each output.

    Raises:
        InterpreterError: This is not a LiteRT model, or it is damaged.
        LitefuseError: A target is unknown.
    """
    chosen = [targets] if isinstance(targets, str) else list(dict.fromkeys(targets or ()))
    asked, broken = _found(chosen)
    reports: list[tuple[Target, TargetReport]] = []
    with (
        shown_progress(f"Checking {name_and_content(model)[0]}", show=progress, also=on_step) as announce,
        file_checks(
            model,
            shapes=shapes,
            seed=seed,
            max_error=max_error,
            limits=Limits.of(limits, "limits"),
            kernels=kernels,
            on_step=lambda step: announce(Step(step, len(reports), len(asked))),
        ) as checks,
    ):
        for target in asked:
            reports.append((target, checks.report(target)))  # noqa: PERF401  their number is announced meanwhile
    if chosen:
        return TargetCheck(checks.name, tuple(report for _, report in reports))
    return TargetCheck(
        checks.name,
        tuple(report for _, report in reports if not report.missing),
        (*((target.name, report.missing) for target, report in reports if report.missing), *broken),
    )


@contextmanager
def file_checks(
    model: ConversionResult | str | os.PathLike[str] | bytes,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    max_error: float = 1e-4,
    limits: Limits | None = None,
    kernels: Iterable[str] = (),
    on_step: Callable[[str], None] = lambda _: None,
) -> Generator[FileChecks]:
    """Opens a file for checks, as :func:`check` does."""
    refuse_one_string(kernels, "kernels")
    name, content = name_and_content(model)
    folder = make_temporary_folder()
    try:
        path = Path(folder.name, "model.tflite")
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path = Path(content)
        if not inspect_litert_model(path).signatures:
            path = shutil.copyfile(path, Path(folder.name, "signed.tflite"))
            sign_file(path)
        given = drawn_shapes(shapes)
        job = ModelJob(
            str(path),
            registered=registered_by_value(),
            kernel_modules=tuple(kernels),
            times=2,
            seed=seed,
            shapes=given,
            tolerance=max_error,
            seconds=0.0,
        )
        timeout, memory = (None, None) if limits is None else (limits.timeout, limits.memory)
        held = process_limits() if memory is None else ProcessLimits(process_limits().remaining, memory)
        with content_of(str(path)) as data, processes_limited(held):
            yield FileChecks(name, Model(data), Path(folder.name), job, timeout, on_step)
    finally:
        folder.cleanup()


def _found(chosen: Sequence[str]) -> tuple[list[Target], list[tuple[str, str]]]:
    """Returns the chosen targets, or all that load, and why others do not."""
    if chosen:
        return [find_target(name) for name in chosen], []
    targets: list[Target] = []
    broken: list[tuple[str, str]] = []
    for name in target_names():
        try:
            target = find_target(name)
            targets += [] if target.only_named else [target]
        except LitefuseError as error:
            broken.append((name, str(error).partition("\n")[0]))
    return targets, broken


class FileChecks:
    """The checks of one file.

    Attributes:
        name: The file's name for messages.
        model: The model in it.
        asked: What each target answered whose software was asked, by its name.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        folder: Path,
        job: ModelJob,
        timeout: float | None,
        on_step: Callable[[str], None],
    ) -> None:
        self.name = name
        self.model = model
        self.asked: dict[str, Answer] = {}
        self._folder = folder
        self._job = job
        self._timeout = timeout
        self._on_step = on_step
        # The calls on the CPU, or why there are none.
        self._calls: dict[bool, Comparison | str] = {}

    def calls(self, target: Target) -> Sequence[Sequence[TargetCall]]:
        """Returns the calls that a target is asked to make, in rounds; none if LiteRT cannot make them."""
        calls = self._called(dynamic=target.traits.dynamic)
        return () if isinstance(calls, str) else calls.rounds

    def report(self, target: Target) -> TargetReport:
        """Returns what a target makes of the file."""
        by_table = list(refused_by_table(self.model, target.table))
        report = TargetReport(target.name, "unknown", ops=sum(len(graph.ops) for graph in self.model.graphs))
        if missing := target.missing():
            return self._by_table(report, target, by_table, missing)
        calls = self._called(dynamic=target.traits.dynamic)
        self._on_step(f"ask: {target.name}")
        answer = self.asked[target.name] = self._answer(target, calls)
        if answer.unavailable:
            return self._by_table(report, target, by_table, answer.unavailable)
        outputs: tuple[OutputVerdict, ...] = ()
        problem = answer.not_run
        if isinstance(calls, str):
            problem = problem or calls
        elif answer.outputs is not None:
            for where, results in (("", answer.outputs), *answer.elsewhere):
                verdicts = tuple(calls.verdicts(results))
                if any(output.verdict == "differs" for output in verdicts):
                    verdicts = tuple(self._doubted(calls, verdicts))
                outputs += tuple(replace(output, name=output.name + where) for output in verdicts)
        takes, refusals = answer.takes, answer.refusals
        if target.name == "cpu":  # the calls are its answer
            takes = not isinstance(calls, str) or not self.model.signatures
            refusals, problem = () if takes else (Refusal("", str(calls)),), ""
        return replace(
            report,
            verdict=_verdict(takes, bool(refusals), [output.verdict for output in outputs], ran=not answer.not_run),
            software=answer.software,
            refused=located(self.model, refusals, by_table, target.hints),
            facts=answer.facts,
            outputs=outputs,
            not_compared=problem if takes and not outputs else "",
        )

    def _by_table(
        self, report: TargetReport, target: Target, by_table: Sequence[Refusal], missing: str
    ) -> TargetReport:
        refused = located(self.model, by_table, (), target.hints)
        verdict: TargetVerdict = "unknown" if not refused else "partly" if target.partial else "refused"
        return replace(report, verdict=verdict, missing=missing, table=target.table.source, refused=refused)

    def _answer(self, target: Target, calls: Comparison | str) -> Answer:
        """Asks the software; what it dies of is an answer as well, and a limit is none."""
        place = self._folder / quote(target.name, safe="")  # a variant may be a path
        place.mkdir(exist_ok=True)
        question = Question(
            target.name,
            self._job.model if isinstance(self._job.model, str) else "",
            str(place),
            str(place / "log"),
            () if isinstance(calls, str) else calls.rounds,
            find_plug_ins(),
        )
        steps = ["start"]

        def announce(step: str) -> None:
            steps.append(step)
            self._on_step(f"ask: {target.name}, {step}")

        # The time that is left to a conversion counts as well.
        limits = process_limits().at_most(self._timeout or target.seconds)
        try:
            with processes_limited(limits):
                return cast("Answer", run_alone(ASK, question, environment={}, announce=announce))
        except LimitError as error:
            took = f"took more than {limits.timeout:g} seconds" if error.limit == "timeout" else "needs more memory"
            hint = "raise the limit (on the command line, --timeout or --memory)"
            return Answer(unavailable=f"its software {took} in the step {steps[-1]!r}: {hint}")
        except EngineCrashError as error:
            why = f"its software crashes on the file ({error.death}), in the step {steps[-1]!r}"
            if any(op.name == "STABLEHLO_COMPOSITE" for graph in self.model.graphs for op in graph.ops):
                why += "; the file has composites"
        log = Path(question.log)
        text = log.read_text(errors="replace") if log.exists() else ""
        return Answer(target.traits.runtime, takes=False, refusals=(*target.refusals(text), Refusal("", why)))

    def _called(self, *, dynamic: bool) -> Comparison | str:
        """Calls the file on the CPU: with several sizes where they are dynamic, or as a target that fixes them does."""
        if dynamic not in self._calls:
            self._on_step("call it on the CPU")
            self._calls[dynamic] = self._call(dynamic=dynamic)
        return self._calls[dynamic]

    def _call(self, *, dynamic: bool) -> Comparison | str:
        if not self.model.signatures:
            return "the file has no signature to call"
        shapes = {**({} if dynamic else self._fixed()), **(self._job.shapes or {})}
        try:
            ran = cast("ModelCalls", run_alone(MODEL, replace(self._job, shapes=shapes), environment={}))
        except EngineCrashError as error:
            return f"LiteRT crashes on it on the CPU ({error.death})"
        except LitefuseError as error:
            return f"LiteRT does not run it on the CPU: {error.message}"
        return Comparison(self.model, ran, self._job.tolerance)

    def _doubted(self, comparison: Comparison, outputs: Sequence[OutputVerdict]) -> Iterator[OutputVerdict]:
        """Yields the verdicts; open are those on outputs in which LiteRT's own kernels are as far from XNNPACK."""
        rounds = tuple(tuple(calls) for calls in comparison.ran.rounds)
        try:
            job = replace(self._job, rounds=rounds, delegates=False)
            plain = cast("ModelCalls", run_alone(MODEL, job, environment={}))
        except LitefuseError:
            yield from outputs
            return
        spread = comparison.spread(plain.results)
        for output in outputs:
            within = spread.get((output.signature, output.name), 0.0)
            if output.verdict == "differs" and within and output.error <= _SPREADS * within:
                why = f"LiteRT's own kernels differ from XNNPACK by {within:.2g}"
                yield replace(output, verdict="inconclusive", problem=why)
            else:
                yield output

    def _fixed(self) -> dict[str, tuple[int, ...]]:
        """Returns the shapes of inputs with dynamic dimensions, which the file has as 1."""
        shapes: dict[str, tuple[int, ...]] = {}
        for signature in self.model.signatures.values():
            graph = self.model.graphs[signature.graph]
            for name, index in signature.inputs.items():
                shape = graph.tensor(index).shape
                if None in shape:
                    shapes[name] = tuple(1 if size is None else size for size in shape)
        return shapes


def _verdict(takes: bool, refuses: bool, outputs: Sequence[str], *, ran: bool) -> TargetVerdict:
    if not takes:
        return "refused"
    if "differs" in outputs:
        return "differs"
    if "inconclusive" in outputs or (ran and not outputs):
        return "inconclusive"
    return "partly" if refuses else "accelerated"
