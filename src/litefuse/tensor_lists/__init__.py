"""Tensor lists as dense tensors."""

from litefuse.tensor_lists.lower import LowerTensorLists

__all__ = ["LowerTensorLists"]
