"""Attention is found by what is computed, and kept as LiteRT's composite of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow import attention_models, keras_attention
from tests.tensorflow.attention_models import ATTENTION, NEARLY, OTHERS, drawn
from tests.tensorflow.checking import check_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

NAME = "odml.scaled_dot_product_attention"
KEPT: dict[str, Any] = {"composites": {NAME: "keep"}}
TOLD: dict[str, Any] = {"composites": {NAME: "inline"}}
PARTS = [list(ATTENTION)[start::3] for start in range(3)]


def attentions(result: litefuse.ConversionResult) -> Counter[str]:
    return Counter(each.became for each in result.report.layers if each.name == NAME)


@pytest.mark.parametrize("names", PARTS, ids=lambda names: names[0])
def test_spellings(tensorflow: TensorFlow, names: list[str]) -> None:
    """Each is named, and gives TensorFlow's numbers as the composite, twice in a row and with two batches."""
    calls = [(name, drawn(ATTENTION[name], batch)) for name in names for batch in (1, 3) for _ in range(2)]
    result = check_calls(tensorflow, tensorflow.save(attention_models.module, names), calls, **KEPT)
    assert attentions(result) == Counter(ATTENTION[name].outcome for name in names)
    kept = sum(ATTENTION[name].outcome == "STABLEHLO_COMPOSITE" for name in names)
    assert result.report.op_counts["STABLEHLO_COMPOSITE"] == kept


def test_the_default_file_is_unchanged(tensorflow: TensorFlow) -> None:
    """What is found is told where it is asked for, and stays as it is."""
    path = tensorflow.save(attention_models.module, PARTS[0])
    told = litefuse.convert(path, **TOLD)
    assert attentions(told) == {"inlined": len(PARTS[0])}
    assert told.model_bytes == litefuse.convert(path).model_bytes


def test_nearly_attention(tensorflow: TensorFlow) -> None:
    """None of these is attention, and the report says what comes closest."""
    path = tensorflow.save(attention_models.module, list(NEARLY))
    calls = [(name, drawn(case, 2)) for name, case in NEARLY.items()]
    result = check_calls(tensorflow, path, calls, **KEPT)
    assert not attentions(result)
    said = Counter(each.reason for each in result.report.near_layers if each.kind == "attention")
    expected = Counter(case.outcome for case in NEARLY.values() if case.outcome is not None)
    expected[str(NEARLY["linear"].outcome)] += 1  # both of its softmaxes
    assert said == expected


def test_others(tensorflow: TensorFlow) -> None:
    """One is of the results of another; one has one key, whose weight is 1 whatever its score."""
    calls = [(name, drawn(case, batch)) for name, case in OTHERS.items() for batch in (1, 2)]
    result = check_calls(tensorflow, tensorflow.save(attention_models.module, list(OTHERS)), calls, **KEPT)
    assert attentions(result) == {"STABLEHLO_COMPOSITE": 4}
    assert [each.reason for each in result.report.near_layers] == ["there is only one key"]


def test_an_open_batch_that_is_fixed(tensorflow: TensorFlow) -> None:
    """What an open batch keeps from being the composite is one with a fixed one."""
    path = tensorflow.save(attention_models.module, ["one_head_open"])
    calls = [("one_head_open", drawn(ATTENTION["one_head_open"], 1))] * 2
    assert attentions(check_calls(tensorflow, path, calls, batch=1, **KEPT)) == {"STABLEHLO_COMPOSITE": 1}


def test_the_contract(tensorflow: TensorFlow) -> None:
    """Tensors are [batch, queries or keys, heads, n]; groups have fewer heads of keys; the mask is added."""
    names = ["groups", "bounded", "windows"]
    result = litefuse.convert(tensorflow.save(attention_models.module, names), **KEPT)
    found = keras_attention.composites(result.model_bytes)
    assert [each for each in found if each["mask"]] == [
        {"q": [2, 5, 6, 8], "k": [2, 7, 2, 8], "v": [2, 7, 2, 8], "mask": [2, 1, 5, 7], "scale": 0.3},
        {"q": [8, 5, 4, 8], "k": [8, 5, 4, 8], "v": [8, 5, 4, 8], "mask": [8, 4, 5, 5], "scale": 0.3},
    ]
    (bounded,) = [each for each in found if not each["mask"]]
    assert bounded["q"] == [-1, -1, 4, 8]
    assert np.allclose([bounded["scale"], bounded["logit_cap"]], [0.3, 20])


@pytest.mark.parametrize("name", keras_attention.LAYERS)
def test_layers_of_keras(tensorflow: TensorFlow, name: str) -> None:
    """Of Keras 3 and of Keras 2, with masks, groups and more axes."""
    path = tensorflow.save(keras_attention.layer_module, name)
    calls = [("serving_default", keras_attention.drawn(name, batch)) for batch in (1, 3) for _ in range(2)]
    assert attentions(check_calls(tensorflow, path, calls, **KEPT)) == {"STABLEHLO_COMPOSITE": 1}


@pytest.mark.parametrize("name", keras_attention.BACKBONES)
def test_models_of_keras_hub(tensorflow: TensorFlow, name: str) -> None:
    """As many are named as layers of attention are called while the model computes."""
    path = tensorflow.save(keras_attention.backbone, name)
    called = tensorflow.call(keras_attention.called, name)
    assert attentions(litefuse.convert(path, **TOLD)) == ({"inlined": called} if called else {})
    assert called == keras_attention.EXPECTED.get(name, 2)
