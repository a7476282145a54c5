"""Composites of TensorFlow Addons: images warped by a flow field, and values put back where pooling took them from."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, Inputs, agree, attributes_problem, count_problem, fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.types import TensorType


@fusion("addons:DenseImageWarp")
class DenseImageWarp(Fusion):
    """TensorFlow Addons' dense_image_warp becomes the custom op DenseImageWarp, whose kernel litefuse has.

    ``f(image [batch, rows, cols, depth], flow [batch, rows, cols, 2]) -> [batch, rows, cols, depth]``, all float32,
    with at least 2 rows and columns.
    Definition: https://www.tensorflow.org/addons/api_docs/python/tfa/image/dense_image_warp.
    """

    def verify(self, composite: Composite) -> str | None:
        if (problem := count_problem(composite, ["image", "flow"])) is not None:
            return problem
        image, flow = composite.arg_types
        (result,) = composite.result_tensor_types
        for name, kind in (("image", image), ("flow", flow), ("the result", result)):
            if kind.dtype != "float32" or kind.rank != 4:
                return f"{name} is {kind}; DenseImageWarp takes and gives float32 of rank 4"
        assert image.shape is not None
        assert flow.shape is not None
        assert result.shape is not None
        if any(size is not None and size < 2 for size in image.shape[1:3]):
            return f"image is {image}; DenseImageWarp takes images of 2 rows and columns or more"
        if flow.shape[3] not in {2, None}:
            return f"flow is {flow}; a flow vector has 2 components (y, x)"
        if not agree(image.shape[:3], flow.shape[:3]):
            return f"image is {image} and flow {flow}: each pixel has one vector"
        if not agree(image.shape, result.shape):
            return f"the result is {result}, that of DenseImageWarp {image}"
        return attributes_problem("DenseImageWarp", composite.attributes, ())

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.custom("DenseImageWarp", composite.args, composite.result_types, b"")

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        image, flow = composite.arg_types
        assert image.shape is not None
        assert flow.shape is not None
        # An image has at least 2 rows and columns; the flow must also point outside it.
        known = [one or other for one, other in zip(image.shape[:3], flow.shape[:3], strict=True)]
        batch, rows, cols = known[0] or size, known[1] or size + 4, known[2] or size + 3
        return [
            random.normal(0, 1, (batch, rows, cols, image.shape[3] or size)).astype(np.float32),
            random.normal(0, 2, (batch, rows, cols, 2)).astype(np.float32),
        ]


_ATTRIBUTES = ("padding", "pool_size", "strides")
_PADDINGS = {"SAME": 1, "VALID": 2}  # TfLitePadding
_VALUES = frozenset({"float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})


@fusion("addons:MaxUnpooling2D")
class MaxUnpooling(Fusion):
    """TensorFlow Addons' MaxUnpooling2D becomes the custom op of that name, whose kernel litefuse has.

    ``f(updates [batch, in_rows, in_cols, depth], mask [batch, in_rows, in_cols, depth] int32 or int64) ->
    [batch, out_rows, out_cols, depth]``; the mask holds the positions that ``tf.nn.max_pool_with_argmax`` gives.

    The annotation's attributes are ``pool_size`` and ``strides``, each a list of two ints (rows, columns), and
    ``padding``, SAME or VALID. The op's options are a C struct, LiteRT's ``TfLitePoolParams``.
    Definition: https://www.tensorflow.org/addons/api_docs/python/tfa/layers/MaxUnpooling2D.
    """

    def verify(self, composite: Composite) -> str | None:
        if (problem := count_problem(composite, ["updates", "mask"])) is not None:
            return problem
        updates, mask = composite.arg_types
        (result,) = composite.result_tensor_types
        if updates.dtype not in _VALUES or updates.rank != 4:
            return f"updates is {updates}; MaxUnpooling2D takes float32, float64 or integers of rank 4"
        if mask.dtype not in {"int32", "int64"} or mask.rank != 4:
            return f"mask is {mask}; MaxUnpooling2D takes int32 or int64 of rank 4"
        if not agree(updates.shape, mask.shape):
            return f"updates is {updates} and mask {mask}: each value has one position"
        return _attribute_problem(composite.attributes) or _result_problem(updates, result, composite.attributes)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.custom("MaxUnpooling2D", composite.args, composite.result_types, _options(composite.attributes))

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        # Positions as pooling returns them: anywhere in the value's window, in the value's channel.
        updates, mask = composite.arg_types
        assert updates.shape is not None
        assert mask.shape is not None
        shape = [one or other or size for one, other in zip(updates.shape, mask.shape, strict=True)]
        _, rows, cols, depth = shape
        sizes = [_output_size(n, axis, composite.attributes) for axis, n in enumerate((rows, cols))]
        places: list[npt.NDArray[Any]] = []
        for axis, (count, extent) in enumerate(zip((rows, cols), sizes, strict=True)):
            pool, stride = composite.attributes["pool_size"][axis], composite.attributes["strides"][axis]
            padded = max((count - 1) * stride + pool - extent, 0) // 2
            first = np.arange(count) * stride - padded
            # Adds one random offset in the window for each value.
            place = first.reshape([-1 if i == axis + 1 else 1 for i in range(4)]) + random.integers(0, pool, shape)
            places.append(np.clip(place, 0, extent - 1))
        positions = (places[0] * sizes[1] + places[1]) * depth + np.arange(depth)
        values = random.normal(0, 1, shape) if updates.dtype.startswith("float") else random.integers(0, 50, shape)
        return [values.astype(updates.dtype), positions.astype(mask.dtype)]


def _options(attributes: Mapping[str, Any]) -> bytes:
    """Returns a ``TfLitePoolParams``, which LiteRT's kernel and delegates read, and TFLiteConverter writes."""
    (rows, cols), (row_stride, col_stride) = attributes["pool_size"], attributes["strides"]
    # Behind them, no activation, and what the runtime computes.
    return struct.pack("<10i", _PADDINGS[attributes["padding"]], col_stride, row_stride, cols, rows, *[0] * 5)


