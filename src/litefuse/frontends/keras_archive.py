"""Checks of ``.keras`` files: archives with a model's configuration, its weights and other files of some layers.

Keras would read such an archive into memory, beside the model. It is unpacked to a folder, of which Keras reads one
array after the other. Before that, the names and the unpacked size of its members are checked.
"""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any, cast

from litefuse.errors import LitefuseError
from litefuse.frontends.keras_config import MAX_CONFIG_BYTES, parse_config
from litefuse.frontends.keras_hdf5 import EXPANSION, UNCHECKED_BYTES, check_hdf5
from litefuse.frontends.writer import describe_error
from litefuse.support.files.readable import os_errors

_CONFIG = "config.json"
_METADATA = "metadata.json"
_MAX_METADATA_BYTES = 2**20
_WEIGHTS = frozenset({"model.weights.h5", "model.weights.npz"})
_ASSETS = "assets"
_DAMAGED = (OSError, EOFError, KeyError, ValueError, TypeError, RuntimeError, zipfile.BadZipFile)
_BROKEN = (zlib.error, lzma.LZMAError, struct.error)  # other errors of unpacking


def unpack_archive(path: Path, folder: Path) -> tuple[str, Any]:
    """Checks a ``.keras`` file and unpacks it; returns the Keras version that wrote it, and the model's configuration.

    Args:
        path: The file.
        folder: The folder to unpack it to, which does not exist.

    Raises:
        LitefuseError: It is damaged or not a Keras file; Keras does not write such a member; the archive expands to far
            more than its size, or its configuration is too large; its weights are stored elsewhere; or the disk has no
            room.
    """
    where = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive, path)
            metadata = parse_config(_read(archive, _METADATA, _MAX_METADATA_BYTES, where), where)
            version = str(cast("dict[str, Any]", metadata)["keras_version"])
            config = parse_config(_read(archive, _CONFIG, MAX_CONFIG_BYTES, where), where)
            with os_errors("the archive cannot be unpacked", folder):
                archive.extractall(folder)
            if (weights := folder / "model.weights.h5").exists():
                check_hdf5(weights, path.stat().st_size, where)
            if (weights := folder / "model.weights.npz").exists():  # an archive itself
                with zipfile.ZipFile(weights) as inner:
                    _check_expansion(inner, path)
            return version, config
    except (*_DAMAGED, *_BROKEN) as error:
        raise LitefuseError(
            f"the file is damaged, or not one of model.save(): {describe_error(error)}", where=where
        ) from error


def _check_members(archive: zipfile.ZipFile, path: Path) -> None:
    archive.getinfo(_CONFIG)  # raises an error if there is none: then this is not a model
    members = archive.infolist()
    names = Counter(member.filename for member in members)
    for member in members:
        name = member.filename
        if names[name] > 1:
            raise LitefuseError(f"the archive has {name!r} more than once", where=str(path))
        parts = PurePosixPath(name).parts
        is_known = name in (_CONFIG, _METADATA) or name in _WEIGHTS or (parts and parts[0] == _ASSETS)
        # The upper half of the attributes is the Unix file mode, if there is one.
        mode = member.external_attr >> 16
        is_plain = stat.S_IFMT(mode) in (0, stat.S_IFREG, stat.S_IFDIR)
        if not is_known or not is_plain or ".." in parts or "\\" in name:
            raise LitefuseError(
                f"the archive has {name!r}, which is none of the files that Keras writes",
                where=str(path),
                hint="Save the model again with Keras.",
            )
    _check_expansion(archive, path)


def _check_expansion(archive: zipfile.ZipFile, path: Path) -> None:
    expanded, size = sum(member.file_size for member in archive.infolist()), path.stat().st_size
    if expanded > max(UNCHECKED_BYTES, EXPANSION * size):
        raise LitefuseError(
            f"the archive has {size:,} bytes and expands to {expanded:,}, more than {EXPANSION} times as many",
            where=str(path),
            hint="Save the model again with Keras, which does not compress it.",
        )


def _read(archive: zipfile.ZipFile, name: str, limit: int, where: str) -> bytes:
    size = archive.getinfo(name).file_size
    if size > limit:
        raise LitefuseError(
            f"{name!r} in the archive is too large: it expands to {size:,} bytes, at most {limit:,} are read",
            where=where,
        )
    return archive.read(name)
