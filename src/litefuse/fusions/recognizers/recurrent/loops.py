"""Reads loops that map one list to another, as Keras runs a cell over the steps of its input, and recognizes layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from litefuse.fusions.recognizers.matching import Match, Mismatch, match
from litefuse.fusions.recognizers.pattern import Pattern, Variable
from litefuse.fusions.recognizers.recurrent.cells import Cell, Step, read_step
from litefuse.fusions.recognizers.regions import NotRecognized
from litefuse.ir.call_graph import callees, is_call, operations, terminator_of
from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import is_constant, source
from litefuse.ir.mlir import func, ir
from litefuse.ir.ops.dims import Dim
from litefuse.ir.purity import has_side_effects
from litefuse.passes.tensor_lists.item_reads import Reading, position_of, reading
from litefuse.passes.tensor_lists.list_groups import resizes
from litefuse.passes.tensor_lists.sizes import Sizes, Unknown


class StepLoop(NamedTuple):
    """A loop over all items of a list, or slices of a tensor, which carries states and writes its outputs into a list.

    Attributes:
        op: The ``tf.While``.
        cond: Its condition.
        body: Its body.
        inputs: The tensor outside of the loop that the list of inputs is built from, or that is sliced.
        input: The position of the list or tensor of inputs among the loop variables, and how a step reads it.
        output_list: The position of the list of outputs; None if there is none.
        output: The value that the body writes into it; None if it writes nothing.
        every_step: Whether the output of every step is kept, or only the last one.
        states: The other loop variables that change: by position, their values in the next iteration.
        kept: The positions of the loop-invariant variables.
        indices: The positions of variables that count the steps from 0.
        steps: The positions of variables that are the number of steps.
        masked: Whether a mask, or a number of steps, skips steps in which output and states stay unchanged; ``output``
            and ``states`` are then their values in the other steps.
    """

    op: ir.OpView
    cond: func.FuncOp
    body: func.FuncOp
    inputs: ir.Value
    input: Reading
    output_list: int | None
    output: ir.Value | None
    every_step: bool
    states: Mapping[int, ir.Value]
    kept: frozenset[int]
    indices: frozenset[int]
    steps: frozenset[int]
    masked: bool

    def argument(self, position: int) -> ir.Value:
        """Returns a loop variable's value in the body."""
        return self.body.entry_block.arguments[position]

    @property
    def time_axis(self) -> int:
        """The dimension of the inputs that the steps run over."""
        return self.input.axis or 0

    def is_input(self, value: ir.Value) -> bool:
        """Whether a value in the body is this step's input."""
        return not isinstance(value.owner, ir.Block) and reading(value.owner, self.indices) == self.input

    def stays(self, value: ir.Value) -> bool:
        """Whether a value in the body is the same in every step: a constant, or a loop-invariant variable."""
        owner = value.owner
        if isinstance(owner, ir.Block):
            return ir.BlockArgument(value).arg_number in self.kept
        return owner.name == "tf.Const"


def read_loop(op: ir.OpView, by_symbol: Mapping[str, func.FuncOp]) -> StepLoop:
    """Reads the parts of a loop over the items of a list.

    Raises:
        NotRecognized: It is another kind of loop.
    """
    try:
        return _read_loop(op, by_symbol)
    except Unknown as reason:
        raise NotRecognized(f"the number of its steps is not known: {reason}") from reason


