"""The process that conversions run in.

It serves jobs from a connection until that closes. Each request names a function (``package.module:function``) and
brings its argument; while it works, the process sends ``("step", name)``, at the end ``("done", result)`` or
``("failed", exception)``.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import pkgutil
import traceback
from collections.abc import Callable
from typing import Any

from litefuse.engine.pages import release_library_pages
from litefuse.errors import LitefuseError

__all__ = ["main"]


def main(receive_fd: int, send_fd: int, module: str) -> None:
    """Serves jobs; ``receive_fd`` and ``send_fd`` are inherited pipe ends, ``module`` is imported before any comes."""
    gc.disable()  # what is imported stays, and a job makes few cycles: looking for them takes a twentieth of the time
    if module:
        with contextlib.suppress(Exception):  # the job that needs it says what is wrong
            importlib.import_module(module)
        gc.freeze()
        release_library_pages()
    with os.fdopen(receive_fd, "rb") as requests, os.fdopen(send_fd, "wb") as answers:

        def send(kind: str, value: Any) -> None:
            answers.write(pickle.dumps((kind, value)))
            answers.flush()

        while True:
            try:
                target, argument = pickle.load(requests)
            except EOFError:
                return
            send(*_run(target, argument, lambda step: send("step", step)))
            gc.collect()  # an MLIR context owns the weights of its conversion: free it before the next one


def _run(target: str, argument: Any, announce: Callable[[str], None]) -> tuple[str, Any]:
    try:
        return "done", pkgutil.resolve_name(target)(argument, announce)
    except LitefuseError as error:
        return "failed", error.with_traceback(None)
    except RecursionError:
        return "failed", LitefuseError("the model nests functions or data too deeply", hint="Simplify the model.")
    except MemoryError:
        return "failed", LitefuseError("out of memory")
    except SystemExit as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return "failed", LitefuseError(
            f"sys.exit({error.code!r}) was called, which would end the conversion process",
            where=f"{frame.filename}, line {frame.lineno}",
            hint="Raise an exception in conversion code; litefuse.LitefuseError is shown as it is.",
        )
    except OSError as error:
        return "failed", LitefuseError(f"{error.strerror or error}", where=str(error.filename or ""))
    except Exception as error:  # noqa: BLE001  whatever is left is our mistake, and a traceback in another process is lost
        trace = "".join(traceback.format_exception(error))
        return "failed", LitefuseError(
            f"{type(error).__name__}: {error}", hint=f"This is a bug in litefuse; please report it:\n{trace}"
        )
