"""Kernels of numbers."""
