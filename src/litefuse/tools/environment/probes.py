"""Probes that may crash, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.support.plug_ins.entry_points import PlugIn, what_was_raised

#: A LiteRT model that computes ``y = 2 x + 1``; made by ``scripts/make_small_model.py``.
SMALL_MODEL = Path(__file__).with_name("small_model.tflite")


def load_engine(_: object, announce: Callable[[str], None]) -> str:
    """Loads the lowering engine, and has it run on an empty module.

    Raises:
        LitefuseError: It cannot be imported.
    """
    announce("import")
    from litefuse.ir.mlir import mlir_context

    announce("lower")
    with mlir_context():
        return ""


def run_small_model(_: object, announce: Callable[[str], None]) -> str:
    """Loads the runtime, and runs a small model.

    Raises:
        LitefuseError: It cannot be imported, does not run, or computes something wrong.
    """
    announce("import")
    try:
        import numpy as np

        from litefuse.litert.runtime.interpreter import Interpreter
    except ImportError as error:
        raise LitefuseError(f"it cannot be imported: {error}") from error
    announce("run")
    interpreter = Interpreter(SMALL_MODEL)
    x = np.array([[1.0, -2.5, 4.0]], np.float32)
    (y,) = interpreter.get_signature_runner()(x=x).values()
    if not np.array_equal(y, 2 * x + 1):
        raise LitefuseError(f"it computes 2 x + 1 wrong: {y.tolist()} for {x.tolist()}")
    return ""


def load_kernels(_: object, announce: Callable[[str], None]) -> int:
    """Loads the library of native kernels, and returns how many there are.

    Raises:
        LitefuseError: It cannot be loaded.
    """
    announce("import")
    from litefuse.litert.runtime.native import pack

    announce("load")
    kernels = pack()
    return 0 if kernels is None else len(kernels.names)


def load_plug_ins(plug_ins: tuple[PlugIn, ...], announce: Callable[[str], None]) -> None:
    """Loads plug-ins, and announces for each why that fails; an empty text if it does not."""
    for plug_in in plug_ins:
        problem = ""
        try:
            loaded = plug_in.load()
            if plug_in.is_library:
                from litefuse.litert.runtime.loading import register_library

                register_library(str(loaded), plug_in)
        except BaseException as error:  # noqa: BLE001  code of others may raise anything, and exit
            problem = what_was_raised(error)
        announce(problem)
