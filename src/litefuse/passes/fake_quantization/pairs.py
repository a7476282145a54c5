"""Pairs of QUANTIZE and DEQUANTIZE in the place of fake-quantization nodes, and what the engine broke of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.attributes import attribute_values
from litefuse.ir.call_graph import (
    all_operations,
    callees_first,
    calls_in,
    function_symbol,
    functions,
    operations,
    terminator_of,
)
from litefuse.ir.constants import tensor_constant, without_copies
from litefuse.ir.locations import node_text
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.purity import replace_op
from litefuse.ir.types import is_float32
from litefuse.passes.fake_quantization.constants import emitted, is_on_grid
from litefuse.passes.fake_quantization.grid import (
    Grid,
    NotCovered,
    Uniform,
    affine_grid,
    quantized_type,
    symmetric_grid,
    uniform_of,
)
from litefuse.passes.fake_quantization.known_values import known_value
from litefuse.passes.fake_quantization.rounding import Rounding, rounding_of

_PRODUCTS = (
    *("tf.BatchMatMulV2", "tf.BatchMatMulV3", "tf.Conv2D", "tf.Conv2DBackpropInput", "tf.DepthwiseConv2dNative"),
    *("tf.Einsum", "tf.MatMul"),
)
_ROUNDINGS = frozenset({"tf.Round", "tf.Rint"})
_CLIPPING = ("tf.Relu", "tf.Relu6", "tf.Sigmoid", "tf.Softmax")  # what is not negative


@dataclass
class NodesFound:
    """Outcome of pairing the fake-quantization nodes.

    Attributes:
        pairs: How many became pairs.
        left: Those that did not, which float ops compute: the node, and the reason.
    """

    pairs: int = 0
    left: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(frozen=True)
class PairFakeQuantization:
    """Replaces fake quantization of constant range by a pair of its steps::

        %y = tf.FakeQuantWithMinMaxVars(%x, 0, 2.55)
        -->  %q = tfl.quantize(%x) : !quant.uniform<i8:f32, 0.01:-128>
             %y = tfl.dequantize(%q)

    The engine fuses ops across the pairs, and scales the steps of weights where it multiplies these. Constants are
    rounded here, so that what it does to them rounds nothing again. A range of fewer than 256 steps is clipped at one
    end by a minimum or by the ReLU that precedes it: saturation clips at the other.

    Attributes:
        nodes: Counts the nodes.
    """

    nodes: NodesFound
    name = "pair-fake-quantization"

    def run(self, module: ir.Module) -> bool:
        before = self.nodes.pairs
        _copy_into_loops(module)
        for op in [op for op in all_operations(module) if op.name in _GRIDS or op.name in _ROUNDINGS]:
            grid = _GRIDS.get(op.name)
            if grid is not None:
                self._pair(op, lambda op=op, grid=grid: Rounding(op.operands[0], grid(op)))
            elif (rounding := rounding_of(op)) is not None:
                self._pair(rounding.last, lambda rounding=rounding: rounding.rounding)
        return self.nodes.pairs > before

    def _pair(self, op: ir.OpView, rounding: Callable[[], Rounding]) -> None:
        try:
            rounded, grid = rounding()
            kind = ir.ShapedType(rounded.type)
            if not isinstance(kind.element_type, ir.F32Type):
                raise NotCovered(f"it is of {kind.element_type}, not of float32")
            constant = _constant(rounded)
            op = op if constant is None else _reshaped(op)
            with ir.InsertionPoint(op), op.location:
                value = _activation_pair(rounded, grid) if constant is None else _constant_pair(constant, grid, op)
        except NotCovered as reason:
            self.nodes.left.append((node_text(op), str(reason)))
            return
        self.nodes.pairs += 1
        replace_op(op, [value])


def _copy_into_loops(module: ir.Module) -> None:
    """Gives the bodies of loops constants of their own in the place of those that loops hand them in each step.

    Ranges and weights of JAX's models are handed to them.
    """
    by_symbol, calls = functions(module), calls_in(module)
    for symbol in reversed(callees_first(by_symbol)):
        for loop in [op for op in operations(by_symbol[symbol]) if op.name == "tf.While"]:
            body = by_symbol[ir.FlatSymbolRefAttr(loop.attributes["body"]).value]
            if len(calls[function_symbol(body)]) != 1:
                continue
            returned = terminator_of(body.entry_block).operands
            for argument, result, operand in zip(body.arguments, returned, loop.operands, strict=True):
                if without_copies(result) != argument or not is_float32(argument):
                    continue
                numbers = known_value(operand)
                if numbers is None:
                    continue
                with ir.InsertionPoint.at_block_begin(body.entry_block), loop.location:
                    copied = tensor_constant(
                        ir.DenseElementsAttr.get(np.ascontiguousarray(numbers).reshape(numbers.shape))
                    )
                argument.replace_all_uses_except(copied, terminator_of(body.entry_block).operation)


def _activation_pair(value: ir.Value, grid: Grid) -> ir.Value:
    """Emits the pair for what is not constant, with the clipping that int8 does not do."""
    if grid.step.size > 1:
        raise NotCovered("LiteRT's ops take one scale for all channels of what is not constant")
    span = int(grid.last) - int(grid.first)
    if span >= 254:
        return _pair(value, grid.uniform(grid.activation_zero_point()))
    if grid.first == 0:  # int8 saturates at the last step, ReLU clips at 0
        if producer(value, *_CLIPPING) is None:
            value = create_value("tf.Relu", value.type, [value])
        return _pair(value, grid.uniform(127 - span))
    bound = tensor_constant(ir.DenseElementsAttr.get(np.array(float(grid.last) * float(grid.step), np.float32)))
    value = create_value("tf.Minimum", value.type, [value, bound])
    return _pair(value, grid.uniform(grid.activation_zero_point()))


def _constant_pair(constant: npt.NDArray[np.float32], grid: Grid, op: ir.OpView) -> ir.Value:
    """Emits a rounded constant in the shape of an op's result, and its pair."""
    multiples = grid.multiples(constant)
    zero = grid.weight_zero_point(multiples)
    shape = tuple(ir.ShapedType(op.results[0].type).shape)
    axis = _last_axis(shape, constant.shape[-1]) if grid.step.size > 1 else None
    numbers = (multiples * grid.step).astype(np.float32).reshape(shape)
    multiples = multiples.reshape(shape)
    rounded = tensor_constant(ir.DenseElementsAttr.get(np.ascontiguousarray(numbers).reshape(numbers.shape)))
    if _is_bias(op.results[0]):
        return rounded  # int32 in steps of the product
    uniform = grid.uniform(zero, axis)
    channels = _output_channels(op.results[0], shape)
    if axis is None and zero == 0 and channels is not None:
        # With a step for each channel, the engine multiplies them by the factors of a batch normalization.
        count = shape[channels]
        uniform = Uniform(uniform.scales * count, (0,) * count, channels)
    if any(_has_scaled_input(use.owner) for use in op.results[0].uses):
        return create_value("tfl.dequantize", rounded.type, [emitted(multiples + zero, uniform)])
    return _pair(rounded, uniform)


