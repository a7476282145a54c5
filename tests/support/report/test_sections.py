"""Tables that declare their columns."""

from __future__ import annotations

from litefuse.support.report.sections import Column, Section, table

LENGTHS = [Column[str]("name", str), Column[str]("letters", lambda name: str(len(name)), right=True)]


def test_a_table_has_a_row_for_each_item() -> None:
    assert table("Names", ["a", "bcd"], LENGTHS, judge=lambda name: "good" if name == "a" else None) == Section(
        "Names",
        [("a", "1"), ("bcd", "3")],
        headings=("name", "letters"),
        right=frozenset({1}),
        judgements=["good", None],
    )


def test_a_table_without_any_heading_has_none() -> None:
    assert table("Names", ["a"], [Column[str]("", str)]) == Section("Names", [("a",)])
