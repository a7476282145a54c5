"""Recurrent layers: loops and unrolled chains of cells."""
