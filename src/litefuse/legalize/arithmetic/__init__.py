"""Elementwise functions, running combinations, complex numbers, Fourier transforms."""
