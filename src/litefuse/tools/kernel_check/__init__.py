"""Compares the kernels of a library with what they stand for, on the calls that a model has of them."""
