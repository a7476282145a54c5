"""Paths that may be URLs: what is read is fetched, and what is written is uploaded."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

from litefuse.errors import LitefuseError
from litefuse.support.cloud.file_systems import errors_of, file_system, is_local
from litefuse.support.cloud.names import as_url, file_name, refuse_collapsed, remember, shown
from litefuse.support.files.temporary import is_temporary, make_temporary_folder

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
    from litefuse.support.cloud.paths import Saved

    saved = Saved(url)
    try:
        yield saved.place
        saved.upload()
    finally:
        saved.close()


class Saved:
    """An output at a URL: a local file, which is uploaded when it was written.

    Attributes:
        place: The local path to write to; where the URL is of a local file, that file.
        url: The URL.

    Raises:
        LitefuseError: The URL cannot be written to, or a package is missing.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._system, self._path = file_system(url)
        if not self._path.rstrip("/") or url.endswith("/"):
            raise LitefuseError("this is a folder, not a file", where=shown(url))
        if self._path.startswith(("http://", "https://")):
            raise LitefuseError("web servers are read-only", where=shown(url), hint="Write it to a file or a store.")
        self._folder = None if is_local(self._system) else make_temporary_folder()
        if self._folder is None:
            self.place = Path(self._path)
        else:
            self.place = Path(self._folder.name, file_name(self._path))
            remember(self.place, url)

    def upload(self) -> None:
        """Uploads what was written, the folders and files beside it too; does nothing where that is done already.

        Raises:
            LitefuseError: It cannot be uploaded.
        """
        if self._folder is None:
            return
        parent = self._path.rpartition("/")[0]
        with errors_of(self.url, "written"):
            for path in sorted(Path(self._folder.name).iterdir()):
                if is_temporary(path.name):
                    continue
                target = self._path if path == self.place else f"{parent}/{path.name}"
                for file in [path] if path.is_file() else sorted(path.rglob("*")):
                    if file.is_file():
                        below = file.relative_to(path).as_posix()
                        self._system.put_file(str(file), target if file == path else f"{target}/{below}")
        self.close()

    def close(self) -> None:
        """Removes the local file."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
