"""One op's rewriting, built and lowered in a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from litefuse.errors import GraphError, LoweringError
from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import attributes_of, functions, operations
from litefuse.ir.mlir import func, ir
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.types import tensor_type_of
from litefuse.legalize.decomposition import Decomposition
from litefuse.legalize.dtypes.narrowed import Narrowed
from litefuse.legalize.dtypes.widened import Widened, is_widened_float
from litefuse.legalize.index import find_decompositions
from litefuse.legalize.lacking_ops import is_option, left_over, tensorflow_name, tensorflow_op
from litefuse.legalize.seen_ops import constant_operands, replace_results, small_constant, tensorflow_op_of

__all__ = ["Rewriting", "Rewritings", "spliced"]

# A rewriting may need ops that are rewritten in turn.
_MAX_DEPTH = 4


class Rewriting(NamedTuple):
    """What computes an op's results from its operands in builtin ops.

    Attributes:
        module: The module that holds it; it must live as long as the function is used.
        function: Its only function.
        composite: Whether it is to be the decomposition of a composite.
        narrowed: Whether an op of int64 is computed in int32.
        widened: Whether an op of float16 or bfloat16 is computed in float32.
        key: Ops of one key have the same rewriting.
    """

    module: ir.Module
    function: func.FuncOp
    composite: bool
    narrowed: bool
    widened: bool
    key: object


class Rewritings:
    """The rewritings of a module's ops: ops that are alike share one.

    Args:
        lower: Lowers a module of one function to builtin ops, in place; raises a LoweringError where it cannot.
        narrow: Compute ops of int64 in int32 where there is no other way.
    """

    def __init__(self, lower: Callable[[ir.Module], None], *, narrow: bool = False) -> None:
        self._lower = lower
        self._known: dict[object, Rewriting | NotDecomposed | None] = {}
        self._last: tuple[Decomposition, ...] = (Widened(), Narrowed()) if narrow else (Widened(),)

    def find(self, op: ir.OpView, depth: int = 0) -> Rewriting | None:
        """The rewriting of an op; None when there is none of any op of its name.

        Args:
            op: The op.
            depth: In how many rewritings it stands already.

        Raises:
            NotDecomposed: There is none of this form.
        """
        name = tensorflow_name(op)
        if name is None:
            return None
        key = _key(op, name)
        if key not in self._known:
            self._known[key] = self._first(op, name, depth, key)
        known = self._known[key]
        if isinstance(known, NotDecomposed):
            raise known
        return known

    def _first(self, op: ir.OpView, name: str, depth: int, key: object) -> Rewriting | NotDecomposed | None:
        own = find_decompositions(name)
        reasons: list[NotDecomposed] = []
        for decomposition in (*own, *self._last):
            try:
                module, narrowed = self._lowered(op, name, decomposition, depth)
            except NotDecomposed as reason:
                reasons.append(reason)
                continue
            (function,) = functions(module).values()
            widened = is_widened_float(decomposition, map(tensor_type_of, op.operands))
            return Rewriting(module, function, decomposition.composite, narrowed, widened, key)
        return reasons[0] if own else None

    def _lowered(self, op: ir.OpView, name: str, decomposition: Decomposition, depth: int) -> tuple[ir.Module, bool]:
        """A module whose one function computes the op's results from its operands in builtin ops, and if narrowly.

        Raises:
            NotDecomposed: There is none.
        """
        if depth == _MAX_DEPTH:
            raise NotDecomposed(f"its rewriting needs {name} again")
        module = _built(op, name, decomposition)
        try:
            self._lower(module)
        except (GraphError, LoweringError) as error:
            raise NotDecomposed(error.message) from error
        (lowered,) = functions(module).values()
        narrowed = isinstance(decomposition, Narrowed)
        for left in left_over(lowered):
            rewriting = self.find(left, depth + 1)
            if rewriting is None:
                kinds = ", ".join(str(tensor_type_of(value)) for value in left.operands)
                raise NotDecomposed(
                    f"its rewriting needs {tensorflow_name(left) or left.name}({kinds}), which LiteRT lacks"
                )
            replace_results(left, spliced(left, rewriting.function))
            left.operation.erase()
            narrowed |= rewriting.narrowed
        return module, narrowed


def spliced(op: ir.OpView, function: func.FuncOp) -> list[ir.Value]:
    """Copies a function's body to the place of the op that it computes, and gives it the op's location."""
    copies: dict[ir.Value, ir.Value] = dict(zip(function.entry_block.arguments, op.operands, strict=True))
    for inner in operations(function):
        if inner.name == "func.return":
            return [copies[value] for value in inner.operands]
        copy = inner.clone(ip=ir.InsertionPoint(op))
        copy.operation.location = op.location  # pyright: ignore[reportAttributeAccessIssue]  the stubs lack the setter
        _take_copies(copy, copies)
        copies.update(zip(inner.results, copy.results, strict=True))
    raise AssertionError("a function ends in a return")


def _take_copies(op: ir.OpView, copies: Mapping[ir.Value, ir.Value]) -> None:
    """Puts copies in the places of what they are copies of, in an op and the regions within."""
    for index, value in enumerate(op.operands):
        if value in copies:
            op.operands[index] = copies[value]
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                _take_copies(inner, copies)


def _built(op: ir.OpView, name: str, decomposition: Decomposition) -> ir.Module:
    module = ir.Module.create()
    operands = list(op.operands)
    kinds = [value.type for value in operands]
    with ir.InsertionPoint(module.body), op.location:
        function = func.FuncOp("decomposition", ir.FunctionType.get(kinds, []))
    block = function.add_entry_block([op.location] * len(operands))
    with ir.InsertionPoint(block), op.location:
        b = Builder()
        arguments = [
            argument if value is None else b.constant(value, tensor_type_of(argument).dtype)
            for argument, value in zip(block.arguments, constant_operands(op), strict=True)
        ]
        answer = decomposition.rewrite(tensorflow_op_of(op, name, arguments), b)
        results: Sequence[ir.Value] = [answer] if isinstance(answer, ir.Value) else answer
        func.ReturnOp(list(results))
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(kinds, [result.type for result in results])
    )
    return module


def _key(op: ir.OpView, name: str) -> object:
    attributes = frozenset((key, value) for key, value in attributes_of(tensorflow_op(op)).items() if is_option(key))
    types = tuple(value.type for value in (*op.operands, *op.results))
    return name, attributes, types, tuple(map(small_constant, op.operands)), len(op.results)
