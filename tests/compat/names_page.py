"""The table of names of other converters in the documentation, made from the table that answers them."""

from __future__ import annotations

from pathlib import Path

from litefuse.options.names_elsewhere import NAMES

__all__ = ["PAGE", "page", "table"]

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tflite-converter.md"
_BEGIN, _END = "<!-- names: python -m scripts.write_names_table -->\n", "<!-- end of names -->\n"


def table() -> str:
    """The table in Markdown."""
    rows = [f"| `{each.name}` | {', '.join(each.of)} | {each.answer('convert')} | {each.command} |" for each in NAMES]
    return (
        "\n".join(["| name | of | `litefuse.convert` | `litefuse convert` |", "| --- | --- | --- | --- |", *rows])
        + "\n"
    )


def page(text: str) -> str:
    """A page with the table in its place."""
    before, _, rest = text.partition(_BEGIN)
    old, end, after = rest.partition(_END)
    assert end, f"{PAGE} has no place for the table; it has {old[:50]!r}"
    return before + _BEGIN + table() + end + after
