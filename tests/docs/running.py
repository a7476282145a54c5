"""Runs the steps of a page in a folder, and compares what they print with what the page shows."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import yaml

from tests.docs.blocks import Step
from tests.docs.run_steps import MARK

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_RUNNER = Path(__file__).with_name("run_steps.py")
# Not a part of a name such as float32.
_NUMBER = re.compile(r"(?<![A-Za-z\d])-?\d+(,\d{3})*(\.\d+)?(e[+-]?\d+)?")
_MODULES = {"litefuse": "litefuse", "pytest": "pytest", "vela": "ethosu.vela"}


class PageError(Exception):
    """A block of a page does not do what the page says; the text says which, and what happened."""


def run_page(name: str, steps: Sequence[Step], folder: Path, work: Path, *, seconds: float = 900.0) -> None:
    """Runs a page as a whole, in a process of its own.

    Args:
        name: What the page is called in messages and tracebacks.
        steps: What is to be done.
        folder: The folder that a reader would be in.
        work: An empty folder for what the run itself needs: commands, and packages that the page installs.
        seconds: How long the page may take.

    Raises:
        PageError: A step failed, took too long, or printed something else than the page shows.
    """
    for step in steps:
        _parse(name, step)
    run = [step for step in steps if step.kind in ("python", "sh", "write", "edit")]
    (work / "steps.json").write_text(json.dumps([asdict(step) for step in run]), encoding="utf-8")
    command = [sys.executable, str(_RUNNER), str(work / "steps.json"), name]
    exit_code = _run(command, folder, work, seconds)
    printed = [part.partition("\n")[2] for part in _text(work / "stdout").split(MARK)[1:]]
    if exit_code != 0 or len(printed) < len(run):
        place = f"{name}:{run[len(printed) - 1].line}" if printed else name
        what = f"took more than {seconds} s" if exit_code is None else "failed"
        raise PageError(f"{place} {what}:\n{''.join(printed[-1:])}\n{_text(work / 'stderr')}")
    for step, output in zip(run, printed, strict=True):
        for shown, vary in step.shown:
            _compare(f"{name}:{step.line}", shown, output, vary=vary)


def _run(command: Sequence[str], folder: Path, work: Path, seconds: float) -> int | None:
    """The exit code of a process, or None if it had to be ended, with all that it started."""
    with (work / "stdout").open("wb") as stdout, (work / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(work),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            return process.wait(seconds)
        except BaseException as error:  # an interrupt of the tests does not reach it either
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _parse(name: str, step: Step) -> None:
    suffix = Path(step.file[0]).suffix if step.file else ""
    try:
        if ".json" in (f".{step.kind}", suffix):
            json.loads(step.code)
        elif ".toml" in (f".{step.kind}", suffix):
            tomllib.loads(step.code)
        elif ".yaml" in (f".{step.kind}", suffix):
            yaml.safe_load(step.code)
    except (ValueError, yaml.YAMLError) as error:
        raise PageError(f"{name}:{step.line}: {error}") from error


def _compare(place: str, shown: str, output: str, *, vary: bool) -> None:
    if vary:
        shown, output = _NUMBER.sub("1", shown), _NUMBER.sub("1", output)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    checker = doctest.OutputChecker()
    if not checker.check_output(shown, output, flags):
        difference = checker.output_difference(doctest.Example("", shown), output, flags)
        raise PageError(f"{place} prints something else:\n{difference}")


def _environment(work: Path) -> dict[str, str]:
    """The environment of a reader: the commands by their names, and a folder of its own for what is installed."""
    commands, packages = work / "bin", work / "packages"
    commands.mkdir()
    packages.mkdir()
    python = shlex.quote(sys.executable)
    calls = {"python": f'{python} "$@"', **{name: f'{python} -m {module} "$@"' for name, module in _MODULES.items()}}
    # What a page installs goes into a folder of its own, and nothing is downloaded for it.
    here_alone = f"--quiet --no-deps --no-build-isolation --no-index --target {shlex.quote(str(packages))}"
    calls["pip"] = f'{python} -m pip "$@" {here_alone}'
    for name, call in calls.items():
        (commands / name).write_text(f"#!/bin/sh\nexec {call}\n")
        (commands / name).chmod(0o755)
    paths = [str(packages), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "ABSL_MIN_LOG_LEVEL": "2",
        "COLUMNS": "120",
        "CUDA_VISIBLE_DEVICES": "",
        "NO_COLOR": "1",
        "PATH": os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(paths),
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_ENABLE_ONEDNN_OPTS": "0",
    }
