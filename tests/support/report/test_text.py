from __future__ import annotations

import json
from dataclasses import replace

from rich.console import Console

from litefuse.support.report import CompositeReport, LackingOpReport, RecognizerReport, Report, VariableReport
from litefuse.support.report.console import sections_renderable
from litefuse.support.report.conversion_sections import report_sections
from litefuse.support.report.sections import Section, op_section, shape_text
from litefuse.support.report.text import sections_text

REPORT = Report(
    source="/models/example",
    signatures=("embed", "serving_default"),
    composites=(
        CompositeReport("embedding_matmul", "f_1", 2, "fused", fused_into="EMBEDDING_LOOKUP"),
        CompositeReport("mystery", "g", 1, "inlined", reason="no fusion is registered for 'mystery'"),
    ),
    variables=(
        VariableReport("table", "float32", (10, 4), "frozen"),
        VariableReport("calls", "int32", (), "mutable", writer="AssignAddVariableOp in embed"),
    ),
    op_counts={"ADD": 1, "CONV_2D": 12, "CropAndResize": 1, "my_op": 2},
    custom_ops=("CropAndResize", "my_op"),
    pack_kernels=("CropAndResize",),
    lacking_ops=(
        LackingOpReport("Cross", "rewritten", count=2),
        LackingOpReport("CropAndResize", "pack", "no reason", count=1),
    ),
    size=12345,
    seconds=2.5,
    timings={"read": 0.5, "lower": 1.25},
)

ANSWER = """\
Converted /models/example in 2.5 s
  size           12,345 bytes, 16 ops
  fused          2 of 3 composites: 2 x embedding_matmul is EMBEDDING_LOOKUP
  checked        no fused op was compared with what it replaces
  not fused      mystery: no fusion is registered for 'mystery'
  needs kernels  CropAndResize (in litefuse's pack); my_op (yours: LiteRT has none)"""

DETAILS = """\
  signatures     embed, serving_default

Composites: 2 of 3 fused
  name              function  calls  outcome
  mystery           g             1  not fused: no fusion is registered for 'mystery'
  embedding_matmul  f_1           2  fused into EMBEDDING_LOOKUP, not compared

Variables: 1 frozen, 1 mutable
  calls  int32 []  written by AssignAddVariableOp in embed

Ops: 16
  12  CONV_2D
   2  my_op
   1  ADD
   1  CropAndResize

TensorFlow ops that LiteRT lacks: 3
  Cross          2  rewritten into builtin ops
  CropAndResize  1  custom op: needs the kernel of litefuse's pack (not rewritten: no reason)"""


def test_report_as_text() -> None:
    assert str(REPORT) == ANSWER
    assert REPORT.details() == f"{ANSWER}\n{DETAILS}"
    assert REPORT.details() == f"{ANSWER}\n{DETAILS}"


def test_a_kernel_that_is_in_python_only() -> None:
    text = str(replace(REPORT, python_kernels=("CropAndResize",)))
    assert "  CropAndResize (in litefuse's pack, in Python only); my_op (" in text
    assert json.loads(json.dumps(replace(REPORT, python_kernels=("my_op",)).to_json()))["python_kernels"] == ["my_op"]


def test_time_of_every_step_on_demand() -> None:
    assert sections_text(report_sections(REPORT, timings=True)) == (
        f"{ANSWER}\n\nTime by step\n  step        ms\n  read     500.0\n  lower  1,250.0"
    )


def test_an_empty_report() -> None:
    assert str(Report("m")) == "Converted m\n  size  0 bytes, 0 ops"
    assert Report("m").details() == "Converted m\n  size        0 bytes, 0 ops\n  signatures  none\n\nOps: 0"


