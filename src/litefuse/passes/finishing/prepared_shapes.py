"""Moves the computation of shapes from run time to LiteRT's preparation of a model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from litefuse.ir.attributes import attribute_value
from litefuse.ir.call_graph import defined_functions, nested_operations
from litefuse.ir.constants import stored
from litefuse.ir.litert_ops import MASKS, arithmetic, concatenation, int32_vector, part, strided_slice
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import is_used, replace_op
from litefuse.passes.finishing.kept_copies import KNOWN, PREPARED

# The highest rank that STRIDED_SLICE supports, and the dtypes that SLICE supports as well.
_MAX_RANK = 5
_SLICED = frozenset({"f32", "i1", "i16", "i32", "i64", "i8", "ui8"})


class _Element(NamedTuple):
    """An element of a vector, times a constant."""

    vector: ir.Value
    place: int
    factor: int


@module_pass
def prepare_shapes(module: ir.Module) -> bool:
    """Computes shapes from those of the inputs with ops that LiteRT evaluates when it prepares a model::

        %s = tfl.shape(%x)                              %s = tfl.shape(%x)
        %a = tfl.strided_slice(%s, 0)  (a scalar)       %v = tfl.strided_slice(%s, 0 : 2)
        %b = tfl.strided_slice(%s, 1)              -->
        %p = tfl.pack(%a, %b, 4, 8)                     %p = tfl.concatenation(%v, [4, 8])
        tfl.reshape(%y, %p)                             tfl.reshape(%y, %p)

    PACK is not one of them: faults ``packed-shape`` and ``moved-memory``.
    """
    modified = False
    for function in defined_functions(module):
        packed = _prepared(list(nested_operations(function.entry_block)))
        for op in packed:
            with ir.InsertionPoint(op), op.location:
                _slice_from_the_first(op)
                op.results[0].replace_all_uses_with(_concatenated(list(op.operands)))
            _erase(op)
        modified |= bool(packed)
    return modified


def _prepared(ops: Sequence[ir.OpView]) -> list[ir.OpView]:
    """Returns the ops that pack sizes known when LiteRT prepares the model, if it knows the shapes of tensors then."""
    if not any(op.name == "tfl.pack" for op in ops):
        return []
    prepared: set[ir.Value] = set()
    packed: list[ir.OpView] = []
    for op in ops:
        known = all(value in prepared for value in op.operands)
        if op.name in KNOWN or (op.name in PREPARED and known):
            prepared.update(op.results)
        elif op.name == "tfl.pack" and known and _is_shape(op):
            prepared.update(op.results)
            packed.append(op)
    return packed


def _is_shape(op: ir.OpView) -> bool:
    kind = ir.ShapedType(op.results[0].type)
    return kind.has_rank and kind.rank == 1 and str(kind.element_type) == "i32"


def _concatenated(scalars: Sequence[ir.Value]) -> ir.Value:
    """Returns the vector of these scalars.

    Neighbors in one vector become a slice of it, their products with constants one product, constants one constant.
    """
    parts: list[ir.Value] = []
    position = 0
    while position < len(scalars):
        numbers = _numbers(scalars[position:])
        run = _run(scalars[position:])
        if numbers:
            parts.append(int32_vector(numbers))
            position += len(numbers)
        elif run:
            source, begin, _ = run[0]
            factors = [factor for _, _, factor in run]
            elements = part(source, begin, begin + len(run))
            if any(factor != 1 for factor in factors):
                elements = arithmetic("tfl.mul", elements, int32_vector(factors), _vector(len(run)))
            parts.append(elements)
            position += len(run)
        else:
            parts.append(create_value("tfl.reshape", _vector(1), [scalars[position], int32_vector([1])]))
            position += 1
    if len(parts) == 1:
        return parts[0]
    return concatenation(parts, _vector(len(scalars)), 0)


def _run(scalars: Sequence[ir.Value]) -> list[_Element]:
    """Returns the leading scalars that are neighbors in one vector, or products of these and constants."""
    run: list[_Element] = []
    for element in map(_element, scalars):
        if element is None or (run and element[:2] != (run[-1].vector, run[-1].place + 1)):
            break
        run.append(element)
    return run


def _element(value: ir.Value) -> _Element | None:
    """Returns what a scalar is, if it is an element of a vector, or that times a constant and used nowhere else."""
    if (place := _place(value)) is not None:
        return _Element(*place, 1)
    product = producer(value, "tfl.mul")
    if product is None or len(list(value.uses)) > 1:
        return None
    if attribute_value(product.attributes["fused_activation_function"]) != "NONE":
        return None
    for scalar, other in (tuple(product.operands), tuple(product.operands)[::-1]):
        place, factor = _place(scalar), stored(other)
        if place is not None and factor is not None and np.array(factor).size == 1:
            return _Element(*place, int(np.array(factor).item()))
    return None


def _slice_from_the_first(sizes: ir.OpView) -> None:
    """Replaces each SLICE of these sizes that begins at 0 by STRIDED_SLICE: the fault ``slice-of-known-sizes``."""
    known = map(stored, sizes.operands)
    to_the_end = [elements is not None and np.array(elements).item() == -1 for elements in known]
    for use in list(sizes.results[0].uses):
        op = use.owner
        begin = stored(op.operands[1]) if op.name == "tfl.slice" and use.operand_number == 2 else None
        if begin is None or np.any(np.array(begin)) or len(to_the_end) > _MAX_RANK:
            continue
        if str(ir.ShapedType(op.results[0].type).element_type) in _SLICED:
            ends = sum(1 << axis for axis, last in enumerate(to_the_end) if last)
            with ir.InsertionPoint(op), op.location:
                operands = [*op.operands, int32_vector([1] * len(to_the_end))]
                result = strided_slice(operands, op.results[0].type, end_mask=ends)
            replace_op(op, [result])


def _numbers(scalars: Sequence[ir.Value]) -> list[int]:
    """Returns the values of the leading constants."""
    constants = takewhile(lambda elements: elements is not None, map(stored, scalars))
    return [int(np.array(elements).item()) for elements in constants]


def _place(value: ir.Value) -> tuple[ir.Value, int] | None:
    """Returns the vector that a scalar is an element of, and its index."""
    owner = producer(value, "tfl.strided_slice")
    if owner is None or any(attribute_value(owner.attributes[mask]) != (mask == MASKS[-1]) for mask in MASKS):
        return None
    source, begin, _, strides = owner.operands
    if ir.ShapedType(source.type).rank != 1:
        return None
    known = map(stored, (begin, strides))
    numbers = [int(np.array(elements).item()) for elements in known if elements is not None]
    return (source, numbers[0]) if len(numbers) == 2 and numbers[0] >= 0 and numbers[1] == 1 else None


def _vector(size: int) -> ir.Type:
    return ir.RankedTensorType.get([size], ir.IntegerType.get_signless(32))


def _erase(op: ir.OpView) -> None:
    """Erases an op, and what only it needs; that would be written to the file."""
    needed = [op]
    for other in needed:  # grows
        for value in other.operands:
            if not isinstance(value.owner, ir.Block) and value.owner.opview not in needed:
                needed.append(value.owner.opview)
    before = 0
    while len(needed) != before:
        before, kept = len(needed), list[ir.OpView]()
        for other in needed:
            if is_used(other):
                kept.append(other)
            else:
                other.operation.erase()
        needed = kept
