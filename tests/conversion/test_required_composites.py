"""``require_fused``: names, patterns, and composites that have to be compared with their bodies, too."""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Literal

import pytest

import litefuse
from litefuse.conversion.pipeline.chosen_composites import check_fused, no_composite
from litefuse.errors import LitefuseError, NotFusedError
from litefuse.fusions.fusion import called_formulas, take_formulas
from litefuse.fusions.recognizers import pattern
from litefuse.support.options.forms import CompositeForms, RequiredComposites
from litefuse.support.report import CompositeReport, LoopReport
from litefuse.tools.demo import SAVED_MODEL
from litefuse.tools.demo.check import MyCustomFusedOp


def convert(required: bool | Collection[str], *, check_fusions: bool = True) -> dict[str, str]:
    report = litefuse.convert(
        SAVED_MODEL, require_fused=required, checks=litefuse.Checks(fusions=check_fusions, file=False)
    ).report
    return {each.name: each.compared for each in report.composites}


@pytest.mark.parametrize("annotated", [True, False])
def test_annotations_are_asked_for_where_they_would_help(annotated: bool) -> None:
    uncalled = [CompositeReport("scale", "f", 0, "inlined", reason="it is not called")] if annotated else []
    error = no_composite(uncalled, (), [LoopReport("gru", "LiteRT has no op for it")])
    assert "gru: LiteRT has no op for it" in error.message
    assert ("Annotate the function" in error.hint) == annotated
    assert "--require-fused" in error.hint


def test_patterns_are_names_of_those_that_fit() -> None:
    assert set(convert(["embedding_*", "my_custom_fused_op"])) == {"embedding_matmul", "my_custom_fused_op"}
    with pytest.raises(NotFusedError, match=r"'embedded_\*': no function of the model is annotated so") as caught:
        convert(["embedding_*", "embedded_*"])
    assert caught.value.hint == "The composites are 'embedding_matmul', 'my_custom_fused_op'."
    with pytest.raises(NotFusedError, match=r"'my_custom_fused_op' .*chosen to be builtin"):
        litefuse.convert(SAVED_MODEL, composites="builtin", require_fused=["my_*"])
    assert set(convert("embedding_*")) == {"embedding_matmul", "my_custom_fused_op"}
    with pytest.raises(NotFusedError, match=r"'embedded_\*': no function of the model is annotated so"):
        convert("embedded_*")


def test_what_a_recognizer_did_not_find() -> None:
    """The report says nothing of it; an error does where a composite of its name is asked for."""
    before = called_formulas()
    try:
        litefuse.recognizer("grid_nowhere")(lambda x: pattern.erf(x) * pattern.tanh(x))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        report = litefuse.convert(SAVED_MODEL, checks=litefuse.Checks(file=False)).report
        assert [(one.name, one.found) for one in report.recognizers] == [("grid_nowhere", 0)]
        assert "grid" not in report.details()
        with pytest.raises(NotFusedError, match=r"'grid_\*': no function .* so, and its recognizer found nothing\n"):
            convert(["grid_*"])
        with pytest.raises(LitefuseError, match=r"'grid_\*', whose form was chosen, and its recognizer found no"):
            litefuse.convert(SAVED_MODEL, composites={"grid_*": "custom"})
    finally:
        take_formulas(before)


@pytest.mark.parametrize(
    ("name", "outcome", "loops", "pattern", "problem"),
    [
        ("lstm_loop", "fused", (), "lstm", None),
        ("lstm_loop", "fused", (), "LSTM", None),
        ("lstm_loop", "inlined", (), "lstm", "'lstm_loop' .*because"),
        ("lstm_885ed721-569d-4c51-9f5a-0123456789ab", "fused", (), "lstm", None),
        ("lstm_loop", "fused", ("an LSTM of 64 units: the loop is faster",), "lstm", "a/layer: an LSTM of 64 units"),
        ("lstm_loop", "fused", ("an LSTM of 64 units: the loop is faster",), "lstm_loop", None),
        ("lstm_loop", "fused", ("a GRU of 64 units",), "lstm", None),
        ("none", "fused", ("a GRU of 64 units",), "gru", "a/layer: a GRU of 64 units"),
        ("none", "fused", ("a GRU",) * 9, "lstm", r"that are loops: a/layer \(a GRU\), .* and 6 more"),
        (
            "lstm_like",
            "fused",
            (),
            "lstm",
            "'lstm': no function of the model is annotated so\nThe composites are",
        ),
    ],
)
def test_kinds_of_recurrent_layers(
    name: str, outcome: Literal["fused", "inlined"], loops: Collection[str], pattern: str, problem: str | None
) -> None:
    composites = [CompositeReport(name, "f", 1, outcome, reason="because")]
    left = [LoopReport("a/layer", reason) for reason in loops]
    check = functools.partial(
        check_fused, RequiredComposites.of([pattern]), composites, CompositeForms.of("fuse"), loops=left
    )
    if problem is None:
        check()
        return
    with pytest.raises(NotFusedError, match=problem):
        check()


def test_what_has_to_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = r"had to be fused and checked were not:\n  'my_custom_fused_op' \(.*\): not compared: no kernel"
    for required in ("checked", ["checked"], ["checked", "*"], ["my_*", "checked"]):
        with pytest.raises(NotFusedError, match=lacking):
            convert(required)
    assert convert(["checked", "embedding_*"])["embedding_matmul"] == "checked: error 0"
    with pytest.raises(NotFusedError, match=r"'embedding_matmul' .*not compared: the check of fusions is off"):
        convert(["checked", "embedding_*"], check_fusions=False)
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {"my_custom_fused_op": MyCustomFusedOp})
    assert convert("checked") == {"embedding_matmul": "checked: error 0", "my_custom_fused_op": "checked: error 0"}
