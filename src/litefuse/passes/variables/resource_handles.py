"""Moves resource handles next to their uses, and checks that these fit.

TensorFlow passes a variable through calls, branches and loops as a resource argument. Whether it is only read is easy
to see if the op that creates the handle is in the function that uses it; these passes make that so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from litefuse.errors import GraphError
from litefuse.ir.call_graph import (
    all_operations,
    attributes_of,
    call_operands,
    callees,
    callees_first,
    copy_function,
    function_symbol,
    functions,
    is_call,
    is_public,
    operations,
    set_callees,
    terminator_of,
    update_function_type,
)
from litefuse.ir.locations import node_text
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import replace_op
from litefuse.ir.types import is_resource, is_variant, resource_value_type, tensor_type_of

_READ = "tf.ReadVariableOp"
# Ops that do not change a resource.
_READS = frozenset(
    {
        *(_READ, "tf.LookupTableFindV2", "tf.LookupTableSizeV2", "tf.LookupTableExportV2"),
        "tf.WordpieceTokenizeWithOffsets",
    }
)
_NO_WRITES = _READS | {"func.return"}
_PLAIN_CALLS = frozenset({"tf.PartitionedCall", "tf.StatefulPartitionedCall", "tf.LegacyCall", "func.call"})
_TABLE, _VARIABLE = "tf.HashTableV2", "tf.VarHandleOp"
_OF_TABLES = ("tf.LookupTable", "tf.InitializeTable", "tf.WordpieceTokenizeWithOffsets")
# Ops that forward a handle.
_NEUTRAL = frozenset({"func.return", "tf.Identity", "tf.IdentityN", "tf.VarIsInitializedOp"})
# For each op of tables with keys or values, the places of these: operands, then results.
_KEYS = {"tf.LookupTableFindV2": 1, "tf.LookupTableImportV2": 1, "tf.LookupTableInsertV2": 1}
_VALUES = {"tf.LookupTableFindV2": 2, "tf.LookupTableImportV2": 2, "tf.LookupTableInsertV2": 2}


@module_pass
def lift_reads(module: ir.Module) -> bool:
    """Turns resource arguments that are only read into value arguments::

        call @f(%handle, %x)            %v = tf.ReadVariableOp(%handle)
                                  -->   call @f(%v, %x)
        func @f(%h, %x) {               func @f(%v, %x) {
          %v = tf.ReadVariableOp(%h)      ...
          ...

    A composite then has its weights as operands, which is what conversion code expects, and a function that is called
    with different variables needs no copy. Only plain calls are changed: reads in a loop or branch stay inside it,
    where a constant costs no copying. A function that writes any resource is left alone, since the read might have to
    come after the write.
    """
    by_symbol = functions(module)
    call_sites: dict[str, list[ir.OpView]] = defaultdict(list)
    for function in by_symbol.values():
        for op in operations(function):
            for symbol in callees(op):
                call_sites[symbol].append(op)
    order = callees_first(by_symbol)
    writers = _writing_functions(by_symbol, order)
    modified = False
    for symbol in order:
        function = by_symbol[symbol]
        sites = call_sites[symbol]
        if symbol in writers or is_public(function) or any(site.name not in _PLAIN_CALLS for site in sites):
            continue
        reads = _only_read(function)
        if reads:
            _lift(function, reads, sites)
            modified = True
    return modified


def _writing_functions(by_symbol: dict[str, func.FuncOp], order: Sequence[str]) -> set[str]:
    """Returns the functions that may write a resource, themselves or through their callees."""
    writers: set[str] = set()
    for symbol in order:
        for op in operations(by_symbol[symbol]):
            if is_call(op):
                writes = any(callee in writers for callee in callees(op))
            else:
                writes = op.name not in _NO_WRITES and any(is_resource(value) for value in op.operands)
            if writes:
                writers.add(symbol)
    return writers


def _only_read(function: func.FuncOp) -> dict[int, list[ir.OpView]]:
    """Returns the reads of each resource argument that is only read, by its position."""
    reads: dict[int, list[ir.OpView]] = {}
    for index, argument in enumerate([] if function.is_external else function.arguments):
        users = [use.owner for use in argument.uses] if is_resource(argument) else []
        if users and all(user.name == _READ for user in users):
            reads[index] = users
    return reads


def _lift(function: func.FuncOp, reads: dict[int, list[ir.OpView]], sites: Sequence[ir.OpView]) -> None:
    for site in sites:
        operands = list(site.operands)
        for index, (first, *_) in reads.items():
            # The read has the name of the callee's read, and is inserted in the caller.
            kind = resource_value_type(operands[index]) or first.results[0].type
            with ir.InsertionPoint(site), first.location:
                site.operands[index] = create_value(_READ, kind, [operands[index]])
    arguments = list(function.arguments)
    for index, ops in reads.items():
        arguments[index].set_type(ops[0].results[0].type)
        for op in ops:
            replace_op(op, [arguments[index]])
    update_function_type(function)


@module_pass
def sink_handles(module: ir.Module) -> bool:
    """Moves handles into the functions that use them: then no resource is an argument, result or loop variable.

    A function that is called with different resources is copied for each combination. Functions without callers are
    left for symbol-dce.

    Raises:
        GraphError: The resource in use depends on data (a branch or a loop changes it), or functions call each other in
            a cycle.
    """
    return _Sinker(module).run()


# The handles that a call passes: the defining op of each one, None for an argument that is not a resource.
_Binding = tuple[ir.OpView | None, ...]


class _Sunk(NamedTuple):
    """A function without resource arguments, and the handles that it used to return, by result position."""

    symbol: str
    returned: tuple[ir.OpView | None, ...]


class _Sinker:
    def __init__(self, module: ir.Module) -> None:
        self._module = module
        self._functions = functions(module)
        self._done: dict[tuple[str, tuple[str | None, ...]], _Sunk | None] = {}
        self._modified = False

    def run(self) -> bool:
        for symbol, function in list(self._functions.items()):
            if is_public(function):
                self._sink(symbol, tuple(None for _ in function.arguments))
        return self._modified

    def _sink(self, symbol: str, binding: _Binding) -> _Sunk:
        key = (symbol, tuple(None if handle is None else _identity(handle) for handle in binding))
        if key in self._done:
            sunk = self._done[key]
            if sunk is None:
                raise GraphError("the function calls itself", where=f"function {symbol}")
            return sunk
        self._done[key] = None
        function = self._functions[symbol]
        if any(handle is not None for handle in binding):
            function = self._copy(function, binding)
        for op in operations(function):
            if op.name == "tf.Identity" and is_resource(op.results[0]):
                replace_op(op, [op.operands[0]])
            elif is_call(op):
                self._sink_call(op)
        sunk = self._done[key] = _Sunk(function_symbol(function), _drop_returned_handles(function))
        return sunk

    def _copy(self, function: func.FuncOp, binding: _Binding) -> func.FuncOp:
        self._modified = True
        copy = copy_function(self._functions, function_symbol(function))
        block = copy.entry_block
        handles: dict[str, ir.Value] = {}
        for index, handle in reversed(list(enumerate(binding))):
            if handle is None:
                continue
            key = _identity(handle)
            if key not in handles:
                handles[key] = handle.clone(ip=ir.InsertionPoint.at_block_begin(block)).results[0]
            block.arguments[index].replace_all_uses_with(handles[key])
            block.erase_argument(index)
        update_function_type(copy)
        return copy

    def _sink_call(self, op: ir.OpView) -> None:
        operands = call_operands(op)
        binding = tuple(_handle(value, op) if is_resource(value) else None for value in operands)
        sunk = [self._sink(symbol, binding) for symbol in callees(op)]
        if op.name == "tf.While":
            body = sunk[1]
            if any(
                handle is not None and (returned is None or _identity(handle) != _identity(returned))
                for handle, returned in zip(binding, body.returned, strict=True)
            ):
                raise GraphError("a loop changes which resource it uses", where=node_text(op))
            returned = body.returned
        else:
            returned = sunk[0].returned
            for other in sunk[1:]:
                if list(map(_identity, other.returned)) != list(map(_identity, returned)):
                    raise GraphError("which resource is used depends on a condition", where=node_text(op))
        set_callees(op, [one.symbol for one in sunk])
        if any(binding) or any(returned):
            self._modified = True
            _rebuild_call(op, binding, returned)


def _identity(handle: ir.OpView | None) -> str:
    """Returns a key that is equal for ops that create the same resource."""
    if handle is None:
        return ""
    return f"{handle.name} {handle.attributes['container']} {handle.attributes['shared_name']}"


def _handle(value: ir.Value, user: ir.OpView) -> ir.OpView:
    owner = value.owner
    if isinstance(owner, ir.Block):
        raise GraphError("an exported function takes a resource as an argument", where=node_text(user))
    if is_variant(value):
        raise GraphError(
            "a list of variables is passed to a function",
            where=node_text(user),
            hint="tf.vectorized_map makes one for a loop in what it maps, and Keras's TimeDistributed uses that where "
            "the number of steps is open: give it a size, or use tf.map_fn.",
        )
    if "shared_name" not in owner.attributes:
        raise GraphError(f"a resource made by {owner.name} is passed to a function", where=node_text(user))
    return owner


def _drop_returned_handles(function: func.FuncOp) -> tuple[ir.OpView | None, ...]:
    terminator = terminator_of(function.entry_block)
    returned = tuple(_handle(value, terminator) if is_resource(value) else None for value in terminator.operands)
    if any(returned):
        kept = [value for value, handle in zip(terminator.operands, returned, strict=True) if handle is None]
        with ir.InsertionPoint(terminator):
            func.ReturnOp(kept, loc=terminator.location)
        terminator.operation.erase()
        update_function_type(function)
    return returned


def _rebuild_call(op: ir.OpView, binding: _Binding, returned: tuple[ir.OpView | None, ...]) -> None:
    own = len(op.operands) - len(binding)
    operands = [value for index, value in enumerate(op.operands) if index < own or binding[index - own] is None]
    kept = [result for result, handle in zip(op.results, returned, strict=True) if handle is None]
    attributes = attributes_of(op)
    attributes.pop("output_shapes", None)  # it counts the removed results too
    with ir.InsertionPoint(op):
        kinds = [result.type for result in kept]
        call = ir.Operation.create(op.name, kinds, operands, attributes, loc=op.location)
        for old, new in zip(kept, call.results, strict=True):
            old.replace_all_uses_with(new)
        for old, handle in zip(op.results, returned, strict=True):
            if handle is not None and any(True for _ in old.uses):
                old.replace_all_uses_with(handle.clone(ip=ir.InsertionPoint(call)).results[0])
    op.operation.erase()


@module_pass
def check_handles(module: ir.Module) -> bool:
    """Refuses tables that are read as variables, lookups in variables, and keys or values of other dtypes.

    The passes and the engine assume what TensorFlow only checks when it runs the op. Handles must be next to their uses
    (``sink-handles``).

    Raises:
        GraphError: There is one; the message names the node, the op, and the expected and actual type.
    """
    for op in all_operations(module, nested=False):
        for position, operand in enumerate(op.operands):
            if is_resource(operand) and not is_call(op) and op.name not in _NEUTRAL:
                _check(op, position, operand)
    return False


def _check(op: ir.OpView, position: int, handle: ir.Value) -> None:
    maker = producer(handle, _TABLE, _VARIABLE)
    if maker is None:
        return
    expected = _TABLE if op.name.startswith(_OF_TABLES) else _VARIABLE
    name = ir.StringAttr(maker.attributes["shared_name"]).value
    if maker.name != expected:
        wanted, given = ("a table", "the variable") if expected == _TABLE else ("a variable", "the table")
        raise _error(op, f"its operand {position} takes {wanted}, but it is {given} {name!r}")
    if expected == _TABLE:
        for places, what in ((_KEYS, "key_dtype"), (_VALUES, "value_dtype")):
            if op.name in places and len(op.operands) > places[op.name]:
                wanted = tensor_type_of(ir.UnrankedTensorType.get(ir.TypeAttr(maker.attributes[what]).value)).dtype
                given = tensor_type_of(op.operands[places[op.name]]).dtype
                if wanted != given:
                    raise _error(
                        op, f"its operand {places[op.name]} is {given}, but the table {name!r} has the {what} {wanted}"
                    )


def _error(op: ir.OpView, message: str) -> GraphError:
    where = f"{node_text(op)} ({op.name.removeprefix('tf.')})"
    return GraphError(message, where=where, hint="The model is inconsistent: save it again.")
