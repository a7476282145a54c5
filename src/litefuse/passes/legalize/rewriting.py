"""Rewritings of ops, each built and lowered in a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from litefuse.errors import GraphError, LoweringError
from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import attributes_of, functions, operations
from litefuse.ir.mlir import func, ir
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.types import tensor_type_of
from litefuse.passes.legalize.decomposition import Decomposition, find_decompositions
from litefuse.passes.legalize.dtypes.widened import Narrowed, Widened, is_widened_float
from litefuse.passes.legalize.lacking_ops import is_option, left_over, tensorflow_name, tensorflow_op
from litefuse.passes.legalize.seen_ops import constant_operands, replace_results, small_constant, tensorflow_op_of

# A rewriting may contain ops that are rewritten in turn.
_MAX_DEPTH = 4


class Rewriting(NamedTuple):
    """A function of builtin ops that computes an op's results from its operands.

    Attributes:
        module: The module that contains it; it must live as long as the function is used.
        function: Its only function.
        composite: Whether it becomes the decomposition of a composite.
        narrowed: Whether an int64 op is computed in int32.
        widened: Whether a float16 or bfloat16 op is computed in float32.
        key: The key of the op; ops with equal keys share a rewriting.
    """

    module: ir.Module
    function: func.FuncOp
    composite: bool
    narrowed: bool
    widened: bool
    key: object


class Rewritings:
    """The rewritings of a module's ops; equal ops share one.

    Args:
        lower: Lowers a module of one function to builtin ops, in place; raises a LoweringError if it cannot.
        narrow: Whether int64 ops are computed in int32 without an exact rewriting.
    """

    def __init__(self, lower: Callable[[ir.Module], None], *, narrow: bool = False) -> None:
        self._lower = lower
        self._known: dict[object, Rewriting | NotDecomposed | None] = {}
        self._last: tuple[Decomposition, ...] = (Widened(), Narrowed()) if narrow else (Widened(),)

    def find(self, op: ir.OpView, depth: int = 0) -> Rewriting | None:
        """Returns the rewriting of an op; None if there is none for ops of its name.

        Args:
            op: The op.
            depth: The number of rewritings that it is nested in.

        Raises:
            NotDecomposed: There is none for this form of the op.
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
        """Returns a module of one function that computes the op in builtin ops, and whether it is narrowed."""
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
    """Inlines a function before the op that it computes, with the op's location; returns the results."""
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
    """Replaces operands of an op, and of the ops in its regions, by their copies."""
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
