"""The contents of a SavedModel: as plain data, and as the sections of a report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, Literal

from litefuse.litert.inspection.facts import FileFacts, SignatureFacts
from litefuse.litert.inspection.listings import attribute_text, signature_sections
from litefuse.support.report.json_form import json_form
from litefuse.support.report.printable import one_line, shortened
from litefuse.support.report.sections import Judgement, Section, count_of, op_section, shape_text
from litefuse.support.report.shown import ShownInNotebooks

_COLUMNS = 80
_LISTED_VARIABLES = 12
_LISTED_CALL_SITES = 3
_JUDGEMENTS: Mapping[str, Judgement] = {"fused": "good", "inlined": "warn", "unknown": None}


#: The function that inspects a SavedModel, in the process of conversions.
INSPECT = "litefuse.tools.saved_models.inspection:inspect_model"


@dataclass(frozen=True)
class InspectionJob:
    """A request to inspect a SavedModel.

    Attributes:
        source: The SavedModel's folder.
        tags: The tags of the meta graph; None means the one for serving.
        nodes: Whether to list the nodes of functions.
    """

    source: Path
    tags: tuple[str, ...] | None = None
    nodes: bool = False


@dataclass(frozen=True)
class AnnotatedFunction:
    """A function that is annotated as a composite.

    Attributes:
        name: The composite's name, from the annotation.
        attributes: The annotation's attributes.
        function: The function's name.
        call_sites: The nodes that call it, as ``function/node``; empty when no signature reaches it.
        outcome: Its outcome in a conversion, as in the report; ``unknown`` when it was not analyzed.
        fused_into: The op that it is fused into.
        reason: Why it is not fused.
    """

    name: str
    attributes: Mapping[str, Any]
    function: str
    call_sites: tuple[str, ...]
    outcome: Literal["fused", "inlined", "unknown"] = "unknown"
    fused_into: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class VariableFacts:
    """A variable.

    Attributes:
        name: Its path in the SavedModel's objects.
        dtype: Its dtype.
        shape: Its declared shape.
        size: The bytes of its value; None when its shape is unknown.
        verdict: ``frozen``: only read, it becomes a constant; ``mutable``: it keeps its state; ``unused``: no signature
            uses it; ``unknown``: it was not analyzed.
        writer: For a mutable variable, the first op that writes it.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    size: int | None
    verdict: Literal["frozen", "mutable", "unused", "unknown"]
    writer: str | None = None


@dataclass(frozen=True)
class ResourceFacts:
    """A resource other than a variable or a file, such as a hash table.

    Attributes:
        name: Its path in the SavedModel's objects.
        kind: Its class, such as ``tf.StaticHashTable``, or its kind if it has no class.
    """

    name: str
    kind: str


@dataclass(frozen=True)
class NodeFacts:
    """A node of a function.

    Attributes:
        function: The function.
        name: Its name.
        op: Its op; for a call of a function, the function's name may be the op.
    """

    function: str
    name: str
    op: str


