"""The command line: ``python -m suites SUITE --folder FOLDER``."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from suites import table
from suites.campaign import Campaign
from suites.cases import find_cases
from suites.outcomes import Outcome, Verdict
from suites.workers import REPOSITORY

__all__ = ["EXPORTERS", "FAILED", "main"]

EXPORTERS = {
    "huggingface": "suites.huggingface.export",
}
"""The module of each suite that makes its cases: ``python -m MODULE FOLDER REGEX`` makes those that are not there yet."""

FAILED = "failed.txt"
"""What the folder of a case has instead of ``case.json`` if it could not be exported: the reason, in its last line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exports, converts and runs a suite; returns the exit code: 1 if a case does not pass, or there is none."""
    given = _parser().parse_args(arguments)
    folder: Path = given.folder / given.suite
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    if not given.no_export:
        _export(given.suite, folder, given.only, given.tensorflow)
    cases = find_cases(folder, given.only)
    results = folder.parent / f"{folder.name}.results"
    results.mkdir(exist_ok=True)

    def convert(converter: str, python: str, *, again: bool) -> list[Outcome]:
        campaign = Campaign(converter, results, python, given.litefuse, _say)
        return campaign.run(cases, jobs=given.jobs, again=again)

    ours = convert("litefuse", given.litefuse, again=given.again)
    stock = convert("stock", given.tensorflow, again=False) if given.stock else []
    failed = [*_not_exported(folder, given.only)]
    _print("litefuse", [*ours, *failed])
    if given.stock:
        _print("stock", stock)
        print("\nlarger than stock, or with more ops:")
        by_name = [{each.case: each for each in outcomes} for outcomes in (ours, stock)]
        for line in table.larger(*by_name):
            print(f"  {line}")
    return 0 if ours and all(each.verdict is Verdict.PASSES for each in ours) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m suites", description="Suites of models against litefuse.")
    parser.add_argument("suite", choices=sorted(EXPORTERS))
    parser.add_argument("--folder", type=Path, required=True, help="where cases and results are kept")
    parser.add_argument("--only", default="", metavar="REGEX", help="the cases whose names it matches")
    parser.add_argument("--jobs", type=int, default=1, help="how many cases at a time")
    parser.add_argument("--stock", action="store_true", help="convert with the stock converter as well, and compare")
    parser.add_argument("--again", action="store_true", help="convert what has been converted before by litefuse")
    parser.add_argument("--no-export", action="store_true", help="take the cases that are there")
    parser.add_argument("--tensorflow", default=sys.executable, metavar="PYTHON", help="a Python with requirements.txt")
    parser.add_argument("--litefuse", default=sys.executable, metavar="PYTHON", help="a Python with litefuse")
    return parser


def _export(suite: str, folder: Path, only: str, python: str) -> None:
    """Runs the exporter until it ends by itself: a case that ends the process is marked as failed by then."""
    while True:
        before = len([*folder.iterdir()])
        code = subprocess.call([python, "-m", EXPORTERS[suite], str(folder), only], cwd=REPOSITORY)
        if code == 0 or len([*folder.iterdir()]) == before:
            break
    if code:
        print(f"{EXPORTERS[suite]} ended with the exit code {code}", file=sys.stderr)


def _not_exported(folder: Path, only: str) -> Iterable[Outcome]:
    names = {path.name for path in find_cases(folder, only)}
    for reason in sorted(folder.glob(f"*/{FAILED}")):
        case = reason.parent.name
        if case not in names:
            text = reason.read_text("utf-8").strip().splitlines()
            yield Outcome(case, "litefuse", Verdict.NOT_EXPORTED, text[-1] if text else "")


def _say(outcome: Outcome) -> None:
    print(f"{outcome.converter}: {outcome.case}: {outcome.verdict.value}", flush=True)


def _print(converter: str, outcomes: Sequence[Outcome]) -> None:
    print(f"\n{converter}: {table.summary(outcomes)}")
    for line in table.lines(outcomes):
        print(f"  {line}")
