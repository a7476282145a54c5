"""The standard output of a command with ``--json``: one document, and nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from litefuse.tools.cli.arguments import command_name, given_parameters, named_files
from litefuse.tools.cli.uploads import upload_outputs, value_with_names

if TYPE_CHECKING:
    from litefuse.tools.documents.document import Failure

_OUTPUT = "litefuse.json_output"
_STDOUT, _STDERR = 1, 2


class JsonOutput:
    """Keeps the standard output of a command for its document.

    From the option ``--json`` on, what else is printed there goes to the standard error: by kernels and conversion code
    of users, by the libraries that they load, and by child processes.

    Attributes:
        is_asked_for: Whether the command has the option ``--json``.
        context: That of the command; None until its options are parsed.
        written: What the command has written.
        is_printed: Whether the document was printed.
    """

    def __init__(self) -> None:
        self.is_asked_for = False
        self.context: click.Context | None = None
        self.written: list[Path] = []
        self.is_printed = False
        self._stream: TextIO | None = None
        self._before: TextIO | None = None

    @classmethod
    def of(cls, context: click.Context) -> JsonOutput:
        """Returns that of a command and the groups that it is in."""
        return context.meta.setdefault(_OUTPUT, cls())

    def ask(self, context: click.Context) -> None:
        """Keeps the standard output, for a command with ``--json``."""
        self.context = context
        if self.is_asked_for:
            return
        self.is_asked_for = True
        self._before = self._stream = sys.stdout
        sys.stdout.flush()
        if _descriptor(sys.stdout) == _STDOUT:
            self._stream = os.fdopen(os.dup(_STDOUT), "w", encoding=sys.stdout.encoding)
            os.dup2(_STDERR, _STDOUT)
        sys.stdout = sys.stderr

    def close(self) -> None:
        """Gives the standard output back."""
        if self._before is None or self._stream is None:
            return
        sys.stdout = self._before
        if self._stream is not self._before:
            os.dup2(self._stream.fileno(), _STDOUT)
            self._stream.close()
        self._before = self._stream = None

    def print(self, result: Mapping[str, Any] | Failure, exit_code: int, *, digests: bool = True) -> None:
        """Prints the document, once, when outputs have been uploaded.

        Args:
            result: The result, or the failure.
            exit_code: The exit code that the command is about to have.
            digests: Whether to read the files for their SHA-256.

        Raises:
            OSError: It cannot be written.
        """
        if self.is_printed:
            return
        from litefuse.tools.documents.document import document, document_text

        context, read = self.context, list[Path]()
        if context is not None:
            read = [file for file in named_files(context) if file not in self.written]
        # The files that outputs were written to are read for their SHA-256 before they are uploaded, and gone.
        made = document(
            command_name(context) if context is not None else "",
            result,
            exit_code=exit_code,
            options=given_parameters(context) if context is not None else {},
            read=read,
            written=self.written,
            digests=digests,
        )
        made = value_with_names(made)
        upload_outputs()
        self.is_printed = True
        stream = self._stream or sys.stdout
        stream.write(document_text(made, stream.encoding) + "\n")
        stream.flush()


def wrote(*paths: Path | None) -> None:
    """Takes note of files and folders that the running command has written, for its document."""
    JsonOutput.of(click.get_current_context()).written.extend(filter(None, paths))


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # not a file, as in tests
        return None