def _reshaped(op: ir.OpView) -> ir.OpView:
    """Returns the reshape of an op's result if that is its only use and the channels stay an axis, else the op.

    Between weights and product, the engine would mistake the axis of the channels.
    """
    users = [use.owner for use in op.results[0].uses]
    if len(users) != 1 or users[0].name != "tf.Reshape":
        return op
    before, after = ir.ShapedType(op.results[0].type), ir.ShapedType(users[0].results[0].type)
    if not (before.has_static_shape and after.has_static_shape and before.rank):
        return op
    return op if _last_axis(tuple(after.shape), before.shape[-1]) is None else users[0]


def _last_axis(shape: tuple[int, ...], size: int) -> int | None:
    """Returns the last axis that is not of one element, if it has this size."""
    axes = [axis for axis, length in enumerate(shape) if length != 1] or [len(shape) - 1]
    return axes[-1] if shape and shape[axes[-1]] == size else None


def _is_bias(value: ir.Value) -> bool:
    users = [use.owner for use in value.uses]
    return bool(users) and all(
        user.name in {"tf.AddV2", "tf.BiasAdd"}
        and any(producer(without_copies(operand), *_PRODUCTS) is not None for operand in user.operands)
        for user in users
    )


def _has_scaled_input(product: ir.OpView) -> bool:
    """Whether a number is added to the input of a product, or multiplied with it.

    The engine would do that to weights with a pair, and leave their steps (tflite/converter/transforms,
    ``FuseBinaryOpToFollowingAffineOp``). Stored integers are safe.
    """
    binary = producer(without_copies(product.operands[0]), "tf.AddV2", "tf.Mul", "tf.RealDiv", "tf.Sub")
    return binary is not None and any(
        (constant := _constant(operand)) is not None and constant.size == 1 for operand in binary.operands
    )


def _pair(value: ir.Value, uniform: Uniform) -> ir.Value:
    kind = quantized_type(value.type, uniform)
    quantized = create_value("tfl.quantize", kind, [value], {"qtype": ir.TypeAttr.get(kind)})
    return create_value("tfl.dequantize", value.type, [quantized])


