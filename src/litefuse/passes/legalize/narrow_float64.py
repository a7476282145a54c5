"""Computes functions of integers in float32 where a model computes them in float64."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from litefuse.ir.call_graph import attributes_of, functions, nested_operations
from litefuse.ir.constants import stored, tensor_constant
from litefuse.ir.mlir import ir
from litefuse.ir.ops.numbers import FUNCTIONS, FUNCTIONS_OF_FLOAT64, MOVES

_COMPUTING = frozenset({*FUNCTIONS, *FUNCTIONS_OF_FLOAT64, *MOVES, "Rsqrt", "Sign", "ZerosLike"})
# Functions have no exact form in integers.
_FUNCTIONS = frozenset({*FUNCTIONS_OF_FLOAT64, "Rsqrt", "Sqrt"})
_FLOATS = frozenset({"bf16", "f16", "f32"})
_ENDS = frozenset({*_FLOATS, "i8", "i16", "i32", "i64"})
# What an integer that has been cast is still one of, as far as sums are concerned.
_KEEPING_INTEGERS = frozenset({*MOVES, "Abs", "Maximum", "Minimum", "Mul", "Neg"})
_SUMS = frozenset({"Add", "AddV2", "Sub"})
_FLOAT32_INTEGERS = 2.0**24


@dataclass(frozen=True)
class NarrowFloat64:
    """Makes float32 of float64 that begins as integers or constants, and ends as float32, integers or comparisons::

        %w = tf.Cast(%n : tensor<?xi32>) : tensor<?xf64>        %w = tf.Cast(%n) : tensor<?xf32>
        %l = tf.Log(%w)                                    -->  %y = tf.Log(%w)
        %y = tf.Cast(%l) : tensor<?xf32>

    NumPy's and TensorFlow's division of integers gives float64, without anybody having asked for its digits: the
    buckets of relative positions are logarithms of such quotients. LiteRT computes no float64. Where float64 is an
    input, an output, a state or a cast of floats alone, its digits may be wanted, and it stays.

    Without such a function, sums and quotients may be exact in integers (``legalize.dtypes.casts``), and are left to
    that. What is not is narrowed if its digits cannot matter: it ends as floats and adds nothing to tensors of
    integers, whose difference may be small; or it ends as integers and as floats, and all that it begins with are
    single numbers, as for a quantile: if its position is rounded to the one beside it, so is the rest. Sizes alone must
    not be off by one. Floats may join in: in a selection between integers' quotients and
    float32, float64 is what both are promoted to.

    The quotient of two integers below 2^23 is rounded to the same integer in float32, and below 2^24 it has the same
    floor and ceiling: a fraction is further from the border than half a digit of the quotient. For larger ones, the
    integer is corrected by what is left.

    Attributes:
        narrowed: Counts the ops that are narrowed, by their names.
    """

    name = "narrow-float64"
    narrowed: Counter[str]

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            if function.is_external:
                continue
            ops = list(nested_operations(function.entry_block))
            if not any(op.name == "tf.Cast" and _is_wide(op.results[0]) for op in ops):
                continue  # nothing begins as an integer; to look at all values takes longer
            for component in _components([op for op in ops if _wide(op)]):
                if _is_narrowed(component):
                    self._narrow(component)
                    modified = True
        return modified

    def _narrow(self, ops: Sequence[ir.OpView]) -> None:
        # Imported late: most models have nothing to narrow.
        from litefuse.passes.legalize.rounded_quotients import RoundedQuotient

        quotients = [found for op in ops if (found := RoundedQuotient.read(op)) is not None]
        for op in ops:
            name = op.name.removeprefix("tf.")
            if name == "Const":
                with ir.InsertionPoint(op), op.location:
                    elements = np.array(op.attributes["value"]).reshape(ir.ShapedType(op.results[0].type).shape)
                    constant = tensor_constant(ir.DenseElementsAttr.get(np.array(elements, np.float32)))
                op.results[0].replace_all_uses_with(constant)
                op.operation.erase()
                continue
            for key, attribute in attributes_of(op).items():
                if isinstance(attribute, ir.TypeAttr) and isinstance(attribute.value, ir.F64Type):
                    op.attributes[key] = ir.TypeAttr.get(ir.F32Type.get())
            for result in op.results:
                if _is_wide(result):
                    result.set_type(_in_float32(result.type))
            if name != "Cast":
                self.narrowed[name] += 1
            elif op.operands[0].type == op.results[0].type:
                op.results[0].replace_all_uses_with(op.operands[0])
                op.operation.erase()
        for quotient in quotients:
            quotient.correct()


def _wide(op: ir.OpView) -> bool:
    return any(map(_is_wide, (*op.operands, *op.results)))


def _is_wide(value: ir.Value) -> bool:
    return isinstance(value.type, ir.ShapedType) and isinstance(ir.ShapedType(value.type).element_type, ir.F64Type)


def _in_float32(kind: ir.Type) -> ir.Type:
    if isinstance(kind, ir.RankedTensorType):
        return ir.RankedTensorType.get(kind.shape, ir.F32Type.get())
    return ir.UnrankedTensorType.get(ir.F32Type.get())


def _components(ops: Sequence[ir.OpView]) -> Collection[Sequence[ir.OpView]]:
    """Returns the ops on float64 in groups that no value of float64 connects, each in order."""
    root: dict[ir.Value, ir.Value] = {}

    def find(value: ir.Value) -> ir.Value:
        while (above := root.setdefault(value, value)) != value:
            root[value] = root.setdefault(above, above)
            value = above
        return value

    for op in ops:
        first, *others = [value for value in (*op.operands, *op.results) if _is_wide(value)]
        for other in others:
            root[find(other)] = find(first)
    found: dict[ir.Value, list[ir.OpView]] = defaultdict(list)
    for op in ops:
        found[find(next(value for value in (*op.operands, *op.results) if _is_wide(value)))].append(op)
    return found.values()


def _is_narrowed(ops: Sequence[ir.OpView]) -> bool:
    if not all(map(_has_a_form, ops)):
        return False
    begins = [op.operands[0] for op in ops if op.name == "tf.Cast" and not _is_wide(op.operands[0])]
    ends = [op for op in ops if op.name == "tf.Cast" and not _is_wide(op.results[0])]
    if not any(_element(value) not in _FLOATS for value in begins):
        return False
    if not _names(ops).isdisjoint(_FUNCTIONS):
        return all(_element(value) not in _FLOATS for value in begins)
    if not ends or all(map(_is_exact, ends)):
        return False
    floats = [_element(op.results[0]) in _FLOATS for op in ends]
    if all(map(_is_single, begins)):
        return any(floats)
    return all(floats) and not _adds_to_integers(ops)


def _names(ops: Sequence[ir.OpView]) -> set[str]:
    return {op.name.removeprefix("tf.") for op in ops}


def _is_single(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType) and value.type.rank == 0


def _is_exact(cast: ir.OpView) -> bool:
    """Whether a cast to another dtype is computed in integers, or in float32 to the same digits."""
    from litefuse.passes.legalize.dtypes.casts import CastOfFraction, CastOfQuotient
    from litefuse.passes.legalize.seen_ops import tensorflow_op_of

    op = tensorflow_op_of(cast, "Cast", cast.operands)
    return CastOfQuotient().before_lowering(op) or CastOfFraction().before_lowering(op)


def _adds_to_integers(ops: Sequence[ir.OpView]) -> bool:
    """Whether a tensor of integers is added to, or compared: a difference may have digits that float32 has not."""
    integers: set[ir.Value] = set()
    for op in ops:
        name = op.name.removeprefix("tf.")
        if name == "Cast" and not _is_wide(op.operands[0]):
            if _element(op.operands[0]) not in _FLOATS and not _is_single(op.operands[0]):
                integers.add(op.results[0])
        elif not integers.isdisjoint(op.operands):
            if name in _SUMS or not any(map(_is_wide, op.results)):
                return True
            if name in _KEEPING_INTEGERS:
                integers.update(op.results)
    return False


def _has_a_form(op: ir.OpView) -> bool:
    """Whether an op is one in float32 as well, and adds no float64 of the user's."""
    if any(_is_wide(value) and isinstance(value.owner, ir.Block) for value in op.operands):
        return False
    if op.name == "tf.Cast":
        if _is_wide(op.operands[0]):
            return _is_wide(op.results[0]) or _element(op.results[0]) in _ENDS
        element = ir.ShapedType(op.operands[0].type).element_type
        return isinstance(element, ir.IntegerType) or str(element) in _FLOATS
    if op.name == "tf.Const":
        return _fits(op.results[0])
    return op.name.startswith("tf.") and op.name.removeprefix("tf.") in _COMPUTING


def _element(value: ir.Value) -> str:
    return str(ir.ShapedType(value.type).element_type)


def _fits(value: ir.Value) -> bool:
    """Whether float32 holds a constant's numbers, but for the last digits of fractions."""
    elements = stored(value)
    if elements is None:
        return False
    wide = np.array(elements)
    with np.errstate(all="ignore"):
        narrow = wide.astype(np.float32)
    tiny = np.finfo(np.float32).tiny
    is_in_range = (np.isfinite(narrow) == np.isfinite(wide)) & ((wide == 0) | (np.abs(narrow) >= tiny) | np.isnan(wide))
    # A large integer's last digits are its own, as those of a time in seconds.
    is_integer = (np.abs(wide) > _FLOAT32_INTEGERS) & (np.rint(wide) == wide)
    return bool(np.all(is_in_range & (~is_integer | (narrow == wide))))
