"""Forms for LiteRT.js: inputs and outputs of dtypes that JavaScript has arrays of, and computed ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from litefuse.errors import ConversionError
from litefuse.ir.call_graph import functions, terminator_of, update_function_type
from litefuse.ir.constants import CONSTANTS, pseudo_constant, stored
from litefuse.ir.importer import EntryPoint
from litefuse.ir.litert_ops import int32_vector
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.support.report.entries import RetypedReport

# The names of the dtypes that are replaced, and of those in their place, by MLIR's name.
_REPLACED = {"i64": ("int64", "int32"), "i1": ("bool", "uint8")}
_INT32 = np.iinfo(np.int32)


class PlainSignatures(NamedTuple):
    """Makes int32 of int64, and uint8 of booleans, in the inputs and outputs of exported functions::

        func.func @f(%x : tensor<4xi64>)         -->  func.func @f(%x : tensor<4xi32>)
          %y = tfl.add(%x, %x)                          %0 = tfl.cast(%x) : tensor<4xi64>
          return %y                                     %y = tfl.add(%0, %0)
                                                        return tfl.cast(%y) : tensor<4xi32>

    What gathers by such an input, or casts it to int32, takes the int32, and ARG_MAX gives one.

    Attributes:
        entry_points: The exported functions.
        retyped: Filled with the inputs and outputs that changed.
    """

    name = "plain-signatures"
    entry_points: Sequence[EntryPoint]
    retyped: list[RetypedReport]

    def run(self, module: ir.Module) -> bool:
        """Changes the module.

        Raises:
            ConversionError: An output is a constant that int32 does not hold.
        """
        by_symbol, before = functions(module), len(self.retyped)
        for entry in self.entry_points:
            function = by_symbol[entry.symbol]
            block = function.entry_block
            end = terminator_of(block)
            with function.location:
                for name, argument in zip(entry.inputs, block.arguments, strict=True):
                    if (kind := _replaced(argument.type)) is not None:
                        self._report("input", f"{entry.symbol}:{name}", argument.type)
                        _narrow_input(argument, kind, block)
                for place, (name, value) in enumerate(zip(entry.outputs, end.operands, strict=True)):
                    if (kind := _replaced(value.type)) is not None:
                        self._report("output", f"{entry.symbol}:{name}", value.type)
                        with ir.InsertionPoint(end):
                            end.operands[place] = _narrowed(value, kind, f"output {name!r} of {entry.symbol}")
            update_function_type(function)
        return len(self.retyped) > before

    def _report(self, what: Literal["input", "output"], name: str, kind: ir.Type) -> None:
        self.retyped.append(RetypedReport(what, name, *_REPLACED[str(ir.ShapedType(kind).element_type)]))


def _replaced(kind: ir.Type) -> ir.RankedTensorType | None:
    """Returns the type in the place of another; None if that stays."""
    element = str(ir.ShapedType(kind).element_type)
    if element not in _REPLACED:
        return None
    made = ir.IntegerType.get_signless(32) if element == "i64" else ir.IntegerType.get_unsigned(8)
    return ir.RankedTensorType.get(ir.RankedTensorType(kind).shape, made)


def _narrow_input(argument: ir.Value, kind: ir.RankedTensorType, block: ir.Block) -> None:
    wide = argument.type
    uses = list(argument.uses)
    argument.set_type(kind)
    cast = None
    for use in uses:
        op = use.owner
        if op.name == "tfl.cast" and op.results[0].type == kind:
            op.results[0].replace_all_uses_with(argument)
        elif not (op.name == "tfl.gather" and use.operand_number == 1):
            if cast is None:
                with ir.InsertionPoint.at_block_begin(block):
                    cast = create_value("tfl.cast", wide, [argument])
            op.operands[use.operand_number] = cast


def _narrowed(value: ir.Value, kind: ir.RankedTensorType, where: str) -> ir.Value:
    elements = stored(value)
    if elements is not None and str(kind.element_type) == "i32":
        beyond = [int(item) for item in np.array(elements).reshape(-1) if not _INT32.min <= item <= _INT32.max]
        if beyond:
            raise ConversionError(
                f"{where} is int64 with the constant {beyond[0]}, and LiteRT.js takes integers of up to 32 bits",
                hint="Leave it out of the signature, or convert for another target.",
            )
    largest = producer(value, "tfl.arg_max", "tfl.arg_min")
    if largest is not None and len(list(value.uses)) == 1:
        value.set_type(kind)
        return value
    return create_value("tfl.cast", kind, [value])


@module_pass
def compute_ids(module: ir.Module) -> bool:
    """Gathers from computed tables by computed ids::

        %y = tfl.gather(%table : tensor<9x8xf32>, [3, 0])
        -->  %y = tfl.gather(%table, tfl.reshape([[3, 0]], [2]))

    LiteRT.js does not compile the others for WebGPU.
    """
    return visit_ops(module, {"tfl.gather": _by_computed_ids})


def _by_computed_ids(op: ir.OpView) -> bool:
    table, ids = op.operands
    elements = stored(ids)
    if producer(table, *CONSTANTS) is not None or elements is None or ir.RankedTensorType(ids.type).rank != 1:
        return False
    row = pseudo_constant(ir.DenseElementsAttr.get(np.array(elements)[np.newaxis]))
    op.operands[1] = create_value("tfl.reshape", ids.type, [row, int32_vector(ir.RankedTensorType(ids.type).shape)])
    return True
