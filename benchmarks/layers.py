"""Latency of models of one layer each: what litefuse writes against what the stock converter writes.

A model of a hundred layers hides what one of them costs. ``python benchmarks/layers.py make FOLDER`` makes the
SavedModels, and the stock converter's models of them; those that it refuses are left out.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from document import geometric_mean, milliseconds, paragraph, table
from process import call, seconds_in_turn

import litefuse

_SECONDS = 0.5  # for the calls of one pair of models
_CALLS = 20
_ALIKE = (0.93, 1.1)  # ratios that a second run may exchange

_Layer: TypeAlias = "Callable[[Any], Any]"


def measure_layers(folder: Path) -> list[dict[str, Any]]:
    """Converts each layer, and calls both models in turn in a process of its own."""
    models = folder / "layers"
    models.mkdir(exist_ok=True)
    call(sys.executable, __file__, "make", str(models))
    rows: list[dict[str, Any]] = []
    for stock in sorted(models.glob("*.stock.tflite")):
        name = stock.name.removesuffix(".stock.tflite")
        ours = models / f"{name}.litefuse.tflite"
        litefuse.convert(models / name).save(ours)
        rows.append({"layer": name, **json.loads(call(sys.executable, __file__, "compare", str(ours), str(stock)))})
    return rows


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results in Markdown."""
    ratios = {row["layer"]: row["stock"] / row["litefuse"] for row in rows}
    apart = sorted(
        (row for row in rows if not _ALIKE[0] <= ratios[row["layer"]] <= _ALIKE[1]),
        key=lambda row: ratios[row["layer"]],
    )
    cells = [
        [row["layer"], milliseconds(row["litefuse"]), milliseconds(row["stock"]), f"{ratios[row['layer']]:.2f}"]
        for row in apart
    ]
    mean = f"{geometric_mean([*ratios.values()]):.2f}"
    about = _ABOUT.format(count=len(rows), low=_ALIKE[0], high=_ALIKE[1], others=len(rows) - len(apart), mean=mean)
    return [*paragraph(about), *table(["Layer", "litefuse", "stock", "ratio"], cells, text=1)]


_ABOUT = """
{count} models of one layer, block or function each, with a fixed batch of one and random weights, called alternately in
one process with one thread; medians. A ratio above 1 is in favor of litefuse; {others} lie between {low} and {high} and
are not listed, and the geometric mean of all is {mean}. Where litefuse deliberately takes longer, the other form is
wrong for some numbers: see [Constants, zeros and large numbers](differences.md#constants-zeros-and-large-numbers).
"""


def _image_layers(layers: Any) -> Mapping[str, _Layer]:
    """Of images, 64 by 64 with 16 channels."""
    return {
        "Conv2D 1x1": layers.Conv2D(32, 1),
        "Conv2D 3x3, ReLU": layers.Conv2D(32, 3, padding="same", activation="relu"),
        "Conv2D, strides": layers.Conv2D(32, 3, strides=2, padding="same"),
        "Conv2D, dilated": layers.Conv2D(32, 3, dilation_rate=2, padding="same"),
        "Conv2D, groups": layers.Conv2D(32, 3, groups=4),
        "DepthwiseConv2D": layers.DepthwiseConv2D(3, padding="same", depth_multiplier=2),
        "SeparableConv2D": layers.SeparableConv2D(32, 3, padding="same"),
        "Conv2DTranspose": layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
        "MaxPooling2D": layers.MaxPooling2D(2),
        "AveragePooling2D": layers.AveragePooling2D(3, 2, padding="same"),
        "GlobalAveragePooling2D": layers.GlobalAveragePooling2D(keepdims=True),
        "UpSampling2D": layers.UpSampling2D(2),
        "UpSampling2D, bilinear": layers.UpSampling2D(2, interpolation="bilinear"),
        "Resizing": layers.Resizing(50, 70),
        "ZeroPadding2D": layers.ZeroPadding2D(2),
        "Cropping2D": layers.Cropping2D(2),
        "BatchNormalization": layers.BatchNormalization(),
        "LayerNormalization": layers.LayerNormalization(),
        "GroupNormalization": layers.GroupNormalization(4),
        "RMSNormalization": layers.RMSNormalization(),
        "UnitNormalization": layers.UnitNormalization(),
        "PReLU": layers.PReLU(shared_axes=[1, 2]),
        "Rescaling": layers.Rescaling(1 / 127.5, -1),
        "Permute": layers.Permute((3, 1, 2)),
        **{
            name: layers.Activation(name)
            for name in ("celu", "elu", "gelu", "glu", "hard_silu", "leaky_relu", "log_softmax", "mish", "selu", "silu")
        },
        **{name: layers.Activation(name) for name in ("softmax", "softplus", "softsign")},
    }


def _image_functions(ops: Any, tf: Any) -> Mapping[str, _Layer]:
    """Of the same images."""
    return {
        "patches of 8x8": lambda x: ops.image.extract_patches(x, 8),
        "windows of 8x8": lambda x: ops.transpose(ops.reshape(x, (-1, 8, 8, 8, 8, 16)), (0, 1, 3, 2, 4, 5)),
        "depth_to_space": lambda x: tf.nn.depth_to_space(x, 2),
        "roll": lambda x: ops.roll(x, (3, 3), (1, 2)),
        "variance": lambda x: ops.var(x, axis=(1, 2)),
        "square": lambda x: x**2,
        "cube": lambda x: x**3,
        "expm1": ops.expm1,
        "log1p": lambda x: ops.log1p(ops.abs(x)),
        "rsqrt": lambda x: ops.rsqrt(ops.abs(x)),
        "is_inf": lambda x: ops.cast(ops.isinf(x), "float32"),
        "sobel_edges": tf.image.sobel_edges,
        "per_image_standardization": tf.image.per_image_standardization,
    }


