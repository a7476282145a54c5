"""Conversion of a SavedModel to a file, in this process."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple

from litefuse.conversion.job import ConversionJob
from litefuse.conversion.model_file import summarize, write_model
from litefuse.conversion.pipeline.composites import (
    VariableValues,
    as_lowered,
    composite_reports,
    freeze_and_fuse,
    log_composites,
)
from litefuse.conversion.pipeline.layer_naming import LayerNaming
from litefuse.conversion.pipeline.lowering import Lowering, State, lower_module
from litefuse.conversion.pipeline.steps import SELF_CHECK, ModuleSaved, SavedBefore, Steps
from litefuse.conversion.pipeline.targets import check_lowered, fixed_shapes, loops_left, with_unrolled
from litefuse.frontends.saved_model import SavedModel, load
from litefuse.frontends.saved_model.model import IMPLEMENTS
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.fusions.composites.outcome import CheckResult, CheckTerms
from litefuse.fusions.recognizers.layers.index import LAYER_COMPOSITES
from litefuse.ir.call_graph import functions, operations
from litefuse.ir.engine.constant_sizes import check_constants
from litefuse.ir.importer import ImportedModule, default_signatures, import_saved_model, left_out_signatures
from litefuse.ir.mlir import COUNTS, func, ir, mlir_context
from litefuse.ir.passes import run_passes
from litefuse.ir.shapes.call_types import SetInputShapes
from litefuse.kernels import PACK
from litefuse.litert.export.op_codes import ModelSummary, check_runtime, runtime_of
from litefuse.litert.export.runtime_versions import RuntimeLimit
from litefuse.litert.runtime.custom_op import package_kernels
from litefuse.litert.runtime.flatbuffer import content_of, shared_files
from litefuse.litert.runtime.kernel_pack import by_kernel
from litefuse.litert.targets import takers, traits_of
from litefuse.passes.legalize.decomposition import Decomposed
from litefuse.passes.legalize.lacking_ops import RUNTIME_KERNELS, CustomOpForm, tensorflow_name
from litefuse.passes.weights import Weights
from litefuse.support import report as reports
from litefuse.support.options.conversion import Conversion
from litefuse.support.options.forms import CompositeForms
from litefuse.support.options.input_shapes import InputShapes
from litefuse.support.options.limits import held_bytes, limited
from litefuse.support.plug_ins.entry_points import take_plug_ins
from litefuse.support.records import Record
from litefuse.support.report import CompositeReport, Report

if TYPE_CHECKING:
    from litefuse.frontends.saved_model.retyping import Retyping
    from litefuse.passes.fake_quantization.pairs import NodesFound

# A kernel may never return: how long the self-check of a composite may take with it.
_KERNEL_SECONDS = 600


class _SelfCheck(Record):
    """The self-check as a separate step; the runtime is loaded for the first composite."""

    lowering: Lowering
    steps: Steps
    thorough: bool = False
    fatal_kernels: Mapping[str, str] = field(default_factory=dict[str, str])

    def __call__(
        self,
        module: ir.Module,
        composite: func.FuncOp,
        replacement: func.FuncOp,
        terms: CheckTerms,
    ) -> CheckResult:
        from litefuse.conversion.verify.self_check import self_check

        if terms.kernel in self.fatal_kernels:
            death = self.fatal_kernels[terms.kernel]
            outcome = f"took longer than {_KERNEL_SECONDS} s" if death == "SIGALRM" else f"died ({death})"
            return CheckResult(unchecked=f"the process that ran its kernel on random inputs {outcome}")
        self.steps.begin(SELF_CHECK)
        if terms.kernel:
            self.steps.announce(f"{SELF_CHECK}: {terms.kernel}")  # which it is to be if the process dies of it
        result = self_check(module, composite, replacement, terms, lowering=self.lowering, thorough=self.thorough)
        self.steps.begin(FuseComposites.name)
        return result


def run_job(job: ConversionJob, announce: Callable[[str], None]) -> Report:
    """Runs a job from another process, with the fusions and kernels that it contains.

    This process ends if a kernel does not return from the self-check.
    """
    take_plug_ins(job.plug_ins)
    # Here and not at the top: in the process of a program, these are registered already.
    from litefuse.fusions.recognizers.recognizer import unpickle_registered
    from litefuse.litert.runtime.transfer import unpickle_kernels

    unpickle_registered(job.registered)
    unpickle_kernels(job.kernels)

    def announce_in_time(step: str) -> None:
        signal.alarm(_KERNEL_SECONDS if step.startswith(f"{SELF_CHECK}: ") else 0)
        announce(step)

    try:
        return run_conversion(job, announce_in_time)
    finally:
        signal.alarm(0)


def run_conversion(job: ConversionJob, announce: Callable[[str], None] = lambda _: None) -> Report:
    """Converts a SavedModel in this process, with the fusions that are registered here.

    Raises:
        LitefuseError: The model cannot be read, converted or written.
    """
    saved_before = SavedBefore(job.save_module_before, job.output) if job.save_module_before is not None else None
    dump = None
    if (folder := job.options.debug.dump_ir) is not None:
        from litefuse.conversion.pipeline.module_dump import ModuleDump  # few conversions are looked into
        from litefuse.conversion.pipeline.step_names import check_step_names

        check_step_names(after := job.options.debug.dump_ir_after)
        dump = ModuleDump(folder, after)
    steps = Steps(announce, saved_before=saved_before, dump=dump)
    try:
        with limited(job.options.limits), mlir_context(), steps.failing(), shared_files():
            return _convert(job, steps)
    except ModuleSaved:
        return Report(str(job.source))


def _convert(job: ConversionJob, steps: Steps) -> Report:
    COUNTS.clear()
    options, required, form = job.options, job.options.require_fused, job.options.quantize.scheme
    target, rnn_chosen = traits_of(options.target), options.rnn != "auto"
    retyping = _retyping(options)
    saved_model, imported, shapes = _import(job, steps, retyping)
    module = imported.module
    weights = Weights(job.mapped_from, _release_checkpoint(imported))
    values = VariableValues(imported, weights)
    lowering = Lowering(
        imported.entry_points,
        State(values, imported.tables),
        weights,
        allow_custom_ops=options.allow_custom_ops is True or options.chosen_ops,
        kernels=() if options.allow_custom_ops == "never" else PACK,
        runtime_kernels=() if options.allow_custom_ops == "never" else RUNTIME_KERNELS,
        narrow=options.dtypes == "narrow",
        fake_quantization=_no_nodes() if form == "qat" else None,
        target=target,
        unrolled=None if job.loops else [],
    )
    check = None
    if options.checks.fusions:
        check = _SelfCheck(lowering, steps, options.checks.fusions == "thorough", job.fatal_kernels)
    of_layers = required.of_names(LAYER_COMPOSITES, among=True)
    naming = LayerNaming(options.composites, target, options.target == ("cpu",), of_layers, check)
    findings = freeze_and_fuse(
        imported,
        job.source,
        steps.begin,
        values=values,
        check=check,
        check_custom_ops=options.checks.custom_ops,
        forms=options.composites if rnn_chosen else _forms(job),
        rnn=job.rnn_form,
        rnn_chosen_by="--rnn" if rnn_chosen else "--quantize" if target.variables else "--target",
        lacking=() if rnn_chosen else target.lacking,
        chosen_ops=options.chosen_ops,
    )
    built = composite_reports(findings.outcomes)
    uncalled = _uncalled(saved_model, built)
    composites = (*built, *uncalled)
    if options.composites.by_name or options.require_fused:
        from litefuse.conversion.pipeline.chosen_composites import check_fused, check_names, no_composite

        check_names(options.composites, composites, findings.recognizers, findings.loops)
        if "*" in required.patterns and not built:
            raise no_composite(composites, findings.recognizers, findings.loops)
        others = required.of_names(LAYER_COMPOSITES, among=False)
        check_fused(others, composites, options.composites, findings.recognizers, findings.loops)
    known = _known_ops(saved_model, module) if options.chosen_ops else set[str]()
    lower_module(module, replace(lowering, naming=naming.passes()), steps.begin)
    composites = (*composite_reports(as_lowered(findings.outcomes, module)), *uncalled, *naming.composites(module))
    log_composites(composites)
    if of_layers:
        from litefuse.conversion.pipeline.chosen_composites import check_fused

        check_fused(of_layers, composites, options.composites)
    loops = with_unrolled(findings.loops, lowering.unrolled or ())
    check_lowered(module, options.target, loops_left(loops, lowering.unrolled or ()), loops_chosen=job.loops)
    if options.chosen_ops:
        from litefuse.support.options.names import check_allowed  # few conversions name ops

        lacking = {op.op for op in (*lowering.decomposed, *lowering.emitted)}
        check_allowed(options.chosen_ops, lacking, known | _names_of(composites))
    written = _write(module, lowering, job, steps)
    foreign, own = by_kernel(written.summary.custom_ops, job.output)
    steps.begin("")
    return Report(
        source=str(job.source),
        signatures=tuple(entry.symbol for entry in imported.entry_points),
        renamed=written.renamed,
        left_out=_left_out(saved_model, imported, chosen=options.signatures is not None),
        composites=composites,
        loops=loops,
        recognizers=findings.recognizers,
        layers=naming.layers(module),
        near_layers=naming.near_layers(),
        variables=findings.variables,
        op_counts=written.summary.op_counts,
        custom_ops=foreign,
        runtime_ops=own,
        pack_kernels=tuple(name for name in foreign if name in PACK),
        python_kernels=_python_kernels(foreign, lowering.emitted),
        package_kernels=package_kernels(foreign),
        lacking_ops=_lacking_ops(lowering.decomposed, lowering.emitted),
        needless_custom_ops=tuple(sorted(options.chosen_ops - {*written.summary.custom_ops})),
        narrowed=(
            *_retyped(retyping, narrower=True),
            *lowering.retyped,
            *(reports.RetypedReport("op", op, "float64", "float32", count) for op, count in lowering.narrowed.items()),
        ),
        widened=_retyped(retyping, narrower=False),
        target=", ".join(options.target),
        batch_taken=None if shapes.batch == options.input_shapes.batch else shapes.batch,
        quantization=written.quantization,
        least_runtime=written.least_runtime,
        taken_by=takers(written.summary.op_counts),
        size=job.output.stat().st_size,
        timings=steps.timings,
        copies=written.summary.copies,
        counts=dict(COUNTS),
    )


def _import(
    job: ConversionJob, steps: Steps, retyping: Retyping | None
) -> tuple[SavedModel, ImportedModule, InputShapes]:
    """Reads the model, changes dtypes if requested, imports it and sets the shapes of its inputs."""
    steps.begin("read")
    graph = job.options.graph
    saved_model = load(job.source, graph.tags, input_arrays=graph.inputs, output_arrays=graph.outputs)
    steps.begin("import")
    keys = job.options.signatures or default_signatures(saved_model)
    imported = import_saved_model(saved_model if retyping is None else retyping.model(saved_model, keys), keys)
    steps.module = imported.module
    if job.finish is not None and job.finish.rename:
        names = {
            point.symbol: {"inputs": [*point.inputs], "outputs": [*point.outputs]} for point in imported.entry_points
        }
        job.finish.check_names(names, str(job.source))
    inputs = {entry.symbol: entry.inputs for entry in imported.entry_points}
    shapes = fixed_shapes(job.options.target, job.options.input_shapes, imported)
    run_passes(imported.module, [SetInputShapes(shapes, inputs)], steps.begin)
    return saved_model, imported, shapes


def _write(module: ir.Module, lowering: Lowering, job: ConversionJob, steps: Steps) -> _Written:
    """Writes the model, quantized if requested.

    The file is written atomically.
    """
    check_constants(module, held_bytes(job.source))
    steps.begin("write")
    partial = job.output.with_name(job.output.name + ".part")
    quantization, oldest, form = None, RuntimeLimit.of(job.options.min_runtime), job.options.quantize.scheme
    try:
        summary = summarize(module)
        if lowering.fake_quantization is not None:
            from litefuse.conversion.quantization_step import quantize_trained_module  # few models have such nodes

            steps.begin("quantize")
            quantization, summary = quantize_trained_module(module, lowering, partial, job, summary)
            check_runtime(partial, oldest)
        else:
            write_model(module, lowering.weights, partial)
            check_runtime(partial, oldest)
            if form is not None:
                from litefuse.conversion.quantization_step import quantize_file  # as above

                steps.begin("quantize")
                quantization, summary = quantize_file(partial, job, summary, steps.announce)
        if job.micro_targets:
            from litefuse.conversion.quantization.runtime_forms import write_for_micro  # few conversions are for it
            from litefuse.litert.export.edited_file import drop_names, edit_file

            nameless = not traits_of(job.options.target).names and not job.options.debug.tensor_names
            edit_file(partial, write_for_micro, *([drop_names] if nameless else []))
        renamed: dict[str, dict[str, dict[str, str]]] = {}
        if job.finish:
            from litefuse.litert.metadata.finish import finish_file  # few models need it

            renamed = finish_file(partial, job.finish, where=str(job.source))
        with content_of(partial) as content:
            runtime = runtime_of(content)
        partial.replace(job.output)
    finally:
        partial.unlink(missing_ok=True)
    return _Written(summary, quantization, reports.RenamedReport.all_of(renamed) if renamed else (), str(runtime))


class _Written(NamedTuple):
    """The written file; the least runtime is the first releases that have its ops."""

    summary: ModelSummary
    quantization: reports.QuantizationReport | None
    renamed: tuple[reports.RenamedReport, ...]
    least_runtime: str


def _no_nodes() -> NodesFound:
    from litefuse.passes.fake_quantization.pairs import NodesFound  # few models have such nodes

    return NodesFound()


# The names of the composites that Keras 2 makes from its LSTM layers: an interface's name and a UUID.
_LSTMS_OF_KERAS_2 = "lstm_????????-????-????-????-????????????"


def _forms(job: ConversionJob) -> CompositeForms:
    """Returns the forms of composites; Keras's own LSTM composites get the form of layers without annotation."""
    options, traits = job.options, traits_of(job.options.target)
    if job.rnn_form == "fused" or options.rnn != "auto" or options.require_fused:
        return options.composites
    if traits.variables and job.rnn_form == "auto":
        return replace(options.composites, faster=True)
    why = (
        "in this form, a loop is smaller or faster (rnn='fused' makes it one op)"
        if traits.variables
        else f"{traits.runtime} takes no variable tensors, in which the op keeps its state"
    )
    return replace(options.composites, better_inline={_LSTMS_OF_KERAS_2: why})


