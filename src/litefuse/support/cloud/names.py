"""Recognizes URLs, and names the local copies of remote files in messages."""

from __future__ import annotations

import os
import re
from pathlib import Path

from litefuse.errors import LitefuseError

# A scheme has two letters or more: one letter is a drive of Windows. fsspec chains file systems with `::`.
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]+"
_URL = re.compile(rf"(?:{_SCHEME}::)*(?P<scheme>{_SCHEME})://")
# What pathlib makes of a URL.
_COLLAPSED = re.compile(rf"({_SCHEME}):/(?!/)(?=.)")
_USER = re.compile(r"(?<=://)[^/@\s]*@")

_names: dict[str, str] = {}


def as_url(path: object) -> str | None:
    """Returns the URL that a text is; None for everything else, and for a text that names a local file."""
    if not isinstance(path, str) or not _URL.match(path):
        return None
    try:
        return None if Path(path).exists() else path
    except (OSError, ValueError):  # too long for a path
        return path


def refuse_collapsed(path: os.PathLike[str]) -> None:
    """Refuses a ``pathlib.Path`` of a URL, which has lost a slash.

    Raises:
        LitefuseError: It is one.
    """
    text = os.fspath(path)
    match = _COLLAPSED.match(text) if isinstance(text, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if match is not None and not Path(path).exists() and not Path(path).parent.exists():
        raise LitefuseError(
            "this was a URL, but pathlib.Path drops one of its slashes", where=text, hint="Pass the URL as a str."
        )


def shown(url: str) -> str:
    """Returns a URL for messages and reports: without passwords and signatures."""
    bare = _USER.sub("", url)
    return bare.partition("?")[0] if re.match(r"(?i)https?:", bare) else bare


def file_name(path: str) -> str:
    """Returns the last part of a path in a file system, as the name of a local file."""
    name = path.partition("?")[0].rstrip("/").rpartition("/")[2].replace("\0", "")
    return name if name not in {"", ".", ".."} else "model"


def remember(place: Path, url: str) -> None:
    """Has a local file, or folder, called by its URL from now on."""
    _names[str(place)] = shown(url)


def name_of(path: str | os.PathLike[str]) -> str:
    """Returns what a user calls a local file: its URL, if it is there for one, else its path."""
    text = os.fsdecode(path)
    return _names.get(text, text)


def with_names(text: str) -> str:
    """Returns a text with URLs in the place of the local files that are there for them."""
    for place, name in _names.items():
        text = text.replace(place, name)
    return text
