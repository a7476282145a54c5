"""Finds layer normalizations that are computed by batch normalization, as Keras 2 does."""

from __future__ import annotations

from collections.abc import Iterator

from litefuse.fusions.recognizers.layers.layer import Graph, NamedLayer, NearMiss, where
from litefuse.fusions.recognizers.layers.normalization_definitions import layer_norm
from litefuse.fusions.recognizers.layers.normalizations import LAYER, scaled
from litefuse.ir.attributes import attribute_value
from litefuse.ir.defining_ops import constant_number, source
from litefuse.ir.mlir import ir

__all__ = ["FusedBatchNorms"]


class FusedBatchNorms:
    """Finds batch normalizations of one sample, whose channels are all vectors of x::

    y, ... = FusedBatchNormV3(reshape(x, [1, n, d, 1]), ones, zeros, data_format=NCHW, is_training)
    reshape(y, shape(x)) * scale + offset
    """

    def find(self, graph: Graph) -> Iterator[NamedLayer | NearMiss]:
        for op in graph.named("tf.FusedBatchNormV3"):
            layer = _found(graph, op)
            if layer is not None:
                yield layer


def _found(graph: Graph, op: ir.OpView) -> NamedLayer | NearMiss | None:
    image = op.operands[0]
    reshape = image.owner
    if isinstance(reshape, ir.Block) or reshape.name != "tf.Reshape":
        return None
    if not attribute_value(op.attributes["is_training"]) or attribute_value(op.attributes["data_format"]) != "NCHW":
        return None
    x = reshape.operands[0]
    kind = graph.kind(x)
    size = kind.sizes[-1] if kind.sizes else None
    back = _reshaped_back(graph, op.results[0], x)
    vectors = graph.kind(image).sizes
    if back is None or size is None or len(vectors) != 4 or (vectors[0], *vectors[2:]) != (1, size, 1):
        return None
    if _filled(op.operands[1]) != 1 or _filled(op.operands[2]) != 0:
        return NearMiss(LAYER, where(back), "the batch normalization that computes it has a scale or an offset", 2)
    result, scale, offset = scaled(graph, x, back)
    parameters = [parameter for parameter in (scale, offset) if parameter is not None]
    if (offset is not None and scale is None) or any(
        graph.kind(parameter).sizes != (size,) for parameter in parameters
    ):
        result, parameters = back, []
    if len(kind.sizes) > 4:
        attributes = {"epsilon": attribute_value(op.attributes["epsilon"]), "axes": [len(kind.sizes) - 1]}
        return NamedLayer("litefuse.layer_norm", LAYER, (x, *parameters), [result], attributes)
    attributes = {
        "epsilon": attribute_value(op.attributes["epsilon"]),
        "num_groups": 1,
        "channel_axis": len(kind.sizes) - 1,
        "sub_type": 1,
    }
    return NamedLayer("odml.group_norm", LAYER, (x, *parameters), [result], attributes, layer_norm, core=op.results[0])


def _reshaped_back(graph: Graph, value: ir.Value, x: ir.Value) -> ir.Value | None:
    for use in value.uses:
        op = use.owner
        if op.name == "tf.Reshape" and graph.kind(op.results[0]).shape == graph.kind(x).shape:
            return op.results[0]
    return None


def _filled(value: ir.Value) -> float | None:
    """Returns the number that all elements of a value are."""
    op = source(value).owner
    if not isinstance(op, ir.Block) and op.name == "tf.Fill":
        return constant_number(op.operands[1])
    return constant_number(value)
