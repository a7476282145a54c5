"""Checks of Keras HDF5 files: whole models (``.h5``), and the weights in a ``.keras`` file.

An HDF5 file can refer to other files: by links, arrays whose bytes are stored there, and virtual arrays composed of
their arrays. Keras uses none of this. An untrusted model that did could get any file on this machine into the weights
of the converted model.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.frontends.keras_config import parse_config
from litefuse.frontends.writer import describe_error

INSTALL = 'Install them: pip install "litefuse[keras]".'

UNCHECKED_BYTES = 2**28
"""Up to this expanded size (256 MiB), a file's expansion is not checked."""

EXPANSION = 100
"""The maximum ratio of a file's expanded size to its size. Keras does not compress, and weights compress less."""


def read_hdf5(path: Path) -> tuple[str, Any]:
    """Checks an HDF5 file; returns the Keras version that wrote it, and the model's configuration.

    Raises:
        LitefuseError: h5py is missing; the file is damaged, has no model, or is rejected as by :func:`check_hdf5`; its
            configuration is too large.
    """
    where = str(path)
    h5py = _h5py(where)
    try:
        with h5py.File(path, "r") as file:
            config: Any = file.attrs.get("model_config")
            version: Any = file.attrs.get("keras_version", "2.")
            if config is None:
                raise LitefuseError(
                    "the file has no model configuration: perhaps it has only weights",
                    where=where,
                    hint="Build the model in Python, load its weights, and pass it to litefuse.convert().",
                )
            _check_group(h5py, file, path.stat().st_size, where)
            return _text(version), parse_config(_text(config), where)
    except (OSError, KeyError, ValueError, RuntimeError, TypeError) as error:
        raise LitefuseError(
            f"the file is damaged, or not an HDF5 file: {describe_error(error)}", where=where
        ) from error


def check_hdf5(file: Path, size: int, where: str) -> None:
    """Rejects weights whose arrays are stored outside their file, or are far larger than it.

    Args:
        file: The file.
        size: The number of bytes of the archive that it is from.
        where: The file that contains it, for errors.

    Raises:
        LitefuseError: The file is rejected, or h5py is missing.
    """
    h5py = _h5py(where)
    with h5py.File(file, "r") as opened:
        _check_group(h5py, opened, size, where)


def _h5py(where: str) -> Any:
    if importlib.util.find_spec("h5py") is None:
        raise LitefuseError(
            "reading the file requires Keras and TensorFlow, but h5py cannot be found", where=where, hint=INSTALL
        )
    return importlib.import_module("h5py")


def _check_group(h5py: Any, root: Any, size: int, where: str) -> None:
    expanded = 0
    seen: set[int] = set()
    left: list[tuple[str, Any]] = [("", root)]
    while left:
        path, group = left.pop()
        for name in group:
            inner = f"{path}/{name}"
            link: Any = group.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                raise _elsewhere(inner, "a link to another place", where)
            value: Any = group.get(name)
            address = h5py.h5o.get_info(value.id).addr
            if address in seen:
                continue  # groups may contain each other
            seen.add(address)
            if isinstance(value, h5py.Group):
                left.append((inner, value))
            elif isinstance(value, h5py.Dataset):
                if value.is_virtual or value.external:
                    raise _elsewhere(inner, "an array of other files", where)
                expanded += math.prod(value.shape or ()) * value.dtype.itemsize
    if expanded > max(UNCHECKED_BYTES, EXPANSION * size):
        raise LitefuseError(
            f"the file has {size:,} bytes, and its arrays would take {expanded:,}, more than {EXPANSION} times as many",
            where=where,
            hint="Save the model again with Keras, which does not compress it.",
        )


def _elsewhere(name: str, what: str, where: str) -> LitefuseError:
    return LitefuseError(
        f"{name!r} in the file is {what}, which Keras does not write and which is not read",
        where=where,
        hint="If you trust it, load the model in Python, and save it again.",
    )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
