"""Outputs of a command that are uploaded to URLs when it has written them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from click.exceptions import Exit

from litefuse.errors import LitefuseError
from litefuse.support.cloud.names import as_url

if TYPE_CHECKING:
    from litefuse.support.cloud.paths import Saved
    from litefuse.support.report.sections import Section

_pending: list[Saved] = []


def place_for(path: Any) -> Any:
    """Returns the local path to write an output to: of a URL, a temporary one; any other path as it is."""
    url = as_url(path)
    if url is None:
        return path
    from litefuse.support.cloud.paths import Saved

    saved = Saved(url)
    _pending.append(saved)
    return str(saved.place)


@contextmanager
def uploads() -> Generator[None]:
    """Uploads what a command has written at its end, also where it fails afterwards."""
    try:
        yield
    except (LitefuseError, Exit):  # what was written before stays
        upload_outputs()
        raise
    upload_outputs()


def upload_outputs() -> None:
    """Uploads the outputs that were written, before the command says so.

    Raises:
        LitefuseError: One cannot be uploaded.
    """
    while _pending:
        saved = _pending.pop()
        try:
            if saved.place.exists():
                saved.upload()
        finally:
            saved.close()


def value_with_names(value: Any) -> Any:
    """Returns a value for JSON with URLs in the place of the local files that are there for them."""
    from litefuse.support.cloud.names import with_names

    if isinstance(value, str):
        return with_names(value)
    if isinstance(value, dict):
        return {key: value_with_names(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return [value_with_names(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def section_with_names(section: Section) -> Section:
    """Returns a section with URLs in the place of the local files that are there for them."""
    from dataclasses import replace

    from litefuse.support.cloud.names import with_names

    rows = [tuple(map(with_names, row)) for row in section.rows]
    return replace(section, title=with_names(section.title), rows=rows, note=with_names(section.note))
