"""Kernels of strings."""
