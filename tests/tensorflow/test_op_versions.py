"""The least versions of ops, against the files of the stock converter."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.litert.export.op_versions import least_version
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import root
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.model_tables import OpCode
from tests.litert.differences.edited import edited
from tests.tensorflow import keras_layers
from tests.tensorflow.process import TensorFlow

FORMS = ("float", "dynamic", "float16", "int8", "int16")


def in_form(tf: Any, path: str, form: str) -> bytes | str:
    """What the stock converter makes of a SavedModel in a form, or its error; runs where TensorFlow is."""
    converter = tf.lite.TFLiteConverter.from_saved_model(path)
    if form != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if form == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if form.startswith("int"):
        sets = tf.lite.OpsSet
        integers = sets.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        converter.representative_dataset = lambda: samples(tf, path)
        converter.target_spec.supported_ops = [
            integers if form == "int16" else sets.TFLITE_BUILTINS_INT8,
            sets.TFLITE_BUILTINS,
        ]
    try:
        return bytes(converter.convert())
    except Exception as error:  # noqa: BLE001 - its error is the answer
        return f"{type(error).__name__}: {error}"


def wide(tf: Any) -> Any:
    """Layers whose weights are large enough for the stock converter's dynamic form."""
    keras: Any = importlib.import_module("keras")
    layers, image = keras.layers, keras.Input((16, 16, 16), name="image")
    x = layers.Conv2D(32, 3, strides=2, activation="relu")(image)
    x = layers.DepthwiseConv2D(3, depth_multiplier=8)(x)
    x = layers.Conv2DTranspose(8, 3)(x)
    x = layers.Dense(64)(layers.Dense(64)(layers.Flatten()(x)))
    model = keras.Model(image, [layers.Softmax()(x), layers.Dense(40, activation="tanh")(x)])
    module = tf.Module()
    module.weights = [weight.value for weight in model.weights]
    specs = [tf.TensorSpec([None, 16, 16, 16], tf.float32, name="image")]

    def run(image: Any) -> dict[str, Any]:
        y, z = model(image)
        return {"y": y, "z": z}

    module.f = tf.function(run, input_signature=specs)
    return module


def samples(tf: Any, path: str) -> Iterator[dict[str, Any]]:
    (signature,) = tf.saved_model.load(path).signatures.values()
    random = np.random.default_rng(0)
    for _ in range(3):
        yield {
            name: random.uniform(0, 2, [size or 1 for size in spec.shape]).astype(spec.dtype.as_numpy_dtype)
            for name, spec in signature.structured_input_signature[1].items()
        }


def lower_than_stock(content: bytes, *, integers: bool = False) -> list[str]:
    """The op codes of a file whose version is above what the table says of their ops.

    In integers, the stock converter also raises the versions of ops that compute no integers of 8 or 16 bits, whose
    form has the lower version in its other files, and leaves comparisons of float32 with int16, which nothing runs.
    """
    model = Model(content)
    needed: dict[int, int] = {}
    for graph in model.graphs:
        for op in graph.ops:
            first = graph.type_name(op.inputs[op.name == "SPLIT"]) if op.inputs else ""
            if not integers or first in {"INT8", "INT16"}:
                needed[op.code] = max(needed.get(op.code, 1), least_version(graph, op))
    codes = [OpCode.read(code) for code in root(content).tables(fields.OPERATOR_CODES)]
    return [
        f"{codes[index].name} {codes[index].version}, and {version} by the table"
        for index, version in needed.items()
        if version < codes[index].version
    ]


def compare(tensorflow: TensorFlow, path: Path, form: str) -> bool:
    """Compares the versions in the stock converter's file; returns whether it converts the model."""
    converted = tensorflow.call(in_form, str(path), form)
    if isinstance(converted, bytes):
        assert lower_than_stock(converted, integers=form.startswith("int")) == []
    return isinstance(converted, bytes)


@pytest.mark.parametrize(
    ("group", "form"),
    # Of strings in integers, the stock converter dies.
    [pair for pair in product(keras_layers.GROUPS, FORMS) if pair not in {("strings", "int8"), ("strings", "int16")}],
)
def test_no_version_is_lower_than_the_stock_converter_s(tensorflow: TensorFlow, group: str, form: str) -> None:
    if not compare(tensorflow, tensorflow.save(keras_layers.build, group), form):
        paths = [tensorflow.save(keras_layers.build, group, "float32", layer) for layer in keras_layers.GROUPS[group]]
        assert sum(compare(tensorflow, path, form) for path in paths) > 0


@pytest.mark.parametrize("form", FORMS)
def test_weights_of_layers(tensorflow: TensorFlow, form: str) -> None:
    assert compare(tensorflow, tensorflow.save(wide), form)


def test_a_lower_version_is_found(tensorflow: TensorFlow) -> None:
    converted = tensorflow.call(in_form, str(tensorflow.save(wide)), "dynamic")
    assert isinstance(converted, bytes)

    def raise_versions(loaded: Any) -> None:
        for code in loaded.operatorCodes:
            code.version += 1

    assert len(lower_than_stock(edited(converted, raise_versions))) > 3
