"""The first stages of a conversion, which ``inspect`` runs too: they freeze variables and fuse composites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.conversion.model_file import operator_name
from litefuse.conversion.pipeline import deferred
from litefuse.conversion.pipeline.before_fusion import constant_variables, explicit_state
from litefuse.conversion.pipeline.steps import REMOVE_UNUSED
from litefuse.errors import GraphError
from litefuse.frontends.saved_model import DataType
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.fusions.composites.outcome import Check, Outcome
from litefuse.fusions.recognizers import registered_recognizers
from litefuse.fusions.recognizers.recognize import RecognizeComposites
from litefuse.fusions.recognizers.recognizer import Recognition
from litefuse.ir.call_graph import all_operations
from litefuse.ir.engine.lowering import run_mlir_passes
from litefuse.ir.importer import ImportedModule
from litefuse.ir.importer.constants import constant_parts, elements_attribute
from litefuse.ir.locations import composites_of
from litefuse.ir.mlir import ir
from litefuse.ir.passes import Pass, run_passes
from litefuse.passes.variables.freeze_variables import Verdict
from litefuse.passes.weights import Weights
from litefuse.support import report as reports
from litefuse.support.logs.events import INFO, event
from litefuse.support.options.forms import CompositeForms, RnnForm
from litefuse.support.report import CompositeReport, VariableReport


class VariableValues(NamedTuple):
    """The variables' values as attributes: read once, from the mapped checkpoint.

    Attributes:
        imported: The module with its variables.
        weights: Holds large values that stay mapped; None if all values are needed.
    """

    imported: ImportedModule
    weights: Weights | None = None

    def __call__(self, name: str) -> ir.Attribute:
        variable = self.imported.variables[name]
        value, dtype = constant_parts(variable.read(), variable.dtype)
        if self.weights is None:
            return elements_attribute(value, dtype)
        return self.weights.attribute(value, dtype)


class VariablePlaceholders(NamedTuple):
    """Zeros in place of the variables' values, for analyses that need everything else: no weight is read."""

    imported: ImportedModule

    def __call__(self, name: str) -> ir.Attribute:
        variable = self.imported.variables[name]
        if variable.dtype == DataType.STRING:
            return VariableValues(self.imported)(name)
        if variable.is_partitioned:  # reading it would assemble a copy
            shape = tuple(size for size in variable.shape or () if size is not None)
            if variable.shape is None or len(shape) != len(variable.shape):
                return VariableValues(self.imported)(name)
        else:  # a view of the mapped checkpoint, which was compared with the declaration
            shape = variable.read(verify=False).shape
        zero: npt.NDArray[Any] = np.zeros((), variable.dtype.to_numpy())
        return elements_attribute(*constant_parts(np.broadcast_to(zero, shape), variable.dtype))


class Findings(NamedTuple):
    """The findings about variables and composites, as entries of the report.

    Attributes:
        outcomes: One entry for each annotated function.
        variables: One entry for each variable, in the order of first use.
        loops: One entry for each loop, or unrolled layer, that is left as it is.
        recognizers: One entry for each recognizer of a plug-in, or of the running program.
    """

    outcomes: Sequence[Outcome]
    variables: tuple[VariableReport, ...]
    loops: tuple[reports.LoopReport, ...]
    recognizers: tuple[reports.RecognizerReport, ...]


