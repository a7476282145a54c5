"""Checks of files with the software of targets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import litefuse
from litefuse.conversion.verify.targets.check import located
from litefuse.conversion.verify.targets.target_check import TargetCheck, TargetReport, TargetVerdict, target_sections
from litefuse.errors import InterpreterError
from litefuse.litert.export.edited_file import complete_file
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.targets import chosen_targets, find_target, traits_of
from litefuse.litert.targets.gpu import Gpu
from litefuse.litert.targets.micro import Micro
from litefuse.litert.targets.question import Refusal
from litefuse.tools.demo import SAVED_MODEL
from tests.litert.runtime.models import Graph, model
from tests.litert.targets.models import buffers_behind, dense, integers, lookup, remembering, serving, unknown_sizes
from tests.tools.cli.test_cli import run

if TYPE_CHECKING:
    from pathlib import Path


def report_of(content: bytes, target: str) -> TargetReport:
    (report,) = litefuse.check(content, target).reports
    assert report.target == target
    return report


def without_driver(_: Gpu) -> str:
    return "no driver"


def finds_nothing(_: str) -> None:
    return None


@pytest.mark.parametrize("target", ["litert", "micro"])
@pytest.mark.parametrize("content", [dense(), dense(batch=None), dense(names=("größe", "y/ü")), integers()])
def test_what_runs_gives_the_numbers_of_the_cpu(target: str, content: bytes) -> None:
    report = report_of(content, target)
    assert report.verdict == "accelerated"
    assert not report.refused
    assert not report.not_compared
    (output,) = report.outputs
    assert output.verdict == "equal"
    assert output.moved > 0
    assert output.error <= 1e-6


@pytest.mark.parametrize("dtype", [np.int16, np.int64, np.uint32])
def test_dtypes_that_the_python_interface_does_not_know(dtype: Any) -> None:
    graph = Graph()
    x = graph.input("x", (2, 3), dtype)
    graph.builtin(
        "TRANSPOSE", [x, graph.tensor("order", (2,), np.int32, value=[1, 0])], [graph.output("y", (3, 2), dtype)]
    )
    (output,) = report_of(serving(graph), "litert").outputs
    assert (output.verdict, output.error) == ("equal", 0)


def test_the_cpu_runs_it() -> None:
    report = report_of(dense(), "cpu")
    assert (report.verdict, report.refused) == ("accelerated", ())


def test_variable_tensors_are_not_for_compiled_model() -> None:
    report = report_of(remembering(), "litert")
    assert report.verdict == "refused"
    (refused,) = report.refused
    assert "variable tensors" in refused.reason
    assert refused.places == ("state",)
    assert "--target litert" in refused.hint
    assert report_of(remembering(), "micro").verdict == "accelerated"


@pytest.mark.parametrize(("op", "is_rewritten"), [("Erf", True), ("Betainc", False), ("my.composite", False)])
def test_ops_that_no_conversion_rewrites_are_not_to_be_disallowed(op: str, is_rewritten: bool) -> None:
    graph = Graph()
    graph.custom(op, [graph.input("x", (1, 4))], [graph.output("y", (1, 4))])
    for target in map(find_target, ("ethos-u", "gpu", "litert", "micro", "openvino", "web")):
        refusals = [Refusal(op, reason) for reason in ("it is a custom op", "no such op")]
        hints = [refused.hint for refused in located(Model(model(graph)), refusals, (), target.hints)]
        assert any("--allow-custom-ops never" in hint for hint in hints) == is_rewritten, target.name


def test_the_smallest_arena_is_measured() -> None:
    facts = dict(report_of(dense(), "micro").facts)
    size = int(facts["arena"].split()[0].replace(",", ""))
    assert 500 < size < 3000
    assert size % 16 == 0


def test_variants_of_targets(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(integers())
    names = ["micro:64K", "micro:1K", "ethos-u:ethos-u65-256", "ethos-u"]
    options = [text for name in names for text in ("--target", name)]
    outcome = run("check", path, "--json", *options)
    assert outcome.code == 1
    large, small, variant, plain = json.loads(outcome.out)["targets"]
    assert [each["target"] for each in (large, small, variant, plain)] == names
    assert (large["verdict"], small["verdict"]) == ("accelerated", "refused")
    assert "but there are 1,024" in small["refused"][0]["reason"]
    assert [each["facts"]["compiled for"] for each in (variant, plain)] == ["ethos-u65-256", "ethos-u55-128"]
    assert variant["facts"]["time, by Vela's estimate"]

    for bad, why in (("ethos-u:ethos-u99", "ethos-u85-2048"), ("micro:", "micro:64K"), ("cpu:x", "no variants")):
        outcome = run("check", path, "--target", bad)
        assert outcome.code == 2
        assert why in outcome.err
        with pytest.raises(litefuse.LitefuseError, match="variant"):
            litefuse.check(path, bad)
    # A conversion takes them as well.
    assert traits_of(("micro:64K", "ethos-u:ethos-u65-256")).dynamic is False
    assert chosen_targets(["micro:64K", "micro:64K"]) == ("micro:64K",)


def test_ops_that_tflite_micro_lacks() -> None:
    graph = Graph()
    x = graph.input("x", (1, 4))
    three = graph.tensor("three", (), value=3)
    y = graph.output("layer/Pow", (1, 4))
    graph.builtin("POW", [x, three], [y])
    report = report_of(serving(graph), "micro")
    assert report.verdict == "refused"
    (refused,) = report.refused
    assert (refused.op, refused.reason, refused.places) == ("POW", "no such op", ("layer/Pow",))


def test_sizes_that_are_known_in_the_call_are_not_for_tflite_micro() -> None:
    report = report_of(unknown_sizes(), "micro")
    assert report.verdict == "refused"
    assert [each.op for each in report.refused] == ["RESHAPE"]


def test_vela_has_all_of_integers_on_the_npu() -> None:
    report = report_of(integers(), "ethos-u")
    assert report.verdict == "accelerated"
    assert not report.refused
    assert report.not_compared
    assert dict(report.facts)["operators on the NPU"].endswith("(100.0%)")


def test_what_vela_leaves_to_the_cpu() -> None:
    report = report_of(integers(reverse=True), "ethos-u")
    assert report.verdict == "partly"
    (refused,) = report.refused
    assert (refused.op, refused.places) == ("REVERSE_V2", ("layer/Reverse",))
    assert dict(report.facts)["operators on the NPU"] != "0 of 0"

    (refused,) = report_of(dense(), "ethos-u").refused
    assert (refused.op, refused.places) == ("FULLY_CONNECTED", ("y",))
    assert "Float32" in refused.reason
    assert "--quantize int8" in refused.hint


def test_without_a_driver_the_table_answers_for_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VK_ICD_FILENAMES", "/nothing.json")
    monkeypatch.setattr(Gpu, "missing", without_driver)
    report = report_of(lookup(), "gpu")
    assert (report.verdict, report.missing, report.software) == ("partly", "no driver", "")
    assert "ai-edge-litert" in report.table
    (refused,) = report.refused
    assert (refused.op, refused.places) == ("GATHER", ("layer/Gather",))
    assert refused.reason == "operand 1 has rank 2, and 1 is taken"
    assert "--target gpu" in refused.hint
    assert report_of(lookup(rank=1), "gpu").verdict == "unknown"


@pytest.mark.parametrize(("rank", "refused"), [(1, 1), (3, 1), (4, 0)])
def test_places_that_the_gpu_takes_for_0(rank: int, refused: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gpu, "missing", without_driver)
    graph = Graph()
    shape = [*[1] * (rank - 1), 5]
    operands = [graph.input("x", shape), graph.input("part", [1] * rank), graph.input("places", (rank,), np.int32)]
    graph.builtin("DYNAMIC_UPDATE_SLICE", operands, [graph.output("y", shape)])
    report = report_of(serving(graph), "gpu")
    assert [(op.op, "rank 4" in op.hint) for op in report.refused] == [("DYNAMIC_UPDATE_SLICE", True)] * refused


def test_missing_software_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litefuse.litert.targets.micro.importlib.util.find_spec", finds_nothing)
    assert "pip install 'litefuse[micro]'" in Micro().missing()
    found = litefuse.check(dense())
    assert "micro" not in [each.target for each in found.reports]
    assert "litefuse[micro]" in dict(found.skipped)["micro"]
    report = report_of(dense(), "micro")
    assert (report.verdict, report.refused) == ("unknown", ())


def test_files_without_signatures_and_with_several() -> None:
    graph = Graph()
    x = graph.input("x", (1, 4))
    graph.builtin("TANH", [x], [graph.output("y", (1, 4))])
    for report in litefuse.check(model(graph), ["cpu", "litert", "micro"]).reports:
        assert report.verdict == "accelerated"
        assert [(each.signature, each.name) for each in report.outputs] == (
            [] if report.target == "cpu" else [("serving_default", "y")]
        )

    other = Graph()
    x = other.input("x", (1, 4))
    other.builtin("TANH", [x], [other.output("z", (1, 4))])
    several = model(graph, other, signatures={"one": 0, "two": 1})
    assert [each.signature for each in report_of(several, "litert").outputs] == ["one", "two"]
    report = report_of(several, "micro")
    assert [each.signature for each in report.outputs] == ["one"]
    assert dict(report.facts)["not called"].startswith("two:")


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (2, 3, 4, 5, 6)])
def test_empty_tensors_and_many_dimensions(shape: tuple[int, ...]) -> None:
    graph = Graph()
    x = graph.input("x", shape)
    graph.builtin("TANH", [x], [graph.output("y", shape)])
    for report in litefuse.check(serving(graph), ["cpu", "litert", "micro", "ethos-u"]).reports:
        assert report.verdict in {"accelerated", "partly", "refused", "inconclusive"}
        assert report.verdict != "refused" or report.refused


def test_truth_values_and_wide_integers() -> None:
    graph = Graph()
    x = graph.input("x", (1, 6), np.int64)
    n = graph.input("n", (1, 6), np.int64)
    graph.builtin("LESS", [x, n], [graph.output("y", (1, 6), np.bool_)])
    report = report_of(serving(graph), "litert")
    assert report.verdict == "accelerated"
    assert report.outputs[0].dtype == "bool"


@pytest.mark.parametrize("content", [b"", b"TFL3", b"\x1c\0\0\0TFL3" + b"\xff" * 64, dense()[:-200]])
def test_what_is_no_model_is_an_error(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InterpreterError):
        litefuse.check(content, "litert")
    path = tmp_path / "bad.tflite"
    path.write_bytes(content)
    outcome = run("check", path, "--json")
    assert outcome.code == 4
    assert json.loads(outcome.out)["error"]["type"] == "InterpreterError"


def test_exit_codes(tmp_path: Path) -> None:
    good, partly, refused = (tmp_path / f"{name}.tflite" for name in ("good", "partly", "refused"))
    good.write_bytes(integers())
    partly.write_bytes(integers(reverse=True))
    refused.write_bytes(remembering())

    outcome = run("check", good, "--target", "ethos-u", "--target", "micro", "--require-accelerated")
    assert outcome.code == 0
    assert "micro    takes all of it, and gives LiteRT's numbers" in outcome.out
    assert run("check", partly, "--target", "ethos-u").code == 0
    outcome = run("check", partly, "--target", "ethos-u", "--require-accelerated", "--json")
    assert outcome.code == 5
    told = json.loads(outcome.out)
    assert (told["ok"], told["accelerated"]) == (True, False)
    assert told["targets"][0]["refused"][0]["op"] == "REVERSE_V2"
    assert run("check", refused, "--target", "litert").code == 1
    assert run("check", good, "--target", "npu").code == 2
    assert run("check", tmp_path / "none.tflite").code == 4


def test_memory_is_limited() -> None:
    def graph(size: int) -> bytes:
        made = Graph()
        x = made.input("x", (1, 4))
        places = made.tensor("p", (2,), np.int32, value=[1, size])
        wide = made.tensor("w", (1, 4 * size))
        made.builtin("TILE", [x, places], [wide])
        made.builtin("SUM", [wide, made.tensor("a", (1,), np.int32, value=[1])], [made.output("y", (1,))])
        return serving(made)

    (report,) = litefuse.check(graph(1 << 27), "litert", limits={"memory": 1 << 30}).reports
    assert report.verdict == "inconclusive"
    assert "does not run it on the CPU" in report.not_compared
    (report,) = litefuse.check(graph(4), "litert", limits={"memory": 1 << 32}).reports
    assert report.verdict == "accelerated"


def test_a_table_alone_is_inconclusive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gpu, "missing", without_driver)
    path = tmp_path / "model.tflite"
    path.write_bytes(dense())
    outcome = run("check", path, "--target", "gpu")
    assert outcome.code == 3
    assert "its table refuses nothing" in outcome.out
    path.write_bytes(lookup())
    assert run("check", path, "--target", "gpu").code == 3
    assert run("check", path, "--target", "gpu", "--require-accelerated").code == 5


def test_a_conversion_says_briefly_that_software_was_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "no driver, and this is what to do, " * 20

    def missing(_: Gpu) -> str:
        return why

    monkeypatch.setattr(Gpu, "missing", missing)
    (check,) = litefuse.convert(SAVED_MODEL, target="gpu", signatures=["embed"]).report.target_checks
    assert check.text.endswith("(litefuse check says why)")
    assert len(check.text) < 120
    assert check.facts[0] == ("not checked", why)


def test_strings_are_loaded_and_not_passed() -> None:
    graph = Graph()
    x = graph.input("x", (2,), "STRING")
    graph.builtin(
        "RESHAPE", [x, graph.tensor("shape", (2,), np.int32, value=[2, 1])], [graph.output("y", (2, 1), "STRING")]
    )
    report = report_of(serving(graph), "litert")
    assert report.verdict == "accelerated"
    assert "no strings" in report.not_compared


def test_dynamic_sizes_are_called_with_several_where_they_stay_open() -> None:
    (output,) = report_of(dense(batch=None), "litert").outputs
    assert output.comparable == 2  # the second call of each size
    (output,) = report_of(dense(batch=None), "micro").outputs
    assert (output.comparable, output.shape) == (1, (1, 4))


def test_the_text_says_what_helps() -> None:
    text = str(litefuse.check(dense(), "ethos-u"))
    assert "FULLY_CONNECTED  tensor with unsupported DataType Float32" in text
    assert "What helps\n  FULLY_CONNECTED  convert with --target ethos-u, --quantize int8" in text


def test_weights_behind_the_flatbuffer(tmp_path: Path) -> None:
    """tflite-micro computes without them; a conversion for it writes them into the flatbuffer."""
    behind = buffers_behind(integers())
    assert report_of(behind, "litert").verdict == "accelerated"
    report = report_of(behind, "micro")
    assert report.verdict == "refused"
    assert "behind the flatbuffer" in report.refused[0].reason

    path = tmp_path / "model.tflite"
    path.write_bytes(behind)
    complete_file(path)
    assert report_of(path.read_bytes(), "micro").verdict == "accelerated"
    assert [each.name for each in tmp_path.iterdir()] == ["model.tflite"]


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        (["unknown"], "unknown whether t0 can run it"),
        (["accelerated", "unknown"], "1 of 1 target takes all of it, 1 unknown"),
        (["refused by a table"], "unknown whether t0 can run it"),
        (["refused", "partly"], "0 of 2 targets take all of it"),
        (["accelerated", "accelerated", "refused"], "2 of 3 targets take all of it"),
    ],
)
def test_what_is_unknown_is_no_refusal(verdicts: list[str], text: str) -> None:
    reports = tuple(
        TargetReport(f"t{number}", "refused", table="a table")
        if verdict == "refused by a table"
        else TargetReport(f"t{number}", cast("TargetVerdict", verdict), table="a table" if verdict == "unknown" else "")
        for number, verdict in enumerate(verdicts)
    )
    assert target_sections(TargetCheck("m", reports))[0].title == f"m: {text}"