@dataclass(frozen=True)
class SavedModelFacts(ShownInNotebooks):
    """The contents of a SavedModel.

    Attributes:
        source: Its folder.
        tags: The tags of the meta graph.
        tensorflow_version: The TensorFlow release that saved it.
        signatures: The signatures that can be converted.
        unusable_signatures: The reason why each of the others cannot.
        function_count: The number of functions.
        reached_function_count: The number of functions that the signatures reach.
        annotated: The functions that are annotated as composites.
        variables: The variables.
        op_counts: The number of each op in the functions that the signatures reach.
        assets: The assets.
        resources: The other resources.
        problem: The first problem that prevents a conversion, if one was found; verdicts are unknown then.
        nodes: The nodes of the functions that the signatures reach, if they were asked for.
    """

    _sections_by = "litefuse.litert.inspection.saved_model_facts:saved_model_sections"

    source: str
    tags: tuple[str, ...]
    tensorflow_version: str
    signatures: tuple[SignatureFacts, ...]
    unusable_signatures: Mapping[str, str]
    function_count: int
    reached_function_count: int
    annotated: tuple[AnnotatedFunction, ...]
    variables: tuple[VariableFacts, ...]
    op_counts: Mapping[str, int]
    assets: tuple[FileFacts, ...] = ()
    resources: tuple[ResourceFacts, ...] = ()
    problem: str | None = None
    nodes: tuple[NodeFacts, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the facts as dictionaries and lists for ``json.dumps``; NaN and infinities are None."""
        return json_form(self)


def saved_model_sections(facts: SavedModelFacts, *, everything: bool = False) -> list[Section]:
    """Returns the sections about a SavedModel."""
    sections = [
        Section(
            facts.source,
            [
                ("tags", ", ".join(facts.tags) or "none"),
                ("TensorFlow", facts.tensorflow_version or "not noted"),
                ("functions", f"{facts.function_count:,}, {facts.reached_function_count:,} of them in signatures"),
            ],
        )
    ]
    if facts.nodes:
        return [*sections, *_node_sections(facts.nodes, everything=everything)]
    if facts.problem:
        sections.append(_bad_news("As it is, it cannot be converted", [(line,) for line in facts.problem.splitlines()]))
    sections += signature_sections(facts.signatures)
    if facts.unusable_signatures:
        rows = [(key, reason.replace("\n", " ")) for key, reason in facts.unusable_signatures.items()]
        sections.append(_bad_news("Signatures that cannot be used", rows))
    sections.append(_annotated_section(facts.annotated, everything=everything))
    sections.append(_variable_section(facts.variables, everything=everything))
    sections.append(op_section(facts.op_counts, "TensorFlow ops in the signatures"))
    if facts.assets:
        rows = [
            (asset.name, "missing" if asset.size is None else count_of(asset.size, "byte")) for asset in facts.assets
        ]
        sections.append(Section("Assets", rows))
    if facts.resources:
        sections.append(Section("Other resources", [(resource.name, resource.kind) for resource in facts.resources]))
    return sections


def _bad_news(title: str, rows: Sequence[Sequence[str]]) -> Section:
    return Section(title, rows, judgements=list[Judgement](repeat("bad", len(rows))))


def _node_sections(nodes: Iterable[NodeFacts], *, everything: bool) -> list[Section]:
    by_function: defaultdict[str, list[NodeFacts]] = defaultdict(list)
    for node in nodes:
        by_function[node.function].append(node)
    sections: list[Section] = []
    for function, listed in by_function.items():
        width = max(len(node.op) for node in listed)
        rows = [
            (node.op, one_line(node.name) if everything else shortened(one_line(node.name), _COLUMNS - 4 - width))
            for node in listed
        ]
        sections.append(Section(f"Nodes of {one_line(function)}: {len(listed):,}", rows))
    return sections


def _annotated_section(annotated: Sequence[AnnotatedFunction], *, everything: bool) -> Section:
    called = [composite for composite in annotated if composite.call_sites]
    idle = len(annotated) - len(called)
    note = f"{count_of(idle, 'annotated function')} that no signature calls" if idle else ""
    if not called:
        return Section("Composites: none", note=note)
    rows: list[tuple[str, ...]] = []
    judgements: list[Judgement] = []
    for composite in called:
        outcome = {
            "fused": f"becomes {composite.fused_into}",
            "inlined": f"is not fused: {composite.reason}",
            "unknown": "not analyzed",
        }[composite.outcome]
        attributes = f"({attribute_text(composite.attributes)})" if composite.attributes else ""
        rows.append((f"{composite.name}{attributes}", composite.function, outcome))
        judgements.append(_JUDGEMENTS[composite.outcome])
        sites = composite.call_sites if everything else composite.call_sites[:_LISTED_CALL_SITES]
        rows += [("", f"called by {site}") for site in sites]
        if len(sites) < len(composite.call_sites):
            rows.append(("", f"and {count_of(len(composite.call_sites) - len(sites), 'call')} more"))
        judgements.extend(repeat(None, len(rows) - len(judgements)))
    return Section(f"Composites: {len(called):,}", rows, judgements=judgements, note=note)


def _variable_section(variables: Sequence[VariableFacts], *, everything: bool) -> Section:
    if not variables:
        return Section("Variables: none")
    # Mutable variables come first, then large ones.
    order = sorted(
        variables, key=lambda variable: (variable.verdict != "mutable", -(variable.size or 0), variable.name)
    )
    counts = Counter(variable.verdict for variable in variables)
    listed = order
    if not everything:
        listed = [variable for variable in order if variable.verdict != "unused"][
            : max(_LISTED_VARIABLES, counts["mutable"])
        ]
    rows = [
        (
            variable.name,
            f"{variable.dtype} {shape_text(variable.shape)}",
            "" if variable.size is None else f"{variable.size:,}",
            f"mutable: written by {variable.writer}" if variable.verdict == "mutable" else variable.verdict,
        )
        for variable in listed
    ]
    total = sum(variable.size or 0 for variable in variables)
    left = len(variables) - len(listed)
    note = f"and {count_of(left, 'variable')} more; --all lists them" if left else ""
    verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.most_common())
    return Section(
        f"Variables: {verdicts}; {count_of(total, 'byte')}",
        rows,
        headings=("name", "type", "bytes", "verdict"),
        right=frozenset({2}),
        note=note,
    )