def _attribute_problem(attributes: Mapping[str, Any]) -> str | None:
    if (problem := attributes_problem("MaxUnpooling2D", attributes, _ATTRIBUTES)) is not None:
        return problem
    for name in ("pool_size", "strides"):
        value: Any = attributes[name]
        if not _is_pair(value):
            return f"the attribute {name} is {value!r}; MaxUnpooling2D takes two positive ints, rows and columns"
    if attributes["padding"] not in [*_PADDINGS]:
        return f"the attribute padding is {attributes['padding']!r}; MaxUnpooling2D takes SAME or VALID"
    return None


def _is_pair(value: Any) -> bool:
    """Whether an attribute is a list of two positive int32."""
    return isinstance(value, list) and len(value) == 2 and all(type(n) is int and 0 < n < 2**31 for n in value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _result_problem(updates: TensorType, result: TensorType, attributes: Mapping[str, Any]) -> str | None:
    if result.dtype != updates.dtype or result.rank not in {4, None}:
        return f"the result is {result}, that of MaxUnpooling2D {updates.dtype} of rank 4"
    assert updates.shape is not None
    batch, rows, cols, depth = updates.shape
    sizes = [None if n is None else _output_size(n, axis, attributes) for axis, n in enumerate((rows, cols))]
    expected = (batch, *sizes, depth)
    if not agree(result.shape, expected):
        return f"the result is {result}, that of MaxUnpooling2D {type(result)(result.dtype, expected)}"
    return None


def _output_size(size: int, axis: int, attributes: Mapping[str, Any]) -> int:
    pool, stride = attributes["pool_size"][axis], attributes["strides"][axis]
    return size * stride if attributes["padding"] == "SAME" else max((size - 1) * stride + pool, 0)
