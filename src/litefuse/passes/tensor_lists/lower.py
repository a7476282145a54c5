"""The pass that makes dense tensors of tensor lists."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import ir
from litefuse.passes.tensor_lists.list_ops import has_lists

__all__ = ["LowerTensorLists"]


class LowerTensorLists:
    """Makes a dense tensor ``[length, *item]`` of every tensor list, also where loops and branches hand it on::

        %l = tf.TensorListReserve(%shape, %n)       %l = tf.Fill([%n, %batch, 5], 0)
        %m = tf.TensorListSetItem(%l, %i, %x)  -->  %m = tf.XlaDynamicUpdateSlice(%l, tf.ExpandDims(%x, 0), [%i, 0, 0])
        %y = tf.TensorListGetItem(%m, %i)           %y = tf.GatherV2(%m, %i)
        %s = tf.TensorListStack(%m)                 %s = %m

    The runtime has no lists. An item that was never written is zeros, in a list as in the tensor. How large the items
    are, which a list need not know when it is made, is worked out from what is written into it, in terms of values that
    are there before the loop. A list that nothing is taken out of becomes a constant.
    """

    name: ClassVar[str] = "lower-tensor-lists"

    def run(self, module: ir.Module) -> bool:
        if not any(map(has_lists, functions(module).values())):
            return False
        # Most models have no lists, and need nothing of what makes tensors of them.
        from litefuse.passes.tensor_lists.dense_lists import make_dense

        make_dense(module)
        return True
