"""The contents of a LiteRT model: as plain data, and as the sections of a report."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

from litefuse.litert.inspection.facts import (
    CustomOperator,
    FileFacts,
    FileSizes,
    OperatorFacts,
    SignatureFacts,
    StoredTensor,
    SubgraphFacts,
)
from litefuse.litert.inspection.listings import (
    attribute_text,
    operator_sections,
    signature_sections,
    size_sections,
    stored_tensor_sections,
    tensor_name,
    tensor_rows,
    tensor_sections,
)
from litefuse.support.report.json_form import json_form
from litefuse.support.report.printable import one_line, shortened
from litefuse.support.report.sections import Section, count_of, op_section
from litefuse.support.report.shown import ShownInNotebooks

_WIDTH = 64
_MODEL = ("name", "description", "version", "author", "license", "min_parser_version")


@dataclass(frozen=True)
class LiteRTModelFacts(ShownInNotebooks):
    """The contents of a LiteRT model.

    Attributes:
        source: The file.
        size: Its size in bytes.
        description: The description that its converter wrote.
        signatures: Its signatures.
        subgraphs: Its subgraphs.
        op_counts: The number of each operator; custom ops by their names.
        custom_operators: The custom ops and composites with their options.
        metadata: The names of its metadata.
        tensors: Its tensors, in the order of the file.
        operators: Its operators, in the order of the file.
        sizes: The bytes of its parts.
        model_metadata: Its TensorFlow Lite Metadata, as JSON has it; None if it has none.
        associated_files: The files in the archive behind the model, such as labels.
        labels: The lines of those that have labels of an output, by their names.
        least_runtime: The first releases of LiteRT and of TensorFlow Lite that have all of its ops.
        data_behind: Whether weights are stored behind the flatbuffer, where only LiteRT and TensorFlow Lite look.
    """

    _sections_by = "litefuse.litert.inspection.litert_model_facts:litert_model_sections"

    source: str
    size: int
    description: str
    signatures: tuple[SignatureFacts, ...]
    subgraphs: tuple[SubgraphFacts, ...]
    op_counts: Mapping[str, int]
    custom_operators: tuple[CustomOperator, ...] = ()
    metadata: tuple[str, ...] = field(default=())
    tensors: tuple[StoredTensor, ...] = ()
    operators: tuple[OperatorFacts, ...] = ()
    sizes: FileSizes | None = None
    model_metadata: Mapping[str, Any] | None = None
    associated_files: tuple[FileFacts, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    least_runtime: str = ""
    data_behind: bool = False

    def to_json(self) -> dict[str, Any]:
        """Returns the facts as dictionaries and lists for ``json.dumps``; NaN and infinities are None."""
        return json_form(self)


def litert_model_sections(
    facts: LiteRTModelFacts, lists: Collection[str] = (), *, everything: bool = False
) -> list[Section]:
    """Returns the sections about a LiteRT model.

    Args:
        facts: The facts.
        lists: Of ``ops``, ``tensors`` and ``sizes``, those to show in place of the summary.
        everything: Whether to shorten no list and no name.
    """
    head = [("size", count_of(facts.size, "byte"))]
    if facts.least_runtime:
        head.append(("runs in", facts.least_runtime))
    if facts.data_behind:
        head.append(("weights", "behind the flatbuffer, where only LiteRT and TensorFlow Lite look"))
    if facts.description:
        head.append(("description", facts.description))
    if facts.metadata:
        head.append(("metadata", ", ".join(facts.metadata)))
    if lists:
        sections = [Section(facts.source, head)]
        if "ops" in lists:
            sections += operator_sections(facts.subgraphs, facts.operators, facts.tensors, everything=everything)
        if "tensors" in lists:
            sections += stored_tensor_sections(facts.subgraphs, facts.tensors, everything=everything)
        if "sizes" in lists:
            sections += size_sections(facts.sizes, facts.tensors, facts.size, everything=everything)
        return sections
    sections = [Section(facts.source, head), *signature_sections(facts.signatures)]
    if not facts.signatures and facts.subgraphs:
        sections.append(
            Section("Inputs and outputs", tensor_rows(facts.subgraphs[0].inputs, facts.subgraphs[0].outputs))
        )
    sections.append(
        Section(
            f"Subgraphs: {len(facts.subgraphs):,}",
            [
                (
                    str(number),
                    subgraph.name or "(no name)",
                    count_of(len(subgraph.inputs), "input"),
                    count_of(len(subgraph.outputs), "output"),
                    count_of(subgraph.op_count, "op"),
                )
                for number, subgraph in enumerate(facts.subgraphs)
            ],
            right=frozenset({0, 2, 3, 4}),
        )
    )
    sections += _metadata_sections(facts, everything=everything)
    sections.append(op_section(facts.op_counts, "Ops"))
    sections += tensor_sections(facts.tensors, everything=everything)
    for kind, title in (("custom", "Custom ops"), ("composite", "Composites with a decomposition")):
        rows = [_custom_row(operator) for operator in facts.custom_operators if operator.kind == kind]
        if rows:
            sections.append(Section(title, rows, right=frozenset({0})))
    return sections


def _custom_row(operator: CustomOperator) -> tuple[str, ...]:
    if operator.options is not None:
        options = attribute_text(operator.options) or "no options"
    else:
        options = f"{count_of(operator.options_size, 'byte')} of options" if operator.options_size else "no options"
    return f"{operator.count:,}", operator.name, options + ("; LiteRT runs it" if operator.in_runtime else "")


def _metadata_sections(facts: LiteRTModelFacts, *, everything: bool = False) -> list[Section]:
    """Returns the sections: what the model is, what its inputs and outputs are, and the files."""

    def fit(text: str) -> str:
        return one_line(text) if everything else shortened(one_line(text), _WIDTH)

    sections: list[Section] = []
    metadata = facts.model_metadata
    if metadata is not None:
        rows = [(key.replace("_", " "), fit(metadata[key])) for key in _MODEL if metadata.get(key)]
        sections.append(Section("Metadata", rows or [("", "empty")]))
        graphs: Sequence[Mapping[str, Any]] = metadata.get("subgraph_metadata", [])
        for number, graph in enumerate(graphs):
            rows = [
                (label, fit(text))
                for role in ("input", "output")
                for name, tensor in zip(
                    chain(_names(facts, number, role), repeat("(no name)")),
                    graph.get(f"{role}_tensor_metadata", []),
                    strict=False,
                )
                for label, text in _described_rows(role, name, tensor, facts.labels)
            ]
            if rows:
                where = "" if len(graphs) == 1 else f" of subgraph {number}"
                sections.append(Section(f"Described inputs and outputs{where}", rows))
    if facts.associated_files:
        rows = [(fit(file.name), count_of(file.size or 0, "byte")) for file in facts.associated_files]
        sections.append(Section("Associated files", rows))
    return sections


def _names(facts: LiteRTModelFacts, number: int, role: str) -> Iterator[str]:
    """Yields the names of a subgraph's inputs or outputs: those in its signature, or else its tensors' own."""
    graphs = [*facts.subgraphs[number : number + 1], *(one for one in facts.signatures if one.subgraph == number)]
    ends = [graph.inputs if role == "input" else graph.outputs for graph in graphs]
    named = {tensor.index: tensor_name(tensor) for tensors in ends for tensor in tensors}
    yield from (named[tensor.index] for tensors in ends[:1] for tensor in tensors)


def _described_rows(
    role: str, name: str, tensor: Mapping[str, Any], labels: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """Yields the name of a tensor, and below it what is said of it."""
    yield role, tensor.get("name") or name
    if tensor.get("description"):
        yield "", tensor["description"]
    if tensor.get("dimension_names"):
        yield "", f"dimensions {', '.join(tensor['dimension_names'])}"
    content = tensor.get("content", {})
    if "content_properties_type" in content:
        kind = content["content_properties_type"].removesuffix("Properties").lower()
        yield "", " ".join([kind, *_pairs(content.get("content_properties", {}))])
    for unit in tensor.get("process_units", []):
        if "options_type" in unit:
            kind = unit["options_type"].removesuffix("Options")
            yield "", " ".join([kind, *_pairs(unit.get("options", {}))])
    for file in tensor.get("associated_files", []):
        kind = str(file.get("type", "")).replace("_", " ").lower()
        name = file.get("name", "")
        yield "", f"file {name}{f' ({kind})' if kind else ''}"
        if lines := labels.get(name):
            yield "", f"{count_of(len(lines), 'label')}: {', '.join(lines)}"


def _pairs(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if key == "default_size":
            yield f"{key}={value.get('width', '?')}x{value.get('height', '?')}"
        elif key in {"vocab_file", "sentencePiece_model"}:
            yield f"{key}={', '.join(file.get('name', '') for file in value)}"
        else:
            yield f"{key}={value}"
