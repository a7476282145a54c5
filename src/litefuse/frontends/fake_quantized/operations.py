"""Keras's operations that are computed as several in LiteRT, or that are not what they were called with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

Rewriting = Callable[..., Any]


def _attention(call: Any, ops: Any, operation: Any, query: Any, key: Any, value: Any, **options: Any) -> Any:
    bias, mask = options.get("bias"), options.get("mask")
    if bias is not None or query.shape[-2] != key.shape[-2]:
        return None
    scale = options.get("scale") or query.shape[-1] ** -0.5

    def softmax(scores: Any, mask: Any = None) -> Any:
        if operation.is_causal:
            rows, columns = (ops.arange(size) for size in ops.shape(scores)[-2:])
            causal = ops.expand_dims(rows, -1) >= columns
            mask = causal if mask is None else ops.logical_and(mask, causal)
        return ops.softmax(scores if mask is None else ops.where(mask, scores, -1e9))

    query = call("Multiply", ops.multiply, query, scale)
    scores = call("Einsum", partial(ops.einsum, "btnh,bsnh->bnts"), query, key)
    weights = call("Softmax", softmax, scores, *([] if mask is None else [mask]))
    return call("Einsum", partial(ops.einsum, "bnts,bsnh->btnh"), weights, value)


def _converted(_: Any, __: Any, operation: Any, x: Any) -> Any:
    return x if operation.dtype in {None, str(x.tensor.dtype)} else None


def _divided(call: Any, ops: Any, _: Any, x: Any, divisor: Any) -> Any:
    return call("Multiply", ops.multiply, x, 1 / divisor) if isinstance(divisor, int | float) and divisor else None


def _hard_sigmoid(call: Any, ops: Any, _: Any, x: Any) -> Any:
    clipped = call("Relu6", ops.relu6, call("Add", ops.add, x, 3.0))
    return call("Multiply", ops.multiply, clipped, 1 / 6)


def _rescaled(call: Any, ops: Any, layer: Any, x: Any) -> Any:
    x = call("Cast", partial(ops.cast, dtype="float32"), x)
    return call("Add", ops.add, call("Multiply", ops.multiply, x, layer.scale), layer.offset)


def _reshaped(call: Any, ops: Any, operation: Any, x: Any) -> Any:
    sizes = tuple(-1 if size is None else size for size in operation.newshape)
    return call("Reshape", partial(ops.reshape, newshape=sizes), x)


def _separable(call: Any, ops: Any, operation: Any, x: Any, depthwise: Any, pointwise: Any) -> Any:
    names = ("strides", "padding", "dilation_rate", "data_format")
    options = {name: getattr(operation, name) for name in names}
    x = call("DepthwiseConv", partial(ops.depthwise_conv, **options), x, depthwise)
    return call("Conv", partial(ops.conv, data_format=operation.data_format), x, pointwise)


def _silu(call: Any, ops: Any, _: Any, x: Any) -> Any:
    return call("Multiply", ops.multiply, x, call("Sigmoid", ops.sigmoid, x))


def _transposed(call: Any, ops: Any, operation: Any, x: Any, kernel: Any) -> Any:
    # The operation of Keras 3.15 gives the function its arguments in another order.
    names = ("strides", "padding", "output_padding", "data_format", "dilation_rate")
    options = {name: getattr(operation, name) for name in names}
    return call("ConvTranspose", partial(ops.conv_transpose, **options), x, kernel)


#: By the class of an operation or layer: what adds its parts and returns the value of the result; None if it adds none.
REWRITTEN: Mapping[str, Rewriting] = {
    "ConvertToTensor": _converted,
    "ConvTranspose": _transposed,
    "Divide": _divided,
    "DotProductAttention": _attention,
    "HardSigmoid": _hard_sigmoid,
    "Rescaling": _rescaled,
    "Reshape": _reshaped,
    "SeparableConv": _separable,
    "Silu": _silu,
    "TrueDivide": _divided,
}
