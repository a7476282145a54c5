"""Puts metadata, associated files and other names into a model's file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from litefuse.errors import MetadataError
from litefuse.litert.metadata.associated_files import Pack, append_files, pack_of
from litefuse.litert.metadata.description import Description, Finish
from litefuse.litert.metadata.flatbuffer_form import decoded, encoded
from litefuse.litert.metadata.json_form import checked, parser_version
from litefuse.litert.metadata.names import NAMES, Renaming, original_names, recorded, renaming, signature_names
from litefuse.litert.metadata.new_root import (
    BUFFER,
    MAP,
    METADATA,
    MODEL,
    SIGNATURE,
    SUBGRAPH,
    TENSOR,
    Block,
    write_with_root,
)
from litefuse.litert.metadata.schema import METADATA_NAME
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import Table, content_of, root
from litefuse.litert.runtime.model_reader import Model

# Files of an archive that is compressed may have so many bytes, though the archive has fewer.
_MOST_EXPANDED = 1 << 24


def finish_file(
    path: Path, finish: Finish, *, files_of: Path | None = None, where: str = ""
) -> dict[str, dict[str, dict[str, str]]]:
    """Changes a model's file, which appears whole. Weights are copied block by block, and nothing else is rewritten.

    Args:
        path: The file.
        finish: What it gets: metadata and files in the place of those that it has, and new names.
        files_of: A model whose associated files the file has to have, if it has none and gets none.
        where: The model, for messages.

    Returns:
        The names before: by signature, ``inputs`` and ``outputs``, by the new names.

    Raises:
        MetadataError: The metadata or the names do not fit the model.
        LitefuseError: A file cannot be read or written.
    """
    try:
        return _finished(path, finish, files_of, where)
    except MetadataError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise MetadataError(f"the model with its metadata cannot be written: {reason}", where=where) from error
    except Exception as error:  # following the offsets of damaged data fails in many ways
        raise MetadataError("the model is damaged, so nothing can be added", where=where) from error


def _finished(path: Path, finish: Finish, files_of: Path | None, where: str) -> dict[str, dict[str, dict[str, str]]]:
    description = finish.description
    with content_of(path) as content:
        pack = pack_of(content)
        end = len(content) if pack is None else pack.start
        changes = renaming(finish.rename, signature_names(content), where)
        if description is not None:
            _check_counts(description, content)
            if description.labels:
                description = _labeled(description, content)
        entries = {} if description is None else {METADATA_NAME: encoded(description.metadata)}
        before = original_names(content)
        if changes:
            entries[NAMES] = recorded(changes, before)
    files: dict[str, Path | tuple[Path, str]] = {}
    earlier = pack
    if description is not None:
        files = dict(description.files)
    elif pack is not None:
        files = {name: (path, name) for name in pack.sizes}
    elif files_of is not None:
        with content_of(files_of) as content:
            earlier = pack_of(content)
        files = {} if earlier is None else {name: (files_of, name) for name in earlier.sizes}
    if description is None and earlier is not None:
        _check_expansion(earlier, where)
    if not entries and (pack is not None or not files):
        return before
    target = path.with_name(path.name + ".finished")
    try:
        write_with_root(path, target, end, lambda content: _new_root(content, entries, changes))
        append_files(target, files)
        target.replace(path)
    finally:
        target.unlink(missing_ok=True)
    return json.loads(entries[NAMES]) if NAMES in entries else before


def model_metadata(content: Any) -> dict[str, Any] | None:
    """Returns the metadata of a model as JSON has it; None if it has none.

    Args:
        content: The content of a valid ``.tflite`` file: bytes or a memory map.
    """
    data = Model(content).metadata_content(METADATA_NAME)
    return None if data is None else decoded(data)


def _check_expansion(pack: Pack, where: str) -> None:
    """Checks that files which are copied from a model's archive are as large as they are there: not compressed."""
    size = sum(pack.sizes.values())
    if size > max(2 * pack.size, _MOST_EXPANDED):
        raise MetadataError(
            f"the {pack.size:,} bytes of associated files would become {size:,}",
            where=where,
            hint="They are compressed, which TensorFlow Lite's readers do not support.",
        )


def _check_counts(description: Description, content: Any) -> None:
    """Checks that metadata is for as many inputs and outputs as there are, and that files are those of tensors."""
    model = Model(content)
    described: Sequence[Any] = description.metadata.get("subgraph_metadata", [])
    if len(described) > len(model.graphs):
        raise MetadataError(
            f"the metadata describes {len(described)} subgraphs, and the model has {len(model.graphs)}",
            where=description.where,
        )
    for number, (graph, metadata) in enumerate(zip(model.graphs, described, strict=False)):
        signatures = [signature for signature in model.signatures.values() if signature.graph == number]
        for role, indices in (("input", graph.inputs), ("output", graph.outputs)):
            entries, count = metadata.get(f"{role}_tensor_metadata"), len(indices)
            if entries is not None and len(entries) != count:
                known = {index: name for names in signatures for name, index in getattr(names, f"{role}s").items()}
                names = (known.get(index) or graph.tensor(index).name for index in indices)
                raise MetadataError(
                    f"subgraph_metadata[{number}].{role}_tensor_metadata has {len(entries)} entries, and the model has "
                    f"{count} {role}{'' if count == 1 else 's'}",
                    where=description.where,
                    hint=f"The names, in order: {', '.join(names)}.",
                )