def _release_checkpoint(imported: ImportedModule) -> Callable[[], None]:
    def release() -> None:
        for variable in imported.variables.values():
            variable.release()
            return  # there is one checkpoint

    return release


def _lacking_ops(
    decomposed: Sequence[Decomposed], emitted: Sequence[CustomOpForm]
) -> tuple[reports.LackingOpReport, ...]:
    """Returns one entry for all ops of one name with the same outcome and reason."""
    counts: Counter[reports.LackingOpReport] = Counter(reports.LackingOpReport(op.op, op.form) for op in decomposed)
    for op in emitted:
        outcome = "runtime" if op.in_runtime else "pack" if op.in_pack else "custom"
        counts[reports.LackingOpReport(op.op, outcome, op.reason)] += 1
    ordered = sorted(counts, key=lambda entry: (entry.op, entry.outcome, entry.reason))
    return tuple(replace(entry, count=counts[entry]) for entry in ordered)


def _python_kernels(custom_ops: Sequence[str], emitted: Sequence[CustomOpForm]) -> tuple[str, ...]:
    """Those of a model's custom ops that run in Python only."""
    if not custom_ops:
        return ()
    from litefuse.kernels import PYTHON_ONLY  # few models have custom ops

    python_only = PYTHON_ONLY | {op.op for op in emitted if op.python_only}
    return tuple(name for name in custom_ops if name in python_only)


