"""Looks at the engine, the runtime, kernels, the compiler and plug-ins by trying them."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from litefuse.errors import EngineCrashError, LitefuseError, MissingEngineError
from litefuse.ir.installation import REQUIREMENT, check_engine, has_packages
from litefuse.support.plug_ins.entry_points import PlugIn, find_plug_ins, what_was_raised
from litefuse.support.processes.limits import ProcessLimits, processes_limited
from litefuse.support.processes.process import run_alone
from litefuse.tools.environment.finding import Finding, State
from litefuse.tools.environment.machine import version_of

_PROBES = "litefuse.tools.environment.software"
# How long each may take: what hangs must not hang the diagnosis.
_SECONDS = 20.0
_COMPILER_SECONDS = 5.0


def engine() -> Iterator[Finding]:
    """Loads the lowering engine; it is needed where there are packages of it."""
    here = has_packages(sys.implementation.name, sys.version_info, platform.system(), platform.machine())
    try:
        check_engine()
    except MissingEngineError as error:
        yield Finding("core", "engine", "missing", f"convert is not possible: {error.message}", error.hint, needed=here)
        return
    state, text = _tried("load_engine", f"litert-converter {version_of('litert-converter')}")
    hint = "" if state == "works" else f"convert is not possible. pip install --force-reinstall '{REQUIREMENT}'"
    yield Finding("core", "engine", state, text, hint, needed=True)


def runtime() -> Iterator[Finding]:
    """Loads the runtime, and runs a small model."""
    package = "ai-edge-litert"
    state, text = _tried("run_small_model", f"{package} {version_of(package)}, runs a small model")
    hint = "" if state == "works" else f"Models cannot be run. pip install --force-reinstall {package}"
    yield Finding("core", "runtime", state, text, hint, needed=True)


def native_kernels() -> Iterator[Finding]:
    """Loads the library of kernels in C++."""
    from litefuse.kernels import PACK, native_library

    path = native_library()
    yield Finding("kernels", "in Python", "works", f"{len(PACK)} kernels, in numpy")
    if path is None:
        text = "none: litefuse was installed without a C++ compiler, or LITEFUSE_KERNELS_LIBRARY is empty"
        hint = "The slower Python kernels are used instead. Install a compiler, then reinstall litefuse."
        yield Finding("kernels", "in C++", "missing", text, hint)
        return
    results: list[Any] = []
    state, text = _tried("load_kernels", "", results)
    if state == "works":
        text = f"{results[0]} kernels, in {path}"
    yield Finding("kernels", "in C++", state, text, "" if state == "works" else "Reinstall litefuse.")


def compiler() -> Iterator[Finding]:
    """Looks for a C++ compiler."""
    from litefuse.litert.cpp.compiler import find_compiler

    name, purpose = "C++ compiler", "kernels build, kernels generate and --composites NAME=generate"
    try:
        command = find_compiler()
        ask = [*command, "--version"]
        done = subprocess.run(ask, check=False, capture_output=True, timeout=_COMPILER_SECONDS)
    except LitefuseError as error:
        yield Finding("kernels", name, "missing", f"{purpose} are not possible: {error.message}", error.hint)
    except (OSError, subprocess.SubprocessError) as error:
        yield Finding("kernels", name, "broken", f"{purpose} are not possible: {error}")
    else:
        first = next(iter(done.stdout.decode(errors="replace").splitlines()), "") or "version unknown"
        state: State = "works" if done.returncode == 0 else "broken"
        yield Finding("kernels", name, state, f"{' '.join(command)}: {first}")


def plug_ins() -> Iterator[Finding]:
    """Loads the plug-ins of installed packages."""
    installed = find_plug_ins()
    if not installed:
        yield Finding("plug-ins", "plug-ins", "works", "none are installed")
    for plug_in, problem in zip(installed, _problems(installed), strict=True):
        kind = "library" if plug_in.is_library else plug_in.group.removeprefix("litefuse.")
        what = f"{plug_in.name} ({kind.replace('litefuse', 'module')}) of {plug_in.package or plug_in.module}"
        hint = f"Update or remove {plug_in.package or plug_in.module}." if problem else ""
        yield Finding("plug-ins", what, "broken" if problem else "works", problem or plug_in.value, hint)


def _problems(installed: tuple[PlugIn, ...]) -> list[str]:
    """Returns for each plug-in why it does not load; one that ends the process does not hide those behind it."""
    problems: list[str] = []
    while len(problems) < len(installed):
        loaded: list[str] = []
        try:
            _run("load_plug_ins", installed[len(problems) :], loaded)
            problems += loaded
        except LitefuseError as error:
            problems += [*loaded, _death(error)]
    return problems


def _tried(probe: str, text: str, results: list[Any] | None = None) -> tuple[State, str]:
    """Runs a probe; returns whether it works, and a text."""
    try:
        result = _run(probe, None, [])
    except LitefuseError as error:
        return "broken", _death(error)
    if results is not None:
        results.append(result)
    return "works", text


def _run(probe: str, argument: object, steps: list[str]) -> Any:
    with processes_limited(ProcessLimits(timeout=_SECONDS)):
        return run_alone(f"{_PROBES}:{probe}", argument, environment={}, announce=steps.append)


def _death(error: LitefuseError) -> str:
    if isinstance(error, EngineCrashError):
        _, _, said = error.message.partition("\n")
        return f"it ends the process ({error.death}) in the step {error.step!r}" + (f": {said}" if said else "")
    return error.message


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
