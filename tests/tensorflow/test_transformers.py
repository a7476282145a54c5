"""Transformers as Keras Hub builds them, in small random configurations, against TensorFlow."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, op_counts, partition_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

LENGTH = 12
VOCABULARY = 50


@dataclass(frozen=True)
class Backbone:
    """A small one.

    Attributes:
        name: Its class in ``keras_hub.models``.
        options: Its arguments besides the size of the vocabulary.
        length: How many tokens it gets.
    """

    name: str
    options: Mapping[str, Any]
    length: int = LENGTH

    def __str__(self) -> str:
        return self.name


SIZES = {"num_layers": 1, "hidden_dim": 16, "intermediate_dim": 32}
HEADS = {"num_query_heads": 4, "num_key_value_heads": 2}
BACKBONES = [
    Backbone("GemmaBackbone", {**SIZES, **HEADS, "head_dim": 8}),
    Backbone("LlamaBackbone", {**SIZES, **HEADS}),
    Backbone("MistralBackbone", {**SIZES, **HEADS, "sliding_window": 8}),
    Backbone("Phi3Backbone", {**SIZES, **HEADS}),
    Backbone("T5Backbone", {**SIZES, "num_heads": 2}),
    Backbone("DebertaV3Backbone", {**SIZES, "num_heads": 2, "max_sequence_length": LENGTH, "bucket_size": 6}),
    Backbone("FNetBackbone", {**SIZES, "max_sequence_length": LENGTH}),
    Backbone("BertBackbone", {**SIZES, "num_heads": 2, "max_sequence_length": LENGTH}),
    Backbone("GPT2Backbone", {**SIZES, "num_heads": 2, "max_sequence_length": LENGTH}),
    Backbone(
        "WhisperBackbone",
        {
            **SIZES,
            "num_heads": 2,
            "num_mels": 8,
            "max_encoder_sequence_length": 2 * LENGTH,
            "max_decoder_sequence_length": LENGTH,
        },
    ),
]


def backbone(tf: Any, name: str, options: Mapping[str, Any], length: int | None) -> Any:
    """A SavedModel's module of a backbone: open batch, a fixed number of tokens or any, weights that matter."""
    keras: Any = importlib.import_module("keras")
    keras_hub: Any = importlib.import_module("keras_hub")
    keras.utils.set_random_seed(0)
    model = getattr(keras_hub.models, name)(vocabulary_size=VOCABULARY, **options)
    random = np.random.default_rng(0)
    for weight in model.trainable_variables:
        # Biases and scales begin as zeros and ones, which hide mistakes.
        weight.assign(weight + 0.1 * random.standard_normal(weight.shape).astype(np.float32))
    specs = {
        key: tf.TensorSpec([None, *_sizes(value.shape[1:], length)], value.dtype, name=key)
        for key, value in model.input.items()
    }
    module = tf.Module()
    module.model = model

    @tf.function(input_signature=[specs], autograph=False)
    def serve(inputs: Any) -> Any:
        outputs: Any = model(inputs, training=False)
        return outputs if hasattr(outputs, "keys") else {"output": outputs}

    module.serve = serve
    return module, {"serving_default": serve}


def _sizes(shape: Any, length: int | None) -> list[Any]:
    """An encoder of sounds gets twice as many frames as there are tokens."""
    if length is None:
        return list(shape)
    return [(2 * length if len(shape) > 1 else length) if size is None else size for size in shape]


def input_shapes(tf: Any, name: str, options: Mapping[str, Any], length: int) -> dict[str, tuple[str, list[int]]]:
    """The dtype of each input, and its shape without the batch."""
    keras_hub: Any = importlib.import_module("keras_hub")
    model = getattr(keras_hub.models, name)(vocabulary_size=VOCABULARY, **options)
    return {key: (str(value.dtype), _sizes(value.shape[1:], length)) for key, value in model.input.items()}


def draw(shapes: Mapping[str, tuple[str, list[int]]], batch: int) -> dict[str, npt.NDArray[Any]]:
    """Tokens, segments, and masks whose rows end somewhere."""
    random = np.random.default_rng(batch)
    inputs: dict[str, npt.NDArray[Any]] = {}
    for name, (dtype, sizes) in shapes.items():
        shape = [batch, *sizes]
        if dtype.startswith("float"):
            values: Any = random.standard_normal(shape)
        elif "mask" in name:
            values = np.arange(sizes[0]) < random.integers(3, sizes[0] + 1, [batch, 1])
        else:
            values = random.integers(0, 2 if "segment" in name else VOCABULARY, shape)
        inputs[name] = np.asarray(values).astype(dtype)
    return inputs


@pytest.mark.parametrize("case", BACKBONES, ids=str)
def test_backbone(tensorflow: TensorFlow, case: Backbone) -> None:
    """Batches 1 and 3 on one interpreter, each twice, with builtin ops alone; 1e-5 of the largest value."""
    arguments = (case.name, dict(case.options), case.length)
    path = tensorflow.save(backbone, *arguments)
    shapes = tensorflow.call(input_shapes, *arguments)
    result = check(tensorflow, path, [draw(shapes, batch) for batch in (1, 3)], allow_custom_ops="never")
    assert result.report.custom_ops == ()


OPEN = [case for case in BACKBONES if case.name in {"BertBackbone", "GPT2Backbone", "WhisperBackbone"}]


@pytest.mark.parametrize("case", OPEN, ids=str)
def test_open_batch_and_length(tensorflow: TensorFlow, case: Backbone) -> None:
    """Lengths that are open, as Keras Hub leaves them: an open batch costs no op and no part of the model's own."""
    path = tensorflow.save(backbone, case.name, dict(case.options), None)
    sizes = [(1, LENGTH), (3, LENGTH - 5), (1, 3), (3, LENGTH)]
    inputs = [
        draw(tensorflow.call(input_shapes, case.name, dict(case.options), length), batch) for batch, length in sizes
    ]
    result = check(tensorflow, path, inputs, allow_custom_ops="never").model_bytes
    one = litefuse.convert(path, batch=1).model_bytes
    counts, fixed = op_counts(result), op_counts(one)
    assert counts.total() <= fixed.total(), (counts - fixed, fixed - counts)
    assert counts["SHAPE"] <= fixed["SHAPE"]
    assert partition_count(result, inputs[0]) <= partition_count(one, inputs[0])


def test_inputs_that_are_broadcast(tensorflow: TensorFlow) -> None:
    """Each input's batch is open for itself: TensorFlow takes one row of tokens or mask for all rows of the other."""
    case = next(case for case in OPEN if case.name == "BertBackbone")
    path = tensorflow.save(backbone, case.name, dict(case.options), None)
    shapes = tensorflow.call(input_shapes, case.name, dict(case.options), LENGTH)
    tokens, masks = draw(shapes, 1), draw(shapes, 3)
    inputs = [tokens | {"padding_mask": masks["padding_mask"]}, masks | {"padding_mask": tokens["padding_mask"]}]
    check(tensorflow, path, inputs)
