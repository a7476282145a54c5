# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false
"""Keras's layers of attention, and models of Keras Hub with them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

LENGTH, KEYS, WIDTH = 6, 9, 16
SIZES = {"num_layers": 2, "hidden_dim": 16, "intermediate_dim": 32}
TEXT = {**SIZES, "vocabulary_size": 50}
POSITIONS = {"max_sequence_length": LENGTH}
HEADS = {"num_heads": 2}
GROUPS = {"num_query_heads": 4, "num_key_value_heads": 2}
IMAGE = {"image_shape": (32, 32, 3)}

#: Small models of Keras Hub: the arguments of each.
BACKBONES: dict[str, dict[str, Any]] = {
    "AlbertBackbone": {**TEXT, **HEADS, **POSITIONS, "embedding_dim": 8},
    "BartBackbone": {**TEXT, **HEADS, **POSITIONS},
    "BertBackbone": {**TEXT, **HEADS, **POSITIONS},
    "BloomBackbone": {**TEXT, **HEADS},
    "DebertaV3Backbone": {**TEXT, **HEADS, **POSITIONS, "bucket_size": 6},
    "DistilBertBackbone": {**TEXT, **HEADS, **POSITIONS},
    "FNetBackbone": {**TEXT, **POSITIONS},
    "FalconBackbone": {**TEXT, "num_attention_heads": 2},
    "GPT2Backbone": {**TEXT, **HEADS, **POSITIONS},
    "GPTNeoXBackbone": {**TEXT, **HEADS},
    "GemmaBackbone": {**TEXT, **GROUPS, "head_dim": 8},
    "Gemma2": {**TEXT, **GROUPS, "head_dim": 8, "attention_logit_soft_cap": 20.0, "final_logit_soft_cap": 10.0},
    "LlamaBackbone": {**TEXT, **GROUPS},
    "MiTBackbone": {
        **IMAGE,
        "hidden_dims": [16, 32],
        "layerwise_depths": [1, 1],
        "layerwise_num_heads": [1, 2],
        "layerwise_sr_ratios": [2, 1],
        "max_drop_path_rate": 0.1,
        "layerwise_patch_sizes": [7, 3],
        "layerwise_strides": [4, 2],
        "num_layers": 2,
    },
    "MistralBackbone": {**TEXT, **GROUPS, "sliding_window": 4},
    "OPTBackbone": {**TEXT, **HEADS, **POSITIONS},
    "Phi3Backbone": {**TEXT, **GROUPS},
    "RobertaBackbone": {**TEXT, **HEADS, **POSITIONS},
    "T5Backbone": {**TEXT, **HEADS},
    "ViTBackbone": {**IMAGE, "patch_size": 8, "num_layers": 2, "num_heads": 2, "hidden_dim": 16, "mlp_dim": 32},
    "WhisperBackbone": {
        **TEXT,
        **HEADS,
        "num_mels": 8,
        "max_encoder_sequence_length": 2 * LENGTH,
        "max_decoder_sequence_length": LENGTH,
    },
    "XLNetBackbone": {**TEXT, **HEADS},
}

#: How many attentions there are where it is not one in each of two layers: decoders have two.
EXPECTED = {"BartBackbone": 6, "T5Backbone": 6, "WhisperBackbone": 6, "FNetBackbone": 0}


def model_of(name: str) -> Any:
    """A small model, with weights that matter."""
    keras: Any = importlib.import_module("keras")
    keras_hub: Any = importlib.import_module("keras_hub")
    keras.utils.set_random_seed(0)
    cls = "GemmaBackbone" if name == "Gemma2" else name
    return getattr(keras_hub.models, cls)(**BACKBONES[name])


def inputs_of(model: Any) -> dict[str, tuple[list[int], str]]:
    """The shape and dtype of each input, with a batch of 1."""
    given = model.input if isinstance(model.input, dict) else {"images": model.input}
    return {
        key: ([1, *(_size(size, len(value.shape)) for size in value.shape[1:])], str(value.dtype))
        for key, value in given.items()
    }


def _size(size: int | None, rank: int) -> int:
    """An encoder of sounds gets twice as many frames as there are tokens."""
    return size if size is not None else 2 * LENGTH if rank > 2 else LENGTH


def backbone(tf: Any, name: str) -> Any:
    """A SavedModel's module of a model."""
    model = model_of(name)
    specs = {key: tf.TensorSpec(shape, dtype, name=key) for key, (shape, dtype) in inputs_of(model).items()}
    module = tf.Module()
    module.model = model

    def serve(inputs: Any) -> Any:
        outputs = model(inputs if isinstance(model.input, dict) else inputs["images"], training=False)
        return outputs if hasattr(outputs, "keys") else {"output": outputs}

    module.serve = tf.function(serve, input_signature=[specs], autograph=False)
    return module, {"serving_default": module.serve}


def called(tf: Any, name: str) -> int:
    """How many times layers of attention are called while a model computes."""
    model = model_of(name)
    values = {key: tf.zeros(shape, dtype) for key, (shape, dtype) in inputs_of(model).items()}
    with counting() as calls:
        model(values if isinstance(model.input, dict) else values["images"], training=False)
    return len(calls)


