"""A process's own temporary folder in a place: others see that it is in use.

On POSIX systems it is locked; on Windows a file in it is open, which no other process can remove.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from pathlib import Path


class OwnedFolder:
    """A new folder, which this process holds until it ends, when the system releases it.

    Args:
        place: The folder to create it in.
        prefix: What its name begins with.
        mark: The file that says whose it is. On POSIX systems it is written when the lock is held.

    Raises:
        OSError: It cannot be created.
    """

    def __init__(self, place: str, prefix: str, mark: str) -> None:
        import tempfile

        self.path = tempfile.mkdtemp(prefix=prefix, dir=place)
        if sys.platform == "win32":
            self._mark = Path(self.path, mark).open("xb")  # noqa: SIM115  open as long as the folder is used
        else:
            self._mark = mark
            try:
                self._descriptor = os.open(self.path, _FOLDER)
            except OSError:
                Path(self.path).rmdir()
                raise
            # A file system may have no locks: without the mark, no other process removes it.
            with contextlib.suppress(OSError):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=self._descriptor))

    def remove(self) -> None:
        """Removes it with everything in it, as far as possible."""
        if sys.platform == "win32":
            self._mark.close()
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                _empty(self._descriptor, self._mark)
                Path(self.path).rmdir()
            os.close(self._descriptor)


def remove_abandoned(place: str, prefixes: tuple[str, ...], mark: str) -> None:
    """Removes the folders in a place whose processes have ended, as far as possible.

    Args:
        place: The folder that they are in.
        prefixes: What their names begin with.
        mark: The file in those of this program.
    """
    if sys.platform == "win32":
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if entry.name.startswith(prefixes) and entry.is_dir(follow_symlinks=False):
                    with contextlib.suppress(OSError):  # the mark is missing, or open
                        Path(entry.path, mark).unlink()
                        shutil.rmtree(entry.path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        in_place = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in os.listdir(in_place):  # noqa: PTH208  lists the opened folder
                if name.startswith(prefixes):
                    with contextlib.suppress(OSError):
                        _remove_one(name, in_place, mark)
        finally:
            os.close(in_place)


if sys.platform != "win32":
    import fcntl

    _FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

    def _remove_one(name: str, in_place: int, mark: str) -> None:
        """Removes a folder if it is litefuse's, belongs to this user, and is not locked; does not follow links."""
        descriptor = os.open(name, _FOLDER, dir_fd=in_place)
        try:
            marked = os.stat(mark, dir_fd=descriptor, follow_symlinks=False)
            user = os.geteuid()
            if not stat.S_ISREG(marked.st_mode) or marked.st_uid != user or os.fstat(descriptor).st_uid != user:
                return
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _empty(descriptor, mark)
            os.rmdir(name, dir_fd=in_place)
        finally:
            os.close(descriptor)

    def _empty(descriptor: int, mark: str) -> None:
        """Removes everything in an open folder, even if that was moved meanwhile; the mark last."""
        for root, folders, files, folder in os.fwalk(".", topdown=False, dir_fd=descriptor):
            for name in files:
                if (root, name) != (".", mark):
                    os.unlink(name, dir_fd=folder)
            for name in folders:
                try:
                    os.rmdir(name, dir_fd=folder)
                except NotADirectoryError:  # a link to a folder
                    os.unlink(name, dir_fd=folder)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(mark, dir_fd=descriptor)
