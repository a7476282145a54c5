"""Updates of strings at some places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.constants import strings_of_constant
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

__all__ = ["ScatteredStrings"]


@decomposition("TensorScatterUpdate", order=-1)
# The numbers' own rewriting comes before the engine.
@before_engine("TensorScatterUpdate", dtypes=("string",), order=-1)
class ScatteredStrings(Decomposition):
    """The op on the numbers of the strings, and a gather of all strings, joined, at these.

    LiteRT does not join strings: the pack's kernel of ConcatV2 does.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        if op.types[0].dtype != "string":
            raise NotDecomposed(f"it is of {op.types[0].dtype}")
        op.shape(0)
        op.shape(2)
        tensor, indices, updates = op.operands
        old, new = b.sizes(tensor), b.sizes(updates)
        count, number = b.product(old), b.product(new)
        numbers = b.range(count + number)
        operands = [b.reshape(b.slice(numbers, 0, 0, count), old), indices]
        operands.append(b.reshape(b.slice(numbers, 0, count, None), new))
        places = b.op(op.name, operands, tensor.shape, "int32")
        strings = b.concat([_flat(b, tensor, count), _flat(b, updates, number)], 0)
        return b.gather(strings, places)


def _flat(b: Builder, strings: Tensor, count: int | Tensor) -> Tensor:
    """Emits the strings as a vector; constants as one, for the fault ``reshaped-constant-strings``."""
    known = strings_of_constant(strings)
    return b.reshape(strings, [count]) if known is None else b.strings(known.reshape(-1))
