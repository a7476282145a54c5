"""Pages of commands: the option ``--html``, and what goes on a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import click

from litefuse.errors import LitefuseError
from litefuse.tools.cli.output import check_writable
from litefuse.tools.cli.parameters import OUTPUT

__all__ = ["HTML", "attempted", "check_page"]

_Found = TypeVar("_Found")

HTML = click.option(
    "--html",
    type=OUTPUT,
    metavar="FILE.html",
    help="Also write a page about it: graphs before and after, sizes, times, errors. It needs the extra report.",
)


def check_page(html: Path | None, reads: Iterable[Path | None], option: str = "--html") -> None:
    """Checks before the work that a page can be written.

    Args:
        html: The page; None for none.
        reads: The files that the work reads, and others that it writes.
        option: The option that names the page.

    Raises:
        LitefuseError: It cannot, or a package is missing.
    """
    if html is None:
        return
    from litefuse.tools.page.writing import check_possible

    check_writable(html, "the page", reads=tuple(filter(None, reads)), option=option)
    check_possible()


def attempted(what: str, find: Callable[[], _Found], notes: list[str]) -> _Found | None:
    """Returns what goes on a page, or None: a page without it says why.

    Args:
        what: What is missing then, such as ``The time was not measured``.
        find: Finds it.
        notes: Gets the sentence that says why not.
    """
    try:
        return find()
    except LitefuseError as error:
        notes.append(f"{what}: {error}")
        return None
