"""Slices, concatenations, gathers, scatters, diagonals, searches and segments of tensors."""
