"""Metadata, associated files and new names to write into a model's file. Imports no numpy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple, cast

from litefuse.errors import MetadataError
from litefuse.support.cloud.paths import local
from litefuse.support.files.readable import check_file, os_errors
from litefuse.support.records import Record

_MOST_BYTES = 1 << 26


class Description(NamedTuple):
    """Metadata to write; it can be sent to another process.

    Attributes:
        metadata: The metadata, as JSON has it, checked against the schema.
        files: The associated files by their names.
        where: What it is from, for messages.
        labels: The number of labels in the file ``labels``, for the output that has as many elements; 0 for none.
    """

    metadata: Mapping[str, Any]
    files: Mapping[str, Path]
    where: str
    labels: int = 0

    @classmethod
    def of(cls, metadata: Mapping[str, Any] | str | os.PathLike[str]) -> Description:
        """Reads metadata and finds its files.

        Args:
            metadata: A JSON file, whose folder has the associated files; or its entries, with the files in the current
                folder. The entry ``labels``, which JSON lacks, is the path of a file with a line for each label of the
                output.

        Raises:
            MetadataError: It cannot be read, does not fit the schema, or a file is missing.
        """
        # Few models get metadata.
        from litefuse.litert.metadata.associated_files import file_in
        from litefuse.litert.metadata.json_form import associated_files_in, checked, parser_version

        labels: object = None
        if isinstance(metadata, Mapping):
            given = dict(cast("Mapping[object, object]", metadata))
            labels = given.pop("labels", None)
            where, folder, entries = "metadata", Path.cwd(), given
        else:
            path = Path(metadata)
            where, folder, entries = str(path), path.parent, _read(path)
        table = checked(entries, where)
        table["min_parser_version"] = parser_version(table)
        files: dict[str, Path] = {}
        for file in associated_files_in(table):
            if not file.get("name"):
                raise MetadataError("an associated file has no name", where=where)
            files[file["name"]] = file_in(folder, file["name"], where)
        if labels is None:
            return cls(table, files, where)
        if not isinstance(labels, (str, os.PathLike)):
            raise MetadataError(f"labels takes the path of a file with a label on each line, not {labels!r}")
        path = check_file(local(cast("str", labels)), MetadataError)
        count = len(_text(path).rstrip("\n").split("\n"))
        return cls(table, {**files, path.name: file_in(path.parent, path.name, str(path))}, str(path), count)


class Finish(Record):
    """Metadata and new names to write into a model's file; can be sent to another process.

    Attributes:
        description: Metadata and associated files; None for none.
        rename: New names of inputs and outputs by the old ones, ``NAME`` or ``SIGNATURE:NAME``.
    """

    description: Description | None = None
    rename: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(
        cls, metadata: Mapping[str, Any] | str | os.PathLike[str] | None, rename: Mapping[str, str] | None
    ) -> Finish:
        """Checks what users ask for, as far as that needs no model.

        Raises:
            MetadataError: The metadata cannot be read or does not fit the schema, or a file of it is missing.
        """
        names = cast("object", rename)
        if names is not None and not (
            isinstance(names, Mapping)
            and all(isinstance(name, str) for pair in cast("Mapping[object, object]", names).items() for name in pair)
        ):
            raise MetadataError(f"rename takes new names by the old ones, not {names!r}", hint="Pass {'old': 'new'}.")
        given = cast("object", metadata)
        if not (given is None or isinstance(given, (Mapping, str, os.PathLike))):
            raise MetadataError(f"metadata takes the path of a JSON file, or its entries, not {given!r}")
        return cls(None if metadata is None else Description.of(metadata), dict(rename or {}))

    def __bool__(self) -> bool:
        return self.description is not None or bool(self.rename)

    def check_names(self, signatures: Mapping[str, Mapping[str, list[str]]], where: str) -> None:
        """Checks the new names against those of a model, before it is converted.

        Raises:
            MetadataError: No such name, or two would have one name.
        """
        from litefuse.litert.metadata.names import renaming  # it loads the runtime's schema

        renaming(self.rename, signatures, where)


def _read(path: Path) -> object:
    import json  # as above

    check_file(path, MetadataError)
    try:
        return json.loads(_text(path), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise MetadataError(f"not valid JSON: {error}", where=str(path)) from error


def _text(path: Path) -> str:
    try:
        with os_errors("it cannot be read", path, MetadataError):
            if path.stat().st_size > _MOST_BYTES:
                raise MetadataError(f"the file has more than {_MOST_BYTES:,} bytes", where=str(path))
            return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MetadataError(f"it is not text in UTF-8: {error}", where=str(path)) from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Makes an object of its entries, of which JSON allows several with one name."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is there twice")
    return entries
