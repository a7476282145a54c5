"""Mixed precision of small models: which layers have a form, and which they get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.quantization.mixed_precision import mix_precision
from litefuse.errors import LitefuseError
from litefuse.litert.runtime.interpreter import Interpreter
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph

X = np.random.default_rng(3).normal(size=(1, 64)).astype(np.float32)


def layers() -> Graph:
    """Three products, the last of which has fewer weights than count, and one of a constant with weights."""
    graph, random = Graph(), np.random.default_rng(4)
    value, shape = graph.input("x", [1, 64]), (64, 16, 8)
    for number, units in enumerate(shape):
        width = 64 if number < 2 else 16
        made = graph.output("y", [1, 8]) if number == 2 else graph.tensor(f"h{number}", [1, units])
        weights = graph.tensor(f"w{number}", [units, width], value=random.normal(size=(units, width)) / 8)
        graph.builtin("FULLY_CONNECTED", [value, weights, -1], [made])
        value = made
    constant = graph.tensor("c", [1, 64], value=np.ones((1, 64)))
    table = graph.tensor("w", [64, 64], value=random.normal(size=(64, 64)))
    graph.builtin("FULLY_CONNECTED", [constant, table, -1], [graph.output("z", [1, 64])])
    return graph


def mixed(folder: Path, max_error: float, **options: Any) -> tuple[dict[str, str], Any, Path]:
    """The form of each layer, all that is told, and the file."""
    before, after = saved(folder / "before.tflite", layers()), folder / "after.tflite"
    outcome = mix_precision(before, after, max_error, None, **options)
    assert sorted(file.name for file in folder.iterdir()) == ["after.tflite", "before.tflite"]
    return {layer.layer: layer.form for layer in outcome.layers}, outcome, after


def test_the_smallest_forms_within_an_error(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "exact").mkdir()
    (tmp_path / "some").mkdir()
    forms, outcome, smallest = mixed(tmp_path / "whole", 10.0)
    assert forms == {"h0": "int4", "h1": "int4"}
    assert [(layer.op, layer.size) for layer in outcome.layers] == [
        ("FULLY_CONNECTED", 16384),
        ("FULLY_CONNECTED", 4096),
    ]
    for layer in outcome.layers:
        assert {*layer.errors} == {"int4", "int8", "float16", "float32"}
        assert layer.errors["int4"] > layer.errors["int8"] > layer.errors["float16"] > layer.errors["float32"] == 0
    assert [point.error for point in outcome.curve] == sorted((point.error for point in outcome.curve), reverse=True)
    assert outcome.curve[-1].error == 0

    forms, _, exact = mixed(tmp_path / "exact", 0.0)
    assert forms == {"h0": "float32", "h1": "float32"}
    forms, _, some = mixed(tmp_path / "some", 0.02)
    assert {*forms.values()} <= {"int8", "float16"}
    assert smallest.stat().st_size < some.stat().st_size < exact.stat().st_size
    y, z = (Interpreter(file).get_signature_runner()(x=X)["y"] for file in (exact, some))
    np.testing.assert_allclose(y, z, atol=0.05 * np.abs(y).max())


def test_layers_that_are_kept(tmp_path: Path) -> None:
    forms, _, _ = mixed(tmp_path, 10.0, kept={"h0"})
    assert forms == {"h1": "int4"}
    with pytest.raises(LitefuseError, match="no weights whose form could be chosen besides those that are kept"):
        mix_precision(tmp_path / "before.tflite", tmp_path / "x.tflite", 1.0, None, kept={"h0", "h1"})
    assert not (tmp_path / "x.tflite.trial").exists()
