"""The kernel pack in numpy, which is also its specification; its forms in C++ are in ``native``."""
