"""Temporary folders and files, and the errors where they cannot be created.

A process has one folder in each place, which contains all of its temporary folders there. The system shows whether that
process still runs, however it ends: so the next process knows which folders are abandoned.
"""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path
from typing import IO

from litefuse.errors import LitefuseError
from litefuse.support.files.owned_folder import OwnedFolder, remove_abandoned

# Marks a folder as litefuse's, where it is known whether it is in use: no other program has a file of this name.
_MARK = ".made-by-litefuse"
# What the names of folders begin with, in the system's place for them and beside the files of users.
_VISIBLE, _HIDDEN = "litefuse-", ".litefuse-"

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
    """This process's folder in a place, and how many temporary folders are in it."""

    def __init__(self, place: str, prefix: str) -> None:
        self.place = place
        self.process = os.getpid()
        self.count = 0
        self.folder = OwnedFolder(place, prefix, _MARK)
        self.path = self.folder.path


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


def remove_abandoned_folders(place: str | None = None) -> None:
    """Removes the folders that killed processes left in a place, as far as possible.

    Args:
        place: The folder that they are in; None: the system's for temporary files.
    """
    import tempfile

    remove_abandoned(tempfile.gettempdir() if place is None else place, (_HIDDEN, _VISIBLE), _MARK)


def folders_of_process() -> list[str]:
    """Returns the paths of this process's folders, which are nobody's once it has ended."""
    with _lock:
        return [owned.path for owned in _owned.values() if owned.process == os.getpid()]


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
        owned.folder.remove()


def _tidy(place: str) -> None:
    """Removes the folders in a place whose processes have ended."""
    if place not in _tidied:
        _tidied.add(place)
        remove_abandoned_folders(place)