@contextmanager
def counting() -> Generator[list[str]]:
    """Lists the calls of layers of attention, the innermost ones."""
    keras: Any = importlib.import_module("keras")
    call = keras.layers.Layer.__call__
    calls: list[str] = []

    def listed(layer: Any, *arguments: Any, **options: Any) -> Any:
        inner = [each for each in layer._flatten_layers(include_self=False) if "Attention" in type(each).__name__]  # noqa: SLF001
        name = type(layer).__name__
        if "Attention" in name and "Mask" not in name and not inner:
            calls.append(name)
        return call(layer, *arguments, **options)

    keras.layers.Layer.__call__ = listed
    try:
        yield calls
    finally:
        keras.layers.Layer.__call__ = call


def _self_attention(layer: Any, x: Any, **options: Any) -> Any:
    return layer(x, x, **options)


#: A layer by name: its package, its arguments, the shapes of its inputs, and how it is called.
LAYERS: dict[str, tuple[str, str, tuple[Any, ...], dict[str, Any], tuple[str, ...], Callable[..., Any]]] = {
    "keras": ("keras", "MultiHeadAttention", (4, 8), {}, ("x", "y"), lambda layer, x, y: layer(x, y)),
    "keras_mask": (
        *("keras", "MultiHeadAttention", (4, 8), {"dropout": 0.1, "value_dim": 6}, ("x", "y", "keep")),
        lambda layer, x, y, keep: layer(x, y, attention_mask=keep, training=False),
    ),
    "keras_causal": (
        *("keras", "MultiHeadAttention", (4, 8), {}, ("x",)),
        lambda layer, x: _self_attention(layer, x, use_causal_mask=True),
    ),
    "keras_weights": (
        *("keras", "MultiHeadAttention", (4, 8), {}, ("x", "y")),
        lambda layer, x, y: layer(x, y, return_attention_scores=True)[0],
    ),
    "keras_axis": ("keras", "MultiHeadAttention", (2, 8), {"attention_axes": (2,)}, ("z",), _self_attention),
    "keras_groups": (
        *("keras", "GroupQueryAttention", (8, 4, 2), {}, ("x", "y", "keep")),
        lambda layer, x, y, keep: layer(x, y, attention_mask=keep),
    ),
    "keras_one_head_of_keys": (
        *("keras", "GroupQueryAttention", (8, 4, 1), {}, ("x",)),
        lambda layer, x: _self_attention(layer, x, use_causal_mask=True),
    ),
    "keras_2": (
        *("tf_keras", "MultiHeadAttention", (4, 8), {}, ("x", "y", "keep")),
        lambda layer, x, y, keep: layer(x, y, attention_mask=keep),
    ),
    "keras_2_causal": (
        *("tf_keras", "MultiHeadAttention", (4, 8), {"dropout": 0.1}, ("x",)),
        lambda layer, x: _self_attention(layer, x, use_causal_mask=True),
    ),
}
SHAPES: dict[str, list[int]] = {
    "x": [LENGTH, WIDTH],
    "y": [KEYS, WIDTH],
    "keep": [LENGTH, KEYS],
    "z": [3, LENGTH, WIDTH],
}


def layer_module(tf: Any, name: str) -> Any:
    """A SavedModel's module of a layer, of any batch."""
    package, cls, arguments, options, inputs, call = LAYERS[name]
    keras: Any = importlib.import_module(package)
    keras.utils.set_random_seed(0)
    layer = getattr(keras.layers, cls)(*arguments, bias_initializer="random_normal", **options)
    module = tf.Module()
    module.layer = layer
    specs = [tf.TensorSpec([None, *SHAPES[key]], tf.bool if key == "keep" else tf.float32, name=key) for key in inputs]
    module.serve = tf.function(lambda *x: {"output": call(layer, *x)}, input_signature=specs, autograph=False)
    return module, {"serving_default": module.serve}


def drawn(name: str, batch: int) -> dict[str, npt.NDArray[Any]]:
    """Inputs of a layer; one query has no keys that stay."""
    random = np.random.default_rng(batch)
    made: dict[str, npt.NDArray[Any]] = {}
    for key in LAYERS[name][4]:
        values = random.standard_normal([batch, *SHAPES[key]]).astype(np.float32)
        made[key] = values
        if key == "keep":
            made[key] = values > 0
            made[key][0, 1] = False
    return made


def composites(model: bytes) -> list[dict[str, Any]]:
    """The shapes and attributes of a file's composites of attention, those of dynamic sizes with -1."""
    from flatbuffers import flexbuffers

    schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
    read = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model))
    found: list[dict[str, Any]] = []
    for graph in read.subgraphs:
        for op in graph.operators:
            options = op.builtinOptions2
            if not isinstance(options, schema.StableHLOCompositeOptionsT):
                continue
            tensors = [graph.tensors[index] for index in op.inputs]
            shapes = [
                list(map(int, each.shape if each.shapeSignature is None else each.shapeSignature)) for each in tensors
            ]
            named = dict(zip(("q", "k", "v", "mask"), [*shapes, []], strict=False))
            values = flexbuffers.Loads(bytes(options.compositeAttributes))
            found.append(named | {key: round(value, 6) for key, value in values.items()})
    return found
