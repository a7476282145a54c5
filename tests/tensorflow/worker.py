"""The TensorFlow process: answers calls until the other end of the connection closes.

Started as ``python -m tests.tensorflow.worker FILE_DESCRIPTOR``.
"""

from __future__ import annotations

import functools
import gc
import importlib
import pickle
import sys
import traceback
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_FEW = 50  # so many modules may come without being left out as well


def main() -> None:
    """Answer every ``(module, function, args)`` with ``(None, result)`` or ``(exception's name, traceback)``."""
    # An import of the lowering engine here is a mistake that would end in a crash far away: make it an ImportError.
    sys.modules["litert_converter"] = None  # pyright: ignore[reportArgumentType]
    connection: Connection[Any, Any] = Connection(int(sys.argv[1]))
    import tensorflow as tf

    frozen = 0
    while True:
        if len(sys.modules) > frozen:
            # What modules hold stays. Collecting garbage without looking at it takes a millisecond, not 200, so that
            # writing or running a small model takes a third of the time.
            gc.collect()
            gc.freeze()
            frozen = len(sys.modules) + _FEW
        try:
            request = connection.recv_bytes()
        except EOFError:
            return
        connection.send_bytes(_answer(tf, request))


def _answer(tf: Any, request: bytes) -> bytes:
    try:
        module, name, args = pickle.loads(request)
        function: Callable[..., Any] = functools.reduce(getattr, name.split("."), importlib.import_module(module))
        return pickle.dumps((None, function(tf, *args)))
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller hears of it
        return pickle.dumps((type(error).__name__, traceback.format_exc()))


if __name__ == "__main__":
    main()
