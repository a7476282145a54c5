"""Temporary folders and files, and the errors where they cannot be created.

A process has one folder in each place, which contains all of its temporary folders there. It holds a lock on that
folder, which the system releases when the process ends, however it ends: so the next process knows which folders are
abandoned.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import threading
import weakref
from pathlib import Path
from typing import IO

from litefuse.errors import LitefuseError

__all__ = ["TemporaryFolder", "is_temporary", "make_temporary_file", "make_temporary_folder"]

# Marks a folder as litefuse's: no other program has a file of this name, and it is written when the lock is held.
_MARK = ".made-by-litefuse"
# What the names of folders begin with, in the system's place for them and beside the files of users.
_VISIBLE, _HIDDEN = "litefuse-", ".litefuse-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_lock = threading.RLock()
_owned: dict[str, _Owned] = {}
_tidied: set[str] = set()


class TemporaryFolder:
    """A folder that is removed with the object, at the end of a ``with`` statement, or with the process.

    Attributes:
        name: Its absolute path.
    """

    def __init__(self, owned: _Owned) -> None:
        import tempfile

        self.name = tempfile.mkdtemp(dir=owned.path)
        self._remove = weakref.finalize(self, _remove, self.name, owned)

    def cleanup(self) -> None:
        """Removes it with everything in it."""
        self._remove()

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self.cleanup()


class _Owned:
    """This process's folder in a place."""

    def __init__(self, place: str, prefix: str) -> None:
        import tempfile

        self.place = place
        self.process = os.getpid()
        self.count = 0
        self.path = tempfile.mkdtemp(prefix=prefix, dir=place)
        try:
            self._descriptor = os.open(self.path, _FOLDER)
        except OSError:
            Path(self.path).rmdir()
            raise
        with contextlib.suppress(OSError):  # a file system without locks: without the mark, no other process removes it
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(os.open(_MARK, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=self._descriptor))

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            _empty(self._descriptor)
            Path(self.path).rmdir()
        os.close(self._descriptor)


def make_temporary_folder(place: str | os.PathLike[str] | None = None) -> TemporaryFolder:
    """Creates a folder, which is removed with the object; its path is absolute, so that other processes can use it.

    The folders that killed processes left in the same place are removed.

    Args:
        place: The folder to create it in; None: the system's for temporary files.

    Raises:
        LitefuseError: It cannot be created.
    """
    import tempfile

    try:
        where = os.path.realpath(tempfile.gettempdir() if place is None else place)
        with _lock:
            owned = _owned.get(where)
            if owned is not None:
                # Counted first: the garbage collector may remove other temporary folders at any moment, even in this
                # thread, which can enter the lock again.
                owned.count += 1
                if owned.process != os.getpid() or _owned.get(where) is not owned or not Path(owned.path).is_dir():
                    owned.count -= 1
                    owned = None
            if owned is None:
                _tidy(where)
                owned = _Owned(where, _VISIBLE if place is None else _HIDDEN)
                owned.count = 1
                _owned[where] = owned
            try:
                return TemporaryFolder(owned)
            except BaseException:
                owned.count -= 1
                _remove_if_empty(owned)
                raise
    except OSError as error:
        raise _none("folder", place, error) from error


def is_temporary(name: str) -> bool:
    """Whether a folder of this name beside a user's files is a temporary one."""
    return name.startswith(_HIDDEN)


def make_temporary_file() -> IO[bytes]:
    """Creates a file without a name, which is removed when it is closed.

    Raises:
        LitefuseError: It cannot be created.
    """
    import tempfile

    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        raise _none("file", None, error) from error


def _none(what: str, place: str | os.PathLike[str] | None, error: OSError) -> LitefuseError:
    return LitefuseError(
        f"no temporary {what} can be made: {error.strerror or error}",
        where="" if place is None else str(place),
        hint="Set TMPDIR to a folder with room." if place is None else "",
    )


def _remove(path: str, owned: _Owned) -> None:
    if owned.process != os.getpid():  # a forked process has a copy of the object, but does not own the folder
        return
    import shutil

    with _lock:
        shutil.rmtree(path, ignore_errors=True)
        owned.count -= 1
        _remove_if_empty(owned)


def _remove_if_empty(owned: _Owned) -> None:
    if owned.count == 0:
        if _owned.get(owned.place) is owned:
            del _owned[owned.place]
        owned.remove()


def _tidy(place: str) -> None:
    """Removes the folders in a place whose processes have ended."""
    if place in _tidied:
        return
    _tidied.add(place)
    with contextlib.suppress(OSError):
        in_place = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in os.listdir(in_place):  # noqa: PTH208  lists the opened folder
                if name.startswith((_HIDDEN, _VISIBLE)):
                    with contextlib.suppress(OSError):
                        _remove_abandoned(name, in_place)
        finally:
            os.close(in_place)


def _remove_abandoned(name: str, in_place: int) -> None:
    """Removes a folder if it is litefuse's, belongs to this user, and is not locked; does not follow links.

    Raises:
        OSError: It is not, or it cannot be removed.
    """
    descriptor = os.open(name, _FOLDER, dir_fd=in_place)
    try:
        mark = os.stat(_MARK, dir_fd=descriptor, follow_symlinks=False)
        user = os.geteuid()
        if not stat.S_ISREG(mark.st_mode) or mark.st_uid != user or os.fstat(descriptor).st_uid != user:
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _empty(descriptor)
        os.rmdir(name, dir_fd=in_place)
    finally:
        os.close(descriptor)


def _empty(descriptor: int) -> None:
    """Removes everything in an open folder, even if that was moved meanwhile; the mark last."""
    for root, folders, files, folder in os.fwalk(".", topdown=False, dir_fd=descriptor):
        for name in files:
            if (root, name) != (".", _MARK):
                os.unlink(name, dir_fd=folder)
        for name in folders:
            try:
                os.rmdir(name, dir_fd=folder)
            except NotADirectoryError:  # a link to a folder
                os.unlink(name, dir_fd=folder)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_MARK, dir_fd=descriptor)
