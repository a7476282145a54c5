"""Sections of a report about the facts of a model."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import repeat
from typing import Any

from litefuse.litert.inspection.facts import (
    AnnotatedFunction,
    CustomOperator,
    LiteRTModelFacts,
    SavedModelFacts,
    SignatureFacts,
    TensorFacts,
    VariableFacts,
)
from litefuse.litert.inspection.listings import node_sections, operator_sections, size_sections, stored_tensor_sections
from litefuse.litert.inspection.metadata_sections import metadata_sections
from litefuse.litert.inspection.tensor_sections import tensor_sections
from litefuse.support.report.sections import Judgement, Section, count_of, op_section, shape_text

__all__ = ["litert_model_sections", "saved_model_sections"]

_LISTED_VARIABLES = 12
_LISTED_CALL_SITES = 3
_JUDGEMENTS: Mapping[str, Judgement] = {"fused": "good", "inlined": "warn", "unknown": None}


def saved_model_sections(facts: SavedModelFacts, *, everything: bool = False) -> list[Section]:
    """Returns the sections about a SavedModel.

    Args:
        facts: The facts.
        everything: Whether to list all variables and call sites.
    """
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
        return [*sections, *node_sections(facts.nodes, everything=everything)]
    if facts.problem:
        sections.append(_bad_news("As it is, it cannot be converted", [(line,) for line in facts.problem.splitlines()]))
    sections += _signature_sections(facts.signatures)
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
        listed = [each(facts, everything=everything) for name, each in _LISTS.items() if name in lists]
        return [Section(facts.source, head), *itertools.chain.from_iterable(listed)]
    sections = [Section(facts.source, head), *_signature_sections(facts.signatures)]
    if not facts.signatures and facts.subgraphs:
        sections.append(
            Section("Inputs and outputs", _tensor_rows(facts.subgraphs[0].inputs, facts.subgraphs[0].outputs))
        )
    sections.append(
        Section(
            f"Subgraphs: {len(facts.subgraphs):,}",
            [
                (
                    str(number),
                    each.name or "(no name)",
                    count_of(len(each.inputs), "input"),
                    count_of(len(each.outputs), "output"),
                    count_of(each.op_count, "op"),
                )
                for number, each in enumerate(facts.subgraphs)
            ],
            right=frozenset({0, 2, 3, 4}),
        )
    )
    sections += metadata_sections(facts, everything=everything)
    sections.append(op_section(facts.op_counts, "Ops"))
    sections += tensor_sections(facts.tensors, everything=everything)
    for kind, title in (("custom", "Custom ops"), ("composite", "Composites with a decomposition")):
        found = [operator for operator in facts.custom_operators if operator.kind == kind]
        if found:
            sections.append(Section(title, [_custom_row(each) for each in found], right=frozenset({0})))
    return sections


_LISTS = {"ops": operator_sections, "tensors": stored_tensor_sections, "sizes": size_sections}


def _bad_news(title: str, rows: Sequence[Sequence[str]]) -> Section:
    return Section(title, rows, judgements=list[Judgement](repeat("bad", len(rows))))


def _signature_sections(signatures: Sequence[SignatureFacts]) -> list[Section]:
    if not signatures:
        return [Section("Signatures: none")]
    return [
        Section(f"Signature {signature.key}", _tensor_rows(signature.inputs, signature.outputs))
        for signature in signatures
    ]


def _tensor_rows(inputs: Sequence[TensorFacts], outputs: Sequence[TensorFacts]) -> list[tuple[str, ...]]:
    return [
        (role, tensor.name, f"{tensor.dtype} {shape_text(tensor.shape)}{_quantization_text(tensor)}")
        for role, tensors in (("in", inputs), ("out", outputs))
        for tensor in tensors
    ]


def _quantization_text(tensor: TensorFacts) -> str:
    return "" if tensor.scale is None else f", scale {tensor.scale:g}, zero point {tensor.zero_point}"


def _attribute_text(attributes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in attributes.items())


def _annotated_section(annotated: Sequence[AnnotatedFunction], *, everything: bool) -> Section:
    called = [each for each in annotated if each.call_sites]
    idle = len(annotated) - len(called)
    note = f"{count_of(idle, 'annotated function')} that no signature calls" if idle else ""
    if not called:
        return Section("Composites: none", note=note)
    rows: list[tuple[str, ...]] = []
    judgements: list[Judgement] = []
    for each in called:
        outcome = {
            "fused": f"becomes {each.fused_into}",
            "inlined": f"is not fused: {each.reason}",
            "unknown": "not analyzed",
        }[each.outcome]
        attributes = f"({_attribute_text(each.attributes)})" if each.attributes else ""
        rows.append((f"{each.name}{attributes}", each.function, outcome))
        judgements.append(_JUDGEMENTS[each.outcome])
        sites = each.call_sites if everything else each.call_sites[:_LISTED_CALL_SITES]
        rows += [("", f"called by {site}") for site in sites]
        if len(sites) < len(each.call_sites):
            rows.append(("", f"and {count_of(len(each.call_sites) - len(sites), 'call')} more"))
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
        listed = [each for each in order if each.verdict != "unused"][: max(_LISTED_VARIABLES, counts["mutable"])]
    rows = [
        (
            each.name,
            f"{each.dtype} {shape_text(each.shape)}",
            "" if each.size is None else f"{each.size:,}",
            f"mutable: written by {each.writer}" if each.verdict == "mutable" else each.verdict,
        )
        for each in listed
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


def _custom_row(operator: CustomOperator) -> tuple[str, ...]:
    if operator.options is not None:
        options = _attribute_text(operator.options) or "no options"
    else:
        options = f"{count_of(operator.options_size, 'byte')} of options" if operator.options_size else "no options"
    return f"{operator.count:,}", operator.name, options + ("; LiteRT runs it" if operator.in_runtime else "")
