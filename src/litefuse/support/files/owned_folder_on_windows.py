"""A process's own temporary folder in a place, on Windows: a file in it is open, which no other process can remove."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

__all__ = ["OwnedFolder", "remove_abandoned"]


class OwnedFolder:
    """A new folder with a file that this process keeps open; the system closes that when the process ends.

    Attributes:
        path: Its path.

    Args:
        place: The folder to create it in.
        prefix: What its name begins with.
        mark: The file that is open.

    Raises:
        OSError: It cannot be created.
    """

    def __init__(self, place: str, prefix: str, mark: str) -> None:
        import tempfile

        self.path = tempfile.mkdtemp(prefix=prefix, dir=place)
        self._mark = Path(self.path, mark).open("xb")  # noqa: SIM115  open as long as the folder is used

    def remove(self) -> None:
        """Removes it with everything in it, as far as possible."""
        self._mark.close()
        shutil.rmtree(self.path, ignore_errors=True)


def remove_abandoned(place: str, prefixes: tuple[str, ...], mark: str) -> None:
    """Removes the folders in a place whose processes have ended, as far as possible.

    Args:
        place: The folder that they are in.
        prefixes: What their names begin with.
        mark: The file in those of this program.
    """
    with contextlib.suppress(OSError), os.scandir(place) as found:
        for each in found:
            if each.name.startswith(prefixes) and each.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):  # the mark is missing, or open
                    Path(each.path, mark).unlink()
                    shutil.rmtree(each.path, ignore_errors=True)
