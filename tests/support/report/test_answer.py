"""The beginning of a report: what became of the model, and what users have to know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from litefuse.support.report import (
    ChainReport,
    CompositeReport,
    FileCheckReport,
    KernelReport,
    LeftOutReport,
    MovingRange,
    QuantizationReport,
    Report,
    TargetCheckReport,
    VariableReport,
)
from litefuse.support.report.answer import answer_section
from litefuse.support.report.caveats import caveat_section
from litefuse.support.report.conversion_sections import report_sections
from litefuse.support.report.sections import Judgement, Section, worst_of

GELU = CompositeReport("gelu", "f", 3, "fused", fused_into="GELU", error=2e-7)


def row(section: Section, name: str) -> tuple[str, Judgement]:
    """The text and judgement of the only row of this name."""
    (number,) = [number for number, cells in enumerate(section.rows) if cells[0] == name]
    return section.rows[number][1], section.judgements[number]


def names(section: Section) -> list[str]:
    return [cells[0] for cells in section.rows]


@pytest.mark.parametrize(
    ("size", "source", "text"),
    [
        (1000, 4000, "1,000 bytes, 4.0 times smaller than the original's 4,000"),
        (4000, 1000, "4,000 bytes, 4.0 times larger than the original's 1,000"),
        (3000, 4000, "3,000 bytes, 25% smaller than the original's 4,000"),
        (5000, 4000, "5,000 bytes, 25% larger than the original's 4,000"),
        (4001, 4000, "4,001 bytes, about as many as the original's 4,000"),
        (1, 0, "1 byte"),
        (0, 4000, "0 bytes"),
    ],
)
def test_size(size: int, source: int, text: str) -> None:
    assert row(answer_section(Report("m", size=size, source_size=source)), "size") == (text, None)


def test_what_was_fused_and_whether_it_is_equal() -> None:
    custom = CompositeReport("mine", "g", 1, "fused", fused_into="mine", unchecked="it takes a string")
    norm = CompositeReport("odml.norm", "h", 2, "fused", fused_into="STABLEHLO_COMPOSITE odml.norm", error=1e-6)
    all_checked = answer_section(Report("m", composites=(GELU, norm)))
    assert row(all_checked, "fused") == (
        "2 of 2 composites: 3 x gelu is GELU, 2 x odml.norm is STABLEHLO_COMPOSITE",
        "good",
    )
    assert row(all_checked, "equal") == ("each fused op computes what it replaces (largest error 1e-06)", "good")
    some = answer_section(Report("m", composites=(GELU, custom)))
    assert row(some, "fused")[0] == "2 of 2 composites: 3 x gelu is GELU, mine (custom op)"
    text = "1 of 2 fused ops, as checked (largest error 2e-07); 1 not compared"
    assert row(some, "equal") == (text, "good")
    none = answer_section(Report("m", composites=(custom,)))
    assert row(none, "equal") == ("unknown: no fused op was compared with what it replaces", None)


def test_many_kinds_are_counted() -> None:
    many = tuple(replace(GELU, name=f"gelu_{number}", call_sites=1) for number in range(6))
    text = "6 of 6 composites: gelu_0 is GELU, gelu_1 is GELU, gelu_2 is GELU and 3 more"
    assert row(answer_section(Report("m", composites=many)), "fused")[0] == text


def test_what_was_not_fused_is_a_caveat() -> None:
    left = CompositeReport("mystery", "g", 1, "inlined", reason="nobody knows it")
    report = Report("m", composites=(GELU, left, replace(left, function="h")))
    sections = report_sections(report)
    assert row(sections[0], "fused") == ("1 of 3 composites: 3 x gelu is GELU", "warn")
    assert sections[0].judgement == "warn"
    assert row(sections[1], "not fused") == ("2 x mystery: nobody knows it", "warn")
    assert (sections[1].title, sections[1].judgement) == ("Please note", "warn")


def test_without_caveats_all_is_good() -> None:
    sections = report_sections(Report("m", composites=(GELU,), file_check=FileCheckReport(ran=True)))
    assert sections[0].judgement == "good"
    assert sections[1].title == "Composites: 1 of 1 fused"


def test_whether_it_runs() -> None:
    def run(check: FileCheckReport, *signatures: str) -> tuple[str, Judgement]:
        return row(answer_section(Report("m", signatures=signatures, file_check=check)), "run")

    assert run(FileCheckReport(ran=True), "a") == ("LiteRT called its signature", "good")
    assert run(FileCheckReport(ran=True), "a", "b") == ("LiteRT called each of its 2 signatures", "good")
    assert run(FileCheckReport(ran=False, reason="no kernel"), "a") == ("not called: no kernel", "warn")
    assert "run" not in names(answer_section(Report("m")))


def test_how_fast_generated_kernels_are() -> None:
    kernel = KernelReport(3e-7, 1e-6, 2.5e-6)
    chain = ChainReport("chain_0", "ADD", "MUL", "x", 3, 1, kernel)
    report = Report("m", composites=(replace(GELU, error=None, kernel=kernel),), chains=(chain,))
    section = answer_section(report, kernels="m.kernels")
    text = "2 kernels generated, in m.kernels: gelu 2.5 times as fast, chain_0 2.5 times as fast"
    assert row(section, "kernels") == (text, "good")
    assert row(section, "equal")[0] == "each fused op computes what it replaces (largest error 3e-07)"


def test_quantization() -> None:
    quantization = QuantizationReport("int8", 4000, 0.003, "samples", samples=40)
    report = Report("/models/m.tflite", size=1000, source_size=4000, quantization=quantization)
    section = answer_section(report, written="q.tflite")
    assert section.title == "Quantized /models/m.tflite to q.tflite"
    assert row(section, "outputs") == ("differ by up to 0.003 from those before quantization, on samples", "good")
    assert "fused" not in names(section)
    assert caveat_section(report) is None
    far = replace(report, quantization=replace(quantization, error=0.5, moving=(MovingRange("x", 0.1),)))
    assert row(answer_section(far), "outputs")[1] == "bad"
    caveats = caveat_section(far)
    assert caveats is not None
    assert caveats.judgement == "bad"
    assert names(caveats) == ["outputs", "samples"]
    assert "40 are too few: a range still grew" in caveats.rows[1][1]
    unknown = replace(report, quantization=replace(quantization, error=None, unchecked="no output moves"))
    text = "not compared with those before quantization: no output moves"
    assert row(answer_section(unknown), "outputs") == (text, "unclear")
    # What is no number is no small difference.
    broken = replace(report, quantization=replace(quantization, error=float("nan")))
    assert row(answer_section(broken), "outputs")[1] == "bad"


def test_targets() -> None:
    gpu = TargetCheckReport("gpu", "partly", "takes it except 7 ops", tuple(f"OP_{n}: why" for n in range(7)))
    micro = TargetCheckReport("micro", "refused", "does not take it", ("ADD: no",), (("arena", "10 bytes"),))
    report = Report("m", target="gpu, micro", batch_taken=1, target_checks=(gpu, micro))
    sections = report_sections(report)
    assert row(sections[0], "target")[0] == "gpu, micro; a batch of 1, not a dynamic one (--batch)"
    assert row(sections[0], "check gpu") == ("takes it except 7 ops", "warn")
    assert row(sections[0], "check micro") == ("does not take it", "bad")
    assert names(sections[1]) == ["micro refuses", "gpu refuses"]
    assert row(sections[1], "gpu refuses")[0].splitlines()[-2:] == [
        "OP_4: why",
        "and 2 more: litefuse check lists them",
    ]
    facts = next(each for each in sections if each.title == "Target micro")
    assert facts.rows == [("refused", "ADD: no"), ("arena", "10 bytes")]


def test_the_command_that_compares_it(tmp_path: Path) -> None:
    original = tmp_path / "a model; rm -rf x"
    original.mkdir()
    report = Report(str(original), size=1)
    section = answer_section(report, written="my model.tflite", original=str(original))
    assert section.title == f"Converted {original} to my model.tflite"
    assert row(section, "next")[0] == f"litefuse verify 'my model.tflite' '{original}' compares it with the original"
    ran = answer_section(replace(report, file_check=FileCheckReport(ran=True)), written="m.tflite")
    assert ran.rows[-1] == ("", "litefuse benchmark m.tflite measures how fast it is")
    not_called = answer_section(
        replace(report, file_check=FileCheckReport(ran=False, reason="why")), written="m.tflite"
    )
    assert not_called.rows[-1][0] == "next"
    # What is not on disk cannot be named there, and what is not written neither.
    assert "next" not in names(answer_section(Report("function f\0"), written="m.tflite"))
    assert "next" not in names(answer_section(report))


def test_signatures_that_were_left_out() -> None:
    same = LeftOutReport("serve", "it computes the same")
    broken = LeftOutReport("bad", "it cannot be used: why", usable=False)
    report = Report("m", left_out=(same, broken))
    assert row(answer_section(report), "left out") == ("serve: it computes the same", None)
    caveats = caveat_section(report)
    assert caveats is not None
    assert caveats.rows == [("left out", "bad: it cannot be used: why")]


def test_custom_ops() -> None:
    report = Report("m", custom_ops=("A", "B", "C"), pack_kernels=("B", "C"), python_kernels=("C",))
    caveats = caveat_section(report)
    assert caveats is not None
    assert [cells[1] for cells in caveats.rows] == [
        "A: LiteRT has none for these custom ops",
        "B, C: litefuse's pack has them, in Python only those for C",
    ]


def test_statistics_and_needless_custom_ops() -> None:
    statistics = VariableReport("layers/norm/moving_mean", "float32", (3,), "mutable", writer="AssignVariableOp in f")
    caveats = caveat_section(Report("m", variables=(statistics,), needless_custom_ops=("Sin",)))
    assert caveats is not None
    assert names(caveats) == ["training", "no effect"]


def test_the_oldest_runtime_and_weights_behind_the_flatbuffer() -> None:
    section = answer_section(Report("m", least_runtime="LiteRT 1.0 or newer"))
    assert ("runs in", "LiteRT 1.0 or newer") in section.rows
    assert caveat_section(Report("m", size=2**31 - 1)) is None
    caveats = caveat_section(Report("m", size=2**31))
    assert caveats is not None
    assert "OpenVINO, TVM and tflite-micro do not" in caveats.rows[0][1]


def test_the_worst_judgement() -> None:
    assert worst_of(["good", "warn", "unclear", None]) == "unclear"
    assert worst_of(["good", "bad", "unclear"]) == "bad"
    assert worst_of([None, "good"]) == "good"
    assert worst_of([]) is None
