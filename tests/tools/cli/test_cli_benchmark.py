"""``litefuse benchmark``."""

from __future__ import annotations

import json
import re
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from litefuse.support.report.sections import time_text
from litefuse.support.report.text import sections_text
from litefuse.tools.benchmarking.benchmark_sections import benchmark_sections
from litefuse.tools.benchmarking.measurement import (
    Benchmark,
    Input,
    Latency,
    Measurement,
    Memory,
    OpTime,
    Partition,
    Ratio,
)
from tests.every import every
from tests.tools.benchmarking.models import activated, composed, loop
from tests.tools.cli.test_cli import refused, run

FEW = ("--repeat", "3", "--warm-up", "0")
KERNELS = """
import litefuse

@litefuse.custom_op("Double")
class Double(litefuse.CustomOp):
    def prepare(self, x):
        return x

    def invoke(self, inputs, outputs):
        outputs[0][...] = inputs[0] + inputs[0]
"""


@pytest.fixture
def double(tmp_path: Path) -> tuple[Path, Path]:
    """A model with a custom op, and its kernel's file."""
    path, kernels = tmp_path / "model.tflite", tmp_path / "kernels.py"
    path.write_bytes(composed())
    kernels.write_text(KERNELS)
    return path, kernels


def test_the_answer_comes_first_and_the_lines_fit_a_terminal(double: tuple[Path, Path]) -> None:
    outcome = run("benchmark", double[0], "--kernels", double[1], *FEW, "--top", "2")
    assert outcome.code == 0
    first, second = outcome.out.splitlines()[:2]
    assert " a call (p90 " in first
    assert second.startswith("  processor  ")
    assert "Slowest ops, 2 of 5" in outcome.out
    titles = [line for line in outcome.out.splitlines() if line and not line.startswith(" ")]
    assert len(titles) == 2
    assert {"load", "memory"} <= {line.split()[0] for line in outcome.out.splitlines() if line}
    path = str(double[0])
    assert every(len(line) <= 80 for line in outcome.out.splitlines() if path not in line)


