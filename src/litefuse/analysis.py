"""What becomes of a model's variables and composites: the passes before lowering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.engine.lowering import run_mlir_passes
from litefuse.engine.mlir import func, ir
from litefuse.errors import GraphError
from litefuse.forms import CompositeForms, RnnForm
from litefuse.importer import ImportedModule
from litefuse.importer.constants import constant_parts, elements_attribute
from litefuse.passes.block_cells import ExpandBlockCells
from litefuse.passes.call_types import RefineCallTypes
from litefuse.passes.check_handles import CheckHandles
from litefuse.passes.conditions import LowerConditions
from litefuse.passes.fuse import FuseComposites, Outcome
from litefuse.passes.limit_ops import LimitOps
from litefuse.passes.lower_case import LowerCase
from litefuse.passes.pipeline import run_passes
from litefuse.passes.resource_ops import DecomposeResourceOps
from litefuse.passes.resources import LiftReads, SinkHandles
from litefuse.passes.variables import FreezeVariables, Verdict
from litefuse.passes.xla_call_module import LowerXlaCallModule
from litefuse.recognizers import registered_recognizers
from litefuse.recognizers.recognition import Recognition
from litefuse.recognizers.recognize import RecognizeComposites
from litefuse.report import CompositeReport, LoopReport, RecognizerReport, VariableReport
from litefuse.saved_model import DataType
from litefuse.shapes import InferLoopTypes
from litefuse.verify.result import CheckResult, InputsOfSize
from litefuse.weights import Weights

__all__ = ["Analysis", "VariablePlaceholders", "VariableValues", "analyze"]


@dataclass(frozen=True)
class VariableValues:
    """The variables' values as attributes: read once, from the mapped checkpoint.

    Attributes:
        imported: The module with its variables.
        weights: Where large ones stay mapped; None where all values are needed.
    """

    imported: ImportedModule
    weights: Weights | None = None

    def __call__(self, name: str) -> ir.Attribute:
        variable = self.imported.variables[name]
        value, dtype = constant_parts(variable.read(), variable.dtype)
        if self.weights is None:
            return elements_attribute(value, dtype)
        return self.weights.attribute(value, dtype)


@dataclass(frozen=True)
class VariablePlaceholders:
    """Zeros in place of the variables' values, for an analysis that looks at everything else: no weight is read.

    Attributes:
        imported: The module with its variables.
    """

    imported: ImportedModule

    def __call__(self, name: str) -> ir.Attribute:
        variable = self.imported.variables[name]
        if variable.dtype == DataType.STRING:
            return VariableValues(self.imported)(name)
        if variable.is_partitioned:  # to read it is to copy it together
            shape = tuple(size for size in variable.shape or () if size is not None)
            if variable.shape is None or len(shape) != len(variable.shape):
                return VariableValues(self.imported)(name)
        else:  # a view of the mapped checkpoint, which was compared with the declaration
            shape = variable.read(verify=False).shape
        zero: npt.NDArray[Any] = np.zeros((), variable.dtype.to_numpy())
        return elements_attribute(*constant_parts(np.broadcast_to(zero, shape), variable.dtype))


class Analysis(NamedTuple):
    """What the passes before lowering found out, in the words of the report.

    Attributes:
        composites: One entry for each annotated function.
        variables: One entry for each variable, in the order of first use.
        loops: One entry for each loop, or unrolled layer, that stays one.
        recognizers: One entry for each recogniser of a plug-in, or of the program that runs.
    """

    composites: tuple[CompositeReport, ...]
    variables: tuple[VariableReport, ...]
    loops: tuple[LoopReport, ...]
    recognizers: tuple[RecognizerReport, ...]


def analyze(
    imported: ImportedModule,
    source: Path,
    on_step: Callable[[str], None],
    *,
    values: Callable[[str], ir.Attribute],
    check_fusions: bool,
    check_custom_ops: bool = False,
    forms: CompositeForms | None = None,
    rnn: RnnForm = "auto",
) -> Analysis:
    """Freezes the variables that are only read, recognises composites and fuses them; the module is changed in place.

    Args:
        imported: The module.
        source: The model that it is from, for messages.
        on_step: Called with each pass's name before it runs.
        values: The elements attribute of a variable's value by its name.
        check_fusions: Whether a fusion must pass its self-check.
        check_custom_ops: Whether also one of a composite that its author declared a custom op.
        forms: What the composites are to become; None: what their fusions make of them.
        rnn: Which of the recurrent layers that nobody annotated are to be fused.

    Raises:
        GraphError: The module is not valid.
        LitefuseError: What a pass raises.
    """
    try:
        imported.module.operation.verify()
    except ir.MLIRError as error:
        raise GraphError(f"the graph is not valid: {error}", where=str(source)) from error
    verdicts: list[Verdict] = []
    outcomes: list[Outcome] = []
    recognitions: list[Recognition] = []
    passes = [
        LimitOps(),
        LowerXlaCallModule(),
        LimitOps(),  # with what programs of JAX call
        LowerCase(),
        LowerConditions(),
        RefineCallTypes(),
        DecomposeResourceOps(),
        LiftReads(),
        SinkHandles(),
        CheckHandles(),
    ]
    run_passes(imported.module, passes, on_step)
    # The functions that sink-handles made copies of: nobody calls them, and what they do must not count.
    run_mlir_passes(imported.module, "symbol-dce")
    chosen = forms or CompositeForms()
    # Custom ops of all composites are for those that have kernels, which a loop has none for.
    recognize = RecognizeComposites(
        recognitions, "loop" if chosen.default == "custom" else rnn, chosen, registered_recognizers()
    )
    fusion = [
        FreezeVariables(values, verdicts),
        InferLoopTypes(),
        ExpandBlockCells(),
        recognize,
        FuseComposites(
            outcomes,
            _SelfCheck(on_step) if check_fusions else None,
            forms=chosen,
            check_custom_ops=check_custom_ops,
        ),
    ]
    run_passes(imported.module, fusion, on_step)
    return Analysis(
        composites=_composite_reports(outcomes),
        variables=tuple(_variable_report(verdict, imported) for verdict in verdicts),
        loops=tuple(LoopReport(each.layer, each.reason) for each in recognitions if each.reason is not None),
        recognizers=tuple(RecognizerReport(*each) for each in recognize.tried),
    )


@dataclass(frozen=True)
class _SelfCheck:
    """The self-check as a step of its own; what it runs models with is loaded for the first composite."""

    on_step: Callable[[str], None]

    def __call__(
        self,
        module: ir.Module,
        composite: func.FuncOp,
        replacement: func.FuncOp,
        *,
        tolerance: float,
        inputs: InputsOfSize | None,
    ) -> CheckResult:
        from litefuse.verify.self_check import self_check

        self.on_step("self-check")
        result = self_check(module, composite, replacement, tolerance=tolerance, inputs=inputs)
        self.on_step(FuseComposites.name)
        return result


def _composite_reports(outcomes: Sequence[Outcome]) -> tuple[CompositeReport, ...]:
    """One entry for all copies of a function that ended alike."""
    call_sites: dict[Outcome, int] = {}
    for outcome in outcomes:
        alike = outcome._replace(call_sites=0)
        call_sites[alike] = call_sites.get(alike, 0) + outcome.call_sites
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
        )
        for outcome, count in call_sites.items()
    )


def _variable_report(verdict: Verdict, imported: ImportedModule) -> VariableReport:
    variable = imported.variables[verdict.variable]
    return VariableReport(
        name=verdict.variable,
        dtype=str(variable.dtype),
        shape=variable.shape,
        verdict="frozen" if verdict.writer is None else "mutable",
        writer=verdict.writer,
    )
