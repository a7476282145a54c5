"""Folders as sources: a SavedModel, or a folder with exactly one in it, such as those of TensorFlow Serving."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.frontends.pretrained import refuse_pretrained
from litefuse.frontends.source import Source

# The files by which a folder is a SavedModel, or is explained by the loader.
_MARKS = ("saved_model.pb", "saved_model.pbtxt", "saved_model.cpb")
_DEPTH = 3  # exports of an estimator are in export/NAME/VERSION
_MAX_FOLDERS = 1000
_LISTED = 10


def folder_source(path: Path) -> Source:
    """Returns the source for a path that is a SavedModel's folder or has one in it; also for any other path.

    Of folders side by side whose names are numbers, which are versions of one model in TensorFlow Serving and in what
    ``save_pretrained(saved_model=True)`` of transformers writes, the highest counts.

    Args:
        path: The absolute path, which need not exist.

    Raises:
        LitefuseError: There are several SavedModels in the folder; or it has a pretrained model of transformers without
            one, or is a file of another kind of model.
    """
    if is_saved_model(path):
        return Source(str(path), path)
    versions = _versions(saved_models_in(path))
    if not versions:
        refuse_pretrained(path)
        if path.is_file():
            from litefuse.frontends.saved_model.other_files import refuse_other_file  # the package imports numpy

            refuse_other_file(path)
        return Source(str(path), path)
    if len(versions) > 1:
        paths = sorted(str(parent / numbers[-1]) for parent, numbers in versions.items())
        listed = "".join(f"\n  {saved}" for saved in paths[:_LISTED])
        more = f"\n  and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
        raise LitefuseError(
            f"the folder holds no saved_model.pb, and there are several SavedModels in it:{listed}{more}",
            where=str(path),
            hint="Give the folder of one.",
        )
    ((parent, names),) = versions.items()
    folder = parent / names[-1]
    others = ", ".join(names[:-1])
    return Source(f"{folder} (the highest version; there are also {others})" if others else str(folder), folder)


def _versions(folders: Iterable[Path]) -> dict[Path, list[str]]:
    """Returns the models: for each path, the names behind it, which are its versions in ascending order."""
    models: dict[Path, list[str]] = {}
    for folder in folders:
        numbered = folder.name.isascii() and folder.name.isdecimal()
        parent, name = (folder.parent, folder.name) if numbered else (folder, "")
        models.setdefault(parent, []).append(name)
    return {parent: sorted(names, key=lambda name: int(name or 0)) for parent, names in models.items()}


def saved_models_in(folder: Path) -> list[Path]:
    """Returns the SavedModels in a folder, no deeper than ``_DEPTH``; none in one of more than ``_MAX_FOLDERS``.

    Links are not followed.
    """
    models: list[Path] = []
    level, seen = [folder], 0
    for _ in range(_DEPTH):
        inner: list[Path] = []
        for parent in level:
            inner += _folders(parent)
            if seen + len(inner) > _MAX_FOLDERS:
                return []
        seen += len(inner)
        models += [path for path in inner if is_saved_model(path)]
        level = [path for path in inner if not is_saved_model(path)]
    return models


def _folders(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            return [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except (OSError, ValueError):  # not a folder, or not readable
        return []


def is_saved_model(path: Path) -> bool:
    """Whether a folder has the file of a SavedModel."""
    return any(os.path.lexists(path / name) for name in _MARKS)
