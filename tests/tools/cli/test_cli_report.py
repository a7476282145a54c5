"""``litefuse report``, and ``--html`` of ``convert``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from litefuse.tools.demo import SAVED_MODEL
from tests.tools.cli.test_cli import run
from tests.tools.page.test_document import Page


def data_of(page: Path) -> dict[str, Any]:
    return Page(page.read_text()).data


def kernels_in(folder: Path) -> Path:
    """A file that registers the kernel of the demo's custom op."""
    path = folder / "kernels.py"
    path.write_text(
        "import litefuse\n"
        "from litefuse.tools.demo.check import MyCustomFusedOp as Kernel\n"
        "litefuse.custom_op('my_custom_fused_op')(Kernel)\n"
    )
    return path


def titles(page: Path) -> list[str]:
    return [each["title"] for each in data_of(page)["sides"]]


def test_a_conversion_writes_a_page_of_itself(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    options = ("--batch", "3", "--check-fusions", "no")
    outcome = run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--html", page, "--json", *options)
    assert outcome.code == 0
    assert json.loads(outcome.out)["signatures"]
    assert titles(page) == ["Before: TensorFlow", "After: LiteRT"]
    html = page.read_text()
    assert "option --batch" in html
    # Its custom op has no kernel: what is missing is said.
    assert "The time was not measured: " in html
    assert "my_custom_fused_op" in html


def test_a_report_with_times_and_targets(tmp_path: Path, demo_model: Path) -> None:
    kernels = kernels_in(tmp_path)
    page = tmp_path / "page.html"
    arguments = ("--kernels", kernels, "--target", "ethos-u", "-o", page)
    outcome = run("report", demo_model, SAVED_MODEL, "--no-verify", *arguments)
    assert (outcome.code, outcome.out) == (0, f"Written to {page}\n")
    found = data_of(page)
    assert {each["name"] for each in found["measures"]} == {"time", "bytes"}
    assert [each["name"] for each in found["kinds"]] == ["runs in", "refused by ethos-u"]


def test_a_page_with_a_hostile_name_does_not_reach_the_terminal_raw(tmp_path: Path, demo_model: Path) -> None:
    folder = tmp_path / "a\x1b]0;title\x07b"
    folder.mkdir()
    outcome = run("report", demo_model, "--no-time", "-o", folder / "page.html")
    assert outcome.code == 0
    assert (folder / "page.html").is_file()
    assert r"a\x1b]0;title\x07b" in outcome.out
    outcome = run("report", demo_model, "--explorer", "--no-time", "-o", folder)
    assert outcome.code == 0
    assert r"a\x1b]0;title\x07b" in outcome.out
    assert outcome.out.replace("\n", "").isprintable()


def test_another_file_is_an_original_too(tmp_path: Path, demo_model: Path) -> None:
    page = tmp_path / "page.html"
    assert run("report", demo_model, demo_model, "--no-time", "--no-verify", "-o", page).code == 0
    assert titles(page) == ["Before: LiteRT", "After: LiteRT"]
    linked = {(graph, node): others for graph, node, others in data_of(page)["links"]}
    assert linked[0, 1] == [[0, 1]]


def test_a_page_has_a_verification_and_a_check(tmp_path: Path, demo_model: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ("--kernels", kernels_in(tmp_path), "--target", "ethos-u", "-o", page)
    assert run("report", demo_model, demo_model, "--no-time", *arguments).code == 0
    assert "<b>equal</b>" in page.read_text()
    assert "refused by ethos-u" in [kind["name"] for kind in data_of(page)["kinds"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("convert", SAVED_MODEL, "-o", "{0}/m.tflite", "--html", "{0}/m.tflite"), "it would replace"),
        (("convert", SAVED_MODEL, "-o", "{0}/m.tflite", "--html", "{0}/none/page.html"), "no such folder"),
        (("report", "{1}", "-o", "{1}"), "it would replace"),
        (("report", "{1}", "{0}/none"), "no such file or folder"),
        (("report", "{0}/none.tflite", "-o", "{0}/page.html"), "no such file or folder"),
    ],
)
def test_pages_that_cannot_be_written(
    arguments: tuple[object, ...], message: str, tmp_path: Path, demo_model: Path
) -> None:
    before = demo_model.read_bytes()
    outcome = run(*(str(each).format(tmp_path, demo_model) for each in arguments))
    assert outcome.code in {1, 4}
    assert message in outcome.err
    assert "Traceback" not in outcome.err
    assert demo_model.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


def test_limits_hold_for_the_times_as_well(tmp_path: Path, demo_model: Path) -> None:
    page = tmp_path / "page.html"
    outcome = run("report", demo_model, "--kernels", kernels_in(tmp_path), "--timeout", "0.01", "-o", page)
    assert outcome.code == 0
    assert "The time was not measured: it took longer than the limit timeout" in outcome.err
    assert "limit timeout" in page.read_text()