def _read_loop(op: ir.OpView, by_symbol: Mapping[str, func.FuncOp]) -> StepLoop:
    cond, body = (by_symbol[symbol] for symbol in callees(op))
    if cond.is_external or body.is_external:
        raise NotRecognized("its body is not known")
    arguments = list(body.entry_block.arguments)
    following = [source(value) for value in terminator_of(body.entry_block).operands]
    kept = frozenset(p for p, value in enumerate(following) if value == arguments[p])
    ones = [arguments[p] for p in kept if integer_constant(source(op.operands[p])) == 1]
    indices = frozenset(
        p
        for p, value in enumerate(following)
        if _is_next(value, arguments[p], ones) and integer_constant(source(op.operands[p])) == 0
    )
    writes = {p: write for p, value in enumerate(following) if (write := _write(value, arguments[p])) is not None}
    _check_effects(body)
    read = _input(body, kept, indices)
    if len(writes) > 1:
        raise NotRecognized(f"it writes into {len(writes)} lists, not 1")
    output_list, write = next(iter(writes.items()), (None, None))
    changing = [p for p in range(len(following)) if p not in kept | indices | writes.keys()]
    written = None if write is None else source(write.operands[2])
    states, output, masked = _behind_masks(arguments, following, changing, written)
    inputs = op.operands[read.position]
    if read.axis is None:
        made = _maker(op, read.position, "tf.TensorListFromTensor", "the list that it reads is not made of one tensor")
        inputs = made.operands[0]
    kind = ir.ShapedType(inputs.type)
    if not kind.has_rank or kind.rank <= (read.axis or 0):
        raise NotRecognized("the rank of its inputs is not known")

    sizes = Sizes(by_symbol)
    count = sizes.size(inputs, read.axis or 0)
    steps = frozenset(p for p in kept if _is_scalar(op.operands[p]) and sizes.number(op.operands[p], None) == count)
    _check_condition(cond, indices, kept if masked else steps, count)
    every_step = (
        write is not None and output_list is not None and _keeps_all(op, sizes, write, output_list, indices, count)
    )
    if any(list(op.results[p].uses) for p in indices):
        raise NotRecognized("its iteration counter is used after it")
    return StepLoop(op, cond, body, inputs, read, output_list, output, every_step, states, kept, indices, steps, masked)


def _keeps_all(
    op: ir.OpView, sizes: Sizes, write: ir.OpView, output_list: int, indices: frozenset[int], count: Dim
) -> bool:
    """Whether the list of outputs has those of all steps, or only the last; raises ``NotRecognized`` for others."""
    index = source(write.operands[1])
    reserved = _maker(op, output_list, "tf.TensorListReserve", "the list that it writes into is not an empty one")
    length = sizes.number(reserved.operands[1], None)
    if position_of(index) in indices:
        if length != count and not (length == 0 and resizes(write)):
            raise NotRecognized("its list of outputs is not as long as its inputs")
        return True
    if integer_constant(index) != 0 or length != 1:
        raise NotRecognized("it writes neither the output of each step in its place nor only the last one")
    return False


def _behind_masks(
    arguments: Sequence[ir.Value], following: Sequence[ir.Value], changing: Sequence[int], written: ir.Value | None
) -> tuple[dict[int, ir.Value], ir.Value | None, bool]:
    """Returns the states and the output in steps that no mask skips, and whether there is a mask."""
    if written is None:
        return {p: following[p] for p in changing}, None, False
    outputs = _unmasked(written, arguments)
    states = {p: _unmasked(following[p], [arguments[p]]) for p in changing}
    if outputs == written:
        return {p: following[p] for p in changing}, written, False
    # For skipped steps, Keras keeps the last output, or a zero, besides the state that is the same.
    spare = [
        p
        for p in changing
        if _unmasked(following[p], arguments) == outputs and all(_is_choice(use.owner) for use in arguments[p].uses)
    ]
    return {p: value for p, value in states.items() if p not in spare}, outputs, True


def _is_choice(op: ir.OpView) -> bool:
    return op.name in {"tf.Select", "tf.SelectV2", "func.return", "tf.Identity"}


def _is_scalar(value: ir.Value) -> bool:
    kind = ir.ShapedType(value.type)
    return kind.has_rank and kind.rank == 0 and str(kind.element_type) in {"i32", "i64"}


