# pyright: reportUnknownLambdaType=false
"""The layers of Keras 3, by what they take: each with options that are not its defaults."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

# What the layers of a group take, without the batch; two for those that take several.
INPUTS: dict[str, tuple[tuple[tuple[int | None, ...], str], ...]] = {
    "vectors": (((12,), "float32"),),
    "sequences": (((9, 6), "float32"),),
    "open_sequences": (((None, 6), "float32"),),
    "images": (((12, 10, 3), "float32"),),
    "open_images": (((None, None, 3), "float32"),),
    "volumes": (((6, 7, 8, 2), "float32"),),
    "films": (((4, 8, 8, 3), "float32"),),
    "two": (((8, 6), "float32"), ((8, 6), "float32")),
    "numbers": (((5,), "int32"),),
    "sound": (((400,), "float32"),),
    "spectra": (((400, 1), "float32"),),
    "strings": (((3,), "string"),),
}

Make = Callable[[Any], Any]

GROUPS: dict[str, dict[str, Make]] = {
    "vectors": {
        "activation": lambda k: k.layers.Activation("hard_silu"),
        "celu": lambda k: k.layers.Activation("celu"),
        "elu": lambda k: k.layers.ELU(0.7),
        "exponential": lambda k: k.layers.Activation("exponential"),
        "gelu": lambda k: k.layers.Activation("gelu"),
        "glu": lambda k: k.layers.Activation("glu"),
        "hard_tanh": lambda k: k.layers.Activation("hard_tanh"),
        "log_sigmoid": lambda k: k.layers.Activation("log_sigmoid"),
        "log_softmax": lambda k: k.layers.Activation("log_softmax"),
        "mish": lambda k: k.layers.Activation("mish"),
        "selu": lambda k: k.layers.Activation("selu"),
        "silu": lambda k: k.layers.Activation("silu"),
        "soft_shrink": lambda k: k.layers.Activation("soft_shrink"),
        "softplus": lambda k: k.layers.Activation("softplus"),
        "softsign": lambda k: k.layers.Activation("softsign"),
        "sparse_plus": lambda k: k.layers.Activation("sparse_plus"),
        "sparsemax": lambda k: k.layers.Activation("sparsemax"),
        "squareplus": lambda k: k.layers.Activation("squareplus"),
        "tanh_shrink": lambda k: k.layers.Activation("tanh_shrink"),
        "batch_normalization": lambda k: k.layers.BatchNormalization(scale=False),
        "dense": lambda k: k.layers.Dense(7, "relu6", bias_initializer="random_normal"),
        "discretization": lambda k: k.layers.Discretization([-1.0, 0.0, 0.5]),
        "dropout": lambda k: k.layers.Dropout(0.5),
        "gaussian_noise": lambda k: k.layers.GaussianNoise(0.5),
        "layer_normalization": lambda k: k.layers.LayerNormalization(),
        "leaky_relu": lambda k: k.layers.LeakyReLU(0.2),
        "normalization": lambda k: k.layers.Normalization(mean=[0.5] * 12, variance=[2.0] * 12),
        "prelu": lambda k: k.layers.PReLU(alpha_initializer="random_normal"),
        "relu": lambda k: k.layers.ReLU(4.0, 0.1, 0.5),
        "repeat_vector": lambda k: k.layers.RepeatVector(3),
        "rescaling": lambda k: k.layers.Rescaling(2.0, -1.0),
        "reshape": lambda k: k.layers.Reshape((-1, 4)),
        "rms_normalization": lambda k: k.layers.RMSNormalization(),
        "softmax": lambda k: k.layers.Softmax(),
        "spectral_normalization": lambda k: k.layers.SpectralNormalization(k.layers.Dense(4)),
        "unit_normalization": lambda k: k.layers.UnitNormalization(),
    },
    "sequences": {
        "adaptive_average": lambda k: k.layers.AdaptiveAveragePooling1D(4),
        "adaptive_max": lambda k: k.layers.AdaptiveMaxPooling1D(4),
        "average_pooling": lambda k: k.layers.AveragePooling1D(3, 2, "same"),
        "conv": lambda k: k.layers.Conv1D(4, 3, dilation_rate=2, padding="causal"),
        "conv_groups": lambda k: k.layers.Conv1D(4, 3, groups=2),
        "conv_transpose": lambda k: k.layers.Conv1DTranspose(4, 3, strides=2, padding="same"),
        "cropping": lambda k: k.layers.Cropping1D((1, 2)),
        "depthwise": lambda k: k.layers.DepthwiseConv1D(3, depth_multiplier=2),
        "einsum_dense": lambda k: k.layers.EinsumDense("abc,cde->abde", (None, 2, 5), bias_axes="de"),
        "flatten": lambda k: k.layers.Flatten(),
        "global_average": lambda k: k.layers.GlobalAveragePooling1D(),
        "global_max": lambda k: k.layers.GlobalMaxPooling1D(keepdims=True),
        "group_normalization": lambda k: k.layers.GroupNormalization(3),
        "masking": lambda k: k.layers.Masking(0.0),
        "max_pooling": lambda k: k.layers.MaxPooling1D(2, padding="same"),
        "permute": lambda k: k.layers.Permute((2, 1)),
        "separable": lambda k: k.layers.SeparableConv1D(4, 3, strides=2),
        "spatial_dropout": lambda k: k.layers.SpatialDropout1D(0.3),
        "time_distributed": lambda k: k.layers.TimeDistributed(k.layers.Dense(3)),
        "up_sampling": lambda k: k.layers.UpSampling1D(3),
        "zero_padding": lambda k: k.layers.ZeroPadding1D((2, 1)),
    },
    "open_sequences": {
        "average_pooling": lambda k: k.layers.AveragePooling1D(3, 2, "same"),
        "conv": lambda k: k.layers.Conv1D(4, 3, dilation_rate=2, padding="causal"),
        "conv_transpose": lambda k: k.layers.Conv1DTranspose(4, 3, strides=2, padding="same"),
        "dense": lambda k: k.layers.Dense(5),
        "depthwise": lambda k: k.layers.DepthwiseConv1D(3),
        "einsum_dense": lambda k: k.layers.EinsumDense("abc,cde->abde", (None, 2, 5), bias_axes="de"),
        "global_average": lambda k: k.layers.GlobalAveragePooling1D(),
        "layer_normalization": lambda k: k.layers.LayerNormalization(),
        "max_pooling": lambda k: k.layers.MaxPooling1D(2),
        "separable": lambda k: k.layers.SeparableConv1D(4, 3),
        "up_sampling": lambda k: k.layers.UpSampling1D(2),
        "zero_padding": lambda k: k.layers.ZeroPadding1D(2),
    },
    "images": {
        "adaptive_average": lambda k: k.layers.AdaptiveAveragePooling2D((4, 3)),
        "adaptive_max": lambda k: k.layers.AdaptiveMaxPooling2D((5, 3)),
        "average_pooling": lambda k: k.layers.AveragePooling2D((3, 2), (2, 1), "same"),
        "batch_normalization": lambda k: k.layers.BatchNormalization(),
        "center_crop": lambda k: k.layers.CenterCrop(7, 6),
        "conv": lambda k: k.layers.Conv2D(4, (3, 2), strides=2, padding="same", activation="relu"),
        "conv_dilated": lambda k: k.layers.Conv2D(4, 3, dilation_rate=2),
        "conv_groups": lambda k: k.layers.Conv2D(6, 3, groups=3, use_bias=False),
        "conv_transpose": lambda k: k.layers.Conv2DTranspose(4, 3, strides=(2, 1), padding="same"),
        "conv_transpose_valid": lambda k: k.layers.Conv2DTranspose(4, 3, strides=2, output_padding=1),
        "cropping": lambda k: k.layers.Cropping2D(((1, 2), (0, 3))),
        "depthwise": lambda k: k.layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same"),
        "global_average": lambda k: k.layers.GlobalAveragePooling2D(),
        "global_max": lambda k: k.layers.GlobalMaxPooling2D(),
        "group_normalization": lambda k: k.layers.GroupNormalization(-1),
        "max_pooling": lambda k: k.layers.MaxPooling2D(3, 2),
        "prelu": lambda k: k.layers.PReLU(shared_axes=[1, 2], alpha_initializer="random_normal"),
        "resizing": lambda k: k.layers.Resizing(7, 15),
        "resizing_nearest": lambda k: k.layers.Resizing(24, 5, "nearest"),
        "resizing_crop": lambda k: k.layers.Resizing(6, 9, crop_to_aspect_ratio=True),
        "resizing_pad": lambda k: k.layers.Resizing(8, 12, pad_to_aspect_ratio=True),
        "separable": lambda k: k.layers.SeparableConv2D(4, 3, dilation_rate=2),
        "up_sampling": lambda k: k.layers.UpSampling2D((2, 3)),
        "up_sampling_bilinear": lambda k: k.layers.UpSampling2D(2, interpolation="bilinear"),
        "zero_padding": lambda k: k.layers.ZeroPadding2D(((1, 0), (2, 3))),
    },
    "open_images": {
        "average_pooling": lambda k: k.layers.AveragePooling2D(2, padding="same"),
        "conv": lambda k: k.layers.Conv2D(4, 3, strides=2, padding="same"),
        "conv_transpose": lambda k: k.layers.Conv2DTranspose(4, 3, strides=2, padding="same"),
        "cropping": lambda k: k.layers.Cropping2D(1),
        "depthwise": lambda k: k.layers.DepthwiseConv2D(3),
        "global_average": lambda k: k.layers.GlobalAveragePooling2D(),
        "group_normalization": lambda k: k.layers.GroupNormalization(3),
        "resizing": lambda k: k.layers.Resizing(7, 15),
        "separable": lambda k: k.layers.SeparableConv2D(4, 3),
        "up_sampling": lambda k: k.layers.UpSampling2D(2),
        "zero_padding": lambda k: k.layers.ZeroPadding2D(1),
    },
    "volumes": {
        "adaptive_average": lambda k: k.layers.AdaptiveAveragePooling3D(3),
        "average_pooling": lambda k: k.layers.AveragePooling3D(2, padding="same"),
        "conv": lambda k: k.layers.Conv3D(3, 3, strides=2, padding="same"),
        "conv_transpose": lambda k: k.layers.Conv3DTranspose(3, 2, strides=2),
        "cropping": lambda k: k.layers.Cropping3D(1),
        "global_average": lambda k: k.layers.GlobalAveragePooling3D(),
        "global_max": lambda k: k.layers.GlobalMaxPooling3D(),
        "max_pooling": lambda k: k.layers.MaxPooling3D(2),
        "up_sampling": lambda k: k.layers.UpSampling3D(2),
        "zero_padding": lambda k: k.layers.ZeroPadding3D(1),
    },
    "films": {
        "conv_lstm": lambda k: k.layers.ConvLSTM2D(2, 3, return_sequences=True, padding="same"),
        "time_distributed": lambda k: k.layers.TimeDistributed(k.layers.Conv2D(2, 3)),
        "time_distributed_pooling": lambda k: k.layers.TimeDistributed(k.layers.GlobalAveragePooling2D()),
    },
    "two": {
        "add": lambda k: k.layers.Add(),
        "additive_attention": lambda k: k.layers.AdditiveAttention(),
        "attention": lambda k: k.layers.Attention(use_scale=True),
        "average": lambda k: k.layers.Average(),
        "concatenate": lambda k: k.layers.Concatenate(1),
        "dot": lambda k: k.layers.Dot((2, 2), normalize=True),
        "group_query_attention": lambda k: _of_list(k, k.layers.GroupQueryAttention(3, 4, 2)),
        "maximum": lambda k: k.layers.Maximum(),
        "minimum": lambda k: k.layers.Minimum(),
        "multi_head_attention": lambda k: _of_list(k, k.layers.MultiHeadAttention(2, 3)),
        "causal_attention": lambda k: _of_list(k, k.layers.MultiHeadAttention(2, 3), use_causal_mask=True),
        "multiply": lambda k: k.layers.Multiply(),
        "subtract": lambda k: k.layers.Subtract(),
    },
    "numbers": {
        "category_encoding": lambda k: k.layers.CategoryEncoding(20, "multi_hot"),
        "category_encoding_count": lambda k: k.layers.CategoryEncoding(20, "count"),
        "category_encoding_one_hot": lambda k: k.layers.CategoryEncoding(20, "one_hot"),
        "embedding": lambda k: k.layers.Embedding(20, 4),
        "integer_lookup": lambda k: k.layers.IntegerLookup(vocabulary=[3, 1, 7], num_oov_indices=1),
        "reversible_embedding": lambda k: k.layers.ReversibleEmbedding(20, 4),
    },
    "sound": {
        "mel_spectrogram": lambda k: k.layers.MelSpectrogram(
            fft_length=64, sequence_stride=32, sampling_rate=8000, num_mel_bins=10
        ),
    },
    "spectra": {
        "stft_spectrogram": lambda k: k.layers.STFTSpectrogram(
            mode="log", frame_length=64, frame_step=32, fft_length=64
        ),
        "stft_real": lambda k: k.layers.STFTSpectrogram(mode="real", frame_length=50, frame_step=25, fft_length=64),
    },
    "strings": {
        "string_lookup": lambda k: k.layers.StringLookup(vocabulary=["a", "b", "c"]),
        "string_lookup_one_hot": lambda k: k.layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot"),
    },
}

# TensorFlow itself cannot.
_NOT_MIXED = {
    ("mixed_float16", "sparsemax"),
    *(("mixed_float16", name) for name in ("adaptive_average", "average_pooling", "global_average")),
}


def _of_list(keras: Any, layer: Any, **options: Any) -> Any:
    """A layer that takes several arguments, as one of a list."""

    class Listed(keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = layer

        def build(self, shapes: Any) -> None:
            layer.build(*shapes)

        def call(self, values: Any) -> Any:
            return layer(*values, **options)

    return Listed()


def build(tf: Any, group: str, policy: str = "float32", only: str | None = None) -> Any:
    """A model with one output for each layer of a group.

    Args:
        tf: TensorFlow.
        group: The group.
        policy: Keras' policy of dtypes; the outputs are of float32 whatever it is, unless they are integers.
        only: The layer that there is an output for, if not for all.
    """
    keras = importlib.import_module("keras")
    keras.utils.set_random_seed(3)
    keras.mixed_precision.set_global_policy(policy)
    try:
        layers = {
            name: make(keras)
            for name, make in GROUPS[group].items()
            if (policy, name) not in _NOT_MIXED and only in (None, name)
        }
    finally:
        keras.mixed_precision.set_global_policy("float32")
    module = tf.Module()
    specs = [
        tf.TensorSpec([None, *shape], dtype, name=f"x{number}") for number, (shape, dtype) in enumerate(INPUTS[group])
    ]
    random = np.random.default_rng(5)

    def serve(*values: Any) -> dict[str, Any]:
        given: Any = [*values]
        results = {name: layer(given if len(given) > 1 else given[0]) for name, layer in layers.items()}
        return {
            name: tf.cast(result, tf.float32) if result.dtype.is_floating else result
            for name, result in results.items()
        }

    # The weights are made by the first call; biases and statistics are not to be the zeros and ones that they begin as.
    serve(*(tf.zeros([1, *(size or 12 for size in spec.shape[1:])], spec.dtype) for spec in specs))
    for layer in layers.values():
        for weight in layer.weights:
            if weight.dtype == "float32":
                weight.assign(weight + random.uniform(0.05, 0.3, weight.shape).astype(np.float32))
    module.serve = tf.function(serve, input_signature=specs)
    module.tracked = list(module.serve.get_concrete_function().graph.variables)
    module.layers_used = [layer for layer in layers.values() if "Lookup" in type(layer).__name__]
    return module, {"serving_default": module.serve}
