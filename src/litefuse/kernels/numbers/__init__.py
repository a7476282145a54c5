"""Numeric kernels."""
