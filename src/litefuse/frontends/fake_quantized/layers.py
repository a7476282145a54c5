"""The Keras layers of training for integers. Importing this module imports Keras, and registers them for its files."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from litefuse.frontends.fake_quantized import FAKE_QUANTIZATIONS
from litefuse.frontends.fake_quantized.placement import placement_of
from litefuse.frontends.fake_quantized.tracing import Step, Value, trace_model
from litefuse.frontends.keras_model import input_specs

keras: Any = importlib.import_module("keras")
ops: Any = keras.ops

# How far a range moves in each step of training towards the ends of the batch.
_RATE = 0.01
# The least range of a channel as a share of the largest: biases are int32 in its steps.
_LEAST_CHANNEL = 2.0**-16


def fake_quantize(x: Any, low: Any, high: Any, *, narrow: bool = False) -> Any:
    """Rounds to the 8-bit steps of a range, as TensorFlow's ``FakeQuantWithMinMaxVars``, with its gradient for x.

    Args:
        x: float32.
        low: The range's lower end, a scalar or one for each channel, the last axis.
        high: Its upper end. With 0 for both, which have not been observed yet, nothing is rounded.
        narrow: Whether the range has 254 steps, as weights have, and not 255.
    """
    low, high = ops.stop_gradient(low), ops.stop_gradient(high)
    options: dict[str, Any] = {"num_bits": 8, "narrow_range": narrow}
    channels = len(low.shape) > 0
    if keras.config.backend() == "tensorflow":
        name = "fake_quant_with_min_max_vars" + ("_per_channel" if channels else "")
        rounded = getattr(importlib.import_module("tensorflow").quantization, name)(x, low, high, **options)
        return rounded if narrow else ops.where(low < high, rounded, x)

    def compute(x: Any, low: Any, high: Any) -> Any:
        axis = len(x.shape) - 1 if channels else None
        rounded = keras.quantizers.fake_quant_with_min_max_vars(x, low, high, axis=axis, **options)
        return ops.where(low < high, rounded, x)

    compute.__name__ = next(name for name, is_narrow in FAKE_QUANTIZATIONS.items() if is_narrow is narrow)
    named = importlib.import_module("jax").jit(compute)

    @ops.custom_gradient
    def estimated(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
        inside = ops.logical_or(ops.logical_and(x >= low, x <= high), low >= high)

        def gradient(*args: Any, upstream: Any = None) -> Any:
            upstream = args[0] if upstream is None else upstream
            return ops.where(inside, upstream, 0.0), ops.zeros_like(low), ops.zeros_like(high)

        return named(x, low, high), gradient

    return estimated(x, low, high)


def quantized_weights(weights: Any, axis: int | None) -> Any:
    """Rounds weights to 255 steps around 0; from an axis on, each element has a range of its own."""
    weights = ops.convert_to_tensor(weights)
    shape = tuple(weights.shape)
    matrix = weights if axis in {None, len(shape) - 1} else ops.reshape(weights, (-1, math.prod(shape[axis:])))
    bounds = ops.max(ops.abs(matrix), axis=None if axis is None else tuple(range(len(matrix.shape) - 1)))
    bounds = ops.maximum(bounds, ops.maximum(ops.max(bounds) * _LEAST_CHANNEL, 1e-6))
    rounded = fake_quantize(matrix, -bounds, bounds, narrow=True)
    return rounded if matrix is weights else ops.reshape(rounded, shape)


class MovingRange(keras.layers.Layer):
    """A range that follows the ends of the batches of training, or that is constant."""

    def __init__(self, ends: tuple[float, float] | None) -> None:
        super().__init__()
        self.low, self.high = (
            self.add_weight(name=name, shape=(), initializer=keras.initializers.Constant(end), trainable=False)
            for name, end in zip(("low", "high"), ends or (0.0, 0.0), strict=True)
        )
        self.built = True

    def observe(self, x: Any) -> None:
        """Moves the ends towards those of a batch, or to these if it is the first."""
        x = ops.stop_gradient(x)
        is_first = self.low >= self.high
        for end, observed in ((self.low, ops.minimum(ops.min(x), 0.0)), (self.high, ops.maximum(ops.max(x), 0.0))):
            end.assign(ops.where(is_first, observed, end + _RATE * (observed - end)))

    def call(self, x: Any) -> Any:
        return fake_quantize(x, ops.convert_to_tensor(self.low), ops.convert_to_tensor(self.high))


@keras.saving.register_keras_serializable("litefuse")
class QuantizationAware(keras.layers.Layer):
    """Calls a model's operations with fake quantization between them.

    Args:
        model: A built Keras model, whose layers and weights it uses.
        keep_float: Regular expressions of the names of calls that stay in floats.
        **kwargs: Arguments of every layer.
    """

    def __init__(self, model: Any, keep_float: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.model, self.keep_float = model, tuple(keep_float)
        args, _ = input_specs(keras.tree.map_structure, _symbolic, keras, model)
        self.symbolic_inputs = args if len(args) > 1 else args[0]
        steps, args, results = trace_model(keras, model, args)
        arguments, outputs = keras.tree.flatten(args), {*keras.tree.flatten(results)}
        self.placement = placement_of(steps, arguments, outputs, self.keep_float)
        self.ranges = [MovingRange(ends) for ends in self.placement.ranges]
        # Keras would track, and copy, lists and dictionaries.
        self._traced = lambda: (steps, arguments, results)
        self.built = True

    @property
    def metrics(self) -> list[Any]:
        """Those of the model's layers, without those that the model itself was compiled with."""
        return [metric for layer in self.model.layers for metric in layer.metrics]

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        steps, arguments, outputs = self._traced()
        values: dict[Value, Any] = {}
        for value, x in zip(arguments, keras.tree.flatten(inputs), strict=True):
            values[value] = self._rounded(value, x, training)
        for step in steps:
            argument = partial(self._argument, step, values)
            args, kwargs = keras.tree.map_structure(argument, (list(step.args), dict(step.kwargs)))
            if step in self.placement.products:
                results = self._normalized(step, *args, training=training)
            else:
                results = step.function(*args, **kwargs, **({"training": training} if step.takes_training else {}))
            for value, x in zip(step.outputs, keras.tree.flatten(results), strict=True):
                values[value] = self._rounded(value, x, training)
        return keras.tree.map_structure(partial(self._argument, None, values), outputs)

    def _rounded(self, value: Value, x: Any, training: bool | None) -> Any:
        if value not in self.placement.rounded:
            return x
        grid = self.ranges[self.placement.grids[value]]
        if training and self.placement.rounded[value]:
            grid.observe(x)
        return grid(x)

    def _argument(self, step: Step | None, values: Mapping[Value, Any], leaf: Any) -> Any:
        if not isinstance(leaf, Value):
            return leaf
        x, weights = leaf.tensor if leaf.is_variable else values[leaf], self.placement.weights
        return x if step is None or (step, leaf) not in weights else quantized_weights(x, weights[step, leaf])

    def _normalized(self, step: Step, x: Any, *, training: bool | None) -> Any:
        """Computes a batch normalization that no product takes in as the product and the addition that it becomes."""
        layer: Any = step.function
        grid, shape = self.ranges[self.placement.products[step]], [1] * len(x.shape)
        shape[layer.axis] = -1
        factor = (layer.gamma if layer.scale else 1.0) / ops.sqrt(layer.moving_variance + layer.epsilon)
        offset = (layer.beta if layer.center else 0.0) - layer.moving_mean * factor
        product = x * quantized_weights(ops.reshape(factor, shape), None)
        if training:
            grid.observe(product)
            return layer(x, training=True)
        return grid(product) + quantized_weights(ops.reshape(offset, shape), None)

    def get_config(self) -> dict[str, Any]:
        model = keras.saving.serialize_keras_object(self.model)
        return {**super().get_config(), "model": model, "keep_float": list(self.keep_float)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> QuantizationAware:
        return cls(keras.saving.deserialize_keras_object(config.pop("model")), **config)


def _symbolic(shape: Any, dtype: str, name: str | None = None) -> Any:
    return keras.Input(batch_shape=tuple(shape), dtype=dtype, name=name)
