"""Targets of packages, what their software may do wrong, and their tables."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import litefuse
from litefuse.conversion.verify.targets.comparison import Comparison
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.targets import OWN, find_target, target_names, traits_of
from litefuse.litert.targets.op_table import Limits, OpTable, refused_by_table
from litefuse.litert.targets.question import Refusal
from litefuse.support.plug_ins.entry_points import take_plug_ins
from litefuse.tools.demo import SAVED_MODEL
from tests.litert.runtime.models import Graph
from tests.litert.targets.models import dense, lookup, remembering, serving
from tests.tools.cli.test_cli import run

MINE = """
import os, signal, time
from litefuse.litert.targets.target import Target
from litefuse.support.target_traits import TargetTraits
from litefuse.litert.targets.op_table import OpTable
from litefuse.litert.targets.question import Answer, Refusal

class Mine(Target):
    name = "mine"
    traits = TargetTraits("my chip")
    table = OpTable("my data sheet", ops={})

    def answer(self, question):
        return {"y": -question.inputs["x"][:, :4]}

    def ask(self, question, announce):
        outputs = tuple(tuple(self.answer(call) for call in calls) for calls in question.rounds)
        return Answer("mine 1.0", outputs=outputs)

class Dying(Mine):
    name = "dying"

    def ask(self, question, announce):
        announce("compile the model")
        with open(question.log, "w") as log:
            log.write("op TANH")
        os.kill(os.getpid(), signal.SIGSEGV)

    def refusals(self, log):
        return (Refusal("FULLY_CONNECTED", "it was told"),) if log == "op TANH" else ()

class Compiling(Mine):
    name = "compiling"

    def ask(self, question, announce):
        return Answer("mine 1.0", not_run="it only compiles")

class Slow(Mine):
    name = "slow"

    def ask(self, question, announce):
        announce("compile the model")
        time.sleep(600)

class Broken(Mine):
    name = "broken"

    def ask(self, question, announce):
        raise KeyError("surprise")
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with targets."""
    (tmp_path / "my_targets.py").write_text(MINE)
    about = tmp_path / "mine-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[litefuse.targets]\nmine = my_targets:Mine\ndying = my_targets:Dying\nslow = my_targets:Slow\n"
        "broken = my_targets:Broken\ncompiling = my_targets:Compiling\n"
        "no_target = my_targets:OpTable\nnothing = my_targets:Nothing\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    take_plug_ins(None)
    yield
    take_plug_ins(None)
    sys.modules.pop("my_targets", None)


@pytest.mark.usefixtures("installed")
def test_targets_of_packages(tmp_path: Path) -> None:
    assert target_names()[: len(OWN)] == (*OWN,)
    assert {"mine", "dying"} <= {*target_names()}
    assert traits_of("mine").runtime == "my chip"
    (report,) = litefuse.check(dense(), "mine").reports
    assert (report.software, report.verdict) == ("mine 1.0", "differs")  # its numbers are wrong
    path = tmp_path / "model.tflite"
    path.write_bytes(dense())
    outcome = run("check", path, "--target", "mine")
    assert outcome.code == 1
    assert "mine  gives other numbers than LiteRT on the CPU" in outcome.out


@pytest.mark.usefixtures("installed")
def test_a_conversion_for_a_target_of_a_package() -> None:
    result = litefuse.convert(SAVED_MODEL, target="mine", allow_custom_ops=True)
    assert result.report.target == "mine"
    (check,) = result.report.target_checks
    assert check.target == "mine"
    assert (
        litefuse.convert(SAVED_MODEL, target="mine", checks=litefuse.Checks(targets=False)).report.target_checks == ()
    )


@pytest.mark.usefixtures("installed")
def test_acceleration_is_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is kept if a target refuses an op, or computes other numbers, or cannot be asked."""
    path = tmp_path / "model.tflite"
    options = ("--allow-custom-ops", "all", "--check-target", "required", "-o", path)
    outcome = run("convert", SAVED_MODEL, "--target", "dying", "--target", "cpu", "--json", *options)
    assert outcome.code == 5
    told = json.loads(outcome.out)["error"]
    assert told["type"] == "NotAcceleratedError"
    assert told["message"].startswith("target dying: ")
    assert told["refused"][0] == "dying: FULLY_CONNECTED: it was told"
    monkeypatch.setattr(importlib.import_module("my_targets").__dict__["Slow"], "missing", away)
    outcome = run("convert", SAVED_MODEL, "--target", "slow", *options)
    assert outcome.code == 5
    assert "it is away" in outcome.err
    assert [*tmp_path.glob("*.tflite")] == []
    outcome = run("convert", SAVED_MODEL, "--target", "cpu", *options)
    assert outcome.code == 1
    assert "needs a target that can be checked" in outcome.err
    outcome = run("convert", SAVED_MODEL, "--target", "compiling", *options, "-q")
    assert outcome.code == 0
    assert path.exists()


