"""The command line: ``python -m fuzz TARGET`` and ``python -m fuzz replay``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from fuzz.build import BuildError
from fuzz.campaign import Campaign, Finding
from fuzz.corpus import CORPUS, replay
from fuzz.outcome import Kind
from fuzz.targets import TARGETS, target_class, target_named

_SHOWN = 40


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a campaign or the corpus; returns the exit code: 1 if there is a finding, 2 if it could not be run."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.target not in {*TARGETS, "replay"} and ":" not in given.target:
        parser.error(f"there is no target {given.target!r}; they are {', '.join(TARGETS)}, and replay")
    if given.target == "replay":
        return replay(given.corpus, say=print)
    if given.minutes is None and given.runs is None:
        given.minutes = 2.0
    seed = given.seed if given.seed is not None else int(time.time())
    try:
        target_class(given.target).environment()  # built before the time begins
    except BuildError as error:
        print(f"what {given.target} needs cannot be built: {error}")
        return 2
    print(f"{given.target}: mutants from seed {seed} on", flush=True)
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    seconds = None if given.minutes is None else given.minutes * 60
    campaign = Campaign(given.target, seed, given.runs, seconds, given.jobs, lambda each: _tell(given, each))
    campaign.run()
    _conclude(campaign, time.monotonic() - begun, contained=given.contained)
    if campaign.broken:
        return 2
    return 1 if campaign.findings else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Hostile input for litefuse.")
    parser.add_argument("target", metavar="TARGET", help=f"{', '.join(TARGETS)}; or replay, for the corpus")
    parser.add_argument("--minutes", type=float, help="how long; 2 unless --runs is given")
    parser.add_argument("--runs", type=int, help="how many mutants")
    parser.add_argument("--seed", type=int, help="the number of the first mutant; the time unless given")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    parser.add_argument("--keep", type=Path, help="a folder to write the mutants of findings to")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="the folder that is replayed")
    parser.add_argument("--contained", action="store_true", help="list what died in LiteRT and in the engine as well")
    return parser


def _tell(given: argparse.Namespace, finding: Finding) -> None:
    outcome = finding.outcome
    print(f"\nFINDING: {outcome.kind.value}: {outcome.group}")
    print(f"  reproduce with: python -m fuzz {given.target} --seed {finding.item} --runs 1")
    lines = outcome.detail.strip().splitlines()
    for line in lines[-_SHOWN:]:
        print(f"  | {line}")
    if given.keep is not None and isinstance(finding.item, int):
        target = target_named(given.target)
        path = given.keep / f"{finding.item}{target.suffix}"
        try:
            path.write_bytes(target.mutant(finding.item))
            print(f"  kept as {path}")
        except Exception as error:  # noqa: BLE001  the mutation itself is what fails, as the traceback above says
            print(f"  not kept: {type(error).__name__}: {error}")
    print(flush=True)


def _conclude(campaign: Campaign, seconds: float, *, contained: bool) -> None:
    tried = sum(campaign.counts.values())
    if contained:
        for (kind, group), finding in campaign.groups.items():
            if kind in {Kind.LITERT_DEATH, Kind.ENGINE_DEATH}:
                print(f"{kind.value}, {finding.count} times, first with seed {finding.item}: {group}")
    for finding in campaign.findings:
        print(f"{finding.count} times: {finding.outcome.kind.value}: {finding.outcome.group} (seed {finding.item})")
    for text in campaign.broken:
        print(f"the campaign could not be run to its end: {text}")
    counts = ", ".join(f"{campaign.counts[kind]} {kind.value}" for kind in Kind if campaign.counts[kind])
    name = target_class(campaign.target).name
    print(
        f"{name}: {tried} mutants in {seconds:.0f} s: {counts or 'none'}; {len(campaign.findings)} findings", flush=True
    )
