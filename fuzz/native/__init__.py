"""Calls of the kernel pack's kernels, in C++ and in numpy, through the delegate."""
