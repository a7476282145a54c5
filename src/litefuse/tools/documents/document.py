"""The documents that commands print with ``--json``, of a result or of a failure."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

from litefuse.errors import LitefuseError
from litefuse.frontends.saved_model_folder import is_saved_model, saved_models_in
from litefuse.support.files.digest import file_digest, file_size, folder_digest
from litefuse.support.report.json_form import json_form
from litefuse.tools.environment.machine import versions
from litefuse.version import DOCUMENTATION

_COMMON = tuple(inspect.signature(LitefuseError).parameters)
#: The version of each command's schema. It is raised with every change of what a document has, or means: a field that
#: is added, removed or renamed, another type or another value. Schemas of earlier versions stay.
VERSIONS = {
    "batch": 1,
    "benchmark": 1,
    "check": 2,
    "convert": 2,
    "diff": 1,
    "doctor": 1,
    "doctor cache": 1,
    "doctor fusions": 1,
    "export-micro": 1,
    "export-web": 1,
    "inspect": 3,
    "kernels list": 1,
    "kernels test": 2,
    "lm": 1,
    "quantize": 2,
    "run": 1,
    "verify": 2,
    # What is printed when a command fails that is not known, or does not come so far.
    "": 1,
}
#: The commands that print documents.
COMMANDS = tuple(name for name in VERSIONS if name)
#: The folder with the schemas.
FOLDER = Path(__file__).parent / "schemas"


@dataclass(frozen=True)
class Failure:
    """The error that a command ended with.

    Attributes:
        type: The class of the error: one of ``litefuse.errors``; ``Interrupted``; ``UsageError`` and its kinds; or a
            class of Python's, for memory that is exhausted or a fault of litefuse.
        message: What is wrong.
        where: The file, signature, function or node that it is about; may be empty.
        hint: What to do next; may be empty.
        details: The other attributes of its class, such as the list of ops of an ``UnsupportedOpsError``.
    """

    type: str
    message: str
    where: str = ""
    hint: str = ""
    details: dict[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Makes it of an exception."""
        kind = type(error).__name__
        if not isinstance(error, LitefuseError):
            told = str(getattr(error, "message", "") or error)
            return cls(kind, told or kind)
        details = {name: getattr(error, name) for name in details_of(type(error))}
        return cls(kind, error.message, error.where, error.hint, details)

    def to_json(self) -> dict[str, Any]:
        """Returns a dictionary for ``json.dumps``."""
        told = {"type": self.type, "message": self.message, "where": self.where, "hint": self.hint}
        return told | json_form(self.details)


def details_of(kind: type[LitefuseError]) -> tuple[str, ...]:
    """Returns the names of the attributes that a class of ``litefuse.errors`` has beyond what every error has.

    Of a class that somebody derived from one of these, they are those of the latter.
    """
    own = next(class_ for class_ in kind.__mro__ if class_.__module__ == LitefuseError.__module__)
    return tuple(name for name in inspect.signature(own).parameters if name not in _COMMON)


@dataclass(frozen=True)
class FileRecord:
    """A file or folder that a command read or wrote.

    Attributes:
        path: Its path, as it was given.
        kind: ``file``, ``folder``, or ``other`` for what is neither, such as a pipe, or cannot be looked at.
        size: Its bytes; of a folder, those of all its files. None if they were not counted.
        sha256: The SHA-256 of its bytes, in hexadecimal; of a folder, that of the list of its files, see
            :func:`litefuse.support.files.digest.folder_digest`. None if it was not computed.
        problem: Why it was not; else empty.
    """

    path: str
    kind: Literal["file", "folder", "other"]
    size: int | None = None
    sha256: str | None = None
    problem: str = ""


