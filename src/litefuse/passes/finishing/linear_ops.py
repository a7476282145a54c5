"""Negations and factors where they cost less: in a difference, in a small operand, in a weight."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from litefuse.ir.call_graph import all_operations
from litefuse.ir.constants import CONSTANTS, PLACEHOLDER, pseudo_constant, splat_number, stored
from litefuse.ir.litert_ops import arithmetic
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_op
from litefuse.ir.passes import module_pass, visit_ops

_ACTIVATION = "fused_activation_function"
_FLOATS = (ir.F16Type, ir.F32Type)


@module_pass
def drop_negations(module: ir.Module) -> bool:
    """Subtracts instead of adding a negated value, as in layer normalization; bit for bit the same::

    %n = tfl.neg(%x)                                  %p = tfl.mul(%x, %s)
    %p = tfl.mul(%n, %s)                      -->     %y = tfl.sub(%b, %p)
    %y = tfl.add(%p, %b)
    """
    return visit_ops(module, {"tfl.neg": _subtracted}, nested=False)


def _only_user(value: ir.Value, *names: str) -> ir.OpView | None:
    """Returns the op that uses a value, if it is one of these and nothing else uses it."""
    uses = list(value.uses)
    user = uses[0].owner if len(uses) == 1 else None
    return user.opview if user is not None and user.name in names and _is_float(value) else None


def _is_float(value: ir.Value) -> bool:
    kind = value.type
    return isinstance(kind, ir.RankedTensorType) and isinstance(kind.element_type, _FLOATS)


def _has_activation(op: ir.OpView) -> bool:
    return ir.StringAttr(op.attributes[_ACTIVATION]).value != "NONE"


def _subtracted(op: ir.OpView) -> bool:
    negated, value = op.operands[0], op.results[0]
    user = _only_user(value, "tfl.add", "tfl.mul")
    product = None if user is None or user.name == "tfl.add" else user
    if product is not None:
        user = None if _has_activation(product) else _only_user(product.results[0], "tfl.add")
    if user is None:
        return False
    removed = value if product is None else product.results[0]
    others = [operand for operand in user.operands if operand != removed]
    if len(others) != 1:
        return False
    value.replace_all_uses_with(negated)
    taken = negated if product is None else removed
    attributes = {_ACTIVATION: user.attributes[_ACTIVATION]}
    difference = create_op(
        "tfl.sub", [user.results[0].type], [*others, taken], attributes, point=ir.InsertionPoint(user)
    )
    user.results[0].replace_all_uses_with(difference.result)
    user.operation.erase()
    op.operation.erase()
    return True


@module_pass
def negate_factors(module: ir.Module) -> bool:
    """Negates what rotated halves are multiplied by, once for all that the same angles rotate; bit for bit the same::

    %n = tfl.neg(%b)                                  %t = tfl.mul(%s, [-1, 1])
    %c = tfl.concatenation(%n, %a)            -->     %c = tfl.concatenation(%b, %a)
    %y = tfl.mul(%c, %s)                              %y = tfl.mul(%c, %t)
    """
    groups: defaultdict[tuple[ir.Value, bytes], list[tuple[ir.OpView, ir.OpView]]] = defaultdict(list)
    for op in all_operations(module, nested=False):
        product = _only_user(op.results[0], "tfl.mul") if op.name == "tfl.concatenation" else None
        signs = None if product is None else _signs(op)
        if product is None or signs is None:
            continue
        first, second = product.operands
        factor = ir.Value(second if first == op.results[0] else first)
        if factor != op.results[0] and _is_static(factor, len(ir.ShapedType(op.results[0].type).shape)):
            groups[factor, signs.tobytes()].append((op, product))
    shared = {key: pairs for key, pairs in groups.items() if len(pairs) > 1}
    for (factor, _), pairs in shared.items():
        negated = _signed(factor, pairs[0][0])
        for op, product in pairs:
            product.operands[list(product.operands).index(factor)] = negated
            for position, operand in enumerate(op.operands):
                negation = producer(operand, "tfl.neg")
                if negation is not None:
                    op.operands[position] = negation.operands[0]
                    negation.operation.erase()
    return bool(shared)


def _is_static(value: ir.Value, rank: int) -> bool:
    kind = value.type
    return isinstance(kind, ir.RankedTensorType) and kind.has_static_shape and kind.rank == rank


def _signs(op: ir.OpView) -> npt.NDArray[np.float32] | None:
    """Returns the signs along the axis of a concatenation, shaped to multiply by; None if none of it is negated."""
    kind = ir.RankedTensorType(op.results[0].type)
    axis = ir.IntegerAttr(op.attributes["axis"]).value % kind.rank
    sizes = [ir.RankedTensorType(operand.type).shape[axis] for operand in op.operands]
    negations = [producer(operand, "tfl.neg") for operand in op.operands]
    negated = [negation is not None and len(list(negation.results[0].uses)) == 1 for negation in negations]
    if not any(negated) or min(sizes) < 0 or _has_activation(op):
        return None
    if any(negation is not None and not one for negation, one in zip(negations, negated, strict=True)):
        return None
    signs = np.repeat(np.where(negated, -1, 1).astype(np.float32), sizes)
    return signs.reshape(*[1] * axis, -1, *[1] * (kind.rank - axis - 1))


def _signed(factor: ir.Value, op: ir.OpView) -> ir.Value:
    """Emits a factor with the signs of a concatenation, behind the op that computes the factor."""
    signs, kind, owner = _signs(op), ir.RankedTensorType(factor.type), factor.owner
    assert signs is not None
    shape = [max(sizes) for sizes in zip(signs.shape, kind.shape, strict=True)]
    point = ir.InsertionPoint.at_block_begin(owner) if isinstance(owner, ir.Block) else ir.InsertionPoint.after(owner)
    with point, op.location:
        elements = ir.DenseElementsAttr.get(signs.astype(np.float16 if "f16" in str(kind) else np.float32))
        return arithmetic(
            "tfl.mul", factor, pseudo_constant(elements), ir.RankedTensorType.get(shape, kind.element_type)
        )


# The ops whose results are as many times as large as one of their operands, and the operands that may be that.
_LINEAR = {
    "tfl.add": slice(None),
    "tfl.batch_matmul": slice(1),
    "tfl.concatenation": slice(None),
    "tfl.neg": slice(1),
    "tfl.reshape": slice(1),
    "tfl.split": slice(1, 2),
    "tfl.sub": slice(None),
    "tfl.transpose": slice(1),
}
_SUMS = frozenset({"tfl.add", "tfl.concatenation", "tfl.sub"})
# The ops that are searched for a projection: more than there are between it and the scores that rotated heads give.
_MOST = 64


@module_pass
def scale_weights(module: ir.Module) -> bool:
    """Moves a factor to the projection from which all that it multiplies is computed, whose weight then takes it::

    %p = tfl.fully_connected(%x, %w, none)                    %p = tfl.fully_connected(%x, %w, none)
    %s = tfl.batch_matmul(tfl.reshape(%p), %k)        -->     %m = tfl.mul(%p, 0.125)
    %y = tfl.mul(%s, 0.125)                                   %y = tfl.batch_matmul(tfl.reshape(%m), %k)
    """
    return visit_ops(module, {"tfl.mul": _moved_factor}, nested=False)


def _moved_factor(op: ir.OpView) -> ir.Value | None:
    value, factor = op.operands
    elements = stored(factor)
    if elements is None or splat_number(elements) is None or elements.type.rank != 0 or _has_activation(op):
        return None
    if value.type != op.results[0].type or _only_user(value, "tfl.mul") is None:
        return None
    known: dict[ir.Operation, int] = {}
    origin = _origin(value, known)
    linear = [one for one, its_origin in known.items() if its_origin == origin]
    projection = next(filter(_is_projection, linear), None)
    if origin == _NONE or projection is None or len(linear) == 1:
        return None
    users = {use.owner.operation for one in linear for result in one.results for use in result.uses}
    if not users <= {*linear, op.operation}:
        return None
    (source,) = projection.results
    with ir.InsertionPoint.after(projection), op.location:
        operands = [source, pseudo_constant(elements)]
        scaled = create_op("tfl.mul", [source.type], operands, {_ACTIVATION: "NONE"})
    source.replace_all_uses_except(scaled.result, scaled)
    return value


_NONE = -1
_PROJECTIONS = frozenset({"tfl.batch_matmul", "tfl.fully_connected"})


def _is_projection(op: ir.Operation | ir.OpView) -> bool:
    """Whether an op multiplies with a weight that stays mapped, or adds the bias behind that."""
    if op.name == "tfl.add" and producer(op.operands[1], *CONSTANTS) is not None:
        product = producer(op.operands[0], *_PROJECTIONS)
        return product is not None and _only_user(op.operands[0], "tfl.add") is not None and _is_projection(product)
    if op.name not in _PROJECTIONS or not _is_float(op.results[0]):
        return False
    weight = op.operands[1]
    while (moving := producer(weight, "tfl.reshape", "tfl.transpose")) is not None:
        weight = moving.operands[0]
    return producer(weight, PLACEHOLDER) is not None


def _origin(value: ir.Value, known: dict[ir.Operation, int]) -> int:
    """Returns the number of the projection that a value is linear in, and notes that of each op between them."""
    if isinstance(value.owner, ir.Block):
        return _NONE
    op = value.owner.operation
    if op in known or len(known) == _MOST or (_ACTIVATION in op.attributes and _has_activation(op.opview)):
        return known.get(op, _NONE)
    known[op] = _NONE
    origin = _NONE
    if _is_projection(op):
        origin = len(known)
    elif op.name == "tfl.mul":
        origins = [_origin(operand, known) for operand in op.operands]
        origin = max(origins) if _NONE in origins else _NONE  # a product of two is not linear
    elif op.name in _LINEAR:
        origins = [_origin(operand, known) for operand in op.operands]
        linear = origins[_LINEAR[op.name]]
        # Each time it occurs, the result is as many times larger.
        once = op.name in _SUMS or origins.count(linear[0]) == 1
        origin = linear[0] if once and len(set(linear)) == 1 else _NONE
    known[op] = origin
    return origin
