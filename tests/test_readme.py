"""README begins with its two commands, and has the figures of the benchmarks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from scripts.benchmarks_page import made

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BENCHMARKS = made()
#: The models in README's table, and those of the benchmarks.
MODELS = {"ResNet50, 102 MB": "ResNet50: 102 MB", "an embedding of 1.03 GB": "embedding: 1.03 GB"}


def cells(page: str, start: str) -> list[str]:
    """The cells of the first row of a table that begins so, the first cell included."""
    row = next(line for line in page.splitlines() if line.startswith(f"| {start}"))
    return [cell.strip().strip("*") for cell in row.strip("|").split("|")]


def differing(readme: str, benchmarks: str) -> list[Sequence[str]]:
    """The figures in README, each with that of the benchmarks, that are not the same."""
    pairs: list[Sequence[str]] = []
    rows = readme[readme.index("| ResNet50") :].splitlines()
    for line, (model, name) in enumerate(MODELS.items()):
        time = cells("\n".join(rows), f"{model}: time")
        memory = cells(rows[2 * line + 1], "memory")
        _, *measured = cells(benchmarks, name)
        pairs += [
            (f"{float(measured[2]):.0f} times faster", time[3]),
            (f"{float(measured[5]):.0f} times less", memory[3]),
        ]
        pairs += zip([*measured[:2], *measured[3:5]], [*time[1:3], *memory[1:3]], strict=True)
    _, *mean = cells(benchmarks, "**geometric mean**")
    pairs.append((f"{mean[2]} times faster, {mean[5]} times less", cells(readme, "geometric mean")[3]))
    pairs.append(
        (
            f"## {float(mean[2]):.0f} times faster, in a tenth of the memory",
            re.findall("^## .*faster.*", readme, re.MULTILINE)[0],
        )
    )
    return [pair for pair in pairs if pair[0] != pair[1]]


def test_the_figures_are_those_of_the_benchmarks() -> None:
    assert differing(README, BENCHMARKS) == []
    _, *mean = cells(BENCHMARKS, "**geometric mean**")
    assert round(float(mean[5])) == 10, "a tenth of the memory, README says"
    page = (ROOT / "docs" / "explanation" / "benchmarks.md").read_text(encoding="utf-8")
    assert f"{mean[2]} times faster than `tf.lite.TFLiteConverter`, in {mean[5]} times less memory" in page


def test_other_figures_are_found() -> None:
    other = BENCHMARKS.replace("| 0.44 s | 9.20 s |", "| 0.45 s | 9.20 s |").replace("**18.4**", "**17.1**")
    assert differing(README, other) == [
        ("0.45 s", "0.44 s"),
        ("17.1 times faster, 10.4 times less", "18.4 times faster, 10.4 times less"),
        ("## 17 times faster, in a tenth of the memory", "## 18 times faster, in a tenth of the memory"),
    ]


def test_the_two_commands_come_first() -> None:
    first, second = re.findall(r"^```sh\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)[:2]
    assert first == "pip install . && litefuse demo\n"
    assert second == "pip install '.[test]' && pip install --no-deps -r tests/requirements.txt && pytest -n 2\n"
