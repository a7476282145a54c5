"""Normalizations by their definitions, with which what is found is compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from litefuse.ir.builder import Builder
from litefuse.ir.mlir import ir
from litefuse.ir.types import tensor_type_of

__all__ = ["group_norm", "layer_norm", "rms_norm"]


def _mean(b: Builder, x: ir.Value, axes: Sequence[int]) -> ir.Value:
    kind = tensor_type_of(x)
    shape = [1 if axis in axes else size for axis, size in enumerate(kind.sizes)]
    return b.op("Mean", [x, b.constant(list(axes), "int32")], shape, kind.dtype, keep_dims=True)


def _inverse_root(b: Builder, value: ir.Value, epsilon: float) -> ir.Value:
    return b.unary("Rsqrt", b.binary("AddV2", value, epsilon))


def rms_norm(b: Builder, arguments: Sequence[ir.Value], attributes: Mapping[str, Any]) -> list[ir.Value]:
    """Builds RMS normalization over the last axis: ``odml.rms_norm``."""
    x, *scale = arguments
    axis = len(tensor_type_of(x).sizes) - 1
    y = b.binary("Mul", x, _inverse_root(b, _mean(b, b.binary("Mul", x, x), [axis]), attributes["epsilon"]))
    return [b.binary("Mul", y, scale[0]) if scale else y]


def layer_norm(b: Builder, arguments: Sequence[ir.Value], attributes: Mapping[str, Any]) -> list[ir.Value]:
    """Builds layer normalization over the last axis: ``odml.group_norm`` with ``sub_type`` 1."""
    axis = len(tensor_type_of(arguments[0]).sizes) - 1
    return [_affine(b, _standardized(b, arguments[0], [axis], attributes["epsilon"]), arguments[1:])]


def group_norm(b: Builder, arguments: Sequence[ir.Value], attributes: Mapping[str, Any]) -> list[ir.Value]:
    """Builds group normalization, channels last: ``odml.group_norm`` with ``sub_type`` 0."""
    x = arguments[0]
    sizes = tensor_type_of(x).sizes
    groups, channels = attributes["num_groups"], sizes[-1] or 0
    whole = b.sizes(x)
    split = b.reshape(x, [*whole[:-1], groups, channels // groups])
    axes = [*range(1, len(sizes) - 1), len(sizes)]
    y = b.reshape(_standardized(b, split, axes, attributes["epsilon"]), whole)
    return [_affine(b, y, arguments[1:])]


def _standardized(b: Builder, x: ir.Value, axes: Sequence[int], epsilon: float) -> ir.Value:
    centered = b.binary("Sub", x, _mean(b, x, axes))
    return b.binary("Mul", centered, _inverse_root(b, _mean(b, b.binary("Mul", centered, centered), axes), epsilon))


def _affine(b: Builder, x: ir.Value, parameters: Sequence[ir.Value]) -> ir.Value:
    y = b.binary("Mul", x, parameters[0]) if parameters else x
    return b.binary("AddV2", y, parameters[1]) if len(parameters) > 1 else y
