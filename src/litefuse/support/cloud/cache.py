"""The cache of what was fetched: a folder of entries, each there whole or not at all.

An entry is a folder of the name of its key, with the fetched file or folder in it, and ``entry.json``, which has the
URL, and of each file the size and the SHA-256. Processes write entries in temporary folders, and rename them into
place.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from litefuse.errors import LitefuseError
from litefuse.support.files.digest import file_digest
from litefuse.support.files.temporary import make_temporary_folder

VARIABLE = "LITEFUSE_CACHE"
_FACTS = "entry.json"
_CONTENT = "content"


class CachedEntry(NamedTuple):
    """An entry of the cache.

    Attributes:
        folder: Its folder.
        url: Where its content is from, without passwords.
        size: Its bytes.
        used: When it was last used, in seconds since the epoch.
    """

    folder: Path
    url: str
    size: int
    used: float


def cache_folder() -> Path:
    """Returns the folder of the cache: what ``LITEFUSE_CACHE`` says, or the user's folder for caches.

    Raises:
        LitefuseError: A package is missing.
    """
    if given := os.environ.get(VARIABLE):
        return Path(given).absolute() / "fetched"
    try:
        from platformdirs import user_cache_path
    except ImportError:
        raise LitefuseError(
            "the cache folder requires the package platformdirs",
            hint=f'Install litefuse with the extra cloud: pip install "litefuse[cloud]"; or set {VARIABLE}.',
        ) from None
    return user_cache_path("litefuse", appauthor=False) / "fetched"


def find_entry(key: str, name: str) -> Path | None:
    """Returns the content of an entry; None if there is none, or it is damaged."""
    folder = cache_folder() / key
    facts = _facts(folder)
    content = folder / _CONTENT / name
    if facts is None or _sizes(content) != facts.get("sizes"):
        return None
    try:
        if _digests(content) != facts.get("sha256"):
            return None
    except OSError:  # removed or damaged meanwhile
        return None
    with contextlib.suppress(OSError):  # a cache that others filled
        os.utime(folder / _FACTS)
    return content


def put_entry(key: str, name: str, url: str, made: Path) -> Path:
    """Moves a fetched file or folder into the cache, in the place of a damaged entry.

    Args:
        key: The key.
        name: The name of the file or folder.
        url: Where it is from, without passwords.
        made: A folder of the cache's file system with the file or folder in it.

    Returns:
        The content of the entry.

    Raises:
        OSError: It cannot be written.
    """
    place = cache_folder()
    with make_temporary_folder(place) as work:
        entry = Path(work, "entry")
        entry.mkdir()
        made.rename(entry / _CONTENT)
        content = entry / _CONTENT / name
        facts = {"url": url, "sizes": _sizes(content), "sha256": _digests(content)}
        (entry / _FACTS).write_text(json.dumps(facts))
        for number in range(100):
            try:
                entry.rename(place / key)
            except OSError:
                if (theirs := find_entry(key, name)) is not None:  # another process was faster
                    return theirs
                with contextlib.suppress(FileNotFoundError):
                    (place / key).rename(Path(work, f"damaged{number}"))
            else:
                return place / key / _CONTENT / name
    raise OSError(f"the entry {key} cannot be written")


def cached_entries() -> list[CachedEntry]:
    """Returns the entries, those first that were not used for the longest time."""
    entries: list[CachedEntry] = []
    place = cache_folder()
    for folder in place.iterdir() if place.is_dir() else ():
        facts = _facts(folder)
        if facts is None:
            continue
        with contextlib.suppress(OSError):  # removed meanwhile
            used = (folder / _FACTS).stat().st_mtime
            entries.append(CachedEntry(folder, str(facts.get("url")), sum(_sizes(folder / _CONTENT).values()), used))
    return sorted(entries, key=lambda entry: entry.used)


def clear_cache(keep: int = 0, *, unused_for: float = 0.0) -> int:
    """Removes the entries that were not used for the longest time.

    Args:
        keep: How many bytes may stay.
        unused_for: The seconds that an entry was not used for; others stay.

    Returns:
        The bytes that were removed.
    """
    entries = cached_entries()
    left, removed = sum(entry.size for entry in entries), 0
    for entry in entries:
        if left <= keep or time.time() - entry.used < unused_for:
            break
        with make_temporary_folder(entry.folder.parent) as work:
            try:
                entry.folder.rename(Path(work, "removed"))  # so that nobody finds half of it
            except FileNotFoundError:
                continue
            shutil.rmtree(Path(work, "removed"), ignore_errors=True)
        left, removed = left - entry.size, removed + entry.size
    return removed


def _facts(folder: Path) -> Mapping[str, Any] | None:
    try:
        facts = json.loads((folder / _FACTS).read_text())
    except (OSError, ValueError):
        return None
    return cast("Mapping[str, Any]", facts) if isinstance(facts, dict) else None


def _files(content: Path) -> dict[str, Path]:
    """Returns the files of a folder by their relative paths; a file itself."""
    if not content.is_dir():
        return {"": content} if content.is_file() else {}
    return {str(path.relative_to(content)): path for path in content.rglob("*") if path.is_file()}


def _sizes(content: Path) -> dict[str, int]:
    return {below: path.stat().st_size for below, path in _files(content).items()}


def _digests(content: Path) -> dict[str, str]:
    """Returns the SHA-256 of each file, which this process computes again when the file was written."""
    digests: dict[str, str] = {}
    for below, path in _files(content).items():
        facts = path.stat()
        # The inode tells an entry from another one that took its place.
        key = (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
        if key not in _known:
            _known[key] = file_digest(path)
        digests[below] = _known[key]
    return digests


_known: dict[tuple[int, ...], str] = {}
