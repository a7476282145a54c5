"""The page of models says what was measured; what fails is measured, too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.architectures.__main__ import file_name, main
from benchmarks.architectures.catalog import ARCHITECTURES, Architecture
from benchmarks.architectures.measuring import STAGES, Limits, Work, measure_stages
from benchmarks.architectures.page import MEASURED, made, measured, page

from tests.litert.runtime.models import Graph, model


def run(folder: Path, *arguments: str, architectures: dict[str, Architecture]) -> tuple[dict[str, Any], str]:
    """The results and the page."""
    main([*arguments, "--measured", str(folder / "measured")], architectures)
    rows = measured(folder / "measured")
    return rows, "\n".join(page([*architectures.values()], rows))


def test_the_page_has_every_model_that_was_measured() -> None:
    text = made()
    assert [name for name in measured(MEASURED) if text.count(f"\n| {name} |") != 2] == []


def test_the_page_names_what_was_not() -> None:
    rows = measured(MEASURED)
    name = next(iter(rows))
    assert f"Not measured yet: {name}." in page([ARCHITECTURES[name]], {})
    assert "Not measured yet" not in "\n".join(page([ARCHITECTURES[name]], rows))


def test_each_result_is_of_a_model() -> None:
    assert {file.stem for file in MEASURED.iterdir()} <= {file_name(name) for name in ARCHITECTURES}
    for name, row in measured(MEASURED).items():
        assert name in ARCHITECTURES
        assert row.keys() <= {"model", "machine", *STAGES}


def test_results_that_are_damaged(tmp_path: Path) -> None:
    (tmp_path / "measured").mkdir()
    (tmp_path / "measured" / "wake-word.json").write_text('{"model": ')
    with pytest.raises(SystemExit, match=r"wake-word\.json: .*: remove it"):
        run(tmp_path, architectures={"Wake word": ARCHITECTURES["Wake word"]})


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
    assert line.count("|") - line.count("\\|") == 12
    assert line.count("failed") == 5
    assert r"Nö &lt;thing>\|\*, converted: KeyError" in text


@pytest.mark.parametrize(
    ("factor", "moved", "verdict", "cell"),
    [
        (1.0, 0.5, "equal", "0.0e+00"),
        (1.1, 0.5, "differs", "9.1e-02, differs"),
        (1.0, 0.0, "inconclusive", "inconclusive"),
    ],
    ids=["equal", "differs", "does not move"],
)
def test_the_verdict_on_what_a_model_computes(
    tmp_path: Path, factor: float, moved: float, verdict: str, cell: str
) -> None:
    graph = Graph()
    x, y = graph.input("x", (4,)), graph.output("y", (4,))
    graph.builtin("ABS", [x], [y])
    (tmp_path / "saved_model").mkdir()
    (tmp_path / "float32.tflite").write_bytes(model(graph, signatures={"serving_default": 0}))
    values = np.array([1, -2, 3, -4], np.float32)
    np.savez(tmp_path / "inputs.npz", x=values)
    np.savez(tmp_path / "expected.npz", y=np.abs(values) * np.float32(factor))
    (tmp_path / "facts.json").write_text(json.dumps({"parameters": 0, "moved": moved}))
    ((_, found),) = measure_stages(Work(UNKNOWN, tmp_path, Limits()), ["compared"])
    assert found.get("verdict") == verdict, found
    text = page([UNKNOWN], {UNKNOWN.name: {"machine": {}, "compared": found}})
    assert any(cell in line for line in text)


@pytest.mark.parametrize(("error", "cell"), [(2.04e-3, "differs: 2.0e-03"), (None, "differs: infinite")])
def test_a_target_that_computes_other_numbers(error: float | None, cell: str) -> None:
    found: dict[str, Any] = {"verdict": "differs", "ops": 3, "facts": {}, "refused": [], "error": error}
    text = page([UNKNOWN], {UNKNOWN.name: {"machine": {}, "gpu": found}})
    assert any(f"| {cell} |" in line for line in text)


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
