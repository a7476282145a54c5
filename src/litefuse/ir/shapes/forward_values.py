"""Removes ops that change no value, but give it a more precise type."""

from __future__ import annotations

from typing import NamedTuple

from litefuse.ir.call_graph import functions, is_call, nested_operations, update_function_type
from litefuse.ir.constants import int32_constant
from litefuse.ir.mlir import ir
from litefuse.ir.shapes.call_types import contradict, refine_type

_SAME_VALUE = frozenset(
    {
        *("tf.Cast", "tf.CheckNumerics", "tf.EnsureShape", "tf.Identity", "tf.PreventGradient", "tf.Snapshot"),
        "tf.StopGradient",
    }
)

# The types of their results are those of their operands, or are determined by their regions.
_TYPED_ELSEWHERE = frozenset({"tf.While", "tf.Case", "tfl.while", "tfl.if"})


class ForwardValues(NamedTuple):
    """Erases ops that only change a value's type, and refines the type of the operand instead::

        %y = tfl.custom(%x) : tensor<1x?xf32>
        %z = tf.Cast(%y) : tensor<1x5xf32>      -->  %y = tfl.custom(%x) : tensor<1x5xf32>
        return %z                                    return %y

    This removes shape assertions, ``tf.Identity`` and its kin, and the casts that inlining inserts where more is known
    of a call's result than of the function's. The engine erases them only if both types are the same, and LiteRT has no
    op for them.

    An argument, or a loop's result, has a type that others share: it is reshaped to the new type, which changes nothing
    but the type. If the types contradict each other, the op stays, for ``Simplify`` to report.

    Attributes:
        lowered: Whether the engine has run: nothing is reshaped anymore.
    """

    name = "forward-values"
    lowered: bool = False

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            if function.is_external:
                continue
            superfluous = [op for op in nested_operations(function.entry_block) if _is_superfluous(op)]
            for op in superfluous:
                op.results[0].replace_all_uses_with(self._forwarded(op))
                op.operation.erase()
            if superfluous:
                update_function_type(function)
                modified = True
        return modified

    def _forwarded(self, op: ir.OpView) -> ir.Value:
        value, kind = op.operands[0], op.results[0].type
        owner = value.owner
        if not isinstance(owner, ir.Block) and owner.name not in _TYPED_ELSEWHERE and not _is_function_call(owner):
            refine_type(value, kind)
            return value
        return value if self.lowered else _reshaped(op, value, kind)


def _is_superfluous(op: ir.OpView) -> bool:
    if op.name not in _SAME_VALUE:
        return False
    operand, result = op.operands[0].type, op.results[0].type
    if operand == result:
        return op.name == "tf.EnsureShape"  # the engine erases the others
    element = ir.ShapedType(operand).element_type
    if element != ir.ShapedType(result).element_type or str(element).startswith(("!tf_type.resource", "!tf_type.var")):
        return False
    return not contradict(operand, result)


def _is_function_call(op: ir.OpView | ir.Operation) -> bool:
    """Whether the op's results are what a function returns; a composite's and a branch's need only be compatible."""
    return is_call(op) and op.name not in {"tf.If", "tfl.custom"}


def _reshaped(op: ir.OpView, value: ir.Value, type_: ir.Type) -> ir.Value:
    """Returns the value with a type, reshaped if the type is more precise."""
    known, kind = ir.ShapedType(value.type), ir.ShapedType(type_)
    if not kind.has_rank:
        return value
    sizes = [-1 if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(kind.rank)]
    if known.has_rank and all(
        size == -1 or (not known.is_dynamic_dim(axis) and known.shape[axis] == size) for axis, size in enumerate(sizes)
    ):
        return value
    with ir.InsertionPoint(op), op.location:
        if sizes.count(-1) <= 1 and 0 not in sizes:
            shape = int32_constant(sizes)
        elif known.has_rank:  # a reshape to constants could not distinguish the dynamic dimensions
            return value
        else:
            vector = ir.RankedTensorType.get([kind.rank], ir.IntegerType.get_signless(32))
            shape = ir.Operation.create("tf.Shape", results=[vector], operands=[value]).result
        return ir.Operation.create("tf.Reshape", results=[type_], operands=[value, shape]).result
