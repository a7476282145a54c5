"""The Keras layers of training for integers. Importing this module imports Keras, and registers them for its files."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from litefuse.frontends.quantization_aware.names import FAKE_QUANTIZATIONS
from litefuse.frontends.quantization_aware.inputs import argument_tensors
from litefuse.frontends.quantization_aware.placement import Range, placement_of
from litefuse.frontends.quantization_aware.tracing import Step, Value, trace_model

keras: Any = importlib.import_module("keras")
ops: Any = keras.ops

# How much of the distance to the ends of a batch a range moves in each step of training.
_RATE = 0.01
# The least range of a channel, as a share of that of all weights: biases are int32 in steps of them.
_LEAST_CHANNEL = 2.0**-16


def fake_quantize(x: Any, low: Any, high: Any, *, narrow: bool = False, channels: bool = False) -> Any:
    """Rounds to the 8-bit steps of a range, as TensorFlow's ``FakeQuantWithMinMaxVars`` does, with its gradient for x.

    Args:
        x: float32.
        low: The range's lower end, a scalar or one for each channel, the last axis.
        high: Its upper end. A range from 0 to 0 has not been observed yet, and rounds nothing.
        narrow: Whether the range has 254 steps, for weights whose zero is the middle one.
        channels: Whether each channel has a range.
    """
    low, high = ops.stop_gradient(low), ops.stop_gradient(high)
    options: dict[str, Any] = {"num_bits": 8, "narrow_range": narrow}
    if keras.config.backend() == "tensorflow":
        quantization = importlib.import_module("tensorflow").quantization
        function = "fake_quant_with_min_max_vars" + ("_per_channel" if channels else "")
        rounded = getattr(quantization, function)(x, low, high, **options)
        return rounded if narrow else ops.where(low < high, rounded, x)

    def compute(x: Any, low: Any, high: Any) -> Any:
        axis = len(x.shape) - 1 if channels else None
        quantized = keras.quantizers.fake_quant_with_min_max_vars(x, low, high, axis=axis, **options)
        return ops.where(low < high, quantized, x)

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
    """Rounds weights to 255 steps around 0, whose range is that of the weights.

    Args:
        weights: float32.
        axis: The axis from which on each element has a range of its own; None for one range.
    """
    weights = ops.convert_to_tensor(weights)
    shape = tuple(weights.shape)
    if axis is None:
        bound = ops.maximum(ops.max(ops.abs(weights)), 1e-6)
        return fake_quantize(weights, -bound, bound, narrow=True)
    matrix = weights if axis == len(shape) - 1 else ops.reshape(weights, (*shape[:0], -1, _product(shape[axis:])))
    bounds = ops.max(ops.abs(matrix), axis=tuple(range(len(matrix.shape) - 1)))
    bounds = ops.maximum(bounds, ops.maximum(ops.max(bounds) * _LEAST_CHANNEL, 1e-6))
    rounded = fake_quantize(matrix, -bounds, bounds, narrow=True, channels=True)
    return rounded if matrix is weights else ops.reshape(rounded, shape)


def _product(sizes: tuple[int, ...]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


class MovingRange(keras.layers.Layer):
    """A range that follows the ends of the batches of training."""

    def __init__(self, ends: tuple[float, float] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        low, high = ends or (0.0, 0.0)
        self.low, self.high = (
            self.add_weight(name=name, shape=(), initializer=keras.initializers.Constant(end), trainable=False)
            for name, end in (("low", low), ("high", high))
        )
        self.built = True

    def observe(self, x: Any) -> None:
        """Moves the ends towards those of a batch, or to these if it is the first."""
        x = ops.stop_gradient(x)
        ends = ops.minimum(ops.min(x), 0.0), ops.maximum(ops.max(x), 0.0)
        first = ops.logical_not(self.low < self.high)
        for end, observed in zip((self.low, self.high), ends, strict=True):
            end.assign(ops.where(first, observed, end + _RATE * (observed - end)))

    def call(self, x: Any) -> Any:
        return fake_quantize(x, ops.convert_to_tensor(self.low), ops.convert_to_tensor(self.high))


@keras.saving.register_keras_serializable("litefuse")
class QuantizationAware(keras.layers.Layer):
    """Calls a model's operations with fake quantization between them.

    Args:
        model: A built Keras model, whose layers and weights it uses.
        keep_float: A regular expression that matches the names of calls to leave in floats.
        **kwargs: Arguments of every layer.
    """

    def __init__(self, model: Any, keep_float: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.model, self.keep_float = model, keep_float
        self._trace = trace_model(keras, model, argument_tensors(keras, model))
        self.placement = placement_of(keras, self._trace, keep_float)
        self._ranges_of = {id(grid): MovingRange(grid.ends) for grid in self.placement.ranges}
        self.ranges = [*self._ranges_of.values()]
        self.built = True

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        trace, placement = self._trace, self.placement
        values: dict[Value, Any] = {}
        args = inputs if len(trace.args) > 1 else [inputs]
        for value, x in zip(keras.tree.flatten(trace.args), keras.tree.flatten(args), strict=True):
            self._set(values, value, x, training)
        for step in trace.steps:
            given, keywords = keras.tree.map_structure(
                lambda leaf, step=step: self._argument(leaf, step, values), (list(step.args), dict(step.kwargs))
            )
            if step in placement.products:
                results = self._normalized(step, *given, training=training)
            else:
                results = step.function(*given, **keywords, **({"training": training} if step.takes_training else {}))
            for value, x in zip(step.outputs, keras.tree.flatten(results), strict=True):
                self._set(values, value, x, training)
        return keras.tree.map_structure(lambda leaf: self._argument(leaf, None, values), trace.outputs)

    def _set(self, values: dict[Value, Any], value: Value, x: Any, training: bool | None) -> None:
        observed = self.placement.rounded.get(value)
        if observed is not None:
            grid = self._moving(self.placement.grids[value])
            if training and observed:
                grid.observe(x)
            x = grid(x)
        values[value] = x

    def _moving(self, grid: Range) -> Any:
        return self._ranges_of[id(grid)]

    def _argument(self, leaf: Any, step: Step | None, values: Mapping[Value, Any]) -> Any:
        if not isinstance(leaf, Value):
            return leaf
        x = values[leaf] if leaf.variable is None else leaf.variable
        if step is None or (step, leaf) not in self.placement.weights:
            return x
        return quantized_weights(x, self.placement.weights[step, leaf])

    def _normalized(self, step: Step, x: Any, *, training: bool | None) -> Any:
        """Computes a batch normalization that no product takes in as the product and the addition that it becomes."""
        layer: Any = step.function
        shape = [1] * len(x.shape)
        shape[layer.axis] = -1
        factor = ops.rsqrt(layer.moving_variance + layer.epsilon) * (layer.gamma if layer.scale else 1.0)
        offset = (layer.beta if layer.center else 0.0) - layer.moving_mean * factor
        product, grid = x * quantized_weights(ops.reshape(factor, shape), None), self._moving(self.placement.products[step])
        if training:
            grid.observe(product)
            return layer(x, training=True)
        return grid(product) + quantized_weights(ops.reshape(offset, shape), None)

    def get_config(self) -> dict[str, Any]:
        model = keras.saving.serialize_keras_object(self.model)
        return {**super().get_config(), "model": model, "keep_float": self.keep_float}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> QuantizationAware:
        return cls(keras.saving.deserialize_keras_object(config.pop("model")), **config)
