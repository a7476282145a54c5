"""Paths that may be URLs: what is read is fetched, and what is written is uploaded."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

from litefuse.errors import LitefuseError
from litefuse.support.cloud.names import as_url, refuse_collapsed, shown

_T = TypeVar("_T")


def local(model: _T) -> _T:
    """Returns the local path of a model, or samples, at a URL, which is fetched if needed; anything else as it is.

    Args:
        model: A URL of a file or a folder, a path, or any object. The path of a local file is never a URL.

    Raises:
        LitefuseError: There is nothing at the URL, it cannot be fetched, or a package is missing.
    """
    if isinstance(model, os.PathLike):
        refuse_collapsed(cast("os.PathLike[str]", model))
        return cast("_T", model)
    if (url := as_url(model)) is not None:
        from litefuse.support.cloud.fetching import fetched

        return cast("_T", str(fetched(url)))
    return model


def not_url(path: _T) -> _T:
    """Returns the path of a folder to write, which has to be here.

    Raises:
        LitefuseError: It is a URL.
    """
    if as_url(path) is not None:
        raise LitefuseError("this folder must be local", where=shown(cast("str", path)))
    return path


@contextmanager
def saved_to(path: str | os.PathLike[str]) -> Generator[Path]:
    """Provides the local path to write an output to, which is uploaded when the context ends without an error.

    Args:
        path: A URL, or a path, which stays as it is.

    Raises:
        LitefuseError: The URL cannot be written to, or a package is missing.
    """
    url = as_url(path)
    if url is None:
        if isinstance(path, os.PathLike):
            refuse_collapsed(path)
        yield Path(path)
        return
    from litefuse.support.cloud.saving import Saved

    saved = Saved(url)
    try:
        yield saved.place
        saved.upload()
    finally:
        saved.close()
