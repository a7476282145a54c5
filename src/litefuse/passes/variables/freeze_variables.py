"""Finds the variables that change; makes constants of the others, and initializes those that change, once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from litefuse.errors import GraphError
from litefuse.ir.call_graph import functions, operations, original_name
from litefuse.ir.constants import without_copies
from litefuse.ir.importer.constants import complex_of_parts
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.op_creation import create_op, create_value
from litefuse.ir.purity import replace_op
from litefuse.ir.types import assign_variable, resource_value_type, tensor_type_of

_HANDLE = "tf.VarHandleOp"
# The dtypes that the runtime's ASSIGN_VARIABLE and READ_VARIABLE support.
_STATE_TYPES = frozenset({"f32", "f64", "i1", "i8", "ui8", "i32", "i64"})
_READ = "tf.ReadVariableOp"


class Verdict(NamedTuple):
    """Whether a variable is only read.

    Attributes:
        variable: Its ``shared_name``.
        writer: A description of the first op that writes it; None if it is only read.
    """

    variable: str
    writer: str | None


class FreezeVariables(NamedTuple):
    """Replaces the reads of variables that nothing changes by constants.

    A variable that is only assigned its own value does not change: Keras's exports of models on JAX assign all states,
    even those that only training changes.

    Handles are in the functions that use them (``sink-handles``), and everything but a read is a write
    (``decompose-resource-ops``), so the analysis only visits each handle's uses.

    Attributes:
        values: The elements attribute of a variable's value by its ``shared_name``; called once for each of them.
        verdicts: Filled with one entry for each variable, in the order of first use.

    Raises:
        LitefuseError: Whatever ``values`` raises for a variable that has no value.
    """

    name = "freeze-variables"
    values: Callable[[str], ir.Attribute]
    verdicts: list[Verdict]

    def run(self, module: ir.Module) -> bool:
        modified = False
        for variable, handles in _handles(module).items():
            users = [use.owner for _, handle in handles for use in handle.results[0].uses]
            writers = [user for user in users if user.name != _READ]
            if writers and all(_writes_back(user, variable) for user in writers):
                for user in writers:
                    user.operation.erase()
                writers.clear()
            self.verdicts.append(Verdict(variable, _description(writers[0]) if writers else None))
            if writers:
                _state_types(handles)
            elif users:
                _freeze(handles, self.values(variable))
            modified = modified or bool(users)
        return modified


def _handles(module: ir.Module) -> dict[str, list[tuple[func.FuncOp, ir.OpView]]]:
    """Returns the handles of each variable, with the functions that they are in."""
    handles: dict[str, list[tuple[func.FuncOp, ir.OpView]]] = defaultdict(list)
    for function in functions(module).values():
        for op in operations(function):
            if op.name == _HANDLE:
                handles[ir.StringAttr(op.attributes["shared_name"]).value].append((function, op))
    return handles


def _writes_back(op: ir.OpView, variable: str) -> bool:
    if op.name != "tf.AssignVariableOp":
        return False
    read = producer(without_copies(op.operands[1]), _READ)
    handle = None if read is None else producer(read.operands[0], _HANDLE)
    return handle is not None and ir.StringAttr(handle.attributes["shared_name"]).value == variable


def _description(op: ir.OpView) -> str:
    name = op.name.removeprefix("tf.")
    parent = op.operation.parent
    function = parent.opview if parent is not None else None
    where = f" in {original_name(function)}" if isinstance(function, func.FuncOp) else ""
    return f"{name} {node_name(op.location)}".rstrip() + where


def _freeze(handles: list[tuple[func.FuncOp, ir.OpView]], value: ir.Attribute) -> None:
    for function, handle in handles:
        reads = [use.owner for use in handle.results[0].uses]
        if reads:
            with ir.InsertionPoint.at_block_begin(function.entry_block), reads[0].location:
                constant = create_op("tf.Const", [value.type], [], {"value": value})
            result = constant.result
            if isinstance(ir.ShapedType(reads[0].results[0].type).element_type, ir.ComplexType):
                with ir.InsertionPoint.after(constant):
                    result = complex_of_parts(result, reads[0].location)
            for read in reads:
                replace_op(read, [result])
        handle.operation.erase()


def _state_types(handles: list[tuple[func.FuncOp, ir.OpView]]) -> None:
    """Gives the reads of a mutable variable the type that its handle declares."""
    for _, handle in handles:
        kind = resource_value_type(handle.results[0])
        for use in handle.results[0].uses:
            if use.owner.name == _READ and kind is not None and kind.has_rank:
                use.owner.results[0].set_type(kind)


class InitializeVariables(NamedTuple):
    """Adds the public function that gives the mutable variables their values from the checkpoint.

    Attributes:
        values: The elements attribute of a variable's value by its ``shared_name``.
        initializers: Filled with the symbol of that function, if it is needed.

    Raises:
        GraphError: A variable of a dtype or shape that LiteRT's variables cannot have.
    """

    name = "initialize-variables"
    values: Callable[[str], ir.Attribute]
    initializers: list[str]

    def run(self, module: ir.Module) -> bool:
        handles = _handles(module)
        if not handles:
            return False
        with initializer(module, "initialize_variables", self.initializers):
            for variable, ((_, handle), *_) in handles.items():
                _check_state(variable, handle)
                value = self.values(variable)
                constant = create_value("tf.Const", value.type, [], {"value": value})
                assign_variable(handle.clone().results[0], constant)
        return True


def _check_state(variable: str, handle: ir.OpView) -> None:
    """Refuses a variable that LiteRT's variables cannot represent."""
    kind = resource_value_type(handle.results[0])
    described = tensor_type_of(kind) if kind is not None else "of unknown type"
    if kind is None or not kind.has_static_shape:
        raise GraphError(
            f"variable {variable!r} is written and its shape may change ({described}); LiteRT's variables keep theirs",
            hint="Declare the variable with a fixed shape.",
        )
    if 0 in kind.shape:  # the runtime would copy from a buffer that is not there
        raise GraphError(
            f"variable {variable!r} is written and starts empty, which LiteRT cannot initialize",
            hint="Give it an initial value with at least one element.",
        )
    if str(kind.element_type) not in _STATE_TYPES:
        raise GraphError(
            f"variable {variable!r} is written and is {described}; "
            "LiteRT's variables hold float32, float64, bool, int8, uint8, int32 and int64",
            hint="Use one of these dtypes for what the model writes; dtypes='widen', --dtypes widen makes float32 of "
            "float16 and bfloat16.",
        )


@contextmanager
def initializer(module: ir.Module, symbol: str, initializers: list[str]) -> Generator[None]:
    """Defines a public function of what is emitted in the context, and adds its symbol to the initializers."""
    taken = functions(module)
    while symbol in taken:
        symbol += "_"
    initializers.append(symbol)
    with ir.InsertionPoint(module.body):
        function = func.FuncOp(symbol, ir.FunctionType.get([], []), visibility="public")
    with ir.InsertionPoint(function.add_entry_block()):
        yield
        func.ReturnOp([])


class CallOnce(NamedTuple):
    """Inserts CALL_ONCE for each initializer at the beginning of every exported function.

    The runtime runs it once for all of them, however often and in which order they are called.
    """

    name = "call-once"
    initializers: Sequence[str]
    entry_points: tuple[str, ...]

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        for initializer in self.initializers:
            for symbol in self.entry_points:
                with ir.InsertionPoint.at_block_begin(by_symbol[symbol].entry_block):
                    create_op("tfl.call_once", [], [], {"session_init_function": initializer})
        return bool(self.initializers)
