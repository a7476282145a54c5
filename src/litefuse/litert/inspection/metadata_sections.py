"""Sections of a report about the metadata of a LiteRT model, and its associated files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from litefuse.litert.inspection.facts import LiteRTModelFacts
from litefuse.support.report.printable import one_line, shortened
from litefuse.support.report.sections import Section, count_of

__all__ = ["metadata_sections"]

_WIDTH = 64
_MODEL = ("name", "description", "version", "author", "license", "min_parser_version")


def metadata_sections(facts: LiteRTModelFacts, *, everything: bool = False) -> list[Section]:
    """Returns the sections: what the model is, what its inputs and outputs are, and the files.

    Args:
        facts: The facts.
        everything: Whether texts are in full.
    """

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
                for tensor in graph.get(f"{role}_tensor_metadata", [])
                for label, text in _tensor_rows(role, tensor)
            ]
            if rows:
                where = "" if len(graphs) == 1 else f" of subgraph {number}"
                sections.append(Section(f"Described inputs and outputs{where}", rows))
    if facts.associated_files:
        rows = [(fit(file.name), count_of(file.size or 0, "byte")) for file in facts.associated_files]
        sections.append(Section("Associated files", rows))
    return sections


def _tensor_rows(role: str, tensor: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the name of a tensor, and below it what is said of it."""
    yield role, tensor.get("name") or "(no name)"
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
        yield "", f"file {file.get('name', '')}{f' ({kind})' if kind else ''}"


def _pairs(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if key == "default_size":
            yield f"{key}={value.get('width', '?')}x{value.get('height', '?')}"
        elif key in {"vocab_file", "sentencePiece_model"}:
            yield f"{key}={', '.join(each.get('name', '') for each in value)}"
        else:
            yield f"{key}={value}"
