"""Comparison of models whose inputs and outputs were given other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import litefuse
from litefuse.conversion.verify.original import Arrays, Call
from litefuse.conversion.verify.reference import Names
from litefuse.litert.metadata.description import Finish
from litefuse.litert.metadata.finish import finish_file
from litefuse.tools.demo import SAVED_MODEL
from tests.litert.runtime.models import Graph, model

RENAME = {"x": "picture", "serve:y": "score"}


def negation(op: str = "NEG") -> bytes:
    graph = Graph()
    graph.builtin(op, [graph.input("x", (2,))], [graph.output("y", (2,))])
    return model(graph, signatures={"serve": 0})


def renamed(path: Path, rename: Mapping[str, str], op: str = "NEG") -> Path:
    path.write_bytes(negation(op))
    finish_file(path, Finish.of(None, rename))
    return path


def test_an_original_is_called_under_its_own_names(tmp_path: Path) -> None:
    names = Names.of(str(renamed(tmp_path / "m.tflite", RENAME)))
    value = np.zeros(2, np.float32)

    def call(rounds: Sequence[Sequence[Call]], outputs: Mapping[str, tuple[str, ...]]) -> list[list[Arrays]]:
        assert outputs == {"serve": ("y",)}
        assert [[each.inputs for each in calls] for calls in rounds] == [[{"x": value}]]
        return [[{"y": value, "other": value}]]

    found = names.rounds(call, [[Call("serve", {"picture": value})]], {"serve": ("score",)})
    assert found == [[{"score": value, "other": value}]]


def test_models_of_which_one_or_both_were_renamed(tmp_path: Path) -> None:
    one, plain = renamed(tmp_path / "one.tflite", RENAME), tmp_path / "plain.tflite"
    other = renamed(tmp_path / "other.tflite", {"x": "a", "y": "picture"})
    plain.write_bytes(negation())

    def names(first: Path, second: Path) -> object:
        return Names.of(str(first), second.read_bytes()).record

    assert names(one, plain) == {"serve": {"inputs": {"picture": "x"}, "outputs": {"score": "y"}}}
    assert names(plain, one) == {"serve": {"inputs": {"x": "picture"}, "outputs": {"y": "score"}}}
    assert names(one, other) == {"serve": {"inputs": {"picture": "a"}, "outputs": {"score": "picture"}}}
    assert names(one, one) == {}
    assert litefuse.verify_model(one, other).ok
    wrong = renamed(tmp_path / "wrong.tflite", RENAME, "ABS")
    assert litefuse.verify_model(wrong, plain).verdict == "differs"


def test_a_conversion_with_other_names() -> None:
    converted = litefuse.convert(SAVED_MODEL, signatures=["embed"], rename={"ids": "tokens", "vectors": "y"})
    plain = litefuse.convert(SAVED_MODEL, signatures=["embed"])
    verified = litefuse.verify_model(converted, plain)
    assert {each.name: each.verdict for each in verified.outputs}["y"] == "equal"
    assert not litefuse.diff(plain, converted).operators


def test_what_is_no_model_has_no_names(tmp_path: Path) -> None:
    assert Names.of(str(tmp_path / "missing"), b"nothing").record == {}
    assert Names.of(b"", b"\0" * 50).record == {}
