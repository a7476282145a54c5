"""The command line: ``python -m suites SUITE --folder FOLDER``."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from suites import table
from suites.campaign import Campaign
from suites.cases import FAILED, find_cases
from suites.outcomes import Outcome, Verdict
from suites.workers import REPOSITORY

PEERS = ("coremltools", "keras", "tf2onnx")
"""The suites that are made of a checkout's tests."""

SUITES = ("huggingface", *PEERS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exports, converts and runs a suite; returns the exit code: 1 if a case does not pass, or there is none."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.peer and given.suite not in PEERS:
        parser.error(f"--peer is for {', '.join(PEERS)}")
    folder: Path = given.folder / given.suite
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    if given.suite in PEERS and given.peer:
        peer = str(given.peer.resolve())
        _export([given.tensorflow, "-m", "suites.peers", given.suite, "--peer", peer, "--to", str(folder)], folder)
    elif given.suite not in PEERS and not given.no_export:
        _export([given.tensorflow, "-m", "suites.huggingface.export", str(folder), given.only], folder)
    cases = find_cases(folder, given.only)
    if not cases:
        parser.error(f"there are no cases in {folder}" + (": give --peer" if given.suite in PEERS else ""))
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
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--folder", type=Path, required=True, help="where cases and results are kept")
    parser.add_argument("--only", default="", metavar="REGEX", help="the cases whose names it matches")
    parser.add_argument("--jobs", type=int, default=1, help="how many cases at a time")
    parser.add_argument("--stock", action="store_true", help="convert with the stock converter as well, and compare")
    parser.add_argument("--again", action="store_true", help="convert what has been converted before by litefuse")
    parser.add_argument("--no-export", action="store_true", help="make no cases, but take those that are there")
    parser.add_argument("--peer", type=Path, metavar="CHECKOUT", help="make cases of the tests in this checkout")
    parser.add_argument("--tensorflow", default=sys.executable, metavar="PYTHON", help="a Python with requirements.txt")
    parser.add_argument("--litefuse", default=sys.executable, metavar="PYTHON", help="a Python with litefuse")
    return parser


def _export(command: Sequence[str], folder: Path) -> None:
    """Runs an exporter until it ends by itself: a case that ends the process is marked as failed by then."""
    while True:
        before = len([*folder.iterdir()])
        code = subprocess.call(command, cwd=REPOSITORY)
        if code == 0 or len([*folder.iterdir()]) == before:
            break
    if code:
        print(f"{command[2]} ended with the exit code {code}", file=sys.stderr)


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