def _is_next(value: ir.Value, argument: ir.Value, ones: Sequence[ir.Value]) -> bool:
    """Whether a value is a variable plus 1, or plus one of the variables that stay 1."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in {"tf.Add", "tf.AddV2"}:
        return False
    a, b = (source(operand) for operand in owner.operands)
    return any(one == argument and (other in ones or integer_constant(other) == 1) for one, other in ((a, b), (b, a)))


def _write(value: ir.Value, argument: ir.Value) -> ir.OpView | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "tf.TensorListSetItem" or source(owner.operands[0]) != argument:
        return None
    return owner


def _check_effects(body: func.FuncOp) -> None:
    for op in operations(body):
        if is_call(op):
            raise NotRecognized("it calls functions")
        if (not op.results or has_side_effects(op.name)) and op.name not in {"func.return", "tf.NoOp"}:
            raise NotRecognized(f"it has side effects ({op.name.removeprefix('tf.')})")


def _input(body: func.FuncOp, kept: frozenset[int], indices: frozenset[int]) -> Reading:
    """Returns how the body reads its input; there may be a list of masks too."""
    lists: set[Reading] = set()
    for op in operations(body):
        read = reading(op, indices)
        if read is None and op.name != "tf.TensorListGetItem":
            continue
        if read is None or read.position not in kept:
            raise NotRecognized("it reads items of a list out of order")
        if str(ir.ShapedType(op.results[0].type).element_type) != "i1":
            lists.add(read)
    if len(lists) != 1:
        raise NotRecognized(f"it reads {len(lists)} lists, not 1")
    return lists.pop()


def _maker(op: ir.OpView, position: int, name: str, problem: str) -> ir.OpView:
    owner = source(op.operands[position]).owner
    if isinstance(owner, ir.Block) or owner.name != name:
        raise NotRecognized(problem)
    return owner


def _check_condition(cond: func.FuncOp, indices: frozenset[int], steps: frozenset[int], count: Dim) -> None:
    """Raises ``NotRecognized`` unless the loop goes on exactly while an index is less than the number of steps.

    ``indices`` are the positions of the loop variables that count the steps, ``steps`` of those that are the number of
    steps; a loop with lengths may end when the longest one is reached.
    """
    result = terminator_of(cond.entry_block).operands[0]
    for value in _conjuncts(source(result)):
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.name != "tf.Less":
            raise NotRecognized("its condition is not only that there are more steps")
        index, bound = (source(operand) for operand in owner.operands)
        if position_of(index) not in indices or not (position_of(bound) in steps or integer_constant(bound) == count):
            raise NotRecognized("it does not run over all items of its list")


def _conjuncts(value: ir.Value) -> Iterator[ir.Value]:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "tf.LogicalAnd":
        yield value
        return
    for operand in owner.operands:
        yield from _conjuncts(source(operand))


# Ops between a mask and the select op.
_SHAPING = frozenset(
    {"tf.BroadcastTo", "tf.ExpandDims", "tf.LogicalNot", "tf.Reshape", "tf.Squeeze", "tf.Tile", "tf.TensorListGetItem"}
)
_COMPARING = frozenset({"tf.Greater", "tf.GreaterEqual", "tf.Less", "tf.LessEqual"})
_ZEROS = frozenset({"tf.Fill", "tf.ZerosLike"})


def _unmasked(value: ir.Value, old: Sequence[ir.Value]) -> ir.Value:
    """Returns a value in steps that are not skipped: the new one of a select between it and an old one, or zero."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in {"tf.Select", "tf.SelectV2"} or not _is_mask(owner.operands[0]):
        return value
    one, other = (source(operand) for operand in list(owner.operands)[1:])
    for kept, new in ((one, other), (other, one)):
        if (kept in old or _is_zero(kept)) and not _is_zero(new):
            return new
    return value


def _is_mask(value: ir.Value) -> bool:
    owner = source(value).owner
    if isinstance(owner, ir.Block):
        return False
    return owner.name in _COMPARING or (owner.name in _SHAPING and _is_listed(owner))


