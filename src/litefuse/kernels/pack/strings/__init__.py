"""Kernels for strings."""
