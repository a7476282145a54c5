"""The beginning of a report: what became of the model, and what users have to know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from litefuse.support.options.quantization import Quantization
from litefuse.support.report import (
    ChainReport,
    CompositeReport,
    FileCheckReport,
    KernelReport,
    LackingOpReport,
    LeftOutReport,
    LoopReport,
    MovingRange,
    QuantizationReport,
    Report,
    TargetCheckReport,
    VariableReport,
)
from litefuse.support.report.answer import answer_section
from litefuse.support.report.caveats import caveats
from litefuse.support.report.conversion_sections import report_sections
from litefuse.support.report.sections import Judgement, Section, worst_of
from litefuse.support.report.text import sections_text

GELU = CompositeReport("gelu", "f", 3, "fused", fused_into="GELU", error=2e-7)


def row(section: Section, name: str) -> tuple[str, Judgement]:
    """The text and judgement of the only row of this name."""
    (number,) = [number for number, cells in enumerate(section.rows) if cells[0] == name]
    return section.rows[number][1], section.judgements[number]


def names(section: Section) -> list[str]:
    return [cells[0] for cells in section.rows]


@pytest.mark.parametrize(
    ("size", "before", "text"),
    [
        (1000, 4000, "1,000 bytes, 3 ops, 4.0 times smaller than the 4,000 before quantization"),
        (3000, 4000, "3,000 bytes, 3 ops, 25% smaller than the 4,000 before quantization"),
        (5000, 4000, "5,000 bytes, 3 ops, 25% larger than the 4,000 before quantization"),
        (1, 0, "1 byte, 3 ops"),
        (0, 4000, "0 bytes, 3 ops"),
    ],
)
def test_size(size: int, before: int, text: str) -> None:
    quantization = QuantizationReport("float16", before, None, "") if before else None
    report = Report("m", size=size, source_size=9999, op_counts={"ADD": 2, "MUL": 1}, quantization=quantization)
    assert row(answer_section(report), "size") == (text, None)


def test_what_was_fused_where_and_whether_it_is_equal() -> None:
    custom = CompositeReport("mine", "g", 1, "fused", fused_into="mine", unchecked="it takes a string")
    norm = CompositeReport("odml.norm", "h", 2, "fused", fused_into="STABLEHLO_COMPOSITE odml.norm", error=1e-6)
    gelu = replace(GELU, layers=("a/b", "a/c", "d", "e"))
    all_checked = answer_section(Report("m", composites=(gelu, norm)))
    assert row(all_checked, "fused") == (
        "5 of 5 composites: 3 x gelu is GELU in a/b, a/c and 2 more, 2 x odml.norm is STABLEHLO_COMPOSITE",
        "good",
    )
    assert row(all_checked, "checked") == ("each fused op computes what it replaces (error 1e-06)", "good")
    some = answer_section(Report("m", composites=(GELU, custom)))
    assert row(some, "fused")[0] == "4 of 4 composites: 3 x gelu is GELU, mine (custom op)"
    text = "1 of 2 fused ops compute what they replace (error 2e-07), 1 not compared"
    assert row(some, "checked") == (text, "good")
    none = answer_section(Report("m", composites=(custom,)))
    assert row(none, "checked") == ("no fused op was compared with what it replaces", None)


def test_loops_that_are_faster_are_no_failure() -> None:
    reason = "an LSTM of 64 units over 28 steps: the loop is faster than the fused op"
    loop = LoopReport("a/lstm", reason)
    section = answer_section(Report("m", loops=(loop,)))
    assert row(section, "loops") == (f"a/lstm: {reason}", None)
    assert "fused" not in names(section)
    kept = CompositeReport("lstm_1", "f", 1, "inlined", reason=reason, layers=("a/lstm_2",), better_inlined=True)
    report = Report("m", loops=(loop, LoopReport("b", "not an LSTM")), composites=(kept,))
    assert row(answer_section(report), "loops") == (f"a/lstm, a/lstm_2: {reason}; and 1 more", None)
    assert not {"fused", "not fused"} & {*names(answer_section(report, details=True))}
    assert answer_section(report).judgement == "good"


def test_names_of_keras_2_have_no_uuids() -> None:
    name = "gru_885ed721-569d-4c51-9f5a-0123456789ab"
    other = CompositeReport(name, "f", 1, "inlined", reason=f"no fusion is registered for '{name}'")
    report = Report("m", composites=(other, replace(other, name=name.replace("885", "99a"), reason="no fusion")))
    assert "885ed721" not in report.details()
    assert row(answer_section(report), "not fused")[0].startswith("gru_*: no fusion is registered for 'gru_*'; gru_*: ")
    assert report.to_json()["composites"][0]["name"] == name


def test_the_answer_has_at_most_eight_lines_and_counts_the_notes_that_it_leaves_out() -> None:
    left = [CompositeReport(f"c{number}", "f", 1, "inlined", reason="why") for number in range(9)]
    statistics = VariableReport("layers/norm/moving_mean", "float32", (3,), "mutable", writer="AssignVariableOp in f")
    report = Report(
        str(Path(__file__)),
        signatures=("a",),
        composites=(GELU, *left),
        loops=(LoopReport("l", "why"),),
        variables=(statistics,),
        custom_ops=("mine",),
        needless_custom_ops=("Sin",),
        file_check=FileCheckReport(ran=True),
        least_runtime="LiteRT 1.0 or newer",
        size=1,
    )
    lines = sections_text(report_sections(report, written="m.tflite")).splitlines()
    assert len(lines) == 8
    assert lines[-1] == "  2 more notes among the details (-v, report.details())"
    assert {*names(answer_section(report, written="m.tflite", details=True))} >= {"training", "no effect", "next"}
    without = replace(report, custom_ops=(), needless_custom_ops=())
    lines = sections_text(report_sections(without, written="m.tflite")).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["size", "fused", "loops", "checked", "not", "training", "next"]


def test_many_kinds_are_counted() -> None:
    many = tuple(replace(GELU, name=f"gelu_{number}", call_sites=1) for number in range(6))
    text = "6 of 6 composites: gelu_0 is GELU, gelu_1 is GELU, gelu_2 is GELU and 3 more"
    assert row(answer_section(Report("m", composites=many)), "fused")[0] == text


def test_what_was_not_fused_is_a_caveat() -> None:
    left = CompositeReport("mystery", "g", 1, "inlined", reason="nobody knows it")
    report = Report("m", composites=(GELU, left, replace(left, function="h")))
    (section,) = report_sections(report)
    assert row(section, "fused") == ("3 of 5 composites: 3 x gelu is GELU", "warn")
    assert row(section, "not fused") == ("2 x mystery: nobody knows it", "warn")
    assert section.judgement == "warn"


def test_without_caveats_all_is_good() -> None:
    report = Report("m", composites=(GELU,), file_check=FileCheckReport(ran=True))
    assert report_sections(report)[0].judgement == "good"
    assert report_sections(report, details=True)[1].title == "Composites: 3 of 3 fused"


def test_whether_it_runs() -> None:
    def run(check: FileCheckReport, *signatures: str) -> tuple[str, Judgement]:
        return row(answer_section(Report("m", signatures=signatures, file_check=check)), "checked")

    assert run(FileCheckReport(ran=True), "a") == ("LiteRT runs it", "good")
    assert run(FileCheckReport(ran=True, seconds={"a": 2e-5}), "a")[0] == "LiteRT runs it in 20 us on one thread"
    several = run(FileCheckReport(ran=True, seconds={"a": 2e-5}), "a", "b")
    assert several == ("LiteRT runs each of its 2 signatures in 20 us (a) on one thread", "good")
    assert run(FileCheckReport(ran=False, reason="no kernel"), "a") == ("not called: no kernel", "warn")
    assert "checked" not in names(answer_section(Report("m")))


def test_how_fast_generated_kernels_are() -> None:
    kernel = KernelReport(3e-7, 1e-6, 2.5e-6)
    chain = ChainReport("chain_0", "ADD", "MUL", "x", 3, 1, kernel)
    report = Report("m", composites=(replace(GELU, error=None, kernel=kernel),), chains=(chain,))
    section = answer_section(report, kernels="m.kernels")
    text = "2 kernels generated, in m.kernels: gelu 2.5 times as fast, chain_0 2.5 times as fast"
    assert row(section, "kernels") == (text, "good")
    assert row(section, "checked")[0] == "each fused op computes what it replaces (error 3e-07)"


def test_quantization() -> None:
    quantization = QuantizationReport("int8", 4000, 0.003, "samples", samples=40)
    report = Report("/models/m.tflite", size=1000, source_size=4000, quantization=quantization)
    section = answer_section(report, written="q.tflite")
    assert section.title == "Quantized /models/m.tflite to q.tflite"
    assert row(section, "quantized")[0] == "int8, with int8 weights"
    int4 = replace(report, quantization=replace(quantization, weights=Quantization("int8", weight_bits=4).text()))
    assert row(answer_section(int4), "quantized")[0] == "int8, with int4 weights where LiteRT has kernels for them"
    assert row(section, "checked") == ("outputs differ by 0.003 from those before quantization, on samples", "good")
    assert "fused" not in names(section)
    assert caveats(report) == []
    far = replace(report, quantization=replace(quantization, error=0.5, moving=(MovingRange("x", 0.1),)))
    assert row(answer_section(far), "checked")[1] == "bad"
    assert answer_section(far).judgement == "bad"
    assert [caveat.name for caveat in caveats(far)] == ["outputs", "samples"]
    assert "40 are too few: a range still grew" in caveats(far)[1].text
    unknown = replace(report, quantization=replace(quantization, error=None, unchecked="no output moves"))
    text = "outputs not compared with those before quantization: no output moves"
    assert row(answer_section(unknown), "checked") == (text, "unclear")
    # What is no number is no small difference.
    broken = replace(report, quantization=replace(quantization, error=float("nan")))
    assert row(answer_section(broken), "checked")[1] == "bad"


def test_targets() -> None:
    gpu = TargetCheckReport("gpu", "partly", "takes it except 7 ops", tuple(f"OP_{n}: why" for n in range(7)))
    micro = TargetCheckReport("micro", "refused", "does not take it", ("ADD: no",), (("arena", "10 bytes"),))
    report = Report("m", target="gpu, micro", batch_taken=1, target_checks=(gpu, micro))
    told = "gpu takes it except 7 ops; micro does not take it; a batch of 1, not a dynamic one (--batch)"
    section = answer_section(report)
    assert row(section, "target") == (f"gpu, micro: {told}", "bad")
    assert names(section)[-2:] == ["micro refuses", "gpu refuses"]
    assert row(section, "gpu refuses")[0] == "OP_0: why, and 6 more: litefuse check lists them"
    details = report_sections(report, details=True)
    assert row(details[0], "gpu refuses")[0].splitlines()[-2:] == [
        "OP_4: why",
        "and 2 more: litefuse check lists them",
    ]
    facts = next(each for each in details if each.title == "Target micro")
    assert facts.rows == (("arena", "10 bytes"),)
    assert row(answer_section(replace(report, target_checks=(gpu,), target="gpu", batch_taken=None)), "target") == (
        "gpu: takes it except 7 ops",
        "warn",
    )


def test_the_command_that_compares_it(tmp_path: Path) -> None:
    original = tmp_path / "a model; rm -rf x"
    original.mkdir()
    report = Report(str(original), size=1)
    section = answer_section(report, written="my model.tflite", original=str(original))
    assert section.title == f"Converted {original} to my model.tflite"
    assert row(section, "next")[0] == f"litefuse verify 'my model.tflite' '{original}'"
    ran = answer_section(replace(report, file_check=FileCheckReport(ran=True)), written="m.tflite")
    assert ran.rows[-1] == ("", "litefuse benchmark m.tflite")
    not_called = answer_section(
        replace(report, file_check=FileCheckReport(ran=False, reason="why")), written="m.tflite"
    )
    assert not_called.rows[-1][0] == "next"
    # What is not on disk cannot be named there, and what is not written neither.
    assert "next" not in names(answer_section(Report("function f\0"), written="m.tflite"))
    assert "next" not in names(answer_section(report))


@pytest.mark.parametrize(
    ("facts", "commands"),
    [
        (
            {"custom_ops": ("A b",), "file_check": False},
            ["kernels new 'A b' --from m.tflite", "verify {} --kernels FILE.py"],
        ),
        ({"custom_ops": ("A",), "file_check": False, "pack_kernels": ("A",)}, ["verify {}"]),
        ({"custom_ops": ("A",), "file_check": False, "package_kernels": {"A": "p"}}, ["verify {}"]),
        ({"custom_ops": ("A",), "file_check": True}, ["verify {}", "benchmark m.tflite"]),
        ({"custom_ops": ("A",)}, ["kernels new A --from m.tflite", "verify {} --kernels FILE.py"]),
        ({"target": "gpu, micro", "file_check": True}, ["verify {}", "export-micro m.tflite"]),
        ({"target": "micro:cortex-m", "file_check": False}, ["verify {}", "export-micro m.tflite"]),
        ({"target": "microscope", "file_check": True}, ["verify {}", "benchmark m.tflite"]),
    ],
)
def test_commands_that_come_next(facts: dict[str, Any], commands: list[str], tmp_path: Path) -> None:
    ran = facts.pop("file_check", None)
    report = Report(str(tmp_path), file_check=None if ran is None else FileCheckReport(ran=ran, reason="why"), **facts)
    wanted = [f"litefuse {command}".replace("{}", f"m.tflite {tmp_path}") for command in commands]
    section = answer_section(report, written="m.tflite")
    assert [row[1] for row in section.rows][-len(wanted) :] == wanted
    samples = ["--samples", "s 1.npz"]
    told = [row[1] for row in answer_section(report, written="m.tflite", samples=samples).rows]
    assert f"litefuse verify m.tflite {tmp_path} --samples 's 1.npz'" in [line.split(" --kernels")[0] for line in told]
    if report.file_check is None:  # the code that was named may have the kernels
        (*_, last) = answer_section(report, written="m.tflite", plug_ins=["k.py"]).rows
        assert last[1] == f"litefuse verify m.tflite {tmp_path} --plug-in k.py"


@pytest.mark.parametrize("target", ["micro", "cpu"])
def test_the_command_that_is_told_however_long_a_report_is(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("litefuse.support.report.answer._LINES", 1)
    report = Report(str(tmp_path), target=target, file_check=FileCheckReport(ran=True, reason=""))
    told = [row for row in answer_section(report, written="m.tflite").rows if "litefuse" in row[1]]
    assert told == ([("next", "litefuse export-micro m.tflite")] if target == "micro" else [])


def test_signatures_that_were_left_out() -> None:
    same = LeftOutReport("serve", "it computes the same")
    broken = LeftOutReport("bad", "it cannot be used: why", usable=False)
    report = Report("m", left_out=(same, broken))
    assert [cells for cells in answer_section(report).rows if cells[0] == "left out"] == [
        ("left out", "bad: it cannot be used: why")
    ]
    assert ("left out", "serve: it computes the same") in answer_section(report, details=True).rows


def test_custom_ops_are_told_once() -> None:
    report = Report(
        "m",
        custom_ops=("A", "B", "C", "D"),
        pack_kernels=("B", "C"),
        python_kernels=("C",),
        package_kernels={"D": "mine"},
        op_counts={"A": 1, "E": 1},
        runtime_ops=("E",),
    )
    text = (
        "A (yours: LiteRT has none); B (in litefuse's pack); C (in litefuse's pack, in Python only); D (mine has them)"
    )
    assert row(answer_section(report), "needs kernels")[0] == text
    assert report.details().count("litefuse's pack, in Python only") == 1
    assert "LiteRT has the kernels of the custom ops E." in report.details()


def test_copies_are_explained() -> None:
    report = Report("m", op_counts={"MAXIMUM": 3}, copies=2)
    assert "2 of the MAXIMUM copy a value" in report.details()
    assert "copy" not in replace(report, copies=0).details()


def test_statistics_and_needless_custom_ops() -> None:
    statistics = VariableReport("layers/norm/moving_mean", "float32", (3,), "mutable", writer="AssignVariableOp in f")
    told = caveats(Report("m", variables=(statistics,), needless_custom_ops=("Sin",)))
    assert [caveat.name for caveat in told] == ["training", "no effect"]


@pytest.mark.parametrize(
    ("form", "ops", "lacking", "told"),
    [
        (None, ("QUANTIZE", "DEQUANTIZE"), "", True),
        (None, ("CONV_2D",), "FakeQuantWithMinMaxVarsPerChannel", True),
        ("dynamic", ("CONV_2D",), "FakeQuantWithMinMaxVarsPerChannel", True),
        ("int8", ("QUANTIZE", "DEQUANTIZE"), "", False),  # of this quantization
        ("qat", ("QUANTIZE", "DEQUANTIZE"), "FakeQuantWithMinMaxVarsPerChannel", False),
        (None, ("CONV_2D", "DEQUANTIZE"), "Roll", False),
    ],
)
def test_ranges_that_nothing_made_integers_of(form: Any, ops: tuple[str, ...], lacking: str, told: bool) -> None:
    quantization = QuantizationReport(form, 4000, 0.003, "samples") if form else None
    lacking_ops = (LackingOpReport(lacking, "rewritten"),) if lacking else ()
    report = Report("m", quantization=quantization, op_counts=dict.fromkeys(ops, 1), lacking_ops=lacking_ops)
    assert [caveat.name for caveat in caveats(report)] == ["ranges"] * told
    assert [caveat.text for caveat in caveats(report) if "--quantize qat" not in caveat.text] == []


def test_the_oldest_runtime_and_weights_behind_the_flatbuffer() -> None:
    section = answer_section(Report("m", least_runtime="LiteRT 1.0 or newer"))
    assert ("runs in", "LiteRT 1.0 or newer") in section.rows
    section = answer_section(Report("m", least_runtime="LiteRT 1.0 or newer", taken_by=("cpu", "micro")))
    assert ("runs in", "LiteRT 1.0 or newer; of the targets, only cpu, micro") in section.rows
    assert caveats(Report("m", size=2**31 - 1)) == []
    (caveat,) = caveats(Report("m", size=2**31))
    assert "OpenVINO, TVM and tflite-micro do not" in caveat.text


def test_the_time_is_that_of_the_whole_call() -> None:
    assert answer_section(Report("m", seconds=20.2, timings={"read": 0.5})).title == "Converted m in 20.2 s"


def test_the_worst_judgement() -> None:
    assert worst_of(["good", "warn", "unclear", None]) == "unclear"
    assert worst_of(["good", "bad", "unclear"]) == "bad"
    assert worst_of([None, "good"]) == "good"
    assert worst_of([]) is None
