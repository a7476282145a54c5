"""The corpus: mutants that once were faults, each with what must become of it now.

The folder of a target has a file for each, and ``expected.txt`` with a line for each: the file's name, and the outcome
and group that it must have, or the beginning of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from fuzz.campaign import try_files
from fuzz.outcome import Outcome

CORPUS = Path(__file__).with_name("corpus")
_EXPECTED = "expected.txt"


def entries(folder: Path) -> Iterator[tuple[str, dict[Path, str]]]:
    """The targets in a corpus, with what must become of their files."""
    for listed in sorted(folder.glob(f"*/{_EXPECTED}")):
        expected: dict[Path, str] = {}
        for line in listed.read_text().splitlines():
            name, _, text = line.partition(" ")
            if name and not name.startswith("#"):
                expected[listed.with_name(name)] = text.strip()
        yield listed.parent.name, expected


def replay(folder: Path, say: Callable[[str], None]) -> int:
    """Tries a corpus; returns the exit code: 1 if an outcome is a fault or not what it must be."""
    wrong = tried = 0
    for target, expected in entries(folder):
        for path, outcome in try_files(target, [*expected]):
            tried += 1
            if (reason := differs(outcome, expected[path])) is not None:
                wrong += 1
                say(f"{target}/{path.name}: {reason}\n{outcome.detail}")
    say(f"replay: {tried} mutants, {wrong} not as they must be")
    return 1 if wrong or not tried else 0


def differs(outcome: Outcome, expected: str) -> str | None:
    """What is wrong with an outcome; None if it is what it must be."""
    seen = f"{outcome.kind.value}: {outcome.group}"
    if outcome.kind.is_finding:
        return seen
    return None if seen.startswith(expected) else f"{seen!r} is not {expected!r}"
