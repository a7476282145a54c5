"""A hook of pre-commit: ``python -m litefuse.tools.cli.pre_commit FILE...`` converts the models whose files changed.

``.pre-commit-hooks.yaml`` names it.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from litefuse.support.files.readable import MODEL_FILES
from litefuse.support.report.printable import printable
from litefuse.tools.cli.command import PLACE
from litefuse.tools.cli.parameters import PATH

_MARKS = ("saved_model.pb", "saved_model.pbtxt")
_INCONCLUSIVE = 3


def models_of(files: Iterable[Path]) -> list[Path]:
    """Returns the models that files belong to: the folder of a SavedModel, or the file itself; others are left out."""
    models: dict[Path, None] = {}
    for file in files:
        folder = next((parent for parent in file.parents if any((parent / mark).is_file() for mark in _MARKS)), None)
        if folder is not None:
            models[folder] = None
        elif file.suffix.lower() in MODEL_FILES:
            models[file] = None
    return list(models)


# pre-commit puts names of files behind the options as they are, and one may begin with a dash.
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("files", nargs=-1, type=PATH, metavar="FILE...")
@click.option(
    "--output", "to", type=PLACE, metavar="FOLDER", show_default="beside each model", help="Write files there."
)
@click.option("--convert", "options", default="", metavar="OPTIONS", help="Options of litefuse convert.")
@click.option("--verify/--no-verify", default=True, help="Compare with the original, in TensorFlow.")
@click.option("--verify-options", default="", metavar="OPTIONS", help="Options of litefuse verify.")
def main(files: tuple[Path, ...], to: Path | None, options: str, verify: bool, verify_options: str) -> None:
    """Convert the models that files belong to, and compare them with the originals.

    The exit code is 1 if one cannot be converted, differs, or if its file is another one now: stage it then.
    """
    for file in files:
        if str(file).startswith("-") and not file.exists():
            now = {"--to": "It is now --output."}.get(str(file))
            raise click.NoSuchOption(str(file), now)
    targets: dict[Path, Path] = {}
    failed = False
    for model in models_of(files):
        target = (to or model.absolute().parent) / f"{_name(model)}.tflite"
        target = target if to is not None else Path(_relative(target))
        if target in targets:
            _say(model, f"{targets[target]} would become the same file, {target}")
            failed = True
            continue
        targets[target] = model
        problem = _converted(model, target, shlex.split(options))
        if not problem and verify:
            problem = _verified(model, target, shlex.split(verify_options))
        if problem:
            _say(model, problem)
            failed = True
    raise SystemExit(int(failed))


def _name(model: Path) -> str:
    place = model.absolute()
    return place.name if place.is_dir() else place.stem


def _relative(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _converted(model: Path, target: Path, options: Sequence[str]) -> str:
    """Converts a model; returns why the hook fails, or nothing."""
    before = target.read_bytes() if target.is_file() else None
    target.parent.mkdir(parents=True, exist_ok=True)
    document = _litefuse("convert", "--output", target, *options, "--json", "--", model)
    if document["status"] == "failed":
        return _error(document)
    if target.read_bytes() == before:
        return ""
    return f"{target} is {'new' if before is None else 'another file now'}: stage it, and commit again"


def _verified(model: Path, target: Path, options: Sequence[str]) -> str:
    """Compares a file with the original; returns why the hook fails, or nothing."""
    document = _litefuse("verify", *options, "--json", "--", target, model)
    if document["status"] == "failed":
        return _error(document)
    if document["exit_code"] == _INCONCLUSIVE:
        _say(model, "some outputs could not be judged; litefuse verify says why")
        return ""
    if document["ok"]:
        return ""
    far = [f"{output['name']}: {output['error']}" for output in document["outputs"] if not output["ok"]]
    return f"{target} differs from it: {', '.join(far)}"


def _litefuse(*arguments: str | Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "litefuse", *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True)
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except ValueError:  # it was killed
        message = done.stderr.decode(errors="backslashreplace").strip() or f"exit code {done.returncode}"
        return {"status": "failed", "error": {"message": message, "where": "", "hint": ""}}
    return document


def _error(document: dict[str, Any]) -> str:
    error = document["error"]
    return "\n  ".join(filter(None, (error["message"], error["hint"])))


def _say(model: Path, text: str) -> None:
    click.echo(printable(f"{model}: {text}"))


if __name__ == "__main__":
    main()
