"""Applies the engine's constant folding to weights that it saw as placeholders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.ir.call_graph import all_operations
from litefuse.ir.constants import CONSTANTS, DENSE_CONSTANTS, PLACEHOLDER, absent_operand, stored
from litefuse.ir.engine.hidden_constants import hidden_constants
from litefuse.ir.engine.lowering import run_mlir_passes
from litefuse.ir.litert_ops import transposed
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.purity import is_used, replace_op
from litefuse.passes.weights import Weight, Weights, takes_stub

_Array = npt.NDArray[Any]
_UNUSED = CONSTANTS | {"tfl.no_value"}
_ACTIVATION = "fused_activation_function"
# The bytes that the product of a constant and a weight may have if it takes more than what it is made of: less than it
# costs to compute it in each call.
_LARGEST_PRODUCT = 4 << 20


class _Affine(NamedTuple):
    """The positions of an op's operands, ``y = filter * x + bias``, and the filter's axis of the output channels."""

    input: int
    filter: int
    bias: int
    channels: int


_AFFINE = {
    "tfl.conv_2d": _Affine(0, 1, 2, channels=0),
    "tfl.depthwise_conv_2d": _Affine(0, 1, 2, channels=3),
    "tfl.fully_connected": _Affine(0, 1, 2, channels=0),
    "tfl.transpose_conv": _Affine(2, 1, 3, channels=0),
}
# The ops whose input factors and summands the engine folds into the filter and the bias, too.
_FOLDING_INPUT = frozenset({"tfl.conv_2d", "tfl.depthwise_conv_2d", "tfl.fully_connected"})


class FoldWeights(NamedTuple):
    """Folds ops on weights, whose values the engine could not know, and fuses what it would have fused::

        %t = tfl.transpose(%w, [3, 0, 1, 2])
        %c = tfl.conv_2d(%x, %t, %b)                  %c = tfl.conv_2d(%x, %w2, %b2) {RELU6}
        %m = tfl.mul(%c, %scale)                 -->
        %y = tfl.add(%m, %offset) {RELU6}

    A rearranged weight is a view of the mapped bytes, and its factors are applied when it is written. It fuses what
    ``tfl-optimize`` fuses for a constant filter: a factor, quotient, summand or difference for each channel of the
    result of a convolution or FULLY_CONNECTED; the same of its input, as far as it can be moved into filter and bias;
    and BATCH_MATMUL with one matrix becomes FULLY_CONNECTED. The product of a constant with a weight, such as the keys
    of relative positions, is computed here.

    A table that rows are gathered from takes no factor: it would be stored twice, as it is and scaled.
    """

    name = "fold-weights"
    weights: Weights

    def run(self, module: ir.Module) -> bool:
        if not len(self.weights):
            return False
        if self._each(module, self._rearrange, self._to_fully_connected):
            # Biases and activations are fused with FULLY_CONNECTED, but not with BATCH_MATMUL.
            with hidden_constants(module):
                run_mlir_passes(module, "func.func(tfl-optimize)")
        products = (op for op in all_operations(module) if op.name == "tfl.fully_connected")
        if any(producer(op.operands[0], *DENSE_CONSTANTS) for op in products):
            uses = Counter(contents for contents, _ in self._uses(module))
            self._each(module, lambda op: self._multiply(op, uses), self._rearrange)
        tables = {contents for contents, user in self._uses(module) if user.name not in _AFFINE}
        self._each(module, lambda op: self._fold_result(op, tables))
        self._each(module, lambda op: self._fold_input(op, tables))
        for op in all_operations(module):  # otherwise unused ones would be written
            if op.name in _UNUSED and not is_used(op):
                op.operation.erase()
        return True

    def _each(self, module: ir.Module, *rules: Callable[[ir.OpView], bool]) -> bool:
        """Applies rules to each op in turn; returns whether the last one did anything."""
        modified = False
        for op in all_operations(module):
            for rule in rules:
                if rule(op):
                    modified |= rule is rules[-1]
                    break
        return modified

    def _put(self, op: ir.OpView, weight: Weight) -> None:
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(self.weights.emit(self.weights.number_of(weight)))
        op.operation.erase()

    def _rearrange(self, op: ir.OpView) -> bool:
        """Replaces a weight that is transposed or reshaped by another weight."""
        if op.name not in {"tfl.transpose", "tfl.reshape"}:
            return False
        number, how = self.weights.number(op.operands[0]), _constant(op.operands[1])
        if number is None or how is None:
            return False
        order = tuple(how.tolist())
        transposes = op.name == "tfl.transpose"
        self._put(op, self.weights[number].transposed(order) if transposes else self.weights.reshaped(number, order))
        return True

    def _to_fully_connected(self, op: ir.OpView) -> bool:
        if op.name != "tfl.batch_matmul":
            return False
        number = self.weights.number(op.operands[1])
        if number is None or self.weights[number].source.ndim != 2 or self.weights[number].dtype != np.float32:
            return False
        if not ir.BoolAttr(op.attributes["adj_y"]).value:
            number = self.weights.number_of(self.weights[number].transposed((1, 0)))
        rows = op.operands[0]
        if ir.BoolAttr(op.attributes["adj_x"]).value:
            if not isinstance(rows.type, ir.RankedTensorType):
                return False
            *batch, row, column = range(rows.type.rank)
            with ir.InsertionPoint(op), op.location:
                rows = transposed(rows, [*batch, column, row])  # XNNPACK has it, but no such product
        with ir.InsertionPoint(op), op.location:
            operands = [rows, self.weights.emit(number), absent_operand()]
            attributes = {_ACTIVATION: "NONE", "keep_num_dims": True, "weights_format": "DEFAULT"}
            replace_op(op, [create_value("tfl.fully_connected", op.results[0].type, operands, attributes)])
        return True

    def _multiply(self, op: ir.OpView, uses: Mapping[Hashable, int]) -> bool:
        """Computes the product of a constant and a weight, unless the file grows much by it."""
        if op.name != "tfl.fully_connected":
            return False
        number, constant = self.weights.number(op.operands[1]), _constant(op.operands[0])
        result = op.results[0].type
        bias = None if number is None else _bias(op.operands[2], self.weights[number].shape[0])
        if (
            bias is None
            or number is None
            or constant is None
            or not (constant.dtype == self.weights[number].dtype == np.float32)
            or _is_activated(op)
            or not isinstance(result, ir.RankedTensorType)
            or not result.has_static_shape
            or not takes_stub(op.results[0])
        ):
            return False
        filters = self.weights[number]
        rows = constant.reshape(-1, filters.shape[1])
        dropped = rows.nbytes + (filters.nbytes if uses[filters.contents] == 1 else 0)
        if rows.shape[0] * filters.shape[0] * rows.itemsize > max(dropped, _LARGEST_PRODUCT):
            return False
        product = rows @ filters.transposed((1, 0)).value() + bias
        self._put(op, Weight(product.reshape(result.shape)))
        return True

    def _uses(self, module: ir.Module) -> Iterator[tuple[Hashable, ir.OpView | ir.Operation]]:
        """Yields the contents of each weight with each op that takes it."""
        for op in all_operations(module):
            if op.name == PLACEHOLDER and (number := self.weights.number(op.results[0])) is not None:
                for use in op.results[0].uses:
                    yield self.weights[number].contents, use.owner

    def _fold_result(self, op: ir.OpView, tables: Collection[Hashable]) -> bool:
        """Folds a factor or summand for each channel of the result, and fuses the activation behind it."""
        binary = _binary(op)
        if binary is None:
            return False
        value, constant, kind = binary
        affine, operands = self._affine(value)
        if affine is None or operands is None or affine.results[0].type != op.results[0].type:
            return False
        number = self.weights.number(affine.operands[operands.filter])
        if number is None or len(list(value.uses)) != 1 or _is_activated(affine):
            return False
        channels = self.weights[number].shape[operands.channels]
        vector = _per_channel(constant, channels, ir.ShapedType(value.type))
        bias = _bias(affine.operands[operands.bias], channels)
        if vector is None or bias is None or (kind == "factor" and self.weights[number].contents in tables):
            return False
        if kind == "factor":
            self._scale(affine, operands.filter, number, operands.channels, vector)
            bias = bias * vector
        else:
            bias = bias + vector
        # After a factor alone, an op without a bias stays without one.
        if kind == "summand" or producer(affine.operands[operands.bias], "tfl.no_value") is None:
            self._set(affine, operands.bias, bias)
        affine.attributes[_ACTIVATION] = op.attributes[_ACTIVATION]
        affine.operation.location = ir.Location.fused([op.location, affine.location])
        replace_op(op, [value])
        return True

    def _fold_input(self, op: ir.OpView, tables: Collection[Hashable]) -> bool:
        """Folds factors and summands of the input, the last one first."""
        operands = _AFFINE.get(op.name) if op.name in _FOLDING_INPUT else None
        if operands is None or self.weights.number(op.operands[operands.filter]) is None:
            return False
        modified = False
        while self._fold_one_input(op, operands, tables):
            modified = True
        return modified

    def _fold_one_input(self, op: ir.OpView, operands: _Affine, tables: Collection[Hashable]) -> bool:
        before = op.operands[operands.input].owner
        binary = None if isinstance(before, ir.Block) else _binary(before)
        number = self.weights.number(op.operands[operands.filter])
        if binary is None or number is None or isinstance(before, ir.Block):
            return False
        value, constant, kind = binary
        if value.type != before.results[0].type or _is_activated(before):
            return False
        weight = self.weights[number]
        vector = constant.reshape(-1)
        fully_connected = op.name == "tfl.fully_connected"
        per_input = fully_connected and constant.shape[-1:] == (constant.size,) == weight.shape[1:]
        if (vector.size != 1 and not per_input) or (kind == "factor" and weight.contents in tables):
            return False
        if kind == "factor":
            self._scale(op, operands.filter, number, 1 if fully_connected else operands.channels, vector)
        else:
            bias = _bias(op.operands[operands.bias], weight.shape[operands.channels])
            padded = "padding" in op.attributes and ir.StringAttr(op.attributes["padding"]).value != "VALID"
            without = vector.size != 1 and producer(op.operands[operands.bias], "tfl.no_value") is not None
            if bias is None or padded or without:
                return False
            self._set(op, operands.bias, bias + weight.sums(operands.channels, vector))
        op.operands[operands.input] = value
        if not is_used(before):
            before.operation.erase()
        return True

    def _affine(self, value: ir.Value) -> tuple[ir.OpView | None, _Affine | None]:
        owner = value.owner
        return (None, None) if isinstance(owner, ir.Block) else (owner, _AFFINE.get(owner.name))

    def _scale(self, op: ir.OpView, position: int, number: int, axis: int, vector: _Array) -> None:
        scaled = self.weights.number_of(self.weights[number].scaled(axis, vector))
        with ir.InsertionPoint(op), op.operands[position].location:
            op.operands[position] = self.weights.emit(scaled)

    def _set(self, op: ir.OpView, position: int, values: _Array) -> None:
        attribute = ir.DenseElementsAttr.get(np.ascontiguousarray(values, np.float32))
        with ir.InsertionPoint(op), op.location:
            op.operands[position] = create_value("arith.constant", attribute.type, [], {"value": attribute})


def _is_activated(op: ir.OpView) -> bool:
    return ir.StringAttr(op.attributes[_ACTIVATION]).value != "NONE"


def _constant(value: ir.Value) -> _Array | None:
    attribute = stored(value)
    if attribute is None or not attribute.type.has_static_shape:
        return None
    return np.array(attribute).reshape(attribute.type.shape)


def _binary(op: ir.OpView) -> tuple[ir.Value, _Array, str] | None:
    """Returns a value, and the float constant that it is multiplied by (``factor``) or added to (``summand``)."""
    if op.name not in {"tfl.add", "tfl.div", "tfl.mul", "tfl.sub"}:
        return None
    left, right = op.operands
    constant = _constant(right)
    if constant is None and op.name in {"tfl.add", "tfl.mul"}:
        left, right = right, left
        constant = _constant(right)
    if constant is None or constant.dtype != np.float32:
        return None
    if op.name == "tfl.div":
        constant = np.divide(np.float32(1), constant)
    elif op.name == "tfl.sub":
        constant = np.negative(constant)
    return left, constant, "factor" if op.name in {"tfl.div", "tfl.mul"} else "summand"


def _per_channel(constant: _Array, channels: int, kind: ir.ShapedType) -> _Array | None:
    """Returns one number for each channel, the last axis; None if the constant differs along others."""
    if constant.size == 1:
        return np.full(channels, constant.reshape(-1)[0], np.float32)
    if constant.size != channels or constant.shape[-1] != channels or not kind.has_rank or constant.ndim > kind.rank:
        return None
    return constant.reshape(-1)


def _bias(value: ir.Value, channels: int) -> _Array | None:
    """Returns the bias, zeros if there is none; None if it is computed at run time."""
    if isinstance(value.owner, ir.Block):
        return None
    if value.owner.name == "tfl.no_value":
        return np.zeros(channels, np.float32)
    constant = _constant(value)
    return constant.reshape(-1) if constant is not None and constant.size == channels else None
