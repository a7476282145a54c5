"""Output of plug-ins in the converting process, passed on to the user with the plug-in's name."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any, TextIO, TypeAlias

#: Takes the stream (``stdout`` or ``stderr``), the plug-in's name, and a line.
Say: TypeAlias = "Callable[[str, str, str], None]"

# Packages that litefuse calls and that are not plug-ins: what they print is for developers of litefuse.
_CALLED = frozenset(
    {
        *("absl", "ai_edge_litert", "ai_edge_quantizer", "click", "cloudpickle", "ethosu", "flatbuffers", "google"),
        *("h5py", "jax", "jaxlib", "keras", "litert_converter", "litert_quantizer", "llvmlite", "ml_dtypes", "mlir"),
        *("numba", "numpy", "re2", "rich", "tensorflow", "tf_keras"),
    }
)


def speaker(frame: FrameType | None) -> str | None:
    """Returns the name of the plug-in whose code is running; None if litefuse's own is.

    Args:
        frame: The innermost frame. The plug-in is the code that litefuse called last.

    Returns:
        The name of its distribution if it has entry points, else of its module or script.
    """
    called: FrameType | None = None
    while frame is not None:
        package = _module(frame).partition(".")[0]
        if package == "litefuse":
            break
        if package not in sys.stdlib_module_names:
            called = frame
        frame = frame.f_back
    if called is None:
        return None
    from litefuse.support.plug_ins.entry_points import find_plug_ins

    module = _module(called)
    package = module.partition(".")[0]
    if package in _CALLED:
        return None
    if module == "__main__":
        return Path(called.f_code.co_filename).name
    named = (plug_in.package for plug_in in find_plug_ins() if plug_in.module.partition(".")[0] == package)
    return next(filter(None, named), module)


def _caller() -> FrameType | None:
    """Returns the frame that calls the function that calls this."""
    import inspect  # few plug-ins print, and the process of a conversion starts sooner without it

    frame = inspect.currentframe()
    for _ in range(2):
        frame = None if frame is None else frame.f_back
    return frame


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


class Voice:
    """A standard stream of which lines that plug-ins write are also sent to the user, once they are complete.

    Args:
        stream: The stream.
        name: ``stdout`` or ``stderr``.
        tell: Takes the lines.
    """

    def __init__(self, stream: TextIO, name: str, tell: Say) -> None:
        self._stream = stream
        self._name = name
        self._tell = tell
        self._begun: defaultdict[str, str] = defaultdict(str)
        self._process = os.getpid()

    def write(self, text: str) -> int:
        return self._heard(text, speaker(_caller()))

    def _heard(self, text: str, plug_in: str | None) -> int:
        if plug_in is not None and os.getpid() == self._process:  # a fork must not write into the connection
            *lines, self._begun[plug_in] = (self._begun[plug_in] + text).split("\n")
            for line in lines:
                self._tell(self._name, plug_in, line)
        return self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        plug_in = speaker(_caller())
        for line in lines:
            self._heard(line, plug_in)

    def end_lines(self) -> None:
        """Sends the lines that have no end."""
        for plug_in, text in self._begun.items():
            if text:
                self._tell(self._name, plug_in, text)
        self._begun.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def give_voice(tell: Say) -> Callable[[], None]:
    """Has plug-ins heard that print in this process; ``breakpoint()`` says where there is a terminal.

    Args:
        tell: Takes the lines.

    Returns:
        The function to call at the end of a job.
    """
    voices: list[Voice] = []
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is not None:
            voices.append(Voice(stream, name, tell))
            setattr(sys, name, voices[-1])

    def breakpoint_here(*arguments: Any, **keywords: Any) -> Any:
        if os.environ.get("PYTHONBREAKPOINT", "") not in {"", "pdb.set_trace"}:  # one that needs no terminal, or none
            return sys.__breakpointhook__(*arguments, **keywords)  # noqa: T100
        frame = _caller()
        place = "" if frame is None else f"{frame.f_code.co_filename}, line {frame.f_lineno}"
        told = f"breakpoint() is passed over in this process, which has no terminal ({place}); run it with --in-process"
        tell("stderr", speaker(frame) or "litefuse", f"{told}, or litefuse.convert(..., in_process=True)")
        return None

    sys.breakpointhook = breakpoint_here

    def end_lines() -> None:
        for voice in voices:
            voice.end_lines()

    return end_lines


def say(stream: str, plug_in: str, line: str) -> None:
    """Prints a line that a plug-in printed in a child process."""
    target: TextIO | None = sys.stderr if stream == "stderr" else sys.stdout
    if target is None:
        return
    text = f"[{plug_in}] {line}\n"
    encoding = getattr(target, "encoding", None) or "utf-8"
    with contextlib.suppress(OSError, ValueError):  # it is closed, or full: that ends no conversion
        target.write(text.encode(encoding, "backslashreplace").decode(encoding))
        target.flush()
