"""Types of calls, refined from the called functions, and of inputs, as the user requested them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from litefuse.ir.call_graph import callees, callees_first, functions, operations, terminator_of, update_function_type
from litefuse.ir.mlir import func, ir
from litefuse.ir.passes import module_pass
from litefuse.ir.types import ranked_type, shape_of
from litefuse.support.options.input_shapes import InputShapes

_SAME_TYPE = frozenset({"tf.Identity", "tf.StopGradient", "tf.PreventGradient", "tf.CheckNumerics"})


@module_pass
def refine_call_types(module: ir.Module) -> bool:
    """Gives the results of calls and branches the shapes that their functions return.

    A SavedModel records the shapes of most nodes, but not of all: those of raw ops have none, and the engine cannot
    lower ops on values of unknown rank. A branch's result keeps what both sides agree on.
    """
    by_symbol = functions(module)
    modified = False
    for symbol in callees_first(by_symbol):
        function = by_symbol[symbol]
        refined = False
        for op in operations(function):
            name = op.name
            if name in _SAME_TYPE:
                refined |= refine_type(op.results[0], op.operands[0].type)
            if name == "tf.While":  # its result types are those of its operands, which it must not contradict
                continue
            called = [_result_types(by_symbol[callee]) for callee in callees(op) if callee in by_symbol]
            if not called:
                continue
            for position, result in enumerate(op.results):
                kinds = [types[position] for types in called if position < len(types)]
                if kinds:
                    refined |= refine_type(result, reduce(_common, kinds))
        if refined:
            update_function_type(function)
            modified = True
    return modified


def _result_types(function: func.FuncOp) -> Sequence[ir.Type]:
    if function.is_external:
        return function.type.results
    return [value.type for value in terminator_of(function.entry_block).operands]


def contradict(one: ir.Type, other: ir.Type) -> bool:
    """Whether no tensor can have both types, whose element types are the same."""
    a, b = ir.ShapedType(one), ir.ShapedType(other)
    if not (a.has_rank and b.has_rank):
        return False
    dynamic = ir.ShapedType.get_dynamic_size()
    return a.rank != b.rank or any(
        dynamic not in sizes and sizes[0] != sizes[1] for sizes in zip(a.shape, b.shape, strict=True)
    )


def refine_type(value: ir.Value, kind: ir.Type) -> bool:
    """Refines a value's type by the shape of another type; returns whether the type changed."""
    old, new = ir.ShapedType(value.type), ir.ShapedType(kind)
    if old == new or old.element_type != new.element_type or not new.has_rank:
        return False
    if old.has_rank:
        if old.rank != new.rank:
            return False
        dynamic = ir.ShapedType.get_dynamic_size()
        sizes = [b if a == dynamic else a for a, b in zip(old.shape, new.shape, strict=True)]
        new = ir.RankedTensorType.get(sizes, old.element_type)
        if new == old:
            return False
    value.set_type(new)
    return True


def _common(one: ir.Type, other: ir.Type) -> ir.Type:
    """Returns the most specific type that covers both."""
    a, b = ir.ShapedType(one), ir.ShapedType(other)
    if not (a.has_rank and b.has_rank) or a.rank != b.rank:
        return ir.UnrankedTensorType.get(a.element_type)
    dynamic = ir.ShapedType.get_dynamic_size()
    sizes = [size if size == other_size else dynamic for size, other_size in zip(a.shape, b.shape, strict=True)]
    return ir.RankedTensorType.get(sizes, a.element_type)


class SetInputShapes(NamedTuple):
    """Gives the arguments of exported functions the requested shapes; ``simplify`` does the rest.

    Raises:
        SignatureError: A shape contradicts the declared one, or is for an unknown input.
    """

    name = "set-input-shapes"
    requested: InputShapes
    inputs: Mapping[str, Sequence[str]]

    def run(self, module: ir.Module) -> bool:
        self.requested.check_names(self.inputs)
        by_symbol = functions(module)
        modified = False
        for symbol, names in self.inputs.items():
            function = by_symbol[symbol]
            for argument, name in zip(function.entry_block.arguments, names, strict=True):
                kind = ir.ShapedType(argument.type)
                declared = shape_of(kind)
                shape = self.requested.of_input(symbol, name, declared)
                if shape is not None and shape != declared:
                    argument.set_type(ranked_type(shape, kind.element_type))
                    modified = True
            update_function_type(function)
        return modified
