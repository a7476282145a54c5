"""The entries of each form's recipe, one a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from litefuse.conversion.quantization.recipe import ModelFacts, mixed_recipe, recipe_of
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.options.quantization import Quantization, QuantizedIo

FACTS = ModelFacts({"product"}, {"returned"}, {"even": 64, "odd": 33, "four": 34}, {"real", "product"})
PRODUCT = ModelFacts(products_of_constants={"product"}, real={"product"})


def _tensor(config: Mapping[str, Any]) -> str:
    shared = config["granularity"].lower().removesuffix("wise")
    return f"{config['dtype'].lower()}{config['num_bits']} per {shared}{'' if config['symmetric'] else ', zero point'}"


def shown(entry: Mapping[str, Any]) -> str:
    """An entry: the ops, the algorithm if it is not the usual one, the weights, the activations and the arithmetic."""
    named = {"min_max_uniform_quantize": ""}.get(entry["algorithm_key"], entry["algorithm_key"])
    config = entry.get("op_config")
    parts = [f"{entry['regex']} {entry['operation']}", named]
    if config is not None:
        activations = config.get("activation_tensor_config")
        parts += [_tensor(config["weight_tensor_config"]), f"activations {_tensor(activations)}" if activations else ""]
        parts.append(config["compute_precision"] + (" explicit" if config["explicit_dequantize"] else ""))
        parts.append(f"from {config['min_weight_elements']}" if "min_weight_elements" in config else "")
    return "; ".join(part for part in parts if part)


FORMS: list[tuple[QuantizationForm, dict[str, Any], ModelFacts, QuantizedIo, str]] = [
    (
        "float16",
        {},
        FACTS,
        False,
        """
.* *; float_casting; float16 per channel; FLOAT explicit
^(?:returned); *; no_quantize
""",
    ),
    (
        "dynamic",
        {"granularity": "tensor", "keep_float": ("a|b",), "keep_float_ops": ("TANH",)},
        FACTS,
        False,
        """
.* *; int8 per tensor; INTEGER; from 1024
^ *; int8 per tensor; INTEGER; from 1024
^ DEPTHWISE_CONV_2D; int8 per channel; INTEGER; from 1024
^(?:product); *; no_quantize
(?:a|b) *; no_quantize
(?:^) TANH; no_quantize
""",
    ),
    (
        "dynamic",
        {},
        ModelFacts(),
        False,
        """
.* *; int8 per channel; INTEGER; from 1024
^ *; int8 per channel; INTEGER; from 1024
""",
    ),
    (
        "weights",
        {"weight_bits": 4, "granularity": "block:32"},
        FACTS,
        False,
        """
.* *; int8 per channel; FLOAT explicit; from 0
^ *; int4 per channel; FLOAT explicit; from 0
(?:) FULLY_CONNECTED; int4 per blockwise_32; FLOAT explicit; from 0
(?:) EMBEDDING_LOOKUP; int4 per blockwise_32; FLOAT explicit; from 0
^(?:four|odd); *; int4 per channel; FLOAT explicit; from 0
^(?:returned); *; no_quantize
""",
    ),
    (
        "weights",
        {"rotate": "hadamard", "min_weight_elements": 7},
        FACTS,
        False,
        """
.* *; int8 per channel; FLOAT explicit; from 7
^ *; int8 per channel; FLOAT explicit; from 7
(?:) FULLY_CONNECTED; DECOMPOSED_HADAMARD_ROTATION; int8 per channel; FLOAT explicit; from 7
(?:) EMBEDDING_LOOKUP; DECOMPOSED_HADAMARD_ROTATION; int8 per channel; FLOAT explicit; from 7
^(?:odd); *; int8 per channel; FLOAT explicit; from 7
^(?:returned); *; no_quantize
""",
    ),
    (
        "int8",
        {},
        FACTS,
        False,
        """
