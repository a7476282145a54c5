"""A SavedModel in memory, as the files of its folder, and as one zip file."""

from __future__ import annotations

import functools
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from litefuse.frontends.saved_model.messages import SavedModel

Files = dict[str, bytes]
"""The content of each file of a folder, by its path."""

MODEL = "saved_model.pb"
_SEEDS = Path(__file__).resolve().parents[1] / "seeds" / "saved_models.zip"


@functools.cache
def seeds() -> Mapping[str, Mapping[str, bytes]]:
    """The SavedModels to start from, by their names."""
    found: dict[str, Files] = {}
    for path, data in unpack(_SEEDS.read_bytes()).items():
        name, _, inner = path.partition("/")
        found.setdefault(name, {})[inner] = _without_ballast(data) if inner == MODEL else data
    return found


def _without_ballast(data: bytes) -> bytes:
    """A model without what no reader looks at: changes there would be for nothing."""
    model = SavedModel.FromString(data)
    for meta_graph in model.meta_graphs:
        meta_graph.meta_info_def.ClearField("stripped_op_list")
        graph = meta_graph.graph_def
        for node in (*graph.node, *(node for each in graph.library.function for node in each.node_def)):
            node.ClearField("experimental_debug_info")
    model.DiscardUnknownFields()
    return model.SerializeToString(deterministic=True)


def pack(files: Mapping[str, bytes]) -> bytes:
    """The files as one."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def unpack(data: bytes) -> Files:
    """What :func:`pack` made one of."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(files: Mapping[str, bytes], folder: Path) -> None:
    """Writes the files into a folder."""
    for name, data in files.items():
        path = folder / PurePosixPath(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
