"""Where integers begin and end: QUANTIZE above ops that keep scales, inputs and outputs of signatures as integers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from litefuse.ir.call_graph import functions, terminator_of, update_function_type
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.op_creation import create_like, create_op
from litefuse.ir.purity import is_used, replace_op
from litefuse.ir.types import is_float32
from litefuse.passes.fake_quantization.constants import float_constant
from litefuse.passes.fake_quantization.grid import Uniform, quantized_type, uniform_of
from litefuse.passes.fake_quantization.kernels import AVERAGES, SAME

_BOUNDS = {"tfl.relu": (0.0, np.inf), "tfl.relu6": (0.0, 6.0), "tfl.relu_n1_to_1": (-1.0, 1.0)}


def quantize_users(value: ir.Value) -> list[ir.OpView] | None:
    """Returns the QUANTIZE ops that use a value if nothing else does, and all give the same type; else None."""
    users = [use.owner for use in value.uses]
    if not users or any(user.name != "tfl.quantize" for user in users):
        return None
    return users if len({str(ir.ShapedType(user.results[0].type).element_type) for user in users}) == 1 else None


def move_up(quantize: ir.OpView) -> None:
    """Moves a QUANTIZE above ops that keep scales, and drops clipping that its saturation does::

    tfl.quantize(tfl.reshape(%x))  -->  tfl.reshape(tfl.quantize(%x))
    tfl.quantize(tfl.relu(%x))     -->  tfl.quantize(%x)                  where 0 is the least number of the type
    """
    pending = [quantize]
    while pending:
        op = pending.pop()
        uniform = uniform_of(op.results[0].type)
        source = op.operands[0].owner
        if uniform is None or uniform.axis is not None or isinstance(source, ir.Block):
            continue
        users = quantize_users(op.operands[0])
        if users is None or not is_float32(op.operands[0]):
            continue
        if any(user.operation.block != op.operation.block for user in users):
            continue
        is_of_input = source.name in _BOUNDS and isinstance(source.operands[0].owner, ir.Block)
        clipped = _clipped_operand(source, uniform)
        if clipped is not None:
            replace_op(source, [clipped])
            pending.append(op)
        elif is_of_input or (source.name in SAME and source.name not in AVERAGES and len(source.results) == 1):
            pending += _moved(source, users, uniform)


def _clipped_operand(op: ir.OpView | ir.Operation, uniform: Uniform) -> ir.Value | None:
    """Returns what an op clips if saturation clips as much."""
    half = uniform.scale / 2
    bounds, operand = _BOUNDS.get(op.name), 0
    if op.name in {"tfl.maximum", "tfl.minimum"}:
        constants = [float_constant(value) for value in op.operands]
        known = [index for index, numbers in enumerate(constants) if numbers is not None and numbers.size == 1]
        if len(known) != 1:
            return None
        operand = 1 - known[0]
        bound = float(np.asarray(constants[known[0]]).reshape(()))
        bounds = (bound, np.inf) if op.name == "tfl.maximum" else (-np.inf, bound)
        if op.operands[operand].type != op.results[0].type:
            return None
    if bounds is None or bounds[0] > uniform.low + half or bounds[1] < uniform.high - half:
        return None
    return op.operands[operand]


def _moved(op: ir.OpView | ir.Operation, users: Sequence[ir.OpView], uniform: Uniform) -> list[ir.OpView]:
    """Quantizes an op's operands instead of its result; returns the new QUANTIZE ops."""
    operands = [*op.operands]
    real = [index for index, value in enumerate(operands) if index >= SAME.get(op.name, 0) and is_float32(value)]
    sources = [producer(operands[index], "tfl.dequantize") for index in real]
    types = {str(uniform_of(source.operands[0].type)) for source in sources if source is not None}
    if all(source is not None for source in sources) and len(types) == 1:
        return []  # the op keeps the scale that it gets
    quantized: dict[ir.Value, ir.OpView] = {}
    with ir.InsertionPoint(op), op.location:
        for index in real:
            value = operands[index]
            if value in quantized:
                operands[index] = quantized[value].results[0]
                continue
            kind = quantized_type(value.type, uniform)
            created = create_op("tfl.quantize", [kind], [value], {"qtype": ir.TypeAttr.get(kind)})
            operands[index] = created.result
            quantized[value] = created.opview
        kind = users[0].results[0].type
        result = create_like(op, operands, [kind]).result
    for user in users:
        replace_op(user, [result])
    op.operation.erase()
    return [*quantized.values()]


@dataclass(frozen=True)
class IntegerBoundary:
    """Takes inputs and gives outputs as the integers that the ops inside compute with::

        func @main(%x : f32) -> f32         func @main(%x : i8) -> i8
          %q = tfl.quantize(%x)        -->    %z = ...(%x)
          %y = tfl.dequantize(...)            return %z

    An input that is used in floats as well, or in several steps, stays what it is, and so does an output of floats.

    Attributes:
        symbols: The functions that are signatures.
    """

    symbols: Collection[str]
    name = "integer-boundary"

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        changed = [by_symbol[symbol] for symbol in self.symbols if _is_changed(by_symbol[symbol])]
        for function in changed:
            update_function_type(function)
        return bool(changed)


def _is_changed(function: func.FuncOp) -> bool:
    changed = False
    for argument in function.arguments:
        users = quantize_users(argument)
        if users is None or not isinstance(ir.ShapedType(argument.type).element_type, ir.F32Type):
            continue
        argument.set_type(users[0].results[0].type)
        for user in users:
            replace_op(user, [argument])
        changed = True
    terminator = terminator_of(function.entry_block)
    for index, value in enumerate(terminator.operands):
        source = producer(value, "tfl.dequantize")
        if source is None or producer(source.operands[0], "tfl.pseudo_qconst") is not None:
            continue
        terminator.operands[index] = source.operands[0]
        if not is_used(source):
            source.operation.erase()
        changed = True
    return changed
