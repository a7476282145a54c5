"""Inspection of a SavedModel. Importing this loads the engine: it is meant for the conversion process."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from litefuse.conversion.pipeline.composites import Findings, VariablePlaceholders, composite_reports, freeze_and_fuse
from litefuse.errors import LitefuseError
from litefuse.frontends.saved_model import Asset, SavedModel, TensorSpec, Variable, load
from litefuse.ir.importer import import_saved_model
from litefuse.ir.mlir import mlir_context
from litefuse.litert.inspection.facts import FileFacts, SignatureFacts, TensorFacts
from litefuse.litert.inspection.saved_model_facts import (
    AnnotatedFunction,
    InspectionJob,
    ResourceFacts,
    SavedModelFacts,
    VariableFacts,
)
from litefuse.support.report import CompositeReport, VariableReport
from litefuse.tools.saved_models.graph import FunctionGraph


def inspect_model(job: InspectionJob, announce: Callable[[str], None]) -> SavedModelFacts:
    """Inspects a SavedModel.

    The verdicts on variables and composites come from the first passes of a conversion. An error that stops these
    becomes ``problem``, and the other facts are still reported.

    Raises:
        SavedModelError: The SavedModel cannot be read.
    """
    announce("read")
    model = load(job.source, job.tags)
    graph = FunctionGraph.of(model.functions, [signature.function for signature in model.signatures.values()])
    findings: Findings | None = None
    used: Mapping[str, Variable] = {}
    problem: str | None = None
    with mlir_context():
        try:
            announce("import")
            imported = import_saved_model(model)
            used = imported.variables
            values = VariablePlaceholders(imported)
            findings = freeze_and_fuse(imported, job.source, announce, values=values)
        except LitefuseError as error:
            problem = str(error)
    composites = composite_reports(findings.outcomes) if findings else ()
    return SavedModelFacts(
        source=str(job.source),
        tags=tuple(sorted(model.tags)),
        tensorflow_version=model.tensorflow_version,
        signatures=tuple(
            SignatureFacts(signature.key, _tensors(signature.inputs), _tensors(signature.outputs))
            for signature in model.signatures.values()
        ),
        unusable_signatures={key: str(error) for key, error in model.unusable_signatures.items()},
        function_count=len(model.functions),
        reached_function_count=len(graph.reached),
        annotated=_judged(graph.annotated(), composites),
        variables=_variables(model, findings, used),
        op_counts=graph.op_counts,
        assets=tuple(_asset(asset) for asset in model.assets.values()),
        resources=tuple(
            ResourceFacts(resource.name, resource.registered_name or resource.kind)
            for resource in model.resources.values()
        ),
        problem=problem,
        nodes=tuple(graph.nodes()) if job.nodes else (),
    )


def _tensors(specs: tuple[TensorSpec, ...]) -> tuple[TensorFacts, ...]:
    return tuple(TensorFacts(spec.name, str(spec.dtype), spec.shape) for spec in specs)


def _judged(
    functions: list[AnnotatedFunction], composites: tuple[CompositeReport, ...]
) -> tuple[AnnotatedFunction, ...]:
    """Adds the outcome of each function."""
    outcomes: dict[str, CompositeReport] = {}
    for composite in composites:
        # A function counts as not fused if one of its copies is not.
        if composite.function not in outcomes or composite.outcome != "fused":
            outcomes[composite.function] = composite
    judged: list[AnnotatedFunction] = []
    for function in functions:
        outcome = outcomes.get(function.function)
        if outcome is not None:
            judged.append(
                replace(function, outcome=outcome.outcome, fused_into=outcome.fused_into, reason=outcome.reason)
            )
        else:
            judged.append(function)
    return tuple(judged)


def _variables(model: SavedModel, findings: Findings | None, used: Mapping[str, Variable]) -> tuple[VariableFacts, ...]:
    verdicts: dict[int, VariableReport] = {}
    for report in findings.variables if findings else ():
        verdicts[used[report.name].node_id] = report
    variables = {variable.node_id: variable for variable in model.variables.values()}
    facts: list[VariableFacts] = []
    for variable in variables.values():
        shape = variable.shape
        known = [size for size in shape or () if size is not None]
        size = None
        if shape is not None and len(known) == len(shape) and variable.dtype.has_numpy:
            size = math.prod(known) * variable.dtype.to_numpy().itemsize
        report = verdicts.get(variable.node_id)
        facts.append(
            VariableFacts(
                name=variable.name,
                dtype=str(variable.dtype),
                shape=shape,
                size=size,
                verdict=report.verdict if report else "unused" if findings else "unknown",
                writer=report.writer if report else None,
            )
        )
    return tuple(facts)


def _asset(asset: Asset) -> FileFacts:
    try:
        return FileFacts(asset.filename, asset.path.stat().st_size)
    except OSError:
        return FileFacts(asset.filename, None)