def _sequence_layers(layers: Any) -> Mapping[str, _Layer]:
    """Of 64 steps with 48 channels."""
    return {
        "Dense": layers.Dense(64, activation="relu"),
        "EinsumDense": layers.EinsumDense("abc,cd->abd", output_shape=(None, 64), bias_axes="d"),
        "Conv1D": layers.Conv1D(64, 5, padding="causal", dilation_rate=2, activation="relu"),
        "DepthwiseConv1D": layers.DepthwiseConv1D(3),
        "SeparableConv1D": layers.SeparableConv1D(48, 3),
        "Conv1DTranspose": layers.Conv1DTranspose(32, 3, strides=2, padding="same"),
        "MaxPooling1D": layers.MaxPooling1D(2),
        "UpSampling1D": layers.UpSampling1D(3),
        "TimeDistributed Dense": layers.TimeDistributed(layers.Dense(32)),
        "LSTM": layers.LSTM(32, return_sequences=True),
        "LSTM, last output": layers.LSTM(32),
        "LSTM, backwards": layers.LSTM(32, go_backwards=True),
        "GRU": layers.GRU(32, return_sequences=True),
        "GRU, reset before": layers.GRU(32, reset_after=False),
        "SimpleRNN": layers.SimpleRNN(32),
        "Bidirectional LSTM": layers.Bidirectional(layers.LSTM(32, return_sequences=True)),
        "Bidirectional GRU": layers.Bidirectional(layers.GRU(32)),
        "stacked cells": layers.RNN([layers.LSTMCell(32), layers.GRUCell(16)]),
        "MultiHeadAttention": lambda x: layers.MultiHeadAttention(4, 16)(x, x),
        "MultiHeadAttention, causal": lambda x: layers.MultiHeadAttention(4, 16)(x, x, use_causal_mask=True),
        "GroupQueryAttention": lambda x: layers.GroupQueryAttention(16, 4, 2)(x, x),
        "AdditiveAttention": lambda x: layers.AdditiveAttention()([x, x]),
        "Dot": lambda x: layers.Dot(axes=2, normalize=True)([x, x]),
    }


def _film_layers(layers: Any) -> Mapping[str, _Layer]:
    """Of 8 images of 24 by 24 with 4 channels."""
    return {
        "ConvLSTM2D": layers.ConvLSTM2D(16, 3, padding="same", return_sequences=True),
        "ConvLSTM2D, 32 filters": layers.ConvLSTM2D(32, 3, padding="same"),
        "TimeDistributed Conv2D": layers.TimeDistributed(layers.Conv2D(16, 3, activation="relu")),
        "Conv3D": layers.Conv3D(16, 3, padding="same", activation="relu"),
        "Conv3DTranspose": layers.Conv3DTranspose(8, 3, strides=2, padding="same"),
        "UpSampling3D": layers.UpSampling3D(2),
    }


def _make(folder: Path) -> None:
    os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    tf: Any = importlib.import_module("tensorflow")
    keras: Any = importlib.import_module("keras")
    random = np.random.default_rng(0)
    kinds: list[tuple[tuple[int, ...], Mapping[str, _Layer]]] = [
        ((64, 64, 16), _image_layers(keras.layers)),
        ((64, 64, 16), {name: keras.layers.Lambda(each) for name, each in _image_functions(keras.ops, tf).items()}),
        ((64, 48), _sequence_layers(keras.layers)),
        ((8, 24, 24, 4), _film_layers(keras.layers)),
    ]
    for shape, layers in kinds:
        for name, layer in layers.items():
            inputs = keras.Input(shape)
            model = keras.Model(inputs, layer(inputs))
            for weight in model.weights:
                if weight.dtype == "float32":
                    sizes: list[int] = list(weight.shape)
                    values = random.normal(0, 0.2, sizes)
                    weight.assign(np.abs(values) + 0.01 if "variance" in weight.path else values)
            path, signature = str(folder / name), [tf.TensorSpec((1, *shape), tf.float32, name="x")]
            model.export(path, verbose=False, input_signature=signature)
            try:
                converted = tf.lite.TFLiteConverter.from_saved_model(path).convert()
            except Exception as error:  # noqa: BLE001  it raises what its passes do
                print(f"{name}: {str(error)[:200]}", file=sys.stderr)
                continue
            (folder / f"{name}.stock.tflite").write_bytes(converted)


def _compare(paths: Sequence[str]) -> dict[str, float]:
    from ai_edge_litert.interpreter import Interpreter

    interpreters: list[Any] = []
    for path in paths:
        interpreter: Any = Interpreter(model_path=path, num_threads=1)
        interpreter.allocate_tensors()
        (details,) = interpreter.get_input_details()
        shape: list[int] = details["shape"].tolist()
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        interpreter.set_tensor(details["index"], x)
        interpreters.append(interpreter)
    taken = seconds_in_turn([interpreter.invoke for interpreter in interpreters], _SECONDS, least=_CALLS)
    ours, stock = (statistics.median(each[3:]) for each in taken)
    return {"litefuse": ours, "stock": stock}


if __name__ == "__main__":
    task, *given = sys.argv[1:]
    if task == "make":
        _make(Path(given[0]))
    else:
        print(json.dumps(_compare(given)))
