"""Tensor lists as dense tensors."""
