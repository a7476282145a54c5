"""``litefuse.quantization_aware``."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def quantization_aware(model: Any, *, keep_float: str | None = None) -> Any:
    layers = importlib.import_module("litefuse.frontends.quantization_aware.layers")
    keras = layers.keras
    layer = layers.QuantizationAware(model, keep_float)
    args = [
        keras.tree.map_structure(lambda x: keras.Input(batch_shape=x.shape, dtype=x.dtype, name=x.name), argument)
        for argument in layers.argument_tensors(keras, model)
    ]
    inputs = args[0] if len(args) == 1 else args
    return keras.Model(inputs, layer(inputs), name=f"{model.name}_quantized")
