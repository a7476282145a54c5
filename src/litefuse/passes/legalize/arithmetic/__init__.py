"""Elementwise functions, scans, complex numbers, Fourier transforms."""
