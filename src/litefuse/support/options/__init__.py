"""Conversion options: forms of composites, input shapes, limits, allowed custom ops."""
