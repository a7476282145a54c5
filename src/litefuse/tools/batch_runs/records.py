"""Records of finished work, kept beside the files, so that a later batch repeats only what is missing or outdated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from litefuse.errors import LitefuseError
from litefuse.frontends.saved_model_folder import is_saved_model, saved_models_in
from litefuse.support.cloud.names import as_url
from litefuse.support.cloud.paths import local, saved_to
from litefuse.support.files.digest import file_digest, folder_digest
from litefuse.support.files.readable import check_file, check_there, is_there, os_errors
from litefuse.support.files.whole_file import whole_file
from litefuse.tools.batch_runs.entry import Entry
from litefuse.tools.batch_runs.options import FILES
from litefuse.tools.batch_runs.outcome import KEPT, Outcome
from litefuse.tools.environment.machine import version_of
from litefuse.version import __version__

#: The folder of records in an output folder.
RECORDS = "records"
# The packages that decide what becomes of a model, and of a comparison with the original.
_PACKAGES = ("litert-converter", "ai-edge-litert", "litert-quantizer", "numpy", "ml_dtypes")


def versions_here(*, with_tensorflow: bool) -> Mapping[str, str | None]:
    """Returns the versions of all that decides what becomes of a model, where this is called; None of what is missing.

    Args:
        with_tensorflow: Whether models are compared with their originals.
    """
    versions = {"litefuse": __version__, **{name: version_of(name) for name in _PACKAGES}}
    if with_tensorflow:
        versions["tensorflow"] = version_of("tensorflow-cpu") or version_of("tensorflow")
    return versions


def key_of(entry: Entry, versions: Mapping[str, str | None]) -> str:
    """Returns a hash of all that decides what becomes of a model: its content, its options, and versions.

    Files that options name count with their content; modules that are named without a file, by their names alone.

    Args:
        entry: The model, and what is to be done with it.
        versions: Those of :func:`versions_here`, where the work is done.

    Raises:
        LitefuseError: The model, or a file that an option names, cannot be read.
    """
    told: dict[str, Any] = {**vars(entry), "variants": [vars(variant) for variant in entry.variants]}
    for name in ("path", "name", "timeout", "memory"):
        told.pop(name)
    contents = {text: _content(text, name) for text, name in sorted(set(_named_files(entry)))}
    if entry.verify is None:
        versions = {name: version for name, version in versions.items() if name != "tensorflow"}
    # The name decides the names of files, and what is in the model's path alone does not count.
    told |= {"model": _model(Path(local(entry.path))), "contents": contents, "versions": {**versions}}
    text = json.dumps([entry.name, told], sort_keys=True, default=str)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _named_files(entry: Entry) -> Iterable[tuple[str, str]]:
    """Yields the texts of options that name files, with the names of the options."""
    named: list[tuple[Any, str]] = [(plug_in, "plug_ins") for plug_in in entry.plug_ins]
    options: list[Mapping[str, Any]] = [entry.convert, entry.verify or {}, entry.check or {}]
    options += [variant.options for variant in entry.variants]
    options += [cast("Any", value) for option in options for value in option.values() if isinstance(value, Mapping)]
    for option in options:
        for name in FILES:
            value = option.get(name, ())
            values = cast("list[Any]", value) if isinstance(value, list | tuple) else [value]
            named += [(text, name) for text in values]
    yield from ((text, name) for text, name in named if isinstance(text, str))


def _content(text: str, name: str) -> str:
    """Returns the SHA-256 of a file; a folder counts where one may be given: / would be read with all that is in it."""
    path = Path(local(text))
    if not is_there(path) and ":" in text:  # FILE.py:FUNCTION
        path = Path(text.rpartition(":")[0])
    if not is_there(path):
        return ""
    if name == "original":
        return _model(path)
    return digest_of(path) if name == "samples" or not path.is_dir() else ""


def _model(path: Path) -> str:
    """Returns the SHA-256 of a model: of a folder with others in it, of these alone."""
    if not check_there(path).is_dir() or is_saved_model(path):
        return digest_of(path)
    return " ".join(f"{model.relative_to(path)}:{digest_of(model)}" for model in saved_models_in(path))


def digest_of(path: Path) -> str:
    """Returns the SHA-256 of a file, or of the files that are in a folder.

    Raises:
        LitefuseError: It cannot be read.
    """
    check_there(path)
    with os_errors("it cannot be read", path):
        if path.is_dir():
            return folder_digest(path, within=True)  # a conversion refuses links that lead out
        return file_digest(check_file(path))


def place_in(output: str, *names: str) -> str:
    """Returns the path, or the URL, of a file in an output folder."""
    if as_url(output) is None:
        return str(Path(output, *names))
    return "/".join((output.rstrip("/"), *names))


def make_record_folder(output: str) -> None:
    """Makes an output folder with the one for records in it, where they are missing.

    Raises:
        OSError: It cannot be made.
    """
    Path(output, RECORDS).mkdir(parents=True, exist_ok=True)


def _record(output: str, name: str) -> str:
    return place_in(output, RECORDS, f"{name}.json")


def read_record(output: str, entry: Entry, key: str) -> Outcome | None:
    """Returns what an earlier batch made of a model; None if it has to be done, or done again.

    That is so if the record is missing, damaged or of another key, or a file is missing or not as it was written.
    """
    try:
        told = json.loads(Path(local(_record(output, entry.name))).read_text("utf-8"))
        if told["key"] != key:
            return None
        outcome = Outcome.of_json(told["outcome"])
    except (LitefuseError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if outcome.status not in KEPT or outcome.name != entry.name or [*outcome.files] != entry.files:
        return None
    if not all(_is_there(place_in(output, file), *recorded) for file, recorded in outcome.files.items()):
        return None
    return outcome.again()


def _is_there(place: str, digest: str, size: int) -> bool:
    try:
        if as_url(place) is None:
            path = Path(place)
            return path.stat().st_size == size and digest_of(path) == digest
        from litefuse.support.cloud.file_systems import file_system

        system, path = file_system(place)
        return system.info(path).get("size") == size
    except Exception:  # noqa: BLE001  whatever a store says: it is done again
        return False


def write_record(output: str, outcome: Outcome, key: str) -> None:
    """Writes what became of a model, whole or not at all.

    Raises:
        LitefuseError: It cannot be written.
    """
    target = _record(output, outcome.name)
    with os_errors("the record cannot be written", target), saved_to(target) as place, whole_file(place) as partial:
        partial.write_text(json.dumps({"key": key, "outcome": outcome.to_json()}), encoding="utf-8")
