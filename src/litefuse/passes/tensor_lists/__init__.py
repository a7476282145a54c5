"""Tensor lists as dense tensors."""

from litefuse.passes.tensor_lists.lower import LowerTensorLists

__all__ = ["LowerTensorLists"]
