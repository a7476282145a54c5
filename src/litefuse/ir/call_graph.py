"""Functions of a module, the ops that call them, and the operands of these calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from litefuse.errors import GraphError
from litefuse.ir.mlir import func, ir

#: The attribute of a copied or renamed function that holds its name in the model.
ORIGINAL_NAME = "tf._original_func_name"

# The attributes of each op that refer to functions; the callees get the operands after the first ``_OWN_OPERANDS``.
_CALLEE_ATTRIBUTES = {
    "func.call": ("callee",),
    "tf.LegacyCall": ("f",),
    "tf.PartitionedCall": ("f",),
    "tf.StatefulPartitionedCall": ("f",),
    "tf.If": ("then_branch", "else_branch"),
    "tf.Case": ("branches",),
    "tf.While": ("cond", "body"),
    "tfl.custom": ("decomposition",),  # a composite, see litefuse.ir.attributes.COMPOSITE; others have none
}
_OWN_OPERANDS = {"tf.If": 1, "tf.Case": 1}


def is_call(op: ir.OpView | ir.Operation) -> bool:
    """Whether the op runs functions of the module."""
    names = _CALLEE_ATTRIBUTES.get(op.name)
    return names is not None and any(name in op.attributes for name in names)


def callees(op: ir.OpView | ir.Operation) -> list[str]:
    """Returns the symbols of the functions that the op runs, in the order of its attributes; empty for other ops."""
    names = _CALLEE_ATTRIBUTES.get(op.name)
    if names is None:
        return []
    symbols: list[str] = []
    for name in names:
        if name not in op.attributes:
            continue
        attribute = op.attributes[name]
        references = attribute if isinstance(attribute, ir.ArrayAttr) else (attribute,)
        symbols.extend(ir.FlatSymbolRefAttr(reference).value for reference in references)
    return symbols


def is_public(function: func.FuncOp) -> bool:
    """Whether the function can be called from outside the module."""
    return "sym_visibility" not in function.attributes or "public" in str(function.attributes["sym_visibility"])


def set_callees(op: ir.OpView | ir.Operation, symbols: list[str]) -> None:
    """Points the op at other functions; ``symbols`` are in the order of ``callees``."""
    remaining = iter(symbols)
    for name in _CALLEE_ATTRIBUTES[op.name]:
        attribute = op.attributes[name]
        if isinstance(attribute, ir.ArrayAttr):
            references = [ir.FlatSymbolRefAttr.get(next(remaining)) for _ in attribute]
            op.attributes[name] = ir.ArrayAttr.get(references)
        else:
            op.attributes[name] = ir.FlatSymbolRefAttr.get(next(remaining))


def create_call(symbol: str, results: Sequence[ir.Type], operands: Sequence[ir.Value]) -> ir.Operation:
    """Emits a call of a function, which may have side effects, at the current insertion point and location."""
    empty = ir.StringAttr.get("")
    attributes: dict[str, ir.Attribute] = {
        "f": ir.FlatSymbolRefAttr.get(symbol),
        **dict.fromkeys(("config", "config_proto", "executor_type"), empty),
    }
    return ir.Operation.create("tf.StatefulPartitionedCall", results, operands, attributes)


def create_loop(
    cond: str, body: str, results: Sequence[ir.Type], operands: Sequence[ir.Value], *, is_stateless: bool = False
) -> ir.Operation:
    """Emits a loop of two functions, by their symbols, at the current insertion point and location."""
    attributes: dict[str, ir.Attribute] = {
        "cond": ir.FlatSymbolRefAttr.get(cond),
        "body": ir.FlatSymbolRefAttr.get(body),
        "is_stateless": ir.BoolAttr.get(is_stateless),
        "parallel_iterations": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 10),
    }
    return ir.Operation.create("tf.While", results, operands, attributes)


def call_operands(op: ir.OpView | ir.Operation) -> list[ir.Value]:
    """Returns the operands that become the callees' arguments."""
    return list(op.operands)[_OWN_OPERANDS.get(op.name, 0) :]


def calls_in(module: ir.Module) -> Mapping[str, Sequence[ir.OpView]]:
    """Returns the ops that run functions, by the functions' symbols."""
    calls: defaultdict[str, list[ir.OpView]] = defaultdict(list)
    for op in all_operations(module):
        for symbol in dict.fromkeys(callees(op)):
            calls[symbol].append(op)
    return calls


def operands_of_calls(calls: Mapping[str, Sequence[ir.OpView]], function: func.FuncOp) -> list[list[ir.Value]]:
    """Returns the operands of each call of a function, of those in a module.

    None at all if one, of a composite, passes fewer or more, or if a loop runs it, each time with other arguments.
    """
    ops, count = calls.get(function_symbol(function), ()), len(function.type.inputs)
    passed = [call_operands(op) for op in ops]
    if any(op.name == "tf.While" or len(operands) != count for op, operands in zip(ops, passed, strict=True)):
        return []
    return passed


