"""Slices, pieces, places, orders and segments of tensors."""
