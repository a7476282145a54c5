"""Kernels of images and of windows."""