.* *; int8 per channel; INTEGER; from 1024
.* DEPTHWISE_CONV_2D; int8 per channel; INTEGER; from 1024
.* EMBEDDING_LOOKUP; int8 per channel; INTEGER; from 1024
^ *; int8 per channel; activations int8 per tensor, zero point; INTEGER
^ BATCH_MATMUL; int8 per tensor; activations int8 per tensor, zero point; INTEGER
^(?:product); FULLY_CONNECTED; int8 per tensor; activations int8 per tensor, zero point; INTEGER
^(?:product|real); *; no_quantize
(?:)^(?:real); *; int8 per channel; INTEGER; from 1024
(?:)^(?:real); DEPTHWISE_CONV_2D; int8 per channel; INTEGER; from 1024
(?:)^(?:real); EMBEDDING_LOOKUP; int8 per channel; INTEGER; from 1024
(?:(?:)) INPUT; no_quantize
(?:(?:)) OUTPUT; no_quantize
(?:^)^(?:product|real); INPUT; no_quantize
(?:^)^(?:product|real); OUTPUT; no_quantize
""",
    ),
    (
        "int16",
        {"weight_bits": 4, "granularity": "tensor"},
        ModelFacts(),
        (True, False),
        """
.* *; int8 per tensor; INTEGER; from 1024
.* DEPTHWISE_CONV_2D; int8 per channel; INTEGER; from 1024
.* EMBEDDING_LOOKUP; int8 per tensor; INTEGER; from 1024
^ *; int8 per tensor; activations int16 per tensor; INTEGER
^ BATCH_MATMUL; int8 per tensor; activations int16 per tensor; INTEGER
(?:) *; int4 per tensor; activations int16 per tensor; INTEGER
(?:(?:)) INPUT; int8 per channel; activations int16 per tensor; INTEGER
(?:(?:)) OUTPUT; no_quantize
""",
    ),
    (
        "int8",
        {},
        replace(PRODUCT, lookups_of_one_scale=True),
        "uint8",
        """
.* *; int8 per channel; INTEGER; from 1024
.* DEPTHWISE_CONV_2D; int8 per channel; INTEGER; from 1024
.* EMBEDDING_LOOKUP; int8 per tensor; INTEGER; from 1024
^ *; int8 per channel; activations int8 per tensor, zero point; INTEGER
^ BATCH_MATMUL; int8 per tensor; activations int8 per tensor, zero point; INTEGER
^(?:product); FULLY_CONNECTED; int8 per tensor; activations int8 per tensor, zero point; INTEGER
^(?:product); *; no_quantize
(?:(?:)) INPUT; int8 per channel; activations uint8 per tensor, zero point; INTEGER
(?:(?:)) OUTPUT; int8 per channel; activations uint8 per tensor, zero point; INTEGER
(?:^)^(?:product); INPUT; no_quantize
(?:^)^(?:product); OUTPUT; no_quantize
""",
    ),
    (
        "recipe",
        {"recipe": ({"regex": "x", "operation": "*", "algorithm_key": "no_quantize"},)},
        FACTS,
        False,
        """
x *; no_quantize
^(?:product|real); *; no_quantize
""",
    ),
]


@pytest.mark.parametrize(("form", "choices", "facts", "quantized_io", "expected"), FORMS)
def test_entries(
    form: QuantizationForm, choices: dict[str, Any], facts: ModelFacts, quantized_io: QuantizedIo, expected: str
) -> None:
    entries = recipe_of(Quantization(None if form == "recipe" else form, **choices, io=quantized_io), facts)
    assert [*map(shown, entries)] == expected.strip().splitlines()


def test_forms_of_single_ops() -> None:
    forms = {"a": "int4", "b": "float32", "c": "int8", "d": "float16", "e": "int8"}
    assert [*map(shown, mixed_recipe(forms))] == [
        "^(?:a); *; int4 per channel; INTEGER",
        "^(?:c|e); *; int8 per channel; INTEGER",
        "^(?:d); *; float_casting; float16 per channel; FLOAT explicit",
    ]