def _is_listed(op: ir.OpView) -> bool:
    return op.name == "tf.TensorListGetItem" or _is_mask(op.operands[0])


def _is_zero(value: ir.Value) -> bool:
    """Whether a value is the same in every step, as zeros are."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    return is_constant(value) or owner.name in _ZEROS


class LoopLayer(NamedTuple):
    """A loop that is a recurrent layer.

    Attributes:
        loop: The loop.
        step: The step that its body computes.
        states: The positions of the cell's states among the loop variables; the first is the output.
    """

    loop: StepLoop
    step: Step
    states: tuple[int, ...]

    @property
    def units(self) -> int | None:
        """How many outputs each step has; None if that is dynamic."""
        kind = ir.ShapedType(self.step.results[0].type)
        return kind.shape[1] if kind.has_rank and not kind.is_dynamic_dim(1) else None

    @property
    def steps(self) -> int | None:
        """The number of steps; None if it is dynamic."""
        return self._size(self.loop.time_axis)

    @property
    def batch(self) -> int | None:
        """The batch size; None if it is dynamic."""
        return self._size(1 - self.loop.time_axis)

    def _size(self, axis: int) -> int | None:
        inputs = ir.ShapedType(self.loop.inputs.type)
        known = inputs.has_rank and inputs.rank > axis and not inputs.is_dynamic_dim(axis)
        return inputs.shape[axis] if known else None


def described(cell: Cell, *, masked: bool = False, unrolled: bool = False) -> str:
    """Describes a cell: ``an LSTM``."""
    if masked or unrolled:
        return f"{'a masked' if masked else 'an unrolled'} {cell.kind}"
    return f"{'an' if cell.kind == 'LSTM' else 'a'} {cell.kind}"


def recognize_loop(loop: StepLoop, cells: Iterable[Cell]) -> LoopLayer:
    """Recognizes a loop as a recurrent layer.

    Raises:
        NotRecognized: It is not one; the text tells the nearest miss.
    """
    first = [p for p, value in loop.states.items() if loop.output is None or value == loop.output]
    if not first:
        raise NotRecognized("its output is not one of its states")
    if not all(ir.ShapedType(loop.op.operands[position].type).has_rank for position in loop.states):
        raise NotRecognized("the rank of its states is not known")
    best: tuple[Mismatch, Cell] | None = None
    for cell in cells:
        for h in first:
            others = loop.states.keys() - {h}
            for rest in permutations(sorted(others), len(cell.states) - 1):
                positions = (h, *rest)
                if len(positions) != len(loop.states):
                    continue
                outcome = _match(loop, cell, positions)
                if isinstance(outcome, LoopLayer):
                    return outcome
                if best is None or outcome.matched > best[0].matched:
                    best = outcome, cell
    if best is None:
        raise NotRecognized(f"no recurrent layer that is known has {len(loop.states)} states")
    raise NotRecognized(str(best[0]), described(best[1], masked=loop.masked))


def _match(loop: StepLoop, cell: Cell, positions: tuple[int, ...]) -> LoopLayer | Mismatch:
    def can_be(variable: Variable, value: ir.Value) -> bool:
        if variable is cell.x:
            return loop.is_input(value)
        return not cell.is_constant(variable) or loop.stays(value)

    known: dict[Pattern, ir.Value] = {
        state: loop.argument(position) for state, position in zip(cell.states, positions, strict=True)
    }

    def accept(found: Match) -> bool:
        step = read_step(cell, found)
        return step is not None and len({*step.weights}) == len(step.weights)

    results = [loop.states[position] for position in positions]
    matched = match(cell.results, results, known=known, can_be=can_be, accept=accept)
    if isinstance(matched, Mismatch):
        return matched
    step = read_step(cell, matched)
    assert step is not None
    return LoopLayer(loop, step, positions)
