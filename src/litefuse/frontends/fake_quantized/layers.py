"""The Keras layers of training for integers. Importing this module imports Keras, and registers them for its files."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from litefuse.frontends.fake_quantized import FAKE_QUANTIZATIONS
from litefuse.frontends.fake_quantized.placement import placement_of
from litefuse.frontends.fake_quantized.tracing import Body, Step, Value, changed, trace_model
from litefuse.frontends.keras_model import input_specs

keras: Any = importlib.import_module("keras")
ops: Any = keras.ops

# What is told what a range rounds in training.
_Observe: TypeAlias = Callable[[int, Any], None]
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
        self.supports_masking = True
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
        trace = trace_model(keras, model, args)
        arguments, results = keras.tree.flatten(trace.arguments), {*keras.tree.flatten(trace.results)}
        self.placement = placement_of(trace, arguments, results, self.keep_float)
        self.ranges = [MovingRange(ends) for ends in self.placement.ranges]
        # Keras would track, and copy, lists and dictionaries.
        self._traced = lambda: (trace, arguments)
        self.built = True

    @property
    def metrics(self) -> list[Any]:
        """Those of the model's layers, without those that the model itself was compiled with."""
        return [metric for layer in self.model.layers for metric in layer.metrics]

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        trace, arguments = self._traced()
        observe = self._observe if training else None
        given = zip(arguments, keras.tree.flatten(inputs), strict=True)
        values = {value: self._rounded(value, x, observe) for value, x in given}
        for state, _ in trace.assigned:
            values[state] = self._rounded(state, ops.convert_to_tensor(state.tensor), None)
        self._compute(trace.steps, values, training, observe)
        for state, new in trace.assigned:
            state.tensor.assign(values[new])
        return keras.tree.map_structure(partial(self._argument, None, values), trace.results)

    def _observe(self, grid: int, x: Any) -> None:
        self.ranges[grid].observe(x)

    def _compute(
        self, steps: Sequence[Step], values: dict[Value, Any], training: bool | None, observe: _Observe | None
    ) -> None:
        """Adds the results of calls to the values; what they round is observed first."""
        for step in steps:
            argument = partial(self._argument, step, values)
            args, kwargs = keras.tree.map_structure(argument, (list(step.args), dict(step.kwargs)))
            if step in self.placement.products:
                results = self._normalized(step, *args, training=training)
            elif step.body is not None:
                layer: Any = step.function
                masks = {} if training else {"dropout": 0.0}  # which would count the random numbers
                inner_loop = partial(self._inner_loop, layer, step.body)
                with changed(layer, inner_loop=inner_loop), changed(layer.cell, **masks):
                    results = step.function(*args, **kwargs, training=training)
            else:
                results = step.function(*args, **kwargs, **({"training": training} if step.takes_training else {}))
            for value, x in zip(step.outputs, keras.tree.flatten(results), strict=True):
                values[value] = self._rounded(value, x, observe)

    def _rounded(self, value: Value, x: Any, observe: _Observe | None) -> Any:
        if value not in self.placement.rounded:
            return x
        grid = self.placement.grids[value]
        if observe is not None and self.placement.rounded[value]:
            observe(grid, x)
        return self.ranges[grid](x)

    def _inner_loop(
        self, layer: Any, body: Body, sequences: Any, initial_state: Any, mask: Any = None, training: bool | None = None
    ) -> tuple[Any, Any, list[Any]]:
        """Computes the steps of time of a recurrent layer, as its own ``inner_loop`` does without rounding."""
        mask = next(iter(keras.tree.flatten(mask)), None)
        if training and getattr(layer.cell, "dropout", 0):
            kept = layer.cell.get_dropout_mask(sequences[:, 0])
            sequences = sequences * ops.expand_dims(kept[0] if isinstance(kept, list) else kept, 1)
        observed = self.placement.observed_in(body) if training else []
        # Variables cannot be assigned in a loop, so it carries the ends that each element of the batch has reached;
        # behind the first state, since Keras takes the first, and the last of stacked cells, for outputs.
        zeros = ops.zeros_like(ops.reshape(sequences[:, 0], (ops.shape(sequences)[0], -1))[:, :1])
        ends = dict.fromkeys(observed, (zeros, zeros))
        behind = 1 + 2 * len(ends)

        def cell(x: Any, carried: Sequence[Any], **_: Any) -> tuple[Any, list[Any]]:
            states = [carried[0], *carried[behind:]]
            reached = dict(zip(observed, zip(carried[1:behind:2], carried[2:behind:2], strict=True), strict=True))

            def observe(grid: int, x: Any) -> None:
                axes = tuple(range(1, len(x.shape)))
                low, high = (ops.reshape(end(ops.stop_gradient(x), axis=axes), (-1, 1)) for end in (ops.min, ops.max))
                reached[grid] = ops.minimum(reached[grid][0], low), ops.maximum(reached[grid][1], high)

            taken = zip(body.arguments, [x, *keras.tree.flatten(states)], strict=True)
            values = {value: self._rounded(value, x, None) for value, x in taken}
            self._compute(body.steps, values, training=False, observe=observe if training else None)
            output, *new_states = (values[value] for value in body.results)
            new_states = keras.tree.pack_sequence_as(states, new_states)
            return output, [new_states[0], *(end for both in reached.values() for end in both), *new_states[1:]]

        states = [initial_state[0], *(end for both in ends.values() for end in both), *initial_state[1:]]
        with changed(layer, cell=cell):
            last, outputs, states = keras.layers.RNN.inner_loop(layer, sequences, states, mask, training)
        for grid, low, high in zip(observed, states[1:behind:2], states[2:behind:2], strict=True):
            self._observe(grid, ops.concatenate([low, high]))
        return last, outputs, [states[0], *states[behind:]]

    def _argument(self, step: Step | None, values: Mapping[Value, Any], leaf: Any) -> Any:
        if not isinstance(leaf, Value):
            return leaf
        x, weights = values.get(leaf, leaf.tensor), self.placement.weights
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