class Head(TypedDict):
    """Beginning of every document.

    Attributes:
        schema: The address of the schema that describes the document, which ends in its version.
        command: The command, such as ``kernels list``.
        status: ``done``: the command ended with a result, which follows; ``failed``: with the error that follows.
        ok: Whether the result is good: no error, no difference, no refusal.
        exit_code: The exit code of the command.
        options: The arguments and options that were given on the command line or by environment variables, by the names
            of ``--help``, with their values as they were understood; what was not given is not there. Empty if they
            could not be understood.
        versions: The versions of litefuse, of the lowering engine (litert-converter), of the runtime (ai-edge-litert)
            and of other packages that are installed, of Python, and the system.
        read: The files and folders that the options name and that are there, as they were at the end of the command.
        written: The files and folders that the command wrote.
    """

    schema: str
    command: str
    status: Literal["done", "failed"]
    ok: bool
    exit_code: int
    options: dict[str, Any]
    versions: dict[str, str]
    read: tuple[FileRecord, ...]
    written: tuple[FileRecord, ...]


def document(
    command: str,
    result: Mapping[str, Any] | Failure,
    *,
    exit_code: int = 0,
    options: Mapping[str, Any] | None = None,
    read: Iterable[Path] = (),
    written: Iterable[Path] = (),
    digests: bool = True,
) -> dict[str, Any]:
    """Makes the document of a command.

    Args:
        command: The command, such as ``kernels list``; empty if it is not known.
        result: The result, or the failure.
        exit_code: The exit code of the command.
        options: The options that were given.
        read: What it read.
        written: What it wrote.
        digests: Whether to compute SHA-256s, which takes time for large files.
    """
    head: Head = {
        "schema": address(command),
        "command": command,
        "status": "failed" if isinstance(result, Failure) else "done",
        "ok": exit_code == 0,
        "exit_code": exit_code,
        "options": json_form(dict(options or {})),
        "versions": versions(),
        "read": tuple(file_record(path, digest=digests) for path in read),
        "written": tuple(file_record(path, digest=digests, whole=True) for path in written),
    }
    body = {"error": result.to_json()} if isinstance(result, Failure) else result
    return json_form({**head, **body})


def document_text(value: Mapping[str, Any], encoding: str | None = "utf-8") -> str:
    """Returns a document as strict JSON, in characters that an encoding has."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):  # also of halves of surrogate pairs, which file names may have
        return json.dumps(value, indent=2, allow_nan=False)
    return text


def file_record(path: Path, *, digest: bool = True, whole: bool = False) -> FileRecord:
    """Looks at a file or folder; does not raise.

    Args:
        path: The file or folder.
        digest: Whether to compute its SHA-256.
        whole: Whether to read any folder. Otherwise only one that is a SavedModel, or has one in it, is read: another
            may be a whole disk.
    """
    try:
        kind = "folder" if path.is_dir() else "file" if path.is_file() else "other"
        if kind == "other":
            return FileRecord(str(path), kind, problem="it is neither a file nor a folder")
        if kind == "folder" and not whole and not is_saved_model(path) and len(saved_models_in(path)) != 1:
            return FileRecord(str(path), kind, problem="it is not the folder of one SavedModel")
        size = file_size(path)
        if not digest:
            return FileRecord(str(path), kind, size, problem="the command was interrupted")
        return FileRecord(str(path), kind, size, folder_digest(path) if kind == "folder" else file_digest(path))
    except (OSError, ValueError) as error:  # a ValueError of a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        return FileRecord(str(path), "other", problem=f"it cannot be read: {reason}")


def address(command: str) -> str:
    """Returns the address of a command's schema; of one that is unknown, that of any command's failure."""
    return f"{DOCUMENTATION}schemas/{file_name(command)}"


def file_name(command: str) -> str:
    """Returns the name of the file with a command's schema."""
    known = command if command in VERSIONS else ""
    return f"{known.replace(' ', '-') or 'failure'}-{VERSIONS[known]}.json"


def schema_text(command: str) -> str:
    """Returns the schema of a command's documents.

    Args:
        command: One of :data:`COMMANDS`, or empty for a failure of any command.
    """
    return (FOLDER / file_name(command)).read_text(encoding="utf-8")
