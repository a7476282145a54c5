"""README begins with its two commands, and has the figures of the benchmarks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import venv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from scripts.benchmarks_page import made

from tests.docs.blocks import RUN, Step, blocks_of
from tests.repository import tracked

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


def test_from_the_top_in_a_new_environment(tmp_path: Path) -> None:
    """A new user copies each block but that of the tests, with nothing installed beside what they install."""
    folder = tmp_path / "checkout"
    for path in tracked():
        place = folder / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
    blocks = [block for block in blocks_of(README) if block.language in RUN and "pytest" not in block.code]
    assert len(blocks) >= 5
    steps = [Step(block.language, block.line, block.code) for block in blocks]
    (tmp_path / "steps.json").write_text(json.dumps([asdict(step) for step in steps]), encoding="utf-8")
    venv.create(tmp_path / "venv", with_pip=True)
    own = {
        name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "LITEFUSE", "VIRTUAL_ENV"))
    }
    commands = tmp_path / "venv" / "bin"
    command = [
        str(commands / "python"),
        str(ROOT / "tests" / "docs" / "run_steps.py"),
        str(tmp_path / "steps.json"),
        "README.md",
    ]
    environment = {**own, "PATH": f"{commands}{os.pathsep}{own['PATH']}", "PIP_QUIET": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("OK: ", "Converted keras.Sequential", "Equal: model.tflite and "):
        assert words in done.stdout
    assert "INFO: Created" not in done.stderr
