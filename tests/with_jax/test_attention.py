"""Attention in programs of JAX is found, and kept as LiteRT's composite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import difference, run_calls
from tests.with_jax.process import Maker

NAME = "odml.scaled_dot_product_attention"
FUNCTIONS = re.findall(
    r'^    "(\w+)": \(', Path(__file__).with_name("make_attention.py").read_text(encoding="utf-8"), re.MULTILINE
)
BACKBONES = (
    *("BertBackbone", "BartBackbone", "BloomBackbone", "GPT2Backbone", "GPTNeoXBackbone", "GemmaBackbone"),
    *("LlamaBackbone", "OPTBackbone", "T5Backbone", "ViTBackbone"),
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    maker = Maker("make_attention", tmp_path_factory.mktemp("attention"), KERAS_BACKEND="jax")
    yield maker
    maker.close()


@pytest.mark.parametrize("name", [*FUNCTIONS, *BACKBONES])
def test_attention(models: Maker, name: str) -> None:
    """As many are kept as there are, and give JAX's numbers, twice in a row."""
    result = litefuse.convert(models(name, "model"), composites={NAME: "keep"})
    arrays = dict(np.load(models(name, "npz")))
    kept = Counter(each.became for each in result.report.layers if each.name == NAME)
    assert kept == {"STABLEHLO_COMPOSITE": int(arrays["called"])}
    sizes = sorted({int(key.partition(".")[0]) for key in arrays if ".in." in key})
    calls = [
        {key.removeprefix(f"{size}.in."): value for key, value in arrays.items() if key.startswith(f"{size}.in.")}
        for size in sizes
    ]
    outputs = run_calls(result.model_bytes, [("serving_default", each) for each in calls for _ in range(2)])
    for number, ours in enumerate(outputs):
        size = sizes[number // 2]
        theirs = [value for key, value in sorted(arrays.items()) if key.startswith(f"{size}.out.")]
        assert len(ours) == len(theirs)
        for mine, expected in zip((ours[key] for key in sorted(ours)), theirs, strict=True):
            assert not difference(mine, expected, rtol=1e-5)
