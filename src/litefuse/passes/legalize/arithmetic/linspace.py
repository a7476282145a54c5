"""``LinSpace``: evenly spaced numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, maximum, select
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


@decomposition("LinSpace")
def lin_space(op: TensorFlowOp, b: Builder) -> Tensor:
    """``start + i * (stop - start) / (num - 1)``; the last number is exactly ``stop``, a single one ``start``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linspace.
    """
    op.shape(0, 0)
    op.require(0, "float32")
    start, stop, number = op.operands
    known = op.constants[2]
    count: MixedSize = b.cast(number, "int32") if known is None else int(known)
    if isinstance(count, int) and count < 1:
        raise NotDecomposed(f"it makes {count} numbers")
    last = maximum(count + -1, 1)
    index = b.range(count)
    step = (stop - start) / b.cast(b.scalar(last), "float32")
    numbers = start + step * b.cast(index, "float32")
    return select(equal(index, b.scalar(last)), stop, numbers)
