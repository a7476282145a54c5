"""The dtypes that kernels support, by kind; lists of kernels name these kinds."""

from __future__ import annotations

__all__ = ["ANY", "COMPLEX", "FLOATS", "INDICES", "INTEGERS", "NUMBERS", "REAL"]

INDICES = ("int32", "int64")
INTEGERS = ("int8", "int16", *INDICES, "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = (*INTEGERS, *FLOATS)
NUMBERS = (*REAL, *COMPLEX)
ANY = ("bool", *NUMBERS)