def _labeled(description: Description, content: Any) -> Description:
    """Names the file of labels at the output of each signature that has as many elements; there has to be one."""
    model = Model(content)
    file = {"name": Path(description.where).name, "type": "TENSOR_AXIS_LABELS"}
    described: list[dict[str, Any]] = [dict(graph) for graph in description.metadata.get("subgraph_metadata", [])]
    for number in sorted({signature.graph for signature in model.signatures.values()} or {0}):
        graph = model.graphs[number]
        place = _labeled_output([graph.tensor(index).shape for index in graph.outputs], description)
        described += [{} for _ in range(len(described), number + 1)]
        given: list[dict[str, Any]] = described[number].get("output_tensor_metadata") or [{} for _ in graph.outputs]
        entries = [dict(entry) for entry in given]
        entries[place]["associated_files"] = [*entries[place].get("associated_files", []), file]
        described[number]["output_tensor_metadata"] = entries
    metadata = checked({**description.metadata, "subgraph_metadata": described}, description.where)
    return description._replace(metadata={**metadata, "min_parser_version": parser_version(metadata)})


def _labeled_output(shapes: Sequence[tuple[int | None, ...]], description: Description) -> int:
    """Returns which output has as many elements as there are labels; else the only one whose last axis is dynamic."""
    sizes = [shape[-1] if shape else 1 for shape in shapes]
    for size in (description.labels, None):
        if sizes.count(size) == 1:
            return sizes.index(size)
    shown = ", ".join(str(["?" if size is None else size for size in shape]) for shape in shapes) or "none"
    raise MetadataError(
        f"for {description.labels:,} labels, exactly one output must have a last axis of that size; there are: {shown}",
        where=description.where,
        hint="Give a line for each class; or name the file at an output, in metadata as JSON.",
    )


def _new_root(content: Any, entries: Mapping[str, bytes], changes: Renaming) -> Block:
    model = root(content)
    buffers: list[Block | int] = [table.position for table in model.tables(fields.BUFFERS)]
    kept = [table for table in model.tables(fields.METADATA) if table.text(fields.METADATA_NAME) not in entries]
    metadata: list[Block | int] = [table.position for table in kept]
    for name, data in entries.items():
        metadata.append(Block.table(METADATA, {0: Block.text(name), 1: len(buffers)}))
        buffers.append(Block.table(BUFFER, {0: Block.blob(data)}))
    values: dict[int, Block | int] = {fields.BUFFERS: Block.vector(buffers), fields.METADATA: Block.vector(metadata)}
    if changes:
        values |= _renamed(model, changes)
    return Block.changed(model, MODEL, values)


def _renamed(model: Table, changes: Renaming) -> dict[int, Block | int]:
    """Returns the signatures with the new names, and the subgraphs whose tensors have them."""
    tensors: dict[int, dict[int, str]] = {}
    signatures: list[Block | int] = []
    for table in model.tables(fields.SIGNATURES):
        key, graph = table.text(fields.SIGNATURE_KEY), table.number(fields.SIGNATURE_GRAPH, "I")
        values: dict[int, Block | int] = {}
        for role, field in (("inputs", fields.SIGNATURE_INPUTS), ("outputs", fields.SIGNATURE_OUTPUTS)):
            names = changes.names.get((key, role), {})
            maps: list[Block | int] = []
            for entry in table.tables(field):
                new = names.get(entry.text(fields.MAP_NAME))
                if new is None:
                    maps.append(entry.position)
                    continue
                maps.append(Block.changed(entry, MAP, {fields.MAP_NAME: Block.text(new)}))
                tensors.setdefault(graph, {}).setdefault(entry.number(fields.MAP_INDEX, "I"), new)
            if names:
                values[field] = Block.vector(maps)
        signatures.append(Block.changed(table, SIGNATURE, values) if values else table.position)
    subgraphs: list[Block | int] = []
    for number, graph in enumerate(model.tables(fields.SUBGRAPHS)):
        wanted = tensors.get(number, {})
        subgraphs.append(_with_names(graph, wanted) if wanted else graph.position)
    return {fields.SIGNATURES: Block.vector(signatures), fields.SUBGRAPHS: Block.vector(subgraphs)}


def _with_names(graph: Table, wanted: Mapping[int, str]) -> Block:
    """Returns a subgraph with other names of tensors, but for those that another tensor has."""
    tables = graph.tables(fields.TENSORS)
    others = {tensor.text(fields.TENSOR_NAME) for index, tensor in enumerate(tables) if index not in wanted}
    tensors: list[Block | int] = [
        Block.changed(tensor, TENSOR, {fields.TENSOR_NAME: Block.text(wanted[index])})
        if index in wanted and wanted[index] not in others
        else tensor.position
        for index, tensor in enumerate(tables)
    ]
    return Block.changed(graph, SUBGRAPH, {fields.TENSORS: Block.vector(tensors)})
