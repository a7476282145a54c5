"""Models of Keras on JAX: what ``model.export()`` writes, with TensorFlow, and what litefuse writes without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.with_jax.process import Maker, check

_SOURCE = Path(__file__).with_name("keras_models.py").read_text(encoding="utf-8")
_NAMES = re.findall(r'^    "(\w+)": (?:lambda|_|jax)', _SOURCE, re.MULTILINE)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    maker = Maker("make_keras", tmp_path_factory.mktemp("keras"), KERAS_BACKEND="jax")
    yield maker
    maker.close()


@pytest.mark.parametrize("kind", ["keras", "litefuse"])
@pytest.mark.parametrize("name", _NAMES)
def test_model(models: Maker, name: str, kind: str) -> None:
    expected = models(name, "npz")
    result = check(models(name, kind), expected, name=str(np.load(expected)["name"]))
    assert not result.report.custom_ops
    # Keras assigns all states after each call, those of training too: to what they were.
    assert [each.name for each in result.report.variables if each.verdict == "mutable"] == []


@pytest.mark.parametrize("kind", ["keras", "litefuse"])
def test_an_lstm_is_fused(models: Maker, kind: str) -> None:
    expected = models("lstm", "npz")
    result = check(models("lstm", kind), expected, name=str(np.load(expected)["name"]), rnn="fused")
    assert result.report.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1
    assert "WHILE" not in result.report.op_counts


@pytest.mark.parametrize("kind", ["keras", "litefuse"])
def test_layers_are_named(models: Maker, kind: str) -> None:
    expected = models("attention", "npz")
    result = check(
        models("attention", kind), expected, name=str(np.load(expected)["name"]), composites={"odml.group_norm": "keep"}
    )
    assert [each.became for each in result.report.layers if each.kind == "layer normalization"] == [
        "STABLEHLO_COMPOSITE"
    ] * 2
    assert [each.became for each in result.report.layers if each.kind == "GELU"] == ["GELU"]
    assert result.report.near_layers == ()
