"""The tables of the page about TFLiteConverter, made from what answers its names and from what is tested beside it."""

from __future__ import annotations

from pathlib import Path

from litefuse.support.options.names_elsewhere import NAMES
from tests.tensorflow.compat_scenarios import SCENARIOS, Outcome

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "tflite-converter.md"
_BEGIN, _END = "<!-- {}: python -m scripts.write_names_table -->\n", "<!-- end of {} -->\n"
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


def _names() -> str:
    rows = [(f"`{each.name}`", ", ".join(each.of), each.python, each.command) for each in NAMES]
    return _table(("name", "of", "`litefuse.convert`", "`litefuse convert`"), *rows)


def _scenarios() -> str:
    rows = [(name.replace("_", " "), _OUTCOMES[each.outcome], each.why) for name, each in SCENARIOS.items()]
    return _table(("what is converted", "result", "why"), *rows)


def page(text: str) -> str:
    """A page with the tables in their places."""
    for name, table in (("names", _names()), ("scenarios", _scenarios())):
        begin, end = _BEGIN.format(name), _END.format(name)
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        assert found, f"{PAGE} has no place for the table of {name}"
        text = before + begin + table + end + after
    return text