def test_the_console_shows_the_facts_of_the_text() -> None:
    console = Console(width=120, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(sections_renderable(report_sections(REPORT, details=True, timings=True)))
    # The columns' widths are the console's own.
    shown = [line.split() for line in capture.get().splitlines()]
    assert shown == [
        line.split() for line in sections_text(report_sections(REPORT, details=True, timings=True)).splitlines()
    ]


def test_the_console_takes_brackets_for_what_they_are() -> None:
    console = Console(width=80, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(sections_renderable(report_sections(replace(REPORT, source="[bold]x[/bold]"))))
    assert capture.get().startswith("Converted [bold]x[/bold] in 2.5 s\n")


def test_colors_tell_fused_from_not_fused() -> None:
    console = Console(width=120, force_terminal=True, color_system="standard", no_color=False)
    with console.capture() as capture:
        console.print(sections_renderable(report_sections(REPORT, details=True)))
    assert "\x1b[32mfused into EMBEDDING_LOOKUP" in capture.get()
    assert "\x1b[33mnot fused" in capture.get()
    # The title, as what is worst.
    assert capture.get().startswith("\x1b[1;33mConverted")


def test_composites_that_are_alike_are_counted() -> None:
    many = tuple(CompositeReport("gelu", f"f_{number}", 3, "inlined", reason="why") for number in range(40))
    text = replace(REPORT, composites=(*many, REPORT.composites[0])).details()
    lines = text.partition("Composites")[2].partition("\n\n")[0].splitlines()
    assert lines[0] == ": 2 of 122 fused"
    assert [line.split()[1] for line in lines[2:7]] == ["f_0", "f_1", "f_2", "f_3", "f_4"]
    assert lines[7].split() == ["gelu", "and", "35", "more", "functions", "105", "not", "fused:", "why"]
    assert len(lines) == 9


def test_what_was_checked_does_not_speak_for_what_was_not() -> None:
    composites = (
        CompositeReport("gelu", "f", 1, "fused", fused_into="GELU", error=2e-7),
        CompositeReport("gelu", "g", 1, "fused", fused_into="GELU", error=5e-7),
        CompositeReport("gelu", "h", 1, "fused", fused_into="GELU", unchecked="it takes a string"),
        CompositeReport("gelu", "i", 1, "fused", fused_into="GELU"),
    )
    lines = replace(REPORT, composites=composites).details().splitlines()
    outcomes = {line.split()[1]: line.partition("fused into ")[2] for line in lines if line.startswith("  gelu")}
    # The worst error stands for those that were checked.
    assert outcomes == {
        "f": "GELU, checked: error 5e-07",
        "g": "GELU, checked: error 5e-07",
        "h": "GELU, not compared: it takes a string",
        "i": "GELU, not compared",
    }


def test_recognizers_that_found_nothing_are_silent() -> None:
    recognizers = (RecognizerReport("never", 0), RecognizerReport("nearly", 0, "node n"), RecognizerReport("once", 1))
    text = replace(REPORT, recognizers=recognizers).details()
    assert "Recognizers: 2\n  nearly  not found; closest: node n\n  once    found 1 time\n\n" in text
    assert "Recognizers" not in replace(REPORT, recognizers=recognizers[:1]).details()


def test_one_more_composite_than_listed_is_listed_too() -> None:
    six = tuple(CompositeReport("gelu", f"f_{number}", 1, "inlined", reason="why") for number in range(6))
    assert "f_5" in replace(REPORT, composites=six).details()


def test_many_ops_stand_abreast_in_the_order_of_their_counts() -> None:
    section = op_section({f"OP{number}": number for number in range(1, 9)}, "Ops")
    assert section.title == "Ops: 36"
    assert section.rows == [
        ("8", "OP8", "5", "OP5", "2", "OP2"),
        ("7", "OP7", "4", "OP4", "1", "OP1"),
        ("6", "OP6", "3", "OP3"),
    ]


def test_columns_are_aligned_and_lines_end_in_no_space() -> None:
    section = Section("t", [("a", "1"), ("bbb", "22", ""), ("c",)], right=frozenset({1}), note="n")
    assert sections_text([section]) == "t\n  a     1\n  bbb  22\n  c\n  n"


def test_shapes() -> None:
    assert shape_text(None) == "[*]"
    assert shape_text(()) == "[]"
    assert shape_text((None, 3)) == "[?, 3]"


def test_json_holds_every_fact() -> None:
    data = json.loads(json.dumps(REPORT.to_json()))
    assert data["composites"][1] == {
        "name": "mystery",
        "function": "g",
        "call_sites": 1,
        "outcome": "inlined",
        "fused_into": None,
        "reason": "no fusion is registered for 'mystery'",
        "error": None,
        "unchecked": None,
        "kernel": None,
        "note": None,
        "layers": [],
        "better_inlined": False,
    }
    assert data["variables"][1]["writer"] == "AssignAddVariableOp in embed"
    assert data["timings"] == {"read": 0.5, "lower": 1.25}


def test_statistics_that_a_model_updates_are_explained() -> None:
    statistics = VariableReport("layers/norm/moving_mean", "float32", (3,), "mutable", writer="AssignVariableOp in f")
    hint = "export the model with training=False"
    assert hint in str(replace(REPORT, variables=(statistics,)))
    assert hint not in str(replace(REPORT, variables=(replace(statistics, verdict="frozen"),)))
    assert hint not in ANSWER
