"""The pass after the engine, which rewrites the ops that it left because LiteRT lacks them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from litefuse.ir.attributes import attribute_value
from litefuse.ir.call_graph import attributes_of, functions, nested_operations, update_function_type
from litefuse.ir.constants import PLACEHOLDER
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.ops.dims import Shape
from litefuse.ir.purity import is_erasable, is_used
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.types import tensor_type_of
from litefuse.passes.legalize.composite_ops import create_composite_op
from litefuse.passes.legalize.decomposition import Decomposed
from litefuse.passes.legalize.lacking_ops import REASON, is_chosen, is_option, left_over, tensorflow_name, tensorflow_op
from litefuse.passes.legalize.rewriting import Rewriting, Rewritings, spliced
from litefuse.passes.legalize.seen_ops import replace_results
from litefuse.passes.weights.fold_constants import fold_constants


class DecomposeOps(NamedTuple):
    """Rewrites the TensorFlow ops that the engine left, if there is an exact rewriting.

    A rewriting is built and lowered in a module of its own, and used if it is lowered completely. Equal ops share it.
    If a kernel is faster, the op becomes a composite with its name and attributes, whose decomposition the rewriting
    is. On an op that stays, an attribute states why. An op that the user chose to be a custom op is not looked at.

    Attributes:
        decomposed: Filled with a record of each op that is rewritten.
        lower: Lowers a module of one function, the rewriting of an op, to builtin ops, in place.
        narrow: Whether int64 ops without an exact rewriting may be computed in int32.
    """

    name = "decompose-ops"
    decomposed: list[Decomposed]
    lower: Callable[[ir.Module], None]
    narrow: bool = False

    def run(self, module: ir.Module) -> bool:
        ops = [op for function in functions(module).values() for op in left_over(function) if not is_chosen(op)]
        modified = False
        exact, narrowed = Rewritings(self.lower), Rewritings(self.lower, narrow=True) if self.narrow else None
        symbols: dict[object, str] = {}
        for op in ops:
            try:
                rewriting = _found(op, exact, narrowed)
            except NotDecomposed as reason:
                if REASON not in op.attributes:  # the reason why it was withheld is more specific
                    op.attributes[REASON] = ir.StringAttr.get(str(reason))
                modified = True
                continue
            if rewriting is None:
                continue
            modified = True
            name = tensorflow_name(op) or ""
            if rewriting.composite:
                results = _composite(module, op, name, rewriting, symbols)
            else:
                results = spliced(op, rewriting.function)
            replace_results(op, results)
            op.operation.erase()
            self.decomposed.append(Decomposed(name, _form(rewriting)))
        for function in functions(module).values() if modified else ():
            if not function.is_external:
                _merge_casts(function.entry_block)
                _erase_unused(function)
                update_function_type(function)  # a rewriting may refine a result's shape
        if modified:
            fold_constants.run(module)  # such as casts of weights
        return modified


_ENDS = frozenset({"func.return", "tfl.yield"})


def _merge_casts(block: ir.Block) -> None:
    """Merges casts of a value to one dtype: each op that is rewritten to compute in another dtype adds its own.

    Bits that are cast twice are cast once, or not at all.
    """
    casts: dict[tuple[ir.Value, ir.Type], ir.Value] = {}
    for op in block.operations:
        if op.name == "tfl.cast":
            (value,), (result,) = op.operands, op.results
            first = casts.setdefault((value, result.type), result)
            # A branch must not return a value twice: fault `branch-result-twice`.
            if first != result and not any(use.owner.name in _ENDS for use in result.uses):
                result.replace_all_uses_with(first)
        before = producer(op.operands[0], "tfl.bitcast") if op.name == "tfl.bitcast" else None
        if before is not None and _shape(before.operands[0]) == _shape(op.operands[0]) == _shape(op.results[0]):
            op.operands[0] = before.operands[0]
            if op.operands[0].type == op.results[0].type and not isinstance(op.operands[0].owner, ir.Block):
                op.results[0].replace_all_uses_with(op.operands[0])
        for region in op.regions:
            for inner in region.blocks:
                _merge_casts(inner)


def _shape(value: ir.Value) -> Shape | None:
    return tensor_type_of(value).shape


def _erase_unused(function: func.FuncOp) -> None:
    """Erases the ops that compute only unused results of a rewriting."""
    for op in reversed(list(nested_operations(function.entry_block))):
        name = tensorflow_op(op).name  # in tfl.custom_tf
        if not op.name.startswith("tfl.") or not is_erasable(name) or len(op.results) == 0:
            continue
        if not is_used(op):
            op.operation.erase()


def _form(rewriting: Rewriting) -> Literal["rewritten", "composite", "narrowed", "widened"]:
    if rewriting.narrowed:
        return "narrowed"
    if rewriting.widened:
        return "widened"
    return "composite" if rewriting.composite else "rewritten"


def _found(op: ir.OpView, exact: Rewritings, narrow: Rewritings | None) -> Rewriting | None:
    """Returns the rewriting of an op, an exact one if possible; raises ``NotDecomposed`` without one."""
    reason = None
    try:
        rewriting = exact.find(op)
        if rewriting is not None:
            return rewriting
    except NotDecomposed as error:
        reason = error
    if narrow is not None:
        try:
            rewriting = narrow.find(op)
        except NotDecomposed:
            rewriting = None
        if rewriting is not None:
            for value in op.operands:
                _check_fits(value)
            return rewriting
    if reason is not None:
        raise reason
    return None


def _check_fits(value: ir.Value) -> None:
    """Raises ``NotDecomposed`` unless an int64 constant is known to fit into int32."""
    owner = value.owner
    if isinstance(owner, ir.Block) or tensor_type_of(value).dtype != "int64":
        return
    if owner.name == PLACEHOLDER:
        raise NotDecomposed("its constant operand is too large to be narrowed")
    attribute = attributes_of(owner).get("value")
    if isinstance(attribute, ir.DenseElementsAttr):
        numbers = np.array(attribute)
        wide = numbers[numbers != numbers.astype(np.int32)]
        if wide.size:
            raise NotDecomposed(f"its constant {wide[0]} does not fit int32")


def _composite(
    module: ir.Module, op: ir.OpView, name: str, rewriting: Rewriting, symbols: dict[object, str]
) -> Sequence[ir.Value]:
    options = {
        key: attribute_value(value)
        for key, value in attributes_of(tensorflow_op(op)).items()
        if is_option(key) and not isinstance(value, ir.TypeAttr)
    }
    if rewriting.key not in symbols:
        symbols[rewriting.key] = _added(module, name, rewriting.function)
    return create_composite_op(op, name, symbols[rewriting.key], options)


def _added(module: ir.Module, name: str, function: func.FuncOp) -> str:
    """Copies a rewriting into the module under an unused symbol."""
    taken = set(functions(module))
    symbol = next(
        symbol for number in range(len(taken) + 1) if (symbol := f"{name}.decomposition.{number}") not in taken
    )
    copy = function.clone(ip=ir.InsertionPoint(module.body))
    copy.attributes["sym_name"] = ir.StringAttr.get(symbol)
    copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    return symbol
