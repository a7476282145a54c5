"""The pass that translates programs of StableHLO ops, which JAX puts into SavedModels, to TensorFlow ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from litefuse.errors import GraphError
from litefuse.ir.call_graph import functions, update_function_type
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.ir.purity import is_used
from litefuse.ir.types import tensor_type_of

if TYPE_CHECKING:
    from litefuse.passes.stablehlo.translation import Translation


@module_pass
def lower_xla_call_module(module: ir.Module) -> bool:
    """Translates the programs of ``XlaCallModule`` into TensorFlow ops, in place::

        tf.XlaCallModule(%x, %w) {module = "..."}   -->   tf.Relu(tf.MatMul(%x, %w))
            main(%x, %w): stablehlo.maximum(stablehlo.dot_general(%x, %w), 0)

    The engine has passes for StableHLO as well. They leave ops that LiteRT's runtime lacks or that fail there, compute
    something else for some, and emit many ops for dynamic dimensions; and none of the other passes sees their results.

    Raises:
        GraphError: A program that cannot be read, or an op without a translation.
    """
    return visit_ops(module, {"tf.XlaCallModule": lambda op: _translate(module, op)}, nested=False)


def _translate(module: ir.Module, op: ir.OpView) -> bool:
    from litefuse.passes.stablehlo.modules import read_module
    from litefuse.passes.stablehlo.rules import RULES
    from litefuse.passes.stablehlo.translation import Translation

    node = node_name(op.location)
    where = f"node {node} (XlaCallModule)"
    if "function_list" in op.attributes and len(ir.ArrayAttr(op.attributes["function_list"])):
        raise GraphError("the program calls back into TensorFlow (call_tf), which is not supported", where=where)
    try:
        program = read_module(ir.StringAttr(op.attributes["module"]).value_bytes)
    except GraphError as error:
        raise GraphError(error.message, where=where, hint=error.hint) from error
    inside = functions(program)
    if "main" not in inside:
        raise GraphError("the program has no function main", where=where)
    body = inside["main"].entry_block
    before = _count_before(op)
    block = op.operation.block
    with ir.InsertionPoint(op), op.location:
        translation = Translation(RULES, _Functions(module, inside, node), node)
        results = translation.block(body, _arguments(op, body, translation, where))
        values = [result.emit() for result in results]
    kinds = [[tensor_type_of(value).dtype for value in outputs] for outputs in (values, op.results)]
    if kinds[0] != kinds[1]:
        given, taken = (", ".join(map(str, kind)) or "nothing" for kind in kinds)
        raise GraphError(f"the program returns {given} where the model takes {taken}", where=where)
    for old, new in zip(op.results, values, strict=True):
        old.replace_all_uses_with(new)
    count = _count_before(op)
    op.operation.erase()
    _erase_dead(list(block.operations)[before:count])
    return True


def _count_before(op: ir.OpView) -> int:
    return [*op.operation.block.operations].index(op)


def _erase_dead(ops: list[ir.OpView]) -> None:
    """Erases emitted ops without uses: parts of what turned out to be one op."""
    for op in reversed(ops):
        if not is_used(op):
            op.operation.erase()


def _arguments(op: ir.OpView, body: ir.Block, translation: Translation, where: str) -> list[ir.Value]:
    """Returns the op's operands, preceded by the platform that it runs on if the program takes that."""
    for argument, operand in zip(list(body.arguments)[::-1], list(op.operands)[::-1], strict=False):
        kinds = [tensor_type_of(value).dtype for value in (argument, operand)]
        if kinds[0] != kinds[1]:
            raise GraphError(
                f"the program takes {kinds[0]} where the model gives {kinds[1]}",
                where=where,
                hint="--dtypes does not reach into programs of JAX: export it in float32, without jax_enable_x64.",
            )
    missing = len(body.arguments) - len(op.operands)
    platforms = len(ir.ArrayAttr(op.attributes["platforms"])) if "platforms" in op.attributes else 0
    declared = list(body.arguments)[max(missing, 0) :]
    operands = [_ranked(operand, argument) for operand, argument in zip(op.operands, declared, strict=False)]
    if missing == 0:
        return operands
    if missing != 1 or platforms < 2:
        raise GraphError(
            f"the program takes {len(body.arguments)} arguments and gets {len(op.operands)}",
            where=where,
            hint="Programs of versions before 5 of the op get sizes as arguments: export the model with a newer JAX.",
        )
    names = [ir.StringAttr(name).value for name in ir.ArrayAttr(op.attributes["platforms"])]
    chosen = names.index("CPU") if "CPU" in names else 0
    return [translation.b.constant(chosen, translation.dtype(body.arguments[0])), *operands]


def _ranked(operand: ir.Value, argument: ir.Value) -> ir.Value:
    """Gives an operand of unknown rank, such as a variable that is read, the shape that the program declares."""
    if ir.ShapedType(operand.type).has_rank:
        return operand
    return create_value("tf.Identity", argument.type, [operand])


class _Functions:
    """The functions that a translation creates, and those that the program has."""

    def __init__(self, module: ir.Module, program: dict[str, func.FuncOp], node: str) -> None:
        self._module = module
        self._program = program
        self._node = node
        self._taken = set(functions(module))

    def define(
        self, name: str, arguments: Sequence[ir.Type], body: Callable[[Sequence[ir.Value]], Sequence[ir.Value]]
    ) -> func.FuncOp:
        symbol = base = f"{self._node}.{name}"
        while symbol in self._taken:
            symbol = f"{base}.{len(self._taken)}"
        self._taken.add(symbol)
        with ir.InsertionPoint(self._module.body):
            function = func.FuncOp(symbol, ir.FunctionType.get(list(arguments), []), visibility="private")
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            func.ReturnOp(list(body(list(block.arguments))))
        *emitted, _ = block.operations
        _erase_dead(emitted)
        update_function_type(function)
        return function

    def program(self, symbol: str) -> func.FuncOp:
        return self._program[symbol]
