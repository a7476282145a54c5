"""Placeholders in the place of weights whose values the engine does not need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from litefuse.ir.importer.constants import loaded_attribute
from litefuse.ir.mlir import ir
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.ir.purity import replace_op
from litefuse.ir.types import is_float32
from litefuse.passes.weights.weights import Weights


class PlaceWeights(NamedTuple):
    """Passes placeholders of weights that stay mapped to the engine, and the values of the others::

        %w = tf.Const() dense_resource<weight>        %w = tfl.external_const() {offset = 7}
        %y = tf.MatMul(%x, %w)                   -->  %y = tf.MatMul(%x, %w)

    A weight gets a placeholder only if the engine lowers all of its uses in such a way that ``fold-weights`` can apply
    to the weight itself what the engine would have applied to its value. Constants of the graph that are as large are
    weights, too.
    """

    name = "place-weights"
    weights: Weights

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, {"tf.Const": self._placed})

    def _placed(self, op: ir.OpView) -> ir.Value | bool:
        value = op.attributes["value"]
        if isinstance(value, ir.DenseElementsAttr):
            number = self.weights.adopt(value) if takes_placeholder(op.results[0]) else None
        else:
            number = self.weights.find(value)
        if number is None:
            return False
        _remove_casts(op.results[0])
        if takes_placeholder(op.results[0]):
            return self.weights.emit(number)
        op.attributes["value"] = loaded_attribute(op.attributes["value"])
        return True


@module_pass
def load_weights(module: ir.Module) -> bool:
    """Passes the values of all weights to the engine."""
    return visit_ops(module, {"tf.Const": _load})


def _load(op: ir.OpView) -> bool:
    value = op.attributes["value"]
    loaded = loaded_attribute(value)
    if loaded is not value:
        op.attributes["value"] = loaded
    return loaded is not value


def _remove_casts(weight: ir.Value) -> None:
    """Removes the casts that only drop the shape, which the inliner inserts for calls."""
    for use in list(weight.uses):
        cast = use.owner
        if cast.name == "tf.Cast" and (
            ir.ShapedType(cast.results[0].type).element_type == ir.ShapedType(weight.type).element_type
        ):
            replace_op(cast, [weight])


def takes_placeholder(weight: ir.Value) -> bool:
    """Whether the engine may get a placeholder of a weight.

    The engine must lower all of the weight's uses in such a way that ``fold-weights`` can apply to the weight itself
    what the engine would have applied to its value.
    """
    uses = list(weight.uses)
    return bool(uses) and all(_is_known(use.owner, use.operand_number) for use in uses)


def takes_stub(weight: ir.Value) -> bool:
    """Whether a weight may stay mapped among LiteRT's ops.

    A small stub of another shape stands for it when the file is written: ops such as sums, which compare the shapes of
    their operands, refuse that.
    """
    return all(use.owner.name in _TAKING for use in weight.uses)


def _is_known(op: ir.OpView, position: int) -> bool:
    if op.name in _REARRANGING:
        return position == 0 and takes_placeholder(op.results[0])
    known = _USERS.get(op.name)
    return known is not None and position == known[0] and known[1](op)


# The engine lowers these to a transposition or a reshape of the placeholder.
_REARRANGING = frozenset({"tf.Identity", "tf.Reshape", "tf.Transpose"})


def _any(_op: ir.OpView) -> bool:
    return True


def _is_float(op: ir.OpView) -> bool:
    return is_float32(op.results[0])


def _is_plain(op: ir.OpView, *flags: str) -> bool:
    """Whether none of the boolean attributes is set."""
    return _is_float(op) and not any(name in op.attributes and ir.BoolAttr(op.attributes[name]).value for name in flags)


def _is_channels_last(op: ir.OpView) -> bool:
    return _is_float(op) and ir.StringAttr(op.attributes["data_format"]).value in {"NHWC", "NDHWC"}


def _matrix_product(op: ir.OpView) -> bool:
    return _is_plain(op, "transpose_a", "a_is_sparse", "b_is_sparse")


def _batch_matrix_product(op: ir.OpView) -> bool:
    """Whether a product has one matrix for the whole batch: FULLY_CONNECTED. The others stay as they are."""
    rank = ir.ShapedType(op.operands[0].type)
    return _is_plain(op, "adj_x") and rank.has_rank and rank.rank >= 2


# The operand that may be a placeholder, and a further condition.
_USERS: Mapping[str, tuple[int, Callable[[ir.OpView], bool]]] = {
    "tf.AssignVariableOp": (1, _any),
    "tf.BatchMatMul": (1, _batch_matrix_product),
    "tf.BatchMatMulV2": (1, _batch_matrix_product),
    "tf.BatchMatMulV3": (1, _batch_matrix_product),
    "tf.Conv2D": (1, _is_channels_last),
    "tf.Conv2DBackpropInput": (1, _is_channels_last),
    "tf.DepthwiseConv2dNative": (1, _is_channels_last),
    "tf.Einsum": (1, _is_float),
    "tf.Gather": (0, _any),
    "tf.GatherV2": (0, _any),
    "tf.MatMul": (1, _matrix_product),
    "tfl.embedding_lookup": (1, _any),
    "tfl.fully_connected": (1, _is_float),
    "tfl.gather": (0, _any),
}

_TAKING = frozenset(
    f"tfl.{name}"
    for name in (
        *("batch_matmul", "conv_2d", "conv_3d", "depthwise_conv_2d", "embedding_lookup", "fully_connected", "gather"),
        *("reshape", "slice", "split", "split_v", "strided_slice", "transpose", "transpose_conv", "unpack"),
    )
)
