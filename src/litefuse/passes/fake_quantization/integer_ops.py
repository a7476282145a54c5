"""Integer ops in the place of float ops between DEQUANTIZE and QUANTIZE, with factors merged into products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.ir.attributes import attribute_value
from litefuse.ir.call_graph import defined_functions, nested_operations
from litefuse.ir.constants import CONSTANTS, comes_from_constant, pseudo_constant
from litefuse.ir.locations import node_text
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.op_creation import create_like, create_value
from litefuse.ir.purity import is_used, replace_op
from litefuse.ir.types import is_float32
from litefuse.passes.fake_quantization.constants import (
    emitted,
    float_constant,
    integer_constant,
    quantized_bias,
)
from litefuse.passes.fake_quantization.grid import NotCovered, Uniform, quantized_type, uniform_of
from litefuse.passes.fake_quantization.integer_boundary import move_up, quantize_users
from litefuse.passes.fake_quantization.kernels import AVERAGES, CHANNEL_AXES, FIXED, RESCALING, SAME

_PAIR = frozenset({"tfl.dequantize", "tfl.quantize"})
# Ops that may keep the scale of their operand where their result has none of its own.
_CLIPPING = frozenset({"tfl.relu", "tfl.relu6", "tfl.relu_n1_to_1"})
_EQUALITIES = frozenset({"tfl.equal", "tfl.not_equal"})
_TERMINATORS = frozenset({"func.return", "tfl.yield"})
_ERASED = _PAIR | CONSTANTS | {"tfl.reshape", "tfl.reverse_v2", "tfl.transpose"}


class UncoveredOp(NamedTuple):
    """An op that stays in floats.

    Attributes:
        op: LiteRT's name of the op.
        node: The node that it comes from.
        reason: Why it stays.
    """

    op: str
    node: str
    reason: str


@dataclass(frozen=True)
class IntegerOps:
    """Computes in int8 what stands between numbers of known steps::

        %y = tfl.conv_2d(tfl.dequantize(%x), tfl.dequantize(tfl.quantize(%w)), %b)
        %q = tfl.quantize(%y)
        -->  %q = tfl.conv_2d(%x, %w as int8, %b as int32)

    A result may differ from what the floats give by one step, as it is rounded from sums of integers, which are exact.

    Attributes:
        left: Filled with the ops that stay in floats.
        int4: Whether the weights of FULLY_CONNECTED are int4 if they have no more bits. Those of convolutions stay
            int8: LiteRT unpacks them in each call, which takes two to four times as long.
    """

    left: list[UncoveredOp] = field(default_factory=list[UncoveredOp])
    int4: bool = True
    name = "integer-ops"

    def run(self, module: ir.Module) -> bool:
        for function in defined_functions(module):
            _merge_pairs(list(nested_operations(function.entry_block)))
            for op in list(nested_operations(function.entry_block)):
                _merge_factor(op)
            quantizing = [op for op in nested_operations(function.entry_block) if op.name == "tfl.quantize"]
            for op in reversed(quantizing):
                move_up(op)
            for op in list(nested_operations(function.entry_block)):
                try:
                    _fold(op, int4=self.int4)
                except NotCovered as reason:
                    self.left.append(UncoveredOp(_litert_name(op), node_text(op), str(reason)))
            _store_constants(function)
            _erase_dead(function)
        return True


def _litert_name(op: ir.OpView) -> str:
    return "STABLEHLO_COMPOSITE" if op.name == "vhlo.composite_v1" else op.name.rpartition(".")[2].upper()


def _merge_pairs(ops: Sequence[ir.OpView]) -> None:
    """Leaves one QUANTIZE for each type of a value."""
    first: dict[tuple[ir.Value, str], ir.Value] = {}
    for op in ops:
        if op.name == "tfl.quantize":
            result = op.results[0]
            kept = first.setdefault((op.operands[0], str(result.type)), result)
            if kept != result and _block_of(kept) == op.operation.block:
                replace_op(op, [kept])


def _block_of(value: ir.Value) -> ir.Block:
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def _fold(op: ir.OpView, *, int4: bool) -> None:
    """Replaces an op by its integer form if it has one here.

    Raises:
        NotCovered: It stays in floats.
    """
    if op.name == "tfl.quantize":
        _requantize(op)
    elif op.name in _EQUALITIES:
        _compare(op)
    elif op.name == "tfl.dequantize" or not any(map(is_float32, op.results)):
        return
    elif op.name in SAME:
        _keep_scale(op)
    elif op.name in FIXED:
        _replace(op, [_integer(op.operands[0])], [FIXED[op.name]])
    elif op.name in CHANNEL_AXES and (op.name not in RESCALING):
        _replace(op, *_product(op, int4=int4))
    elif op.name in RESCALING:
        result = _result_of(op)
        _replace(op, [_rescaled(op, index, result) for index in range(len(op.operands))], [result])
    elif not comes_from_constant(op.results[0]) and not op.name.startswith("func."):
        raise NotCovered("LiteRT's op has no int8 form that is used")


def _requantize(op: ir.OpView) -> None:
    source = producer(op.operands[0], "tfl.dequantize")
    if source is None:
        return
    value = source.operands[0]
    kind, known = uniform_of(op.results[0].type), uniform_of(value.type)
    if kind is None or known is None or known.axis is not None:
        return
    if kind == known:
        replace_op(op, [value])
    else:
        op.operands[0] = value


def _compare(op: ir.OpView) -> None:
    """Has an op compare integers of one type, which are equal where the numbers are, as those of masks with zero."""
    sources = [producer(value, "tfl.dequantize") for value in op.operands]
    known = {None if source is None else uniform_of(source.operands[0].type) for source in sources} - {None}
    uniform = known.pop() if len(known) == 1 else None
    if uniform is None or uniform.axis is not None or uniform.bits != 8:
        return
    operands: list[ir.Value] = []
    for value, source in zip(op.operands, sources, strict=True):
        if source is not None:
            operands.append(source.operands[0])
            continue
        numbers = float_constant(value)
        if numbers is None or not uniform.holds(numbers):
            return
        with ir.InsertionPoint(op), op.location:
            operands.append(emitted(uniform.rounded(numbers), uniform))
    for index, operand in enumerate(operands):
        op.operands[index] = operand


def _keep_scale(op: ir.OpView) -> None:
    real = [index for index, value in enumerate(op.operands) if index >= SAME[op.name] and is_float32(value)]
    if comes_from_constant(op.results[0]):
        return
    known = [_uniform(op.operands[index]) for index in real if not comes_from_constant(op.operands[index])]
    if not known:  # a table, whose rows are taken
        tables = [integer_constant(op.operands[index]) for index in real]
        known = [table.uniform(None) for table in tables if table is not None]
    if len({*known}) != 1:
        raise NotCovered("its operands have different scales")
    uniform = known[0]
    if op.name in AVERAGES:
        users = quantize_users(op.results[0])
        result = None if users is None else uniform_of(users[0].results[0].type)
        if result is not None and uniform.scale > result.scale * (1 + 1e-6):
            raise NotCovered("it averages in the steps of its operand, which are larger than those of its result")
    operands = [*op.operands]
    for index in real:
        operands[index] = _in_steps(op, operands[index], uniform)
    _replace(op, operands, [uniform] * len(op.results))


def _in_steps(op: ir.OpView, value: ir.Value, uniform: Uniform) -> ir.Value:
    """Returns a value in integers of a type; a constant is rounded."""
    source = producer(value, "tfl.dequantize")
    if source is not None and uniform_of(source.operands[0].type) == uniform and not comes_from_constant(value):
        return source.operands[0]
    numbers = float_constant(value)
    if numbers is None:
        raise NotCovered("its operands have different scales")
    integers = uniform.rounded(numbers) if np.isfinite(numbers).all() else None
    if integers is None or integers.size == 0 or integers.min() < -128 or integers.max() > 127:
        raise NotCovered("a constant operand is not in the range of the others")
    with ir.InsertionPoint(op), op.location:
        return emitted(integers, uniform)


def _product(op: ir.OpView, *, int4: bool) -> tuple[list[ir.Value], list[Uniform]]:
    operands = [*op.operands]
    source, kernel, addend = (2, 1, 3) if op.name == "tfl.transpose_conv" else (0, 1, 2)
    operands[source] = _integer(operands[source])
    weights = integer_constant(operands[kernel])
    if weights is None:
        raise NotCovered(
            "its weights have no fake quantization"
            if comes_from_constant(operands[kernel])
            else "its weights are not constant"
        )
    result = _result_of(op)
    uniform = weights.uniform(CHANNEL_AXES[op.name])
    if any(uniform.zero_points):
        raise NotCovered("its weights need a zero point, which int8 kernels do not take")
    if int4 and op.name == "tfl.fully_connected" and weights.integers.min() >= -8 and weights.integers.max() <= 7:
        uniform = replace(uniform, bits=4)
    bias: tuple[Any, Uniform] | None = None
    if len(operands) > addend and producer(operands[addend], "tfl.no_value") is None:
        numbers = float_constant(operands[addend])
        if numbers is None:
            raise NotCovered("its bias is not constant")
        known = uniform_of(operands[source].type)
        assert known is not None
        bias = quantized_bias(numbers.reshape(-1), known.scale, uniform)
    with ir.InsertionPoint(op), op.location:
        operands[kernel] = emitted(weights.integers, uniform)
        if bias is not None:
            operands[addend] = emitted(*bias)
    return operands, [result]


def _result_of(op: ir.OpView) -> Uniform:
    """Returns the type that a result is rounded to.

    Raises:
        NotCovered: It is not, or to several.
    """
    users = quantize_users(op.results[0])
    result = None if users is None else uniform_of(users[0].results[0].type)
    if result is not None and result.axis is None and result.bits == 8:
        return result
    if op.name in _CLIPPING:
        return _uniform(op.operands[0])
    if any(use.owner.name == "tfl.quantize" for use in op.results[0].uses):
        raise NotCovered("its result is used without fake quantization, too")
    raise NotCovered("its result has no fake quantization")


def _uniform(value: ir.Value) -> Uniform:
    uniform = uniform_of(_integer(value).type)
    assert uniform is not None
    return uniform


def _integer(value: ir.Value) -> ir.Value:
    """Returns the integers behind a value.

    Raises:
        NotCovered: It has none, or they have a scale for each channel.
    """
    source = producer(value, "tfl.dequantize")
    if source is None:
        raise NotCovered("an operand has no fake quantization")
    uniform = uniform_of(source.operands[0].type)
    if uniform is None or uniform.axis is not None or uniform.bits != 8:
        raise NotCovered("an operand has a scale for each channel")
    return source.operands[0]


def _rescaled(op: ir.OpView, index: int, result: Uniform) -> ir.Value:
    """Returns an operand in integers of any scale: a constant without pair in steps that are fine enough."""
    value = op.operands[index]
    if not is_float32(value):
        return value
    paired = integer_constant(value)
    with ir.InsertionPoint(op), op.location:
        if paired is not None:
            return emitted(paired.integers, paired.uniform(None))
        numbers = float_constant(value)
        if numbers is None:
            return _integer(value)
        if op.name not in {"tfl.add", "tfl.mul", "tfl.prelu", "tfl.squared_difference", "tfl.sub"} or not numbers.size:
            raise NotCovered("a constant operand has no fake quantization")
        low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()))
        if numbers.min() == numbers.max():  # one number, which is represented exactly
            uniform = Uniform((max(abs(low), abs(high)) / 127 or 1.0,), (0,))
        else:
            step = (high - low) / 255
            uniform = Uniform((step,), (int(np.rint(-128 - low / step)),))
            others = [_uniform(operand) for operand in op.operands if operand != value]
            gain = (
                max(max(abs(other.low), abs(other.high)) for other in others)
                if op.name in {"tfl.mul", "tfl.prelu"}
                else 1
            )
            if step * gain > result.scale:
                raise NotCovered("a constant operand has no fake quantization, and needs more than 8 bits")
        return emitted(np.clip(uniform.rounded(numbers), -128, 127), uniform)


def _replace(op: ir.OpView, operands: Sequence[ir.Value], results: Sequence[Uniform]) -> None:
    """Replaces an op by the same on integers, and gives its users floats again."""
    with ir.InsertionPoint(op), op.location:
        kinds = [
            quantized_type(value.type, uniform) if is_float32(value) else value.type
            for value, uniform in zip(op.results, results, strict=True)
        ]
        created = create_like(op, operands, kinds)
        for old, new in zip(op.results, created.results, strict=True):
            old.replace_all_uses_with(create_value("tfl.dequantize", old.type, [new]))
    op.operation.erase()


def _store_constants(function: func.FuncOp) -> None:
    """Stores the integers of constants that float ops use, moved as they are used, and the numbers of results."""
    stored: dict[ir.Value, ir.Value] = {}
    for op in list(nested_operations(function.entry_block)):
        if op.name == "tfl.quantize":
            _store_operand(op)
        if op.name in _ERASED:
            continue
        if op.name in _TERMINATORS:
            _return_numbers(op)
            continue
        for index, value in enumerate(op.operands):
            paired = integer_constant(value)
            if paired is None:
                continue
            if value not in stored:
                owner = value.owner
                assert not isinstance(owner, ir.Block)
                uniform = _any_uniform(paired)
                with ir.InsertionPoint(owner), owner.location:
                    integers = emitted(paired.integers, uniform)
                    stored[value] = create_value("tfl.dequantize", value.type, [integers])
            op.operands[index] = stored[value]


def _return_numbers(terminator: ir.OpView) -> None:
    """Returns constants as numbers: XNNPACK takes the DEQUANTIZE of a constant, and does not write its result."""
    for index, value in enumerate(terminator.operands):
        numbers = None if integer_constant(value) is None else float_constant(value)
        if numbers is not None:
            with ir.InsertionPoint(terminator), terminator.location:
                terminator.operands[index] = pseudo_constant(ir.DenseElementsAttr.get(numbers))


def _store_operand(quantize: ir.OpView) -> None:
    """Replaces a QUANTIZE of a constant by its integers where integer ops use them."""
    result = quantize.results[0]
    uniform = uniform_of(result.type)
    numbers = float_constant(quantize.operands[0])
    if numbers is None or uniform is None or uniform.axis is not None:
        return
    if any(use.owner.name != "tfl.dequantize" for use in result.uses):
        with ir.InsertionPoint(quantize), quantize.location:
            integers = np.clip(uniform.rounded(numbers), -128, 127)
            result.replace_all_uses_with(emitted(integers, uniform))


def _any_uniform(constant: Any) -> Uniform:
    for axis in range(constant.integers.ndim - 1, -1, -1):
        try:
            return constant.uniform(axis)
        except NotCovered:
            continue
    return constant.uniform(None)


def _erase_dead(function: func.FuncOp) -> None:
    for op in reversed(list(nested_operations(function.entry_block))):
        if op.name in _ERASED and not is_used(op):
            op.operation.erase()


def _merge_factor(op: ir.OpView) -> None:
    """Merges a product with the factor or addend of its output channels that follows, if that is its only use::

        tfl.mul(tfl.fully_connected(%x, %w, %b), %c)  -->  tfl.fully_connected(%x, %w, %b * %c)     with the steps of
                                                                                                    %w times %c

    The integers of the weights stay, but for the sign where the factor is negative. The engine does so for convolutions
    with a step for each channel; this is for the others.
    """
    if op.name not in {"tfl.add", "tfl.mul", "tfl.sub"}:
        return
    product = producer(op.operands[0], "tfl.conv_2d", "tfl.depthwise_conv_2d", "tfl.fully_connected")
    constant = float_constant(op.operands[1])
    if product is None or constant is None or len(list(product.results[0].uses)) != 1:
        return
    weights = integer_constant(product.operands[1])
    if weights is None or attribute_value(product.attributes["fused_activation_function"]) != "NONE":
        return
    axis = CHANNEL_AXES[product.name]
    assert axis is not None
    channels = weights.integers.shape[axis]
    factor = _by_channel(constant, channels)
    if factor is None or op.results[0].type != product.results[0].type:
        return
    bias = _bias(product, channels)
    try:
        uniform = weights.uniform(axis)
    except NotCovered:
        return
    if bias is None or any(uniform.zero_points):
        return
    operands = [*product.operands]
    with ir.InsertionPoint(op), op.location:
        if op.name == "tfl.mul":
            if not factor.all():
                return
            scales = tuple(float(scale) for scale in np.broadcast_to(uniform.scales, channels) * np.abs(factor))
            shape = [-1 if index == axis else 1 for index in range(weights.integers.ndim)]
            integers = weights.integers * np.sign(factor).astype(np.int64).reshape(shape)
            if integers.max() > 127:
                return
            stored = emitted(integers, Uniform(scales, (0,) * channels, axis).simplified())
            operands[1] = create_value("tfl.dequantize", operands[1].type, [stored])
            bias = bias * factor
        else:
            bias = bias + (factor if op.name == "tfl.add" else -factor)
        operands[2:] = [_stored_bias(bias)]
        activation = {"fused_activation_function": op.attributes["fused_activation_function"]}
        result = create_like(product, operands, [op.results[0].type], activation).result
    replace_op(op, [result])
    product.operation.erase()


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


def _stored_bias(bias: Any) -> ir.Value:
    return pseudo_constant(ir.DenseElementsAttr.get(np.ascontiguousarray(bias, np.float32)))
