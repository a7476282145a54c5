"""Fetches files and folders at URLs: once, and again when they changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from litefuse.errors import LitefuseError
from litefuse.support.cloud.cache import cache_folder, find_entry, put_entry
from litefuse.support.cloud.file_systems import errors_of, file_system, is_local
from litefuse.support.cloud.names import file_name, remember, shown
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.logs.events import INFO, event

# What file systems tell of a file that changes with its content, by how sure it is: hashes and versions, then times.
_VERSIONS = (
    *("etag", "md5", "md5hash", "content_md5", "content-md5", "crc32c", "sha256", "blob_id", "digest", "checksum"),
    *("generation", "version_id", "versionid", "crc"),
)
_TIMES = ("last-modified", "last_modified", "lastmodified", "mtime", "updated", "created", "modified")
# A file that changes while it is fetched is fetched again, this often.
_TRIES = 3


class _Remote(NamedTuple):
    """The file or folder at a URL: what the file system tells of each file, by its path below it, or empty."""

    files: dict[str, Mapping[str, Any]]
    is_folder: bool

    def key(self, url: str) -> str | None:
        """Returns a hash that changes with the content; None if the file system tells nothing that does."""
        told = {path: _version(info) for path, info in self.files.items()}
        if None in told.values():
            return None
        text = json.dumps([url, self.is_folder, sorted(told.items())], default=str)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def _version(info: Mapping[str, Any]) -> list[tuple[str, Any]] | None:
    known = {key.lower(): str(value) for key, value in info.items() if value not in (None, "")}
    for names in (_VERSIONS, _TIMES):
        if told := [(name, known[name]) for name in names if name in known]:
            return [("size", known.get("size")), *told]
    return None


def fetched(url: str) -> Path:
    """Returns the local path of what is at a URL.

    Raises:
        LitefuseError: There is nothing, it cannot be fetched, or a package is missing.
    """
    system, path = file_system(url)
    if is_local(system):
        return Path(path)  # it is here
    name = file_name(path)
    for _ in range(_TRIES):
        with errors_of(url, "read"):
            remote = _at(system, path, url)
            key = remote.key(url)
            place = None if key is None else find_entry(key, name)
            if place is not None:
                event("cloud", INFO, f"{shown(url)} is in the cache", event="cache hit", url=shown(url))
            else:
                event("cloud", INFO, f"{shown(url)} is fetched", event="fetched", url=shown(url))
                place = _fetch(system, path, url, remote, name)
        if place is not None:
            remember(place, url)
            return place
    raise LitefuseError(
        "it changed during the fetch, or its size is not what the server says",
        where=shown(url),
        hint="Try again once it is written.",
    )


def _at(system: Any, path: str, url: str) -> _Remote:
    system.invalidate_cache()  # listings, which would hide what changed
    # A web page has links, which would make a folder of it.
    is_page = path.startswith(("http://", "https://")) and not path.endswith("/")
    if is_page or not system.isdir(path):
        return _Remote({"": system.info(path)}, is_folder=False)
    files: dict[str, Mapping[str, Any]] = {}
    for file, info in system.find(path, detail=True).items():
        below = file.removeprefix(path.rstrip("/")).lstrip("/")
        if info.get("type") == "directory" or not below or below.endswith("/"):  # stores have markers of folders
            continue
        parts = PurePosixPath(below).parts
        if ".." in parts or "\0" in below:
            raise LitefuseError(f"it has a file {below!r}, which would be outside of its folder", where=shown(url))
        files[below] = info
    if not files:
        raise LitefuseError("it has no files", where=shown(url))
    return _Remote(files, is_folder=True)


def _fetch(system: Any, path: str, url: str, remote: _Remote, name: str) -> Path | None:
    """Fetches what is at a URL into the cache; returns None if it changed meanwhile."""
    place = cache_folder()
    place.mkdir(parents=True, exist_ok=True)
    with make_temporary_folder(place) as work:
        made = Path(work, "content")
        made.mkdir()
        for below, info in remote.files.items():
            target = made / name / below if below else made / name
            target.parent.mkdir(parents=True, exist_ok=True)
            system.get_file(f"{path.rstrip('/')}/{below}" if below else path, str(target))
            size = info.get("size")
            if isinstance(size, int) and target.stat().st_size != size:
                return None
        key = remote.key(url)
        if key is None:  # nothing tells whether it changed: it is fetched each time, and kept by its content
            key = _content_key(url, made)
        elif _at(system, path, url).key(url) != key:
            return None
        return put_entry(key, name, shown(url), made)


def _content_key(url: str, made: Path) -> str:
    digest = hashlib.sha256(url.encode(errors="surrogatepass"))
    for path in sorted(made.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(made)).encode(errors="surrogateescape"))
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()[:32]