def functions(module: ir.Module) -> dict[str, func.FuncOp]:
    """Returns the module's functions by symbol."""
    return {function_symbol(op): op for op in module.body.operations if isinstance(op, func.FuncOp)}


def free_symbol(module: ir.Module, symbol: str) -> str:
    """Returns a symbol that no function has: this one if it is free, else with a number appended."""
    present = functions(module)
    free, number = symbol, 0
    while free in present:
        number += 1
        free = f"{symbol}.{number}"
    return free


def called_by(by_symbol: Mapping[str, func.FuncOp], name: str) -> set[str]:
    """Returns the symbols that the ops with a name run."""
    ops = (op for function in by_symbol.values() for op in operations(function) if op.name == name)
    return {symbol for op in ops for symbol in callees(op)}


def callees_first(by_symbol: Mapping[str, func.FuncOp], calls: Mapping[str, Iterable[str]] | None = None) -> list[str]:
    """Returns the symbols in an order in which callees come before their callers.

    Raises:
        GraphError: Functions call each other in a cycle.
    """
    graph = calls or {
        symbol: [callee for op in operations(function) for callee in callees(op) if callee in by_symbol]
        for symbol, function in by_symbol.items()
    }
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise GraphError(f"functions call each other in a cycle: {' -> '.join(reversed(error.args[1]))}") from error


def function_symbol(function: func.FuncOp) -> str:
    """Returns the function's symbol."""
    return ir.StringAttr(function.attributes["sym_name"]).value


def original_name(function: func.FuncOp) -> str:
    """Returns the function's name in the model, which passes keep on copies."""
    if ORIGINAL_NAME in function.attributes:
        return ir.StringAttr(function.attributes[ORIGINAL_NAME]).value
    return function_symbol(function)


def operations(function: func.FuncOp) -> Iterator[ir.OpView]:
    """Yields the ops of a function's body without nested regions, from a snapshot, so the body may be changed."""
    if function.is_external:
        return iter(())
    return iter(list(function.entry_block.operations))


def terminator_of(block: ir.Block) -> ir.OpView:
    """Returns a block's last op, such as the ``func.return`` of a function's body."""
    return list(block.operations)[-1]


def nested_operations(block: ir.Block) -> Iterator[ir.OpView]:
    """Yields the ops of a block and of its nested regions, from a snapshot of each block."""
    for op in list(block.operations):
        yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from nested_operations(inner)


def defined_functions(module: ir.Module) -> list[func.FuncOp]:
    """Returns the module's functions that have a body."""
    return [function for function in functions(module).values() if not function.is_external]


def all_operations(module: ir.Module, *, nested: bool = True) -> list[ir.OpView]:
    """Returns the ops of all functions with a body, those in nested regions included unless ``nested`` is false."""
    bodies = [function.entry_block for function in defined_functions(module)]
    return [op for body in bodies for op in (nested_operations(body) if nested else body.operations)]


def attributes_of(op: ir.OpView | ir.Operation) -> dict[str, ir.Attribute]:
    """Returns the op's attributes by name, to create another op with them."""
    return {name: op.attributes[name] for name in op.attributes}


def copy_function(by_symbol: dict[str, func.FuncOp], symbol: str) -> func.FuncOp:
    """Copies a function, under a symbol that is not taken, and adds the copy to ``by_symbol``.

    The copy keeps the function's name in the model.
    """
    function = by_symbol[symbol]
    unique, number = symbol, len(by_symbol)
    while unique in by_symbol:
        unique, number = f"{symbol}_{number}", number + 1
    copy = function.clone(ip=ir.InsertionPoint(function))
    assert isinstance(copy, func.FuncOp)
    copy.attributes["sym_name"] = ir.StringAttr.get(unique)
    copy.attributes[ORIGINAL_NAME] = ir.StringAttr.get(original_name(function))
    by_symbol[unique] = copy
    return copy


def separate_callers(by_symbol: dict[str, func.FuncOp], *, shared: Collection[str] = (), left_alone: str = "") -> bool:
    """Copies functions until each has at most one caller; returns whether it copied any.

    Args:
        by_symbol: The module's functions; the copies are added.
        shared: The symbols of functions that may have several callers.
        left_alone: The name of ops that keep their callees; only they may share a callee.
    """
    modified = False
    taken = called_by(by_symbol, left_alone)
    waiting = list(reversed(callees_first(by_symbol)))
    for symbol in waiting:  # grows: copies are appended
        for op in operations(by_symbol[symbol]):
            called = callees(op)
            if not called or op.name == left_alone:
                continue
            own = list(called)
            for index, callee in enumerate(called):
                if callee in shared:
                    continue
                if callee in taken:
                    own[index] = function_symbol(copy_function(by_symbol, callee))
                    waiting.append(own[index])
                taken.add(own[index])
            if own != called:
                set_callees(op, own)
                modified = True
    return modified


def update_function_type(function: func.FuncOp) -> None:
    """Sets the function's type to the types of its arguments and of its returned values."""
    block = function.entry_block
    terminator = terminator_of(block)
    inputs = [argument.type for argument in block.arguments]
    results = [value.type for value in terminator.operands]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
