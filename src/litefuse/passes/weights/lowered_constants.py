"""The constants of a lowered module: those that would be wrong are refused, those that are not needed dropped."""

from __future__ import annotations

from litefuse.errors import LoweringError
from litefuse.ir.call_graph import (
    all_operations,
    defined_functions,
    function_symbol,
    functions,
    operations,
)
from litefuse.ir.constants import CONSTANTS, DENSE_CONSTANTS, stored
from litefuse.ir.mlir import ir
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import is_used

# Ops that pass their operands on, and those whose states are operands: two states may begin as equal constants.
_OTHERS = frozenset(
    f"tfl.{name}"
    for name in (
        *("bidirectional_sequence_lstm", "bidirectional_sequence_rnn", "custom", "if", "lstm", "svdf"),
        *("unidirectional_sequence_lstm", "unidirectional_sequence_rnn", "while", "yield"),
    )
)


@module_pass
def check_constants(module: ir.Module) -> bool:
    """Refuses constants of dynamic shape, which the faults ``zero-factor`` and ``constants-of-open-shape`` create.

    Raises:
        LoweringError: There is such a constant.
    """
    for function in functions(module).values():
        for op in operations(function):
            value = stored(op.results[0]) if op.name in DENSE_CONSTANTS else None
            if value is not None and not value.type.has_static_shape:
                raise LoweringError(
                    f"the engine made a constant of the dynamic shape {value.type} of an op; the model would be wrong",
                    where=f"function {function_symbol(function)}, {op.location}",
                    hint="Fix the sizes of the inputs, or leave out a multiplication by a constant zero.",
                )
    return False


@module_pass
def drop_constants(module: ir.Module) -> bool:
    """Erases constants without uses (fault ``unused-constants``), and those that repeat another one of the function::

        %a = arith.constant dense<1>                    %a = arith.constant dense<1>
        %y = tfl.sub(%x, %a)                            %y = tfl.sub(%x, %a)
        %b = arith.constant dense<1>               -->
        %z = tfl.mul(%y, %b)                            %z = tfl.mul(%y, %a)

    Folded ops leave their operands behind, and rewritten ones those that only configured them; and each rewriting
    brings constants of its own, which are a tensor each in the file. What a function, a branch or a loop gets or
    returns stays as it is.
    """
    modified = False
    for function in defined_functions(module):
        modified = _merge(function.entry_block) or modified
    for op in all_operations(module):
        if op.name in CONSTANTS and not is_used(op):
            op.operation.erase()
            modified = True
    return modified


def _merge(block: ir.Block) -> bool:
    """Replaces the uses of constants by those of equal ones before them."""
    first: dict[tuple[ir.Attribute, ir.Type], ir.Value] = {}
    modified = False
    for op in block.operations:
        if op.name not in DENSE_CONSTANTS:  # rewritings leave equal ones behind
            continue
        (value,) = op.results
        if isinstance(ir.ShapedType(value.type).element_type, ir.ComplexType):  # the bindings cannot read its value
            continue
        known = first.setdefault((op.attributes["value"], value.type), value)
        if known == value:
            continue
        for use in [use for use in value.uses if _is_ordinary(use.owner)]:
            use.owner.operands[use.operand_number] = known
            modified = True
    return modified


def _is_ordinary(op: ir.OpView | ir.Operation) -> bool:
    """Whether an op computes with its operands by itself, and changes none of them."""
    return op.name.startswith("tfl.") and op.name not in _OTHERS and len(op.regions) == 0
