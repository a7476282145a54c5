"""The op codes of a written file: versions that readers go by, and the byte in which older readers look for the op."""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path
from typing import Any

from litefuse.export.op_versions import least_version
from litefuse.export.runtime_versions import least_runtime
from litefuse.inputs.graph import Model
from litefuse.runtime import model_tables as fields
from litefuse.runtime.flatbuffer import Table, root
from litefuse.runtime.model_tables import OpCode

__all__ = ["MIN_RUNTIME", "correct_op_codes", "used_codes"]

#: The metadata in which the stock converter records the least runtime, and the bytes of their buffer.
MIN_RUNTIME, MIN_RUNTIME_BYTES = "min_runtime_version", 16
# Readers of before TensorFlow 2.4 have one signed byte for the op; 127 stands for those beyond.
_LARGEST_BYTE = 127
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
            versions = _needed_versions(Model(mapped))
            model = root(mapped)
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
                    added += _CODE.pack(12, 16, 12, 0, 8, 4, 12, number, version, min(number, _LARGEST_BYTE))
                    struct.pack_into("<I", mapped, vector + 4 * index, table - vector - 4 * index)
            names = [OpCode.read(code).name for code in codes]
            _record_runtime(mapped, model, [(names[index], version) for index, version in versions.items()])
        if any(added):
            file.seek(0, os.SEEK_END)
            file.write(added)


def used_codes(model: Model) -> list[tuple[str, int]]:
    """Returns the names and versions of the LiteRT ops that a model has."""
    ops = {(op.name, op.version) for graph in model.graphs for op in graph.ops if not op.custom}
    return sorted(ops)


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
    byte = min(number, _LARGEST_BYTE)
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


def _record_runtime(data: Any, model: Table, codes: list[tuple[str, int]]) -> None:
    """Writes the least runtime into the metadata that are there for it."""
    buffers = model.tables(fields.BUFFERS)
    for entry in model.tables(fields.METADATA):
        if entry.text(fields.METADATA_NAME) == MIN_RUNTIME:
            buffer = buffers[entry.number(fields.METADATA_CONTENT, "I")]
            size, start = buffer.length(fields.DATA), buffer.vector(fields.DATA)
            recorded = least_runtime(codes).recorded.encode()
            if start and len(recorded) < size:
                data[start : start + size] = recorded.ljust(size, b"\0")
