"""Capture of what a target's software prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["logged"]


@contextmanager
def logged(path: str) -> Generator[Path]:
    """Sends the standard streams of this process to a file, which is empty at first, during the context.

    Native libraries write to the streams' numbers, so these are what is redirected.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    kept = [os.dup(number) for number in (1, 2)]
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    try:
        for number in (1, 2):
            os.dup2(file, number)
        yield Path(path)
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, old in zip((1, 2), kept, strict=True):
            os.dup2(old, number)
            os.close(old)
        os.close(file)
