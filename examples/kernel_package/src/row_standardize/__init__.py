"""RowStandardize for LiteRT: conversion code, and a kernel in C++."""

import sys
from pathlib import Path

_SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")


def library() -> str:
    """Returns the path of the kernels, for ``ai_edge_litert.interpreter.load_delegate``."""
    return str(Path(__file__).with_name(f"kernels{_SUFFIX}"))
