"""TensorFlow ops that the engine left, rewritten into builtin ops; and those that it would get wrong, before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from litefuse.decompositions.builder import Builder
from litefuse.decompositions.decomposition import Decomposition, NotDecomposed
from litefuse.decompositions.registry import DECOMPOSITIONS, find_decompositions
from litefuse.engine.mlir import func, ir
from litefuse.fusions.annotation import attribute_value
from litefuse.fusions.composite import tensor_type_of
from litefuse.passes.call_graph import attributes_of, functions, nested_operations
from litefuse.passes.composite_ops import create_composite_op
from litefuse.passes.custom_ops import REASON, is_option, left_over, tensorflow_name, tensorflow_op
from litefuse.passes.rewriting import Rewriting, Rewritings, replace_results, spliced, tensorflow_op_of

__all__ = ["DecomposeOps", "Decomposed", "RewriteBeforeLowering"]

# The ops of which some form must be rewritten before the engine sees it, and what rewrites them.
_BEFORE_LOWERING: dict[str, list[Decomposition]] = {
    name: [each for each in find_decompositions(name) if name in each.early_names]
    for decomposition in DECOMPOSITIONS
    for name in decomposition.early_names
}


@dataclass(frozen=True)
class Decomposed:
    """What became of one op.

    Attributes:
        op: The TensorFlow op's name.
        form: ``rewritten``: builtin ops stand in its place; ``composite``: a composite with these as decomposition;
            ``narrowed``: builtin ops that compute its int64 values in int32.
    """

    op: str
    form: Literal["rewritten", "composite", "narrowed"]


@dataclass(frozen=True)
class DecomposeOps:
    """Rewrites the TensorFlow ops that the engine left, where there is an exact rewriting.

    A rewriting is built and lowered in a module of its own, and used if nothing of it is left there either; ops that
    are alike share it. Where a kernel is faster, the op becomes a composite of its name and attributes, and the
    rewriting the function that the runtime calls when no kernel claims it. On an op that stays, an attribute says why.

    Attributes:
        decomposed: Filled with what became of each op that is rewritten.
        narrow: Where there is no exact rewriting of an op of int64, let it be computed in int32.
    """

    name: ClassVar[str] = "decompose-ops"
    decomposed: list[Decomposed]
    narrow: bool = False

    def run(self, module: ir.Module) -> bool:
        modified = False
        exact, narrow = Rewritings(), Rewritings(narrow=True) if self.narrow else None
        symbols: dict[object, str] = {}
        for function in functions(module).values():
            for op in left_over(function):
                try:
                    rewriting = _found(op, exact, narrow)
                except NotDecomposed as reason:
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
                form = "narrowed" if rewriting.narrowed else "composite" if rewriting.composite else "rewritten"
                self.decomposed.append(Decomposed(name, form))
        return modified


def _found(op: ir.OpView, exact: Rewritings, narrow: Rewritings | None) -> Rewriting | None:
    """The rewriting of an op, an exact one if there is one.

    Raises:
        NotDecomposed: There is none of this form.
    """
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
    """Lets no constant of int64 pass that is not one of int32.

    Raises:
        NotDecomposed: It does not fit, or is not at hand.
    """
    owner = value.owner
    if isinstance(owner, ir.Block) or tensor_type_of(value).dtype != "int64":
        return
    if owner.name == "tfl.external_const":
        raise NotDecomposed("its constant operand is too large to be narrowed")
    attribute = attributes_of(owner).get("value")
    if isinstance(attribute, ir.DenseElementsAttr):
        numbers = np.array(attribute)
        wide = numbers[numbers != numbers.astype(np.int32)]
        if wide.size:
            raise NotDecomposed(f"its constant {wide[0]} does not fit int32")


@dataclass(frozen=True)
class RewriteBeforeLowering:
    """Rewrites the ops that the engine takes, but makes something wrong of.

    ::

        tf.IsInf(%x)  -->  |%x| > 3.4e38          The engine's own form of it is never true.

    Attributes:
        decomposed: Filled with the ops that are rewritten.
    """

    name: ClassVar[str] = "rewrite-before-lowering"
    decomposed: list[Decomposed]

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            if function.is_external:
                continue
            for op in list(nested_operations(function.entry_block)):
                name = op.name.removeprefix("tf.")
                if op.name != name and name in _BEFORE_LOWERING:
                    modified |= self._rewritten(op, name)
        return modified

    def _rewritten(self, op: ir.OpView, name: str) -> bool:
        seen = tensorflow_op_of(op, name, list(op.operands))
        for decomposition in _BEFORE_LOWERING[name]:
            if not decomposition.before_lowering(seen):
                continue
            try:
                with ir.InsertionPoint(op), op.location:
                    answer = decomposition.rewrite(seen, Builder())
            except NotDecomposed:  # what was built so far is dead, and the engine drops it
                continue
            results: Sequence[ir.Value] = [answer] if isinstance(answer, ir.Value) else answer
            replace_results(op, results)
            op.operation.erase()
            self.decomposed.append(Decomposed(name, "rewritten"))
            return True
        return False


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
    """Copies a rewriting into the module, under a symbol that is not taken."""
    taken = set(functions(module))
    symbol = next(
        symbol for number in range(len(taken) + 1) if (symbol := f"{name}.decomposition.{number}") not in taken
    )
    copy = function.clone(ip=ir.InsertionPoint(module.body))
    copy.attributes["sym_name"] = ir.StringAttr.get(symbol)
    copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    return symbol
