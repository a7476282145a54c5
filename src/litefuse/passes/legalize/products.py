"""Powers as products, and products of matrices that are computed."""

from __future__ import annotations

import numpy as np

from litefuse.ir.constants import comes_from_constant, splat_number, stored
from litefuse.ir.litert_ops import arithmetic
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import module_pass, visit_ops


@module_pass
def multiply_matrices(module: ir.Module) -> bool:
    """Replaces products with transposed matrices that are computed::

        %t = tfl.transpose(%b : tensor<8x9xf32>, [1, 0])
        %y = tfl.fully_connected(%a, %t, none)             -->  %y = tfl.batch_matmul(%a, %b)

    The engine makes FULLY_CONNECTED, which takes a transposed matrix, of every ``tf.MatMul``. All sizes must be known:
    XNNPACK's BATCH_MATMUL takes no empty tensors. The pass runs after weights are placed, as what a loop passes through
    may be a constant only then.
    """
    return visit_ops(module, {"tfl.fully_connected": _replace})


def _replace(op: ir.OpView) -> bool:
    left, right, bias = op.operands
    activation = ir.StringAttr(op.attributes["fused_activation_function"]).value
    if producer(bias, "tfl.no_value") is None or activation != "NONE":
        return False
    turned = [_transposition(left), _transposition(right)]
    operands = [op.operands[0] if op is not None else value for op, value in zip(turned, (left, right), strict=True)]
    if (
        not any(turned)
        or any(map(comes_from_constant, operands))
        or not all(map(_is_matrix, (*operands, op.results[0])))
    ):
        return False
    attributes = {"adj_x": turned[0] is not None, "adj_y": turned[1] is None}
    product = create_value("tfl.batch_matmul", op.results[0].type, operands, attributes)
    op.results[0].replace_all_uses_with(product)
    op.operation.erase()
    for value in [left] if left == right else [left, right]:
        transposition = _transposition(value)
        if transposition is not None and not any(True for _ in value.uses):
            transposition.operation.erase()
    return True


def _transposition(value: ir.Value) -> ir.Operation | ir.OpView | None:
    """Returns the op that makes a matrix by transposing another one."""
    transposition = producer(value, "tfl.transpose")
    axes = None if transposition is None else stored(transposition.operands[1])
    return transposition if axes is not None and np.array(axes).tolist() == [1, 0] else None


def _is_matrix(value: ir.Value) -> bool:
    """Whether a value is a matrix of float32 that has elements."""
    kind = value.type
    if not isinstance(kind, ir.RankedTensorType) or kind.rank != 2 or not kind.has_static_shape:
        return False
    return isinstance(kind.element_type, ir.F32Type) and all(kind.shape)


_EXPONENTS = frozenset({2, 3, 4})


@module_pass
def expand_powers(module: ir.Module) -> bool:
    """Replaces powers by products, as POW computes a logarithm and an exponential per element, and is not delegated::

        %y = tfl.pow(%x, 3.0)   -->   %s = tfl.mul(%x, %x)
                                      %y = tfl.mul(%s, %x)

    It runs after the engine, which recognizes GELU by its cube.
    """
    return visit_ops(module, {"tfl.pow": _expanded})


def _exponent(op: ir.OpView) -> int | None:
    """Returns the exponent if it is the same small integer for all elements."""
    elements = stored(op.operands[1])
    number = None if elements is None else splat_number(elements)
    if number is None or number not in _EXPONENTS or op.operands[0].type != op.results[0].type:
        return None
    return int(number)


def _expanded(op: ir.OpView) -> ir.Value | None:
    exponent = _exponent(op)
    if exponent is None:
        return None
    x, kind = op.operands[0], op.results[0].type
    product = arithmetic("tfl.mul", x, x, kind)
    if exponent > 2:
        product = arithmetic("tfl.mul", product, x if exponent == 3 else product, kind)
    return product
