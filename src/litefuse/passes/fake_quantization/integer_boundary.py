"""Inputs and outputs of signatures as integers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from litefuse.ir.call_graph import functions, terminator_of, update_function_type
from litefuse.ir.mlir import func, ir, producer
from litefuse.passes.fake_quantization.move_up import quantize_users

__all__ = ["IntegerBoundary"]


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
    name: ClassVar[str] = "integer-boundary"

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
            user.results[0].replace_all_uses_with(argument)
            user.operation.erase()
        changed = True
    terminator = terminator_of(function.entry_block)
    for index, value in enumerate(terminator.operands):
        source = producer(value, "tfl.dequantize")
        if source is None or producer(source.operands[0], "tfl.pseudo_qconst") is not None:
            continue
        terminator.operands[index] = source.operands[0]
        if not any(True for _ in value.uses):
            source.operation.erase()
        changed = True
    return changed
