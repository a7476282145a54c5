"""Output of commands: formatted on a terminal, plain elsewhere, and as a page (``--html``)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from litefuse.errors import LitefuseError
from litefuse.support.cloud.names import name_of
from litefuse.tools.cli.arguments import given_options
from litefuse.tools.cli.command import value_for_all
from litefuse.tools.cli.json_output import JsonOutput, wrote
from litefuse.tools.cli.parameters import OUTPUT
from litefuse.tools.cli.uploads import section_with_names, upload_outputs

if TYPE_CHECKING:
    from litefuse.support.report.sections import Section
    from litefuse.support.result import ConversionResult

# Progress is shown only for work that takes longer, in seconds.
_PATIENCE = 1.0
_Found = TypeVar("_Found")

HTML = click.option(
    "--html",
    type=OUTPUT,
    metavar="FILE.html",
    help="Also write a page about it: graphs before and after, sizes, times, errors.",
)


class OutputError(Exception):
    """The output of a command cannot be written.

    Attributes:
        error: The reason.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


def check_writable(target: Path, what: str, *, reads: Iterable[Path] = (), option: str = "--output") -> None:
    """Checks before the work that its result can be written.

    Args:
        target: The file to write.
        what: What will be written, for the message.
        reads: The files and folders that the work reads, which the result must not replace.
        option: The option that names the file.

    Raises:
        LitefuseError: No such folder, it is not writable, or the file would replace one that is read.
    """
    reason, other = "", "another file"
    words = (re.sub("^(-o|--[a-z-]+=)", "", word) for word in click.get_current_context().obj or ())
    try:
        if str(target) == "-":
            reason = "- would be the standard output, and it takes none"
        elif target.is_dir() or any(Path(word) == target for word in words if word.endswith(("/", os.sep))):
            reason = "it is a folder" if target.is_dir() else "its name ends as a folder's"
            other = "a file in it"
        elif target.exists() and not target.is_file():
            reason = "a device, pipe or the like is not a file"
        elif not target.parent.is_dir():
            reason = f"no such folder: {target.parent}"
        elif not os.access(target.parent, os.W_OK):
            reason = f"the folder {target.parent} is not writable"
        elif any(_would_replace(target, read) for read in reads):
            reason = "it would replace what it is made from"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason:
        raise LitefuseError(
            f"{what} cannot be written: {reason}", where=str(target), hint=f"Name {other} with {option}."
        )


def _would_replace(target: Path, source: Path) -> bool:
    """Whether a file is ``source`` or an existing file in it; a ``.tflite`` file there may be replaced."""
    if (url := name_of(target)) != str(target):  # what is at URLs is here under other names
        read_from = name_of(source)
        return url == read_from or (url.startswith(f"{read_from.rstrip('/')}/") and target.suffix != ".tflite")
    place, read = Path(os.path.realpath(target)), Path(os.path.realpath(source))
    return place == read or (place.is_file() and place.is_relative_to(read) and place.suffix != ".tflite")


def print_sections(sections: Iterable[Section]) -> None:
    """Prints the sections of a report, unless ``--quiet`` was given: in color on a terminal, as plain text elsewhere.

    Outputs have been uploaded then.
    """
    upload_outputs()
    if value_for_all("quiet"):
        return
    sections = list(map(section_with_names, sections))
    if sys.stdout.isatty():
        from rich.console import Console

        from litefuse.support.report.console import sections_renderable

        Console().print(sections_renderable(sections))
    else:
        from litefuse.support.report.text import sections_text

        click.echo(sections_text(sections))


def print_result(
    to_json: Callable[[], Mapping[str, Any]],
    sections: Callable[[], Iterable[Section]],
    code: int = 0,
) -> None:
    """Prints the result of the running command: as a document with ``--json``, and as sections without.

    Args:
        to_json: Returns the result as dictionaries and lists.
        sections: Returns it as sections.
        code: The exit code, with which the command ends unless it is 0.
    """
    output = JsonOutput.of(click.get_current_context())
    if output.is_asked_for:
        output.print(to_json(), code)
    else:
        print_sections(sections())
    sys.stdout.flush()
    if code:
        raise click.exceptions.Exit(code)


def print_report(result: ConversionResult, written: Path, original: Path, plug_ins: tuple[str, ...]) -> None:
    """Prints the report of a conversion or quantization, with what comes next: the user named the code ``plug_ins``."""
    given = given_options()
    samples = [word for name in ("--samples", "--preprocess") if name in given for word in (name, given[name])]

    def sections() -> list[Section]:
        from litefuse.support.report.conversion_sections import report_sections

        return report_sections(
            result.report,
            details=is_verbose(),
            timings=is_verbose(),
            written=str(written),
            original=str(original),
            kernels=str(result.kernels or ""),
            plug_ins=plug_ins,
            samples=samples,
        )

    print_result(result.report.to_json, sections)


def save_page(html: Path | None, model: Any, original: object = None, **facts: Any) -> None:
    """Writes the page that ``--html`` asks for, with the options that were given.

    Args:
        html: The page; None for none.
        model: The model that it is about.
        original: What that was converted from.
        **facts: Other arguments of :func:`litefuse.save_report`.
    """
    if html is None:
        return
    from litefuse.tools.page.saving import save_report

    save_report(html, model, original, options=given_options(), **facts)
    wrote(html)


@contextmanager
def progress(title: str, *, quiet: bool = False) -> Generator[Callable[[str], None]]:
    """Shows the stages of work that takes longer than a second on standard error, if that is a terminal.

    Args:
        title: The description of the work.
        quiet: Whether to show nothing, as with ``--quiet``.

    Yields:
        The function to call with each step.
    """
    from litefuse.support.progress.show import shown_progress

    show = not (quiet or value_for_all("quiet")) and sys.stderr.isatty() and not _logs_to_terminal()
    with shown_progress(title, show=show, patience=_PATIENCE) as on_step:
        yield on_step


def is_verbose() -> bool:
    """Whether the running command has ``-v``: reports then have their details."""
    return bool(value_for_all("verbose"))


def _logs_to_terminal() -> bool:
    """Whether the running command shows events on the standard error, beside which progress cannot be drawn."""
    return bool(value_for_all("verbose") or value_for_all("log_level")) and not value_for_all("log_file")


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
    from litefuse.tools.page.saving import check_possible

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
