"""The op codes of a written file: versions that readers go by, and the byte in which older readers look for the op."""

from __future__ import annotations

import mmap
import os
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from litefuse.errors import LitefuseError
from litefuse.litert.export.op_versions import least_version, types_of
from litefuse.litert.export.runtime_versions import Runtime, RuntimeLimit, first_runtime, least_runtime
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import Table, content_of, root
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.model_tables import OpCode

#: The metadata in which the stock converter records the least runtime, and the bytes of their buffer.
MIN_RUNTIME, MIN_RUNTIME_BYTES = "min_runtime_version", 16
#: Readers of before TensorFlow 2.4 have one signed byte for the op; 127 stands for those beyond.
LARGEST_BYTE = 127
# An OperatorCode with all fields but the name of a custom op, which lies before it, where no offset leads.
_CODE = struct.Struct("<HHHHHHiiibxxx")


def correct_op_codes(path: Path) -> None:
    """Gives each op code of a file the least version that all its ops take, and the byte that older readers look at.

    litert-quantizer leaves both as they were before it changed dtypes, and the engine takes versions from the stubs of
    weights. The least runtime that the file records follows.

    Args:
        path: A LiteRT model with nothing behind its flatbuffer, which is changed in place.
    """
    with path.open("r+b") as file:
        with mmap.mmap(file.fileno(), 0) as mapped:
            read, model = Model(mapped), root(mapped)
            versions = _needed_versions(read)
            forms = {(op.code, op.name, types_of(graph, op)) for graph in read.graphs for op in graph.ops}
            codes = model.tables(fields.OPERATOR_CODES)
            vector = model.vector(fields.OPERATOR_CODES)
            end = -(-len(mapped) // 4) * 4
            added = bytearray(end - len(mapped))
            for index, code in enumerate(codes):
                known = OpCode.read(code)
                if known.name == "CUSTOM":
                    continue
                number = max(code.number(fields.CODE, "i"), code.number(fields.DEPRECATED_CODE, "b"))
                version = versions.setdefault(index, known.version)
                if not _in_place(mapped, code, number, version):
                    # Its vtable, which has 12 bytes, is before it.
                    table = len(mapped) + len(added) + 12
                    added += _CODE.pack(12, 16, 12, 0, 8, 4, 12, number, version, min(number, LARGEST_BYTE))
                    struct.pack_into("<I", mapped, vector + 4 * index, table - vector - 4 * index)
            runtime = least_runtime((name, versions.get(code, 1), types) for code, name, types in forms)
            _record_runtime(mapped, model, runtime)
        if any(added):
            file.seek(0, os.SEEK_END)
            file.write(added)


def with_builtins(content: Any) -> Any:
    """Returns a file whose custom ops that stand for builtin ops are these ops, the same object if it has none.

    Args:
        content: The content of a file, without data behind the flatbuffer: bytes or a memory map.
    """
    if not any(
        OpCode.read(code).custom.startswith(fields.STAND_IN) for code in root(content).tables(fields.OPERATOR_CODES)
    ):
        return content
    from litefuse.litert.export.edited_file import with_builtins as edited  # few files have them

    return edited(bytes(content))


def runtime_of(content: Any) -> Runtime:
    """Returns the first releases that have all ops of a file in their versions; custom ops need kernels besides.

    Args:
        content: The content of a valid ``.tflite`` file: bytes or a memory map.
    """
    return least_runtime(
        {(op.name, op.version, types_of(graph, op)) for graph in Model(content).graphs for op in graph.ops}
    )


class NewerOp(NamedTuple):
    """An op of a model that a runtime lacks, by its name and that of its first result, and the first that have it."""

    op: str
    version: int
    result: str
    first: Runtime


def newer_ops(content: Any, limit: RuntimeLimit) -> list[NewerOp]:
    """Returns the ops of a file in versions and of types that came after a release.

    Args:
        content: The content of a valid ``.tflite`` file: bytes or a memory map.
        limit: The release.
    """
    return [
        NewerOp(op.name, op.version, graph.tensor(op.outputs[0]).name if op.outputs else "", first)
        for graph in Model(content).graphs
        for op in graph.ops
        if not op.custom and not limit.has(first := first_runtime(op.name, op.version, types_of(graph, op)))
    ]


def check_runtime(path: Path, limit: RuntimeLimit | None) -> None:
    """Checks that a release has the ops of a file.

    Args:
        path: A LiteRT model.
        limit: The release; None for any.

    Raises:
        LitefuseError: It lacks some, which are named.
    """
    if limit is None:
        return
    with content_of(path) as content:
        if newer := newer_ops(content, limit):
            raise too_old(limit, newer)


def too_old(limit: RuntimeLimit, newer: Sequence[NewerOp]) -> LitefuseError:
    """Returns the error that a release lacks ops of a file, which names them."""
    kinds = Counter((op.op, op.version, op.first) for op in newer)
    # A fused op has the names of all that it was made of.
    results = {(op.op, op.version, op.first): op.result.partition(";")[0] for op in reversed(newer)}
    lines = [
        f"\n  {count} x {kind[0]} version {kind[1]}, such as {results[kind]!r}: {kind[2]}"
        for kind, count in kinds.items()
    ]
    return LitefuseError(
        f"{limit} lacks ops of this model:{''.join(lines)}",
        hint="Allow a newer runtime (min_runtime; on the command line, --min-runtime), or choose another form of "
        "quantization.",
    )


def _needed_versions(model: Model) -> dict[int, int]:
    """Returns the least version that all ops of an op code take, by its index."""
    versions: dict[int, int] = {}
    for graph in model.graphs:
        for op in graph.ops:
            if not op.custom:
                versions[op.code] = max(versions.get(op.code, 1), least_version(graph, op))
    return versions


def _in_place(data: Any, code: Table, number: int, version: int) -> bool:
    """Changes an op code where it is; returns False if a field that has to change is absent, as defaults are."""
    byte = min(number, LARGEST_BYTE)
    changes = [
        (code.place(field), kind, value)
        for field, kind, value, default in (
            (fields.CODE_VERSION, "<i", version, 1),
            (fields.DEPRECATED_CODE, "<b", byte, 0),
            (fields.CODE, "<i", number, 0),
        )
        if code.number(field, kind[1], default) != value
    ]
    if not all(place for place, _, _ in changes):
        return False
    for place, kind, value in changes:
        struct.pack_into(kind, data, place, value)
    return True


def _record_runtime(data: Any, model: Table, runtime: Runtime) -> None:
    """Writes the least runtime into the metadata that are there for it."""
    buffers = model.tables(fields.BUFFERS)
    for entry in model.tables(fields.METADATA):
        if entry.text(fields.METADATA_NAME) == MIN_RUNTIME:
            buffer = buffers[entry.number(fields.METADATA_CONTENT, "I")]
            size, start = buffer.length(fields.DATA), buffer.vector(fields.DATA)
            recorded = runtime.recorded.encode()
            if start and len(recorded) < size:
                data[start : start + size] = recorded.ljust(size, b"\0")


class ModelSummary(NamedTuple):
    """Summary of a model.

    Attributes:
        op_counts: The number of each operator over all subgraphs; custom ops by their names.
        custom_ops: The names of the custom ops.
        copies: The number of MAXIMUM ops of a value with itself.
    """

    op_counts: Mapping[str, int]
    custom_ops: tuple[str, ...]
    copies: int = 0
