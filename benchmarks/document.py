"""Markdown tables, and plots as SVG."""

from __future__ import annotations

import importlib
import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, text: int) -> list[str]:
    """A table whose first ``text`` columns are text; the others are numbers."""
    rule = ["---"] * text + ["--:"] * (len(heads) - text)
    lines = [" | ".join(row) for row in [heads, *rows]]
    return [f"| {lines[0]} |", f"|{'|'.join(rule)}|", *(f"| {line} |" for line in lines[1:])]


def paragraph(text: str) -> list[str]:
    """A paragraph, its lines filled anew."""
    return [*textwrap.wrap(" ".join(text.split()), 118), ""]


def seconds(value: float) -> str:
    return f"{value:.2f} s"


def milliseconds(value: float) -> str:
    return f"{value * 1e3:.3g} ms" if value < 0.1 else f"{value * 1e3:.0f} ms"


def megabytes(value: float) -> str:
    return f"{value / 1e6:,.0f} MB"


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def plot(path: Path, title: str, x: str, y: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Writes lines of points over logarithmic axes."""
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    # The same numbers give the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "litefuse"})
    figure, axes = importlib.import_module("matplotlib.pyplot").subplots(figsize=(6, 4), layout="constrained")
    for name, points in lines.items():
        axes.loglog(*zip(*points, strict=True), marker="o", label=name)
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    importlib.import_module("matplotlib.pyplot").close(figure)
