"""Optionals, in which a branch hands what it computed to its gradient, made what they hold."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import suppress

from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import call_operands, function_symbol, operations
from litefuse.ir.mlir import func, ir
from litefuse.ir.ops.dims import Dim, symbol_in
from litefuse.ir.ops.substitution import substituted, unknowns
from litefuse.ir.purity import replace_op
from litefuse.ir.types import TensorType, ranked_tensor_type, tensor_type_of
from litefuse.passes.tensor_lists.list_ops import NONE, OPTIONALS, hold_tensors
from litefuse.passes.tensor_lists.list_sizes import function_of
from litefuse.passes.tensor_lists.op_results import Number, SizeOf, emit
from litefuse.passes.tensor_lists.optional_groups import SOME, OptionalGroup, find_optionals, separate_kinds
from litefuse.passes.tensor_lists.sizes import Sizes, Unknown

__all__ = ["remove_optionals"]


def remove_optionals(by_symbol: Mapping[str, func.FuncOp]) -> None:
    """Puts what optionals hold in their places::

        %o = tf.OptionalFromValue(%x)       %o = %x
        %o = tf.OptionalNone()         -->  %o = zeros
        %y = tf.OptionalGetValue(%o)        %y = %o

    The gradient of a branch looks only at what that branch computed, so what stands for nothing is never looked at. It
    has the size that the value would have if that can be told. Where the value is a list,
    ``tf.OptionalNone`` stays, for an empty one.

    Args:
        by_symbol: The module's functions, each with at most one caller.

    Raises:
        ConversionError: An optional holds several values, or a tensor of unknown rank.
    """
    _separate_nothings(by_symbol)
    while groups := find_optionals(by_symbol):
        if separate_kinds(by_symbol, groups):
            continue
        sizes = Sizes(by_symbol)
        for group in groups:
            if group.kind[0] == "tensor":
                _make_tensor(group, sizes)
            for op in group.kinds[group.kind]:
                replace_op(op, [op.operands[0]])


def _separate_nothings(by_symbol: Mapping[str, func.FuncOp]) -> None:
    """Makes one op for each use of nothing, which may be many different things."""
    for function in by_symbol.values():
        for op in operations(function):
            if op.name == NONE:
                for use in list(op.results[0].uses)[1:]:
                    copy = op.operation.clone(ip=ir.InsertionPoint(op))
                    use.owner.operands[use.operand_number] = copy.results[0]


def _make_tensor(group: OptionalGroup, sizes: Sizes) -> None:
    """Gives an optional the type of what it holds, and puts zeros where it holds nothing."""
    kind = _type(group)
    nothings = [(op, _size_of_nothing(op, group, kind, sizes)) for op in group.nothings]
    for value in group.values:
        if isinstance(value.owner, ir.Block) or value.owner.name not in OPTIONALS:
            value.set_type(ranked_tensor_type(kind))
    hold_tensors(group.list_ops, ir.ShapedType(ranked_tensor_type(kind)).element_type, nothings=bool(nothings))
    for op, shape in nothings:
        with ir.InsertionPoint(op), op.location:
            b = Builder()
            zeros = b.fill([emit(size, b) for size in shape], 0, kind.dtype)
        replace_op(op, [zeros])


def _type(group: OptionalGroup) -> TensorType:
    """The type of all tensors that an optional holds."""
    ops = group.kinds[group.kind]
    # One that is always nothing still has readers, which never run.
    held = [op.operands[0] for op in ops if op.name == SOME] or [op.results[0] for op in ops]
    shapes = [tensor_type_of(value).shape or () for value in held]
    merged = (sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True))
    return TensorType(tensor_type_of(held[0]).dtype, tuple(merged))


def _size_of_nothing(op: ir.OpView, group: OptionalGroup, kind: TensorType, sizes: Sizes) -> list[Dim]:
    """The size of what an optional would hold where it holds nothing, by values that are there."""
    dims: list[Dim] = []
    for axis, known in enumerate(kind.shape or ()):
        # LiteRT prepares a branch that is not taken, too: what is broadcast goes with everything, and what is in a list
        # gets the size of the others.
        size: Dim = (0 if group.lists else 1) if known is None else known
        if known is None:
            with suppress(Unknown):
                size = _size_elsewhere(group, axis, function_of(op), sizes)
        dims.append(size)
    return dims


def _size_elsewhere(group: OptionalGroup, axis: int, function: func.FuncOp, sizes: Sizes) -> Dim:
    """The size of what an optional holds by arguments of another function.

    Raises:
        Unknown: It does not depend on these alone.
    """
    outwards = [function]
    while (call := sizes.caller(outwards[-1])) is not None:
        outwards.append(function_of(call))
    symbols = [function_symbol(outward) for outward in outwards]
    for op in group.kinds[group.kind]:
        if op.name != SOME:
            continue
        size, where = sizes.size(op.operands[0], axis), function_of(op)
        while function_symbol(where) not in symbols:
            call = sizes.caller(where)
            if call is None:
                raise Unknown("it is computed in another signature")
            size, where = sizes.before(size, call), function_of(call)
        for inner in reversed(outwards[: symbols.index(function_symbol(where))]):
            size = _inside(size, inner, sizes)
        return size
    raise Unknown("nothing is ever put into it")


def _inside(size: Dim, function: func.FuncOp, sizes: Sizes) -> Dim:
    """A size by values around the caller of a function, by its arguments.

    Raises:
        Unknown: It depends on something else.
    """
    return substituted(size, {name: _argument(name, function, sizes) for name in unknowns(size)})


def _argument(name: Hashable, function: func.FuncOp, sizes: Sizes) -> Dim:
    """A number of a value around the caller of a function, as one of an argument.

    Raises:
        Unknown: No argument has it.
    """
    call = sizes.caller(function)
    assert call is not None
    if isinstance(name, (SizeOf, Number)) and call.name != "tf.While":
        arguments = function.entry_block.arguments
        operands = call_operands(call)
        if name.value in operands:
            argument = arguments[operands.index(name.value)]
            return sizes.symbol(argument, name.axis) if isinstance(name, SizeOf) else sizes.number(argument, name.index)
        for operand, argument in zip(operands, arguments, strict=True):
            kind = tensor_type_of(operand)
            for axis, known in enumerate(kind.shape or ()):
                if known is None and _is(name, sizes.size(operand, axis)):
                    return sizes.symbol(argument, axis)
    raise Unknown("it depends on a value that is not there")


def _is(name: Hashable, size: Dim) -> bool:
    symbol = symbol_in(size)
    return symbol is not None and symbol.name == name
