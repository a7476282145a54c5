"""Constants that products are multiplied with and added to become a part of weights and biases."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.attributes import attribute_value
from litefuse.ir.constants import pseudo_constant
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_like, create_value
from litefuse.ir.purity import replace_op
from litefuse.passes.fake_quantization.constants import emitted, float_constant, integer_constant
from litefuse.passes.fake_quantization.grid import NotCovered, Uniform
from litefuse.passes.fake_quantization.kernels import CHANNEL_AXES

__all__ = ["merge_factor"]


def merge_factor(op: ir.OpView) -> bool:
    """Merges a product with the factor or addend of its output channels that follows, if that is its only use::

        tfl.mul(tfl.fully_connected(%x, %w, %b), %c)  -->  tfl.fully_connected(%x, %w, %b * %c)     with the steps of
                                                                                                    %w times %c

    The integers of the weights stay, but for the sign where the factor is negative. The engine does so for convolutions
    with a step for each channel; this is for the others.

    Returns:
        Whether it did; then ``op`` is erased.
    """
    if op.name not in {"tfl.add", "tfl.mul", "tfl.sub"}:
        return False
    product = producer(op.operands[0], "tfl.conv_2d", "tfl.depthwise_conv_2d", "tfl.fully_connected")
    constant = float_constant(op.operands[1])
    if product is None or constant is None or len(list(product.results[0].uses)) != 1:
        return False
    weights = integer_constant(product.operands[1])
    if weights is None or attribute_value(product.attributes["fused_activation_function"]) != "NONE":
        return False
    axis = CHANNEL_AXES[product.name]
    assert axis is not None
    channels = weights.integers.shape[axis]
    factor = _by_channel(constant, channels)
    if factor is None or op.results[0].type != product.results[0].type:
        return False
    bias = _bias(product, channels)
    try:
        uniform = weights.uniform(axis)
    except NotCovered:
        return False
    if bias is None or any(uniform.zero_points):
        return False
    operands = [*product.operands]
    with ir.InsertionPoint(op), op.location:
        if op.name == "tfl.mul":
            if not factor.all():
                return False
            scales = tuple(float(scale) for scale in np.broadcast_to(uniform.scales, channels) * np.abs(factor))
            shape = [-1 if index == axis else 1 for index in range(weights.integers.ndim)]
            integers = weights.integers * np.sign(factor).astype(np.int64).reshape(shape)
            if integers.max() > 127:
                return False
            stored = emitted(integers, Uniform(scales, (0,) * channels, axis).simplified())
            operands[1] = create_value("tfl.dequantize", operands[1].type, [stored])
            bias = bias * factor
        else:
            bias = bias + (factor if op.name == "tfl.add" else -factor)
        operands[2:] = [_stored(bias)]
        activation = {"fused_activation_function": op.attributes["fused_activation_function"]}
        result = create_like(product, operands, [op.results[0].type], activation).result
    replace_op(op, [result])
    product.operation.erase()
    return True


def _by_channel(constant: npt.NDArray[np.float32], channels: int) -> npt.NDArray[np.float64] | None:
    """Returns a constant as a vector of the channels, which are the last axis; None if it varies along others."""
    if constant.size not in {1, channels} or (constant.size > 1 and constant.shape[-1] != channels):
        return None
    return np.broadcast_to(constant.reshape(-1).astype(np.float64), channels)


def _bias(product: ir.OpView | ir.Operation, channels: int) -> npt.NDArray[np.float64] | None:
    """Returns a product's bias, zeros if it has none; None if it is not constant."""
    if len(product.operands) < 3 or producer(product.operands[2], "tfl.no_value") is not None:
        return np.zeros(channels)
    bias = float_constant(product.operands[2])
    return None if bias is None else np.broadcast_to(bias.reshape(-1).astype(np.float64), channels)


def _stored(bias: Any) -> ir.Value:
    return pseudo_constant(ir.DenseElementsAttr.get(np.ascontiguousarray(bias, np.float32)))
