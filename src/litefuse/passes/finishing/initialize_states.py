"""Initializes states of LSTM ops: memory that holds the initial value at the beginning of every call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from litefuse.ir.attributes import INITIAL_STATE, attribute_value, custom_code
from litefuse.ir.constants import DENSE_CONSTANTS
from litefuse.ir.litert_ops import (
    MASKS,
    create_fill,
    element,
    int32_scalar,
    int32_vector,
    integers,
    packed,
    packed_sizes,
    sizes_of,
    splat,
)
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.ir.purity import erase_unused, is_used, replace_op

# A size: an element of a vector, which is computed, or a number.
_Size: TypeAlias = "tuple[ir.Value, int] | int"


@module_pass
def initialize_states(module: ir.Module) -> bool:
    """Adds the ops that write each state's initial value in every call::

        %s = litefuse.initial_state(0.0)  -->  %s = tfl.fill(%dims, 0.0)
        %s = litefuse.initial_state(%v)   -->  %s = tfl.broadcast_to(%v, tfl.pack(%size0, 5))

    An LSTM op updates its states in place, in variable tensors of the flatbuffer. A state that an op writes is new in
    every call. A constant state is not: the fault ``constant-state``.

    FILL is computed in every call even if its operands are constants, and so is BROADCAST_TO. The engine would fold
    both, so this pass comes after it. A dynamic dimension must not be known before the call, as the result of SHAPE is:
    the fault ``state-of-the-first-batch``. States of the same sizes share the op that packs them.
    """
    sizes = _Sizes()
    modified = visit_ops(module, {"tfl.custom": lambda op: _initialize(op, sizes)})
    sizes.erase_unused()
    return modified


def _initialize(op: ir.OpView, sizes: _Sizes) -> bool:
    if custom_code(op) != INITIAL_STATE:
        return False
    value = op.operands[0]
    replace_op(op, [_initialized(value, op.results[0].type, sizes)])
    fill = producer(value, "tfl.fill")
    if fill is not None and not is_used(fill):
        fill.operation.erase()
    return True


def _initialized(value: ir.Value, kind: ir.Type, sizes: _Sizes) -> ir.Value:
    fill = producer(value, "tfl.fill")
    if fill is not None:
        dims, number = fill.operands
        return create_value("tfl.fill", kind, [sizes.computed(dims), number])
    elements = splat(value)
    if elements is not None:
        return create_fill(elements, kind)
    known = isinstance(value.type, ir.RankedTensorType) and value.type.has_static_shape
    own = ir.RankedTensorType(value.type if known else kind)
    return create_value("tfl.broadcast_to", own, [value, _own_shape(value, own)])


def _own_shape(value: ir.Value, kind: ir.RankedTensorType) -> ir.Value:
    """Returns the shape of a value, which is computed in the call unless it is known."""
    if kind.has_static_shape:
        return int32_vector(kind.shape)
    shape = sizes_of(value)
    sizes = [None if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(kind.rank)]
    return packed_sizes(
        [element(shape, axis) if size is None else int32_scalar(size) for axis, size in enumerate(sizes)]
    )


@dataclass
class _Sizes:
    """The packed dims of states, by the dims that they had."""

    packed: dict[ir.Value, ir.Value] = field(default_factory=dict[ir.Value, ir.Value])

    def computed(self, dims: ir.Value) -> ir.Value:
        """Returns dims that are constant, or built from elements at run time; packs them if they are not.

        Only then does the op that takes them allocate its result itself. It must do so after ops whose result sizes are
        only known in the call (a loop, Where): the fault ``state-that-is-prepared-in-a-call``.
        """
        joined = producer(dims, "tfl.concatenation")
        # SLICE is computed in the call, and so are the ops on its result.
        in_the_call = joined is not None and any(producer(part, "tfl.slice") for part in joined.operands)
        if in_the_call or producer(dims, "tfl.pack", *DENSE_CONSTANTS):
            return dims
        if dims not in self.packed:
            owner = dims.owner
            is_argument = isinstance(owner, ir.Block)
            with ir.InsertionPoint.at_block_begin(owner) if is_argument else ir.InsertionPoint.after(owner):
                self.packed[dims] = _packed(dims)
        return self.packed[dims]

    def erase_unused(self) -> None:
        """Erases dims that were joined for these states alone, and the parts that they were joined of."""
        erase_unused([owner for dims in self.packed if (owner := producer(dims, "tfl.concatenation")) is not None])


def _packed(dims: ir.Value) -> ir.Value:
    sizes = _sizes(dims)
    if sizes is None:
        return packed(dims)
    return packed_sizes([int32_scalar(size) if isinstance(size, int) else element(*size) for size in sizes])


def _sizes(dims: ir.Value) -> list[_Size] | None:
    """Returns the sizes that were joined; None if one of them is neither a number nor an element of a vector."""
    joined = producer(dims, "tfl.concatenation")
    sizes: list[_Size] = []
    parts: list[ir.Value] = [] if joined is None else [*joined.operands]
    for part in parts:
        numbers = integers(part)
        known = _place(part) if numbers is None else numbers
        if known is None:
            return None
        sizes += known
    return sizes or None


def _place(part: ir.Value) -> list[_Size] | None:
    """Returns the elements of a vector that a slice takes."""
    owner = producer(part, "tfl.strided_slice")
    if owner is None or any(attribute_value(owner.attributes[mask]) for mask in MASKS):
        return None
    vector, *bounds = owner.operands
    known = [integers(bound) for bound in bounds]
    numbers = [elements[0] for elements in known if elements is not None and len(elements) == 1]
    if ir.ShapedType(vector.type).rank != 1 or len(numbers) < 3:
        return None
    begin, end, stride = numbers
    return [(vector, index) for index in range(begin, end)] if stride == 1 and 0 <= begin < end else None