@pytest.mark.usefixtures("installed")
def test_broken_packages_do_not_matter_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Dying", "Slow", "Broken"):
        monkeypatch.setattr(importlib.import_module("my_targets").__dict__[name], "missing", away)
    found = litefuse.check(dense())
    assert {"cpu", "litert", "micro", "ethos-u", "mine"} <= {each.target for each in found.reports}
    skipped = dict(found.skipped)
    assert "not a subclass of" in skipped["no_target"]
    assert "cannot be imported" in skipped["nothing"]
    assert skipped["slow"] == "it is away"
    assert not found.ok


def away(_: object) -> str:
    return "it is away"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("spread", "verdict"), [(100.0, "inconclusive"), (1e-6, "differs")])
def test_kernels_that_differ_themselves(monkeypatch: pytest.MonkeyPatch, spread: float, verdict: str) -> None:
    def spreads(*_: object) -> dict[tuple[str, str], float]:
        return {("serving_default", "y"): spread}

    monkeypatch.setattr(Comparison, "spread", spreads)
    (report,) = litefuse.check(dense(), "mine").reports
    assert report.verdict == verdict
    assert ("LiteRT's own kernels differ" in report.outputs[0].problem) == (verdict == "inconclusive")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "message"),
    [("no_target", "not a subclass of"), ("nothing", "cannot be imported"), ("npu", "unknown target 'npu'")],
)
def test_what_is_no_target(name: str, message: str) -> None:
    with pytest.raises(litefuse.LitefuseError, match=message):
        find_target(name)


@pytest.mark.usefixtures("installed")
def test_software_that_dies_or_does_not_end() -> None:
    (report,) = litefuse.check(dense(), "dying").reports
    assert report.verdict == "refused"
    assert [(each.op, each.reason) for each in report.refused] == [
        ("FULLY_CONNECTED", "it was told"),
        ("", "its software crashes on the file (SIGSEGV), in the step 'compile the model'"),
    ]
    (report,) = litefuse.check(dense(), "slow", limits=3).reports
    assert report.table  # of this target, which refuses the op; the limit of time refuses nothing
    assert [refused.op for refused in report.refused] == ["FULLY_CONNECTED"]
    assert report.missing.startswith("its software took more than 3 seconds in the step 'compile the model': raise")
    (report,) = litefuse.check(dense(), "broken").reports
    assert report.verdict == "refused"
    assert "KeyError" in report.refused[0].reason


def test_traits_of_several_are_the_stricter() -> None:
    both = traits_of(["litert", "micro"])
    assert (both.dynamic, both.loops, both.variables, both.mixed) == (False, False, False, False)
    assert both.runtime == "LiteRT's CompiledModel and tflite-micro"
    assert traits_of("cpu").dynamic


def refused(content: bytes, table: OpTable) -> list[Refusal]:
    return [*refused_by_table(Model(content), table)]


def test_tables() -> None:
    content = lookup()
    assert refused(content, OpTable("", {"GATHER": Limits(), "MUL": Limits()})) == []
    assert refused(content, OpTable("", {"GATHER": Limits()})) == [Refusal("MUL", "no such op", ("y",))]
    two = OpTable("", {"GATHER": Limits(rank=2), "MUL": Limits(version=0)})
    assert [each.reason for each in refused(content, two)] == [
        "rank 3, and up to 2 is taken",
        "version 1 of the op, and up to 0 is taken",
    ]
    dtypes = OpTable("", every=Limits(dtypes=frozenset({"int8"})))
    assert {each.reason for each in refused(content, dtypes)} == {"it is of float32, and int8 are taken"}
    operands = OpTable("", {"GATHER": Limits(constant=(1,)), "MUL": Limits(computed=(1,))})
    assert [each.reason for each in refused(content, operands)] == ["operand 1 is computed", "operand 1 is a constant"]
    graph = Graph()
    x, scalar = graph.input("x", (1,)), graph.tensor("shape", (0,), "INT32")
    graph.builtin("RESHAPE", [x, scalar], [graph.output("y", ())])
    assert refused(serving(graph), OpTable("", {"RESHAPE": Limits(constant=(1,))})) == []  # of nothing to compute
    assert refused(remembering(), OpTable("", variables=False)) == [
        Refusal("", "variable tensors are not taken", ("state",))
    ]


def test_tables_know_options_and_custom_ops() -> None:
    graph = Graph()
    x = graph.input("x", (2, 4))
    places = [
        graph.tensor(name, (2,), "INT32", value=value) for name, value in (("b", [0, 0]), ("e", [1, 4]), ("s", [1, 1]))
    ]
    row = graph.tensor("row", (4,))
    graph.builtin("STRIDED_SLICE", [x, *places], [row], shrinkAxisMask=1)
    graph.custom("Mine", [row], [graph.output("y", (4,))])
    found = refused(serving(graph), find_target("gpu").table)
    assert found == [
        Refusal("STRIDED_SLICE", "shrink_axis_mask is set", ("row",)),
        Refusal("Mine", "it is a custom op", ("y",)),
    ]