def _output_channels(kernel: ir.Value, shape: tuple[int, ...]) -> int | None:
    """Returns the axis of the output channels of a kernel, if only convolutions use it."""
    users = {use.owner.name for use in kernel.uses}
    if users == {"tf.Conv2D"} and len(shape) == 4:
        return 3
    return 2 if users == {"tf.DepthwiseConv2dNative"} and len(shape) == 4 and shape[3] == 1 else None


def _constant(value: ir.Value) -> npt.NDArray[np.float32] | None:
    known = known_value(value)
    return known if known is not None and known.dtype == np.float32 else None


def _ends(op: ir.OpView) -> tuple[Any, Any]:
    ends = [_constant(value) for value in op.operands[1:3]]
    if any(end is None for end in ends):
        raise NotCovered("its range is computed in each call")
    return ends[0], ends[1]


def _by_arguments(op: ir.OpView) -> Grid:
    options = attribute_values(op)
    low, high = options.get("min", -6.0), options.get("max", 6.0)
    return affine_grid(low, high, options.get("num_bits", 8), narrow=options.get("narrow_range", False))


def _by_operands(op: ir.OpView) -> Grid:
    options = attribute_values(op)
    return affine_grid(*_ends(op), options.get("num_bits", 8), narrow=options.get("narrow_range", False))


def _symmetric(op: ir.OpView) -> Grid:
    options = attribute_values(op)
    axis, rank = options.get("axis", -1), ir.ShapedType(op.operands[0].type).rank
    if axis not in {-1, rank - 1}:
        raise NotCovered(f"its channels are axis {axis}, not the last one")
    bits = options.get("num_bits", 8)
    if op.name.endswith("V3"):
        given = _constant_integer(op.operands[3])
        if given is None:
            raise NotCovered("its number of bits is computed in each call")
        bits = given
    if options.get("range_given", False):
        return symmetric_grid(*_ends(op), bits, options)
    constant = _constant(op.operands[0])
    if constant is None:
        raise NotCovered("its range is that of the data, in each call")
    if not constant.size:
        raise NotCovered("it is empty")
    axes = None if axis == -1 else tuple(range(rank - 1))
    return symmetric_grid(constant.min(axis=axes), constant.max(axis=axes), bits, options)


def _constant_integer(value: ir.Value) -> int | None:
    known = known_value(value)
    return None if known is None else int(known)


_GRIDS: Mapping[str, Callable[[ir.OpView], Grid]] = {
    "tf.FakeQuantWithMinMaxArgs": _by_arguments,
    "tf.FakeQuantWithMinMaxVars": _by_operands,
    "tf.FakeQuantWithMinMaxVarsPerChannel": _by_operands,
    **dict.fromkeys((f"tf.QuantizeAndDequantizeV{version}" for version in (2, 3, 4)), _symmetric),
}


@dataclass(frozen=True)
class CheckPairs:
    """Takes constants without their pairs if these would round them, as they were rounded before the engine::

        %y = tfl.dequantize(tfl.quantize(%w * 0.3))  -->  %y = %w * 0.3       with steps of %w

    And gives ops of floats the floats again of which the engine gave them the integers. Where it makes FULLY_CONNECTED
    of a BATCH_MATMUL with constant weights, it leaves out the DEQUANTIZE before it::

        %y = tfl.fully_connected(%q, %w)     -->   %y = tfl.fully_connected(tfl.dequantize(%q), %w)

    Attributes:
        nodes: Gets a record of each pair that is left.
    """

    nodes: NodesFound
    name = "check-pairs"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for op in [op for op in all_operations(module) if op.name == "tfl.quantize"]:
            if is_on_grid(op) is not False:
                continue
            for use in list(op.results[0].uses):
                if use.owner.name == "tfl.dequantize":
                    use.owner.results[0].replace_all_uses_with(op.operands[0])
                    modified = True
            self.nodes.left.append((node_text(op), "its weights were multiplied with what precedes or follows them"))
        for op in all_operations(module):
            if op.name != "tfl.dequantize" and any(map(is_float32, op.results)):
                modified = _dequantize_operands(op) or modified
        return modified


def _dequantize_operands(op: ir.OpView) -> bool:
    """Gives an op of floats floats in the place of integers that have a step; returns whether it had some."""
    changed = False
    for index, value in enumerate(op.operands):
        uniform = uniform_of(value.type) if isinstance(value.type, ir.ShapedType) else None
        if uniform is None:
            continue
        kind = ir.ShapedType(value.type)
        real = ir.RankedTensorType.get(list(kind.shape), ir.F32Type.get())
        with ir.InsertionPoint(op), op.location:
            op.operands[index] = create_value("tfl.dequantize", real, [value])
        changed = True
    return changed
