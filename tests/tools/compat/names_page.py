"""The tables of the page about TFLiteConverter, made from what answers its names and from what is tested beside it."""

from __future__ import annotations

from litefuse.support.options.names_elsewhere import NAMES
from tests.tensorflow.compat_scenarios import SCENARIOS, Outcome

_OUTCOMES: dict[Outcome, str] = {
    "equal": "the same names, types and numbers",
    "random": "the same names, types and shapes",
    "near": "the same names and types; outputs equally close to floating point",
    "custom": "the same custom ops",
    "refused": "both refuse it",
    "here": "only litefuse converts it",
    "there": "only TFLiteConverter converts it",
}


def _table(*rows: tuple[str, ...]) -> str:
    first, *others = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([first, f"|{' --- |' * len(rows[0])}", *others]) + "\n"


def names() -> str:
    """The names of other converters, and what they are called here."""
    rows = [(f"`{each.name}`", ", ".join(each.of), each.python, each.command) for each in NAMES]
    return _table(("name", "of", "`litefuse.convert`", "`litefuse convert`"), *rows)


def scenarios() -> str:
    """What is converted by both, and whether it is the same."""
    rows = [(name.replace("_", " "), _OUTCOMES[each.outcome], each.why) for name, each in SCENARIOS.items()]
    return _table(("what is converted", "result", "why"), *rows)
