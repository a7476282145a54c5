"""Items of a tensor that are replaced, as loops do it, without DYNAMIC_UPDATE_SLICE."""

from __future__ import annotations

import numpy as np

from litefuse.ir.constants import pseudo_constant
from litefuse.ir.litert_ops import arithmetic, element, int32_vector
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped

__all__ = ["updated"]


def updated(op: ir.OpView) -> ir.Value | None:
    """Returns the result of DYNAMIC_UPDATE_SLICE that replaces one item of the first dimension; None for any other::

        %y = tfl.dynamic_update_slice(%x : tensor<6x2x8xf32>, %item : tensor<1x2x8xf32>, [%i, 0, 0])
        -->  %y = tfl.select_v2(tfl.equal([[[0]], [[1]], ...], max(min(%i, 5), 0)), %item, %x)

    Sizes that are known in the call alone may differ, and an item of size 1 would be broadcast: it goes through
    SCATTER_ND, which takes no item of other sizes than the tensor's.
    """
    tensor, item, begins = op.operands
    kind, part = ir.RankedTensorType(tensor.type), ir.RankedTensorType(item.type)
    int32 = ir.IntegerType.get_signless(32)
    if not kind.rank or part.shape[0] != 1 or kind.shape[0] == 0 or kind.shape[1:] != part.shape[1:]:
        return None
    if ir.ShapedType(begins.type).element_type != int32:
        return None
    sizes = None
    if not is_fixed(tensor):
        sizes = create_value("tfl.shape", ir.RankedTensorType.get([kind.rank], int32), [tensor])
    ones = [1] * (kind.rank - 1)
    scalar = ir.RankedTensorType.get([], int32)
    if kind.is_dynamic_dim(0):
        assert sizes is not None
        count = element(sizes, 0)
        last = arithmetic("tfl.sub", count, _scalar(1), scalar)
        numbers = ir.RankedTensorType.get([kind.shape[0]], int32)
        places = create_value("tfl.range", numbers, [_scalar(0), count, _scalar(1)])
        column = ir.RankedTensorType.get([kind.shape[0], *ones], int32)
        places = create_value("tfl.reshape", column, [places, int32_vector([-1, *ones])])
    else:
        last = _scalar(kind.shape[0] - 1)
        numbered = np.arange(kind.shape[0], dtype=np.int32).reshape(-1, *ones)
        places = pseudo_constant(ir.DenseElementsAttr.get(numbered))
    # As the op has it: the item lies within the tensor.
    place = create_value("tfl.minimum", scalar, [element(begins, 0), last])
    place = create_value("tfl.maximum", scalar, [place, _scalar(0)])
    chosen = ir.RankedTensorType.get([kind.shape[0], *ones], ir.IntegerType.get_signless(1))
    here = create_value("tfl.equal", chosen, [places, place])
    if sizes is not None:
        item = create_value("tfl.scatter_nd", kind, [reshaped(place, [1, 1]), item, sizes])
    return create_value("tfl.select_v2", op.results[0].type, [here, item, tensor])


def _scalar(number: int) -> ir.Value:
    return pseudo_constant(ir.DenseElementsAttr.get(np.array(number, np.int32)))
