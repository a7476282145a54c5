"""Complex numbers that are made of pairs of numbers, and taken apart again, without complex tensors."""

from __future__ import annotations

from litefuse.ir.mlir import ir, producer
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.ir.purity import erase_unused
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped, sliced

_PARTS = {"tfl.real": 0, "tfl.imag": 1}


@module_pass
def complex_pairs(module: ir.Module) -> bool:
    """Takes parts of pairs in the place of parts of complex numbers::

        %p = tfl.pack(%re, %im) {axis = 3} : tensor<1x4x8x2xf32>
        %c = tfl.bitcast(%p) : tensor<1x4x8xcomplex<f32>>
        %q = tfl.bitcast(%c) : tensor<1x4x8x2xf32>                 -->  %p in the place of %q
        %r = tfl.real(%c) : tensor<1x4x8xf32>                           %re in the place of %r

    Reshapes in between are applied to the pairs. What is computed in complex numbers stays.
    """
    return visit_ops(module, dict.fromkeys((*_PARTS, "tfl.bitcast"), _take))


def _take(op: ir.OpView) -> bool:
    is_part = op.name in _PARTS
    if not (is_part or _is_complex(op.operands[0])) or not is_fixed(op.results[0]):
        return False
    pairs, kind = _pairs(op.operands[0]), ir.RankedTensorType(op.results[0].type)
    if pairs is None or kind.element_type != ir.RankedTensorType(pairs.type).element_type:
        return False
    part = _part(pairs, _PARTS[op.name]) if is_part else pairs
    op.results[0].replace_all_uses_with(reshaped(part, kind.shape))
    erase_unused([op])
    return True


def _pairs(value: ir.Value) -> ir.Value | None:
    """Returns the numbers that complex ones are made of, of a known shape; None if they are not made of numbers."""
    while (reshape := producer(value, "tfl.reshape")) is not None:
        value = reshape.operands[0]
    made = producer(value, "tfl.bitcast")
    if made is None:
        return None
    pairs = made.operands[0]
    while not is_fixed(pairs) and (reshape := producer(pairs, "tfl.reshape")) is not None:
        pairs = reshape.operands[0]
    if not is_fixed(pairs) or _is_complex(pairs) or ir.RankedTensorType(pairs.type).shape[-1] != 2:
        return None
    return pairs


def _part(pairs: ir.Value, index: int) -> ir.Value:
    kind = ir.RankedTensorType(pairs.type)
    pack = producer(pairs, "tfl.pack")
    if pack is not None and ir.IntegerAttr(pack.attributes["axis"]).value % kind.rank == kind.rank - 1:
        return pack.operands[index]
    return sliced(pairs, [*[0] * (kind.rank - 1), index], [*kind.shape[:-1], 1])


def _is_complex(value: ir.Value) -> bool:
    return isinstance(value.type, ir.ShapedType) and isinstance(value.type.element_type, ir.ComplexType)
