"""Convolutions and fully connected layers with bias and activation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.fusions.fusion import Fusion, Inputs, count_problem, fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.types import TensorType


@fusion("conv_2d_bias_relu", "conv_2d_bias_relu6")
class Conv2dBiasRelu(Fusion):
    """Convolution, bias and activation become one builtin CONV_2D.

    ``f(x [batch, height, width, n], filter [rows, columns, n, m], bias [m]) -> [batch, out_height, out_width, m]``, all
    float32: ``relu(conv2d(x, filter) + bias)``, or ``relu6``. The annotation's attributes are those of
    ``tf.nn.conv2d``: ``padding``, SAME or VALID; optional are ``strides`` and ``dilations``, each a list of two ints
    (rows, columns), ones if missing.
    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/conv2d.
    """

    def verify(self, composite: Composite) -> str | None:
        problem = _interface_problem(composite, "the filter", (4,), 4)
        if problem is not None:
            return problem
        x, weights, bias = composite.arg_types
        channels, outputs = weights.sizes[2:]
        if x.sizes[3] not in {channels, None}:
            return f"x is {x} and the filter {weights}: they have not as many channels"
        return _bias_problem(bias, outputs, weights) or _attribute_problem(composite.attributes)

    def rewrite(self, composite: Composite, b: Builder) -> ir.Value:
        x, weights, bias = composite.args
        return b.conv_2d(
            x,
            b.transpose(weights, (3, 0, 1, 2)),
            bias,
            strides=_pair(composite.attributes, "strides"),
            dilations=_pair(composite.attributes, "dilations"),
            padding=composite.attributes["padding"],
            activation=_activation(composite),
        )

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        x, weights, bias = (kind.sizes for kind in composite.arg_types)
        rows, columns, channels, _ = (weight or 0 for weight in weights)
        dilations = _pair(composite.attributes, "dilations")
        least = [(extent - 1) * dilation + size for extent, dilation in zip((rows, columns), dilations, strict=True)]
        shape = [x[0] or size, x[1] or least[0], x[2] or least[1], channels]
        # Sums of about 4, of either sign: some are clipped at 0, and some at the upper limit of relu6.
        return [
            random.normal(0, 4, shape).astype(np.float32),
            random.normal(0, (rows * columns * channels) ** -0.5, [weight or 0 for weight in weights]).astype(
                np.float32
            ),
            random.normal(0, 1, [extent or 0 for extent in bias]).astype(np.float32),
        ]


@fusion("fully_connected_bias_relu", "fully_connected_bias_relu6")
class FullyConnectedBiasRelu(Fusion):
    """Matrix product, bias and activation become one builtin FULLY_CONNECTED.

    ``f(x [..., n], weight [n, m], bias [m]) -> [..., m]``, all float32, x of rank 2 or more:
    ``relu(matmul(x, weight) + bias)``, or ``relu6``.
    """

    def verify(self, composite: Composite) -> str | None:
        problem = _interface_problem(composite, "the weight", (2, 3, 4, 5), 2)
        if problem is not None:
            return problem
        if composite.attributes:
            return f"it has the attribute {', '.join(sorted(composite.attributes))}, and takes none"
        x, weights, bias = composite.arg_types
        inputs, outputs = weights.sizes
        if x.sizes[-1] not in {inputs, None}:
            return f"x is {x} and the weight {weights}: rows and columns do not agree"
        return _bias_problem(bias, outputs, weights)

    def rewrite(self, composite: Composite, b: Builder) -> ir.Value:
        x, weights, bias = composite.args
        return b.fully_connected(x, b.transpose(weights, (1, 0)), bias, activation=_activation(composite))

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        x, weights, bias = (kind.sizes for kind in composite.arg_types)
        inputs = weights[0] or 0
        shape = [*(extent or size for extent in x[:-1]), inputs]
        # Sums of about 4, of either sign: some are clipped at 0, and some at the upper limit of relu6.
        return [
            random.normal(0, 4, shape).astype(np.float32),
            random.normal(0, inputs**-0.5, [weight or 0 for weight in weights]).astype(np.float32),
            random.normal(0, 1, [extent or 0 for extent in bias]).astype(np.float32),
        ]


def _activation(composite: Composite) -> str:
    return "RELU6" if composite.name.endswith("relu6") else "RELU"


def _interface_problem(
    composite: Composite, weights_name: str, ranks: tuple[int, ...], weights_rank: int
) -> str | None:
    names = ["x", weights_name, "the bias"]
    if (problem := count_problem(composite, names)) is not None:
        return problem
    named = zip(names, composite.arg_types, (ranks, (weights_rank,), (1,)), strict=True)
    for name, kind, allowed in named:
        if kind.dtype != "float32" or kind.rank not in allowed:
            expected = str(allowed[0]) if len(allowed) == 1 else f"{allowed[0]} to {allowed[-1]}"
            return f"{name} is {kind}; it must be float32 of rank {expected}"
    weights = composite.arg_types[1]
    if any(not size for size in weights.sizes):
        return f"{weights_name} is {weights}; its sizes must be known, and none is 0"
    return None


def _bias_problem(bias: TensorType, outputs: int | None, weights: TensorType) -> str | None:
    if bias.shape != (outputs,):
        return f"the bias is {bias}; for a weight {weights} it has {outputs} elements"
    return None


def _attribute_problem(attributes: Mapping[str, Any]) -> str | None:
    unknown = sorted(set(attributes) - {"padding", "strides", "dilations"})
    if unknown:
        return f"it has the attribute {', '.join(unknown)}; known are padding, strides and dilations"
    if attributes.get("padding") not in {"SAME", "VALID"}:
        return f"it needs the attribute padding, SAME or VALID; it has {dict(attributes)}"
    for name in ("strides", "dilations"):
        value = attributes.get(name, [1, 1])
        if not isinstance(value, list) or len(value) != 2 or any(type(size) is not int or size < 1 for size in value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            return f"the attribute {name} is {value!r}; it is a list of two positive ints (rows, columns)"
    return None


def _pair(attributes: Mapping[str, Any], name: str) -> tuple[int, int]:
    rows, columns = attributes.get(name, [1, 1])
    return rows, columns
