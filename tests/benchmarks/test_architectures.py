"""The page of models says what was measured; what fails is measured, too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from benchmarks.architectures.__main__ import file_name, main
from benchmarks.architectures.catalog import ARCHITECTURES, Architecture

REPOSITORY = Path(__file__).resolve().parents[2]
MEASURED = REPOSITORY / "benchmarks" / "architectures" / "measured"


def measured(folder: Path) -> dict[str, Any]:
    rows = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))]
    return {row["model"]: row for row in rows}


def run(folder: Path, *arguments: str, architectures: dict[str, Architecture]) -> tuple[dict[str, Any], str]:
    """The results and the page."""
    main([*arguments, "--measured", str(folder / "measured"), "--page", str(folder / "page.md")], architectures)
    return measured(folder / "measured"), (folder / "page.md").read_text("utf-8")


def test_file_names_are_different() -> None:
    assert len({file_name(name) for name in ARCHITECTURES}) == len(ARCHITECTURES)


def test_a_small_model(tmp_path: Path) -> None:
    architectures = {"Wake word": ARCHITECTURES["Wake word"]}
    stages = "converted,int8,litert"
    rows, text = run(tmp_path, "--stages", stages, architectures=architectures)
    row = rows["Wake word"]
    assert row["converted"]["ops"] >= 3
    assert row["int8"]["bytes"] < row["converted"]["bytes"] < 1_200_000
    assert row["litert"]["verdict"] == "accelerated"
    assert re.search(rf"\| Wake word \| .* \| {row['converted']['nodes']} \| {row['converted']['ops']} \|", text)
    # What was measured is not measured again.
    before = (tmp_path / "measured" / "wake-word.json").read_bytes()
    run(tmp_path, "--stages", stages, architectures=architectures)
    assert (tmp_path / "measured" / "wake-word.json").read_bytes() == before


# The process that makes a model finds none of this name.
UNKNOWN = Architecture("Nö <thing>|*", "Others", "none", lambda keras: keras)


def test_a_model_that_fails_is_a_row(tmp_path: Path) -> None:
    architectures = {UNKNOWN.name: UNKNOWN}
    rows, text = run(tmp_path, "--stages", "converted,compared,latency", architectures=architectures)
    for stage in ("converted", "compared", "latency"):
        assert rows[UNKNOWN.name][stage]["failure"].startswith("KeyError")
    (line,) = [line for line in text.splitlines() if line.startswith("| N")][:1]
    assert line.count("|") - line.count("\\|") == 11
    assert line.count("failed") == 4
    assert r"Nö &lt;thing>\|\*, converted: KeyError" in text


@pytest.mark.parametrize(("limit", "said"), [("--seconds", "ended after 0 s"), ("--memory", "ended at 0 GB")])
def test_a_model_that_takes_too_much_is_a_row(tmp_path: Path, limit: str, said: str) -> None:
    architectures = {"LeNet-5": ARCHITECTURES["LeNet-5"]}
    rows, text = run(tmp_path, "--stages", "converted", limit, "0.01", architectures=architectures)
    assert rows["LeNet-5"]["converted"]["failure"].startswith(said)
    assert f"- LeNet-5, converted: {said}" in text


def test_what_failed_is_tried_again_on_request(tmp_path: Path) -> None:
    architectures = {UNKNOWN.name: UNKNOWN}
    file = tmp_path / "measured" / f"{file_name(UNKNOWN.name)}.json"
    run(tmp_path, "--stages", "int8", architectures=architectures)
    row = json.loads(file.read_text("utf-8")) | {"int8": {"failure": "long ago"}}
    file.write_text(json.dumps(row), "utf-8")
    rows, _ = run(tmp_path, "--stages", "int8", architectures=architectures)
    assert rows[UNKNOWN.name]["int8"]["failure"] == "long ago"
    rows, _ = run(tmp_path, "--stages", "int8", "--failed", architectures=architectures)
    assert rows[UNKNOWN.name]["int8"]["failure"].startswith("KeyError")


@pytest.mark.parametrize("arguments", [["--stages", "converted,nothing"], ["No such model"]], ids=["stage", "model"])
def test_names_that_are_not_there(tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(tmp_path, *arguments, architectures={})
    assert "there is no " in capsys.readouterr().err