def freeze_and_fuse(
    imported: ImportedModule,
    source: Path,
    on_step: Callable[[str], None],
    *,
    values: Callable[[str], ir.Attribute],
    check: Check | None = None,
    check_custom_ops: bool = False,
    forms: CompositeForms | None = None,
    rnn: RnnForm = "auto",
    rnn_chosen_by: str = "--rnn",
    lacking: Collection[str] = (),
    chosen_ops: Collection[str] = (),
) -> Findings:
    """Freezes read-only variables, recognizes composites and fuses them; changes the module in place.

    Args:
        imported: The module.
        source: The model that it is from, for messages.
        on_step: Called with each pass's name before it runs.
        values: The elements attribute of a variable's value by its name.
        check: The self-check that a fusion must pass; None for none.
        check_custom_ops: Whether to compare kernels even with bodies that look like placeholders.
        forms: The forms of the composites; None: those that their fusions choose.
        rnn: The unannotated recurrent layers to fuse.
        rnn_chosen_by: The option that chose these, for reasons.
        lacking: The ops of LiteRT's that the target does not have, and that such layers do not become.
        chosen_ops: The names of TensorFlow ops that become custom ops in any case.

    Raises:
        GraphError: The module is not valid.
        LitefuseError: Whatever a pass raises.
    """
    module = imported.module
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        raise GraphError(f"the graph is not valid: {error}", where=str(source)) from error
    verdicts: list[Verdict] = []
    outcomes: list[Outcome] = []
    recognitions: list[Recognition] = []
    chosen = forms or CompositeForms()
    # Custom ops for all composites are for users with kernels of their own, which there are none of for loops.
    if chosen.default == "custom":
        rnn, rnn_chosen_by = "loop", "--composites custom"
    recognize = RecognizeComposites(recognitions, rnn, chosen, registered_recognizers(), lacking, rnn_chosen_by)
    fuse = FuseComposites(outcomes, check, forms=chosen, check_custom_ops=check_custom_ops)
    withhold: list[Pass] = [deferred.WithholdChosenOps(chosen_ops)] if chosen_ops else []
    # Again for the ops that programs of JAX are translated to.
    run_passes(module, [*withhold, *explicit_state(), *withhold], on_step)
    # Removes the functions that sink-handles replaced by copies: nothing calls them, and their effects must not count.
    on_step(REMOVE_UNUSED)
    run_mlir_passes(module, "symbol-dce")
    run_passes(module, [*constant_variables(values, verdicts), recognize, fuse], on_step)
    return Findings(
        outcomes=outcomes,
        variables=tuple(_variable_report(verdict, imported) for verdict in verdicts),
        loops=tuple(
            reports.LoopReport(recognition.layer, recognition.reason)
            for recognition in recognitions
            if recognition.reason is not None
        ),
        recognizers=tuple(reports.RecognizerReport(*trial) for trial in recognize.tried),
    )


def as_lowered(outcomes: Iterable[Outcome], lowered: ir.Module) -> list[Outcome]:
    """Returns the outcomes with the ops that a lowered module has where fusions built others, such as folded ones."""
    outcomes = list(outcomes)
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for op in all_operations(lowered) if any(outcome.symbol for outcome in outcomes) else ():
        for symbol in composites_of(op.location):
            if (name := operator_name(op)) is not None:
                names[symbol][_with_its_own(name, op)] = None

    def left(outcome: Outcome) -> str:
        built = (outcome.fused_into or "").split(", ")
        return ", ".join(sorted(names[outcome.symbol], key=lambda name: name not in built)) or _FOLDED

    return [
        outcome._replace(fused_into=left(outcome)) if outcome.symbol and outcome.call_sites else outcome
        for outcome in outcomes
    ]


# Where no op of a composite is left.
_FOLDED = "constants or other ops"


def _with_its_own(name: str, op: ir.OpView) -> str:
    """Returns the name of an operator, that of a composite with the composite's own name."""
    if name != "STABLEHLO_COMPOSITE":
        return name
    from litefuse.passes.legalize.composite_ops import name_of_composite  # few models have one

    return f"{name} {name_of_composite(op)}"


def composite_reports(outcomes: Iterable[Outcome]) -> tuple[CompositeReport, ...]:
    """Returns one entry for all copies of a function with the same outcome."""
    call_sites: dict[Outcome, int] = {}
    layers: defaultdict[Outcome, dict[str, None]] = defaultdict(dict)
    for outcome in outcomes:
        alike = outcome._replace(call_sites=0, symbol="", layers=())
        call_sites[alike] = call_sites.get(alike, 0) + outcome.call_sites
        layers[alike].update(dict.fromkeys(outcome.layers))
    return tuple(
        CompositeReport(
            name=outcome.name,
            function=outcome.function,
            call_sites=count,
            outcome=outcome.kind,
            fused_into=outcome.fused_into,
            reason=outcome.reason,
            error=outcome.error,
            unchecked=outcome.unchecked,
            note=outcome.note,
            layers=tuple(layers[outcome]),
            better_inlined=outcome.better_inlined,
        )
        for outcome, count in call_sites.items()
    )


def log_composites(composites: Iterable[CompositeReport]) -> None:
    """Logs the outcome of each composite."""
    for composite in composites:
        told = {
            "composite": composite.name,
            "function": composite.function,
            "fused_into": composite.fused_into,
            "told": True,
        }
        if composite.outcome == "fused":
            message = f"{composite.name} is fused into {composite.fused_into}, {composite.compared}"
            event("composites", INFO, message, event="fused", **told)
        else:
            message = f"{composite.name} is not fused: {composite.reason}"
            event("composites", INFO, message, event="not fused", reason=composite.reason, **told)


def _variable_report(verdict: Verdict, imported: ImportedModule) -> VariableReport:
    variable = imported.variables[verdict.variable]
    return VariableReport(
        name=verdict.variable,
        dtype=str(variable.dtype),
        shape=variable.shape,
        verdict="frozen" if verdict.writer is None else "mutable",
        writer=verdict.writer,
    )