def test_as_json_with_another_model(double: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.tflite"
    other.write_bytes(activated())
    outcome = run("benchmark", double[0], other, "--kernels", double[1], *FEW, "--top", "0", "--json", "--no-xnnpack")
    found = json.loads(outcome.out)
    assert [each["model"] for each in found["measurements"]] == [str(double[0]), str(other)]
    assert [each["xnnpack"] for each in found["measurements"]] == [False, False]
    assert found["ratio"] == found["ratios"]["serve"]["median"]
    assert not found["measurements"][0]["ops"]


@pytest.mark.parametrize(("top", "titles"), [((), 0), (("--top", "1"), 2), (("--top", "0"), 0)])
def test_ops_of_two_models_are_listed_where_that_is_asked_for(
    tmp_path: Path, top: tuple[str, ...], titles: int
) -> None:
    paths = tmp_path / "one.tflite", tmp_path / "other.tflite"
    for path in paths:
        path.write_bytes(activated())
    outcome = run("benchmark", *paths, *FEW, *top)
    assert outcome.code == 0
    assert len(re.findall("(?m)^(?:Slowest ops|Ops), ", outcome.out)) == titles


def test_given_inputs_of_a_loop(tmp_path: Path) -> None:
    path = tmp_path / "loop.tflite"
    path.write_bytes(loop(3))
    np.savez(tmp_path / "in.npz", i=np.array(1, np.int32), x=np.zeros(3, np.float32))
    outcome = run("benchmark", path, "--inputs", tmp_path / "in.npz", *FEW, "--json")
    (measurement,) = json.loads(outcome.out)["measurements"]
    assert {(op["subgraph"], op["op"]): op["runs"] for op in measurement["ops"]} == {
        (0, 0): 1,
        (1, 0): 3,
        (2, 0): 2,
        (2, 1): 2,
    }


def test_what_is_refused(double: tuple[Path, Path], tmp_path: Path) -> None:
    path = double[0]
    refused(run("benchmark", path, *FEW), "no kernel for the custom ops Double")
    refused(run("benchmark", tmp_path / "none.tflite"), "no such file")
    error = json.loads(run("benchmark", tmp_path / "none.tflite", "--json").out)
    assert error["error"]["type"] == "InterpreterError"
    assert "neither a number nor 'all'" in run("benchmark", path, "--top", "few").err
    assert "--inputs excludes" in run("benchmark", path, "--inputs", "x.npz", "--seed", "1").err


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (12.34, "12.3 s"),
        (1.5, "1,500 ms"),
        (0.0135, "13.5 ms"),
        (0.00092, "0.920 ms"),
        (2.71e-5, "27.1 us"),
        (0.0, "0 us"),
    ],
)
def test_times_have_three_digits(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def made(name: str, *, seconds: float = 0.01, layer: str = "layer") -> Measurement:
    ops = (
        OpTime(0, 0, "ADD", name, layer, None, 1.0, "Neural", 0),
        OpTime(0, 1, name, name, name, 0.006, 1.0, "LiteRT"),
        OpTime(1, 0, "MUL", name, layer, 0.002, 2.5, "LiteRT"),
    )
    partition = Partition(0, "Neural", 0, ((0, 0),), 0.001, 1.0, reason="Neural does not report the times of its ops")
    return Measurement(
        name,
        name,
        (Input(name, "float32", (1, 2)),),
        drawn=True,
        threads=1,
        xnnpack=True,
        load=0.1,
        cold=0.02,
        warm=Latency.of([seconds]),
        memory=Memory(100),
        profiled=0.01,
        ops=ops,
        partitions=(partition,),
    )


def test_names_are_no_commands_to_the_terminal_and_are_shortened() -> None:
    hostile = "\x1b[2J<script>\n\u202e" + "x" * 200
    text = sections_text(benchmark_sections(Benchmark((made(hostile),), cpu=hostile), details=True))
    assert every(each.isprintable() or each == "\n" for each in text)
    assert "\\x1b[2J" in text
    assert every(len(line) <= 80 for line in text.splitlines())


def test_what_is_not_split_says_why_and_shares_add_up() -> None:
    text = sections_text(benchmark_sections(Benchmark((made("model"),)), details=True))
    assert "Time by layer" in text
    assert "80% of a call by single ops, 90% with partitions" in text
    assert "Not split: Neural does not report the times of its ops." in text
    assert "  1:0  MUL" in text
    assert " 2.5 " in text


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ([1.0] * 5, [2.0] * 5, "2.00x as fast as other"),
        ([2.0] * 5, [1.0] * 5, "0.50x as fast as other"),
        ([1.0] * 5, [1.01] * 5, ", as fast as other"),
        ([1.0] * 5, [0.8, 0.9, 1.2, 1.3, 1.3], ", as fast as other"),
    ],
)
def test_the_comparison_of_two_models(first: list[float], second: list[float], text: str) -> None:
    models = made("model"), made("other", seconds=0.05)  # measured one after the other, and so at another speed
    found = Benchmark(models, {"": Ratio.of(first, second)})
    assert text in str(found).splitlines()[0]
    assert "Called alternately" in str(found)
    medians = [time_text(statistics.median(times)) for times in (first, second)]
    rows = [line for line in str(found).splitlines() if line.split()[:2] in (["model", "model"], ["other", "other"])]
    assert [time in row for time, row in zip(medians, rows, strict=True)] == [True, True]
    assert str(found).startswith(f"{medians[0]} a call")


def test_models_that_were_not_called_in_turn() -> None:
    text = str(Benchmark((made("model"), made("other"))))
    assert text.splitlines()[0] == "10 ms a call (p90 10 ms)"
    assert "no signature of the same name" in text
    several = Benchmark((made("model"), replace(made("model"), signature="other")))
    assert str(several).splitlines()[0] == "10 ms a call (p90 10 ms) of model"
