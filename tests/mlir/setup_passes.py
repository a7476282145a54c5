"""Passes that only tests have: they make what cannot be written as text, and show what is not in the text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from litefuse.frontends.saved_model import DataType
from litefuse.ir.call_graph import function_symbol, functions, nested_operations
from litefuse.ir.constants import pseudo_constant
from litefuse.ir.mlir import func, ir, stablehlo
from litefuse.passes.weights import Weights


class WrapProgram:
    """Puts a program into an ``XlaCallModule``."""

    name = "wrap-program"

    def run(self, module: ir.Module) -> bool:
        (main,) = [op for op in module.body.operations if isinstance(op, func.FuncOp) and function_symbol(op) == "main"]
        kind: ir.FunctionType = main.type
        dialect = stablehlo()
        program: bytes = dialect.serialize_portable_artifact_str(str(module), dialect.get_current_version())
        for op in list(module.body.operations):
            op.operation.erase()
        with ir.InsertionPoint(module.body), ir.Location.unknown():
            wrapped = func.FuncOp("main", kind)
        block = wrapped.add_entry_block()
        with ir.InsertionPoint(block), ir.Location.name("program"):
            call = ir.Operation.create(
                "tf.XlaCallModule",
                results=list(kind.results),
                operands=list(block.arguments),
                attributes={
                    "Sout": ir.ArrayAttr.get([ir.Attribute.parse("#tf_type.shape<*>")] * len(kind.results)),
                    "module": ir.StringAttr.get(program),
                    "version": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 10),
                },
            )
            func.ReturnOp(list(call.results))
        return True


@dataclass(frozen=True)
class MapWeights:
    """Makes weights of the constants of float32 that have the attribute ``mapped``.

    A ``tf.Const`` then refers to the weight, as the importer has it; of a ``tfl.pseudo_const``, there is the
    placeholder, as the engine leaves it.
    """

    name = "map-weights"
    weights: Weights

    def run(self, module: ir.Module) -> bool:
        for op in _all_operations(module):
            if "mapped" not in op.attributes:
                continue
            del op.attributes["mapped"]
            value = ir.DenseElementsAttr(op.attributes["value"])
            array = np.array(value, np.float32).reshape(ir.ShapedType(value.type).shape)
            attribute = self.weights.attribute(array, DataType.FLOAT32)
            if op.name == "tf.Const":
                op.attributes["value"] = attribute
                continue
            number = self.weights.find(attribute)
            assert number is not None
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(self.weights.emit(number))
            op.operation.erase()
        return True


@dataclass(frozen=True)
class ShowWeights:
    """Puts a constant into the place of each weight's placeholder."""

    name = "show-weights"
    weights: Weights

    def run(self, module: ir.Module) -> bool:
        for op in _all_operations(module):
            if op.name == "tfl.external_const":
                number = self.weights.number(op.results[0])
                assert number is not None
                value = np.ascontiguousarray(self.weights[number].value())
                with ir.InsertionPoint(op), op.location:
                    op.results[0].replace_all_uses_with(pseudo_constant(ir.DenseElementsAttr.get(value)))
                op.operation.erase()
        return True


def _all_operations(module: ir.Module) -> list[ir.OpView]:
    return [op for function in functions(module).values() for op in nested_operations(function.entry_block)]
