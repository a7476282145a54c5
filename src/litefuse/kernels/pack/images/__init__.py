"""Kernels for images and pooling windows."""
