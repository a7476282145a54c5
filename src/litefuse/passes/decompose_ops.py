"""TensorFlow ops that the engine left, rewritten into builtin ops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from litefuse.decompositions.builder import Builder
from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp
from litefuse.decompositions.registry import find_decomposition
from litefuse.engine.lowering import lower
from litefuse.engine.mlir import func, ir
from litefuse.errors import LoweringError
from litefuse.fusions.annotation import attribute_value
from litefuse.fusions.composite import tensor_type_of
from litefuse.passes.call_graph import attributes_of, functions, operations
from litefuse.passes.composite_ops import create_composite_op
from litefuse.passes.custom_ops import REASON, is_option, left_over, tensorflow_name, tensorflow_op

__all__ = ["DecomposeOps", "Decomposed"]

_CONSTANTS = frozenset({"arith.constant", "tfl.pseudo_const", "tf.Const"})
# Values that decide shapes are small; a weight stays an operand.
_MAX_ELEMENTS = 1024


@dataclass(frozen=True)
class Decomposed:
    """What became of one op.

    Attributes:
        op: The TensorFlow op's name.
        form: ``rewritten``: builtin ops stand in its place; ``composite``: a composite with these as decomposition.
    """

    op: str
    form: Literal["rewritten", "composite"]


@dataclass(frozen=True)
class DecomposeOps:
    """Rewrites the TensorFlow ops that the engine left, where there is an exact rewriting.

    A rewriting is built and lowered in a module of its own, and used if nothing of it is left there either. Where a
    kernel is faster, the op becomes a composite of its name and attributes, and the rewriting the function that the
    runtime calls when no kernel claims it. On an op that stays, an attribute says why.

    Attributes:
        decomposed: Filled with what became of each op that is rewritten.
    """

    name: ClassVar[str] = "decompose-ops"
    decomposed: list[Decomposed]

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            for op in left_over(function):
                name = tensorflow_name(op)
                decomposition = None if name is None else find_decomposition(name)
                if name is None or decomposition is None:
                    continue
                modified = True
                try:
                    alone = _lowered(op, name, decomposition)
                except NotDecomposed as reason:
                    op.attributes[REASON] = ir.StringAttr.get(str(reason))
                    continue
                (rewriting,) = functions(alone).values()  # `alone` must live as long
                if decomposition.composite:
                    results = _composite(module, op, name, rewriting)
                else:
                    results = _spliced(op, rewriting)
                for old, new in zip(op.results, results, strict=True):
                    new.set_type(old.type)  # what it flows into may have been written for this type
                    old.replace_all_uses_with(new)
                op.operation.erase()
                self.decomposed.append(Decomposed(name, "composite" if decomposition.composite else "rewritten"))
        return modified


def _lowered(op: ir.OpView, name: str, decomposition: Decomposition) -> ir.Module:
    """A module whose one function computes the op's results from its operands in builtin ops.

    Raises:
        NotDecomposed: There is none.
    """
    module = ir.Module.create()
    operands = list(op.operands)
    with ir.InsertionPoint(module.body), op.location:
        kinds = [value.type for value in operands]
        function = func.FuncOp("decomposition", ir.FunctionType.get(kinds, []))
    block = function.add_entry_block([op.location] * len(operands))
    with ir.InsertionPoint(block), op.location:
        b = Builder()
        known = [_constant(value) for value in operands]
        arguments = [
            argument if value is None else b.constant(value, tensor_type_of(argument).dtype)
            for argument, value in zip(block.arguments, known, strict=True)
        ]
        attributes = {
            key: attribute_value(value) for key, value in attributes_of(tensorflow_op(op)).items() if is_option(key)
        }
        types = [tensor_type_of(value) for value in operands]
        declared = [tensor_type_of(result.type) for result in op.results]
        answer = decomposition.rewrite(TensorFlowOp(name, attributes, arguments, types, known, declared), b)
        results: Sequence[ir.Value] = [answer] if isinstance(answer, ir.Value) else answer
        func.ReturnOp(list(results))
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(kinds, [result.type for result in results])
    )
    try:
        lower(module)
    except LoweringError as error:
        raise NotDecomposed(error.message) from error
    (lowered,) = functions(module).values()
    for left in left_over(lowered):
        kinds_left = ", ".join(str(tensor_type_of(value)) for value in left.operands)
        raise NotDecomposed(
            f"its rewriting needs {tensorflow_name(left) or left.name}({kinds_left}), which LiteRT lacks"
        )
    return module


def _constant(value: ir.Value) -> npt.NDArray[Any] | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in _CONSTANTS:
        return None
    attribute = owner.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.type.has_static_shape:
        return None
    if "complex" in str(attribute.type.element_type) or np.prod(attribute.type.shape) > _MAX_ELEMENTS:
        return None
    return np.array(attribute).reshape(attribute.type.shape)


def _spliced(op: ir.OpView, function: func.FuncOp) -> list[ir.Value]:
    """Copies a function's body to the place of the op that it computes."""
    copies: dict[ir.Value, ir.Value] = dict(zip(function.entry_block.arguments, op.operands, strict=True))
    for inner in operations(function):
        if inner.name == "func.return":
            return [copies[value] for value in inner.operands]
        copy = inner.clone(ip=ir.InsertionPoint(op))
        for index, value in enumerate(inner.operands):
            copy.operands[index] = copies[value]
        copies.update(zip(inner.results, copy.results, strict=True))
    raise AssertionError("a function ends in a return")


def _composite(module: ir.Module, op: ir.OpView, name: str, function: func.FuncOp) -> Sequence[ir.Value]:
    taken = set(functions(module))
    symbol = next(
        symbol for number in range(len(taken) + 1) if (symbol := f"{name}.decomposition.{number}") not in taken
    )
    copy = function.clone(ip=ir.InsertionPoint(module.body))
    copy.attributes["sym_name"] = ir.StringAttr.get(symbol)
    copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    options = {
        key: attribute_value(value)
        for key, value in attributes_of(tensorflow_op(op)).items()
        if is_option(key) and not isinstance(value, ir.TypeAttr)
    }
    try:
        return create_composite_op(op, name, symbol, options)
    except ValueError as error:
        raise NotDecomposed(str(error)) from error