def _retyping(options: Conversion) -> Retyping | None:
    if options.dtypes == "keep":
        return None
    from litefuse.frontends.saved_model import op_registry, retyping  # few conversions change dtypes

    return retyping.Retyping(op_registry(), retyping.NARROWED if options.dtypes == "narrow" else retyping.WIDENED)


def _retyped(retyping: Retyping | None, *, narrower: bool) -> tuple[reports.RetypedReport, ...]:
    if retyping is None:
        return ()
    from litefuse.frontends.saved_model.retyping import NARROWED, WIDENED  # as above

    dtypes = NARROWED if narrower else WIDENED
    return tuple(
        reports.RetypedReport(retyped.what, retyped.name, str(retyped.dtype), str(dtypes[retyped.dtype]), count)
        for retyped, count in retyping.counts.items()
        if retyped.dtype in dtypes
    )


def _left_out(saved_model: SavedModel, imported: ImportedModule, *, chosen: bool) -> tuple[reports.LeftOutReport, ...]:
    converted = [entry.symbol for entry in imported.entry_points]
    return tuple(
        reports.LeftOutReport(key, reason, usable=key not in saved_model.unusable_signatures)
        for key, reason in left_out_signatures(saved_model, converted, chosen=chosen).items()
    )


def _known_ops(saved_model: SavedModel, module: ir.Module) -> set[str]:
    """Returns the names of all ops in a model's functions, and of those that JAX programs were translated to."""
    known = {node.op for function in saved_model.functions.values() for node in function.node_def}
    ops = (op for function in functions(module).values() for op in operations(function))
    return known | {name for op in ops if (name := tensorflow_name(op)) is not None}


def _names_of(composites: Sequence[CompositeReport]) -> set[str]:
    """Returns the names of composites, and of the ops that they became."""
    fused_into = [name for composite in composites if composite.fused_into for name in composite.fused_into.split(", ")]
    return {*fused_into, *(composite.name for composite in composites)}


def _uncalled(saved_model: SavedModel, called: Sequence[CompositeReport]) -> list[CompositeReport]:
    """Returns the annotations that occur only on functions without callers; of Keras 2's, one of several is called.

    For gradients of an annotated function, TensorFlow calls copies without the annotation, and it decomposes the
    function in ``tf.vectorized_map``.
    """
    names = {composite.name for composite in called}
    uncalled: dict[str, CompositeReport] = {}
    for symbol, function in saved_model.functions.items():
        if IMPLEMENTS not in function.attr:
            continue
        value = function.attr[IMPLEMENTS]
        name = value.func.name or value.s.decode(errors="backslashreplace")
        if name not in names:
            reason = (
                "no signature that is converted calls the function; under gradients and in tf.vectorized_map, "
                "TensorFlow calls copies without the annotation"
            )
            uncalled.setdefault(name, CompositeReport(name, symbol, 0, "inlined", reason=reason))
    return [*uncalled.values()]
