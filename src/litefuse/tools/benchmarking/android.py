"""Runs LiteRT's ``benchmark_model`` on an Android device, through ``adb``."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import LitefuseError
from litefuse.support.files.readable import check_file
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.processes.limits import process_limits
from litefuse.support.report.printable import printable
from litefuse.tools.benchmarking.tool_output import ToolRun, tool_run

__all__ = ["Device", "Profile", "ToolJob", "find_device"]

_FOLDER = "/data/local/tmp"
_TAIL = 12
# The model of the device, and its processor: one of the two.
_PROPERTIES = ("ro.product.model", "ro.soc.model", "ro.board.platform")
_TOOL = (
    "It is LiteRT's tool for the device's processor: build //tflite/tools/benchmark:benchmark_model of LiteRT for "
    "android_arm64, or take a build of it from LiteRT's page on measuring performance. Name its file: on the command "
    "line --benchmark-binary FILE, in Python benchmark_binary=FILE."
)
_ADB = "Install Android's platform tools (the package adb or android-tools), so that the command adb is found."


class ToolJob(NamedTuple):
    """One measurement for the tool to make.

    Attributes:
        model: The model's file on this machine.
        signature: The key of the signature; None for a model without.
        inputs: The values of the subgraph's inputs, in their order.
        threads: How many threads the runtime uses.
        xnnpack: Whether it may use XNNPACK.
        warm_up: The number of calls, after the first, that do not count.
        calls: The largest number of calls that count.
        seconds: How long these may take.
    """

    model: Path
    signature: str | None
    inputs: Sequence[npt.NDArray[Any]]
    threads: int
    xnnpack: bool
    warm_up: int
    calls: int
    seconds: float


class Profile(NamedTuple):
    """The tool's data about ops: ``BenchmarkProfilingData`` and ``ModelRuntimeDetails``, serialized."""

    times: bytes
    runtime_info: bytes


def find_device(
    serial: str, binary: str | os.PathLike[str] | None, on_step: Callable[[str], None] = lambda _: None
) -> Device:
    """Finds adb, the tool and the device.

    Args:
        serial: The device's serial number; empty for the only one.
        binary: The tool's file on this machine.
        on_step: Called with each step when it begins.

    Raises:
        LitefuseError: One of them is missing.
    """
    adb = shutil.which("adb")
    if adb is None:
        raise LitefuseError("the command adb, which runs the model on a device, is missing", hint=_ADB)
    if binary is None:
        raise LitefuseError("the tool that runs on the device, benchmark_model, is not named", hint=_TOOL)
    path = check_file(binary, folder=_TOOL)
    device = Device([adb, *(["-s", serial] if serial else [])], path, on_step)
    device.read_name()
    return device


class Device:
    """A device and the tool for it.

    Args:
        adb: The command.
        binary: The tool's file on this machine.
        on_step: Called with each step when it begins.

    Attributes:
        name: The device's model.
        processor: Its processor, as far as it tells.
    """

    def __init__(self, adb: Sequence[str], binary: Path, on_step: Callable[[str], None]) -> None:
        self._adb = adb
        self._on_step = on_step
        self._binary = binary
        self.name = self.processor = ""

    def read_name(self) -> None:
        """Asks the device for its name.

        Raises:
            LitefuseError: It does not answer.
        """
        output = self._run("shell", "; ".join(f"getprop {name}" for name in _PROPERTIES))
        model, *processors = [*map(str.strip, output.splitlines()), *[""] * len(_PROPERTIES)]
        self.name = model or "Android device"
        self.processor = next(filter(None, processors), "")

    @contextmanager
    def prepared(self, job: ToolJob) -> Generator[str]:
        """Makes a folder on the device with the tool, the model and its inputs, which lasts as long as the context.

        Yields:
            The folder.

        Raises:
            LitefuseError: The device takes none.
        """
        folder = f"{_FOLDER}/litefuse-{secrets.token_hex(8)}"
        self._run("shell", f"mkdir {folder}")
        try:
            self._run("push", str(self._binary), f"{folder}/benchmark_model")
            self._run("push", str(job.model), f"{folder}/model.tflite")
            with make_temporary_folder() as place:
                for number, value in enumerate(job.inputs):
                    path = Path(place) / f"input{number}"
                    path.write_bytes(_content(value))
                    self._run("push", str(path), f"{folder}/input{number}")
            yield folder
        finally:
            with suppress(LitefuseError):  # the device may be gone
                self._run("shell", f"rm -rf {folder}")

    def measure(self, folder: str, job: ToolJob) -> ToolRun:
        """Runs the tool in a prepared folder.

        Raises:
            LitefuseError: It fails, or does not tell the times.
        """
        return self._tool(folder, job, [])

    def profile(self, folder: str, job: ToolJob) -> tuple[ToolRun, Profile]:
        """Runs the tool, which times the ops.

        Raises:
            LitefuseError: It fails, or does not know how to write the times.
        """
        options = [
            "--enable_op_profiling=true",
            "--op_profiling_output_mode=proto",
            f"--op_profiling_output_file={folder}/times",
            "--export_model_runtime_info=true",
            f"--model_runtime_info_output_file={folder}/info",
        ]
        run = self._tool(folder, job, options)
        with make_temporary_folder() as place:
            for name in ("times", "info"):
                self._run("pull", f"{folder}/{name}", str(Path(place) / name))
            return run, Profile(*((Path(place) / name).read_bytes() for name in ("times", "info")))

    def _tool(self, folder: str, job: ToolJob, options: Sequence[str]) -> ToolRun:
        words = [
            f"{folder}/benchmark_model",
            f"--graph={folder}/model.tflite",
            f"--num_threads={job.threads}",
            f"--use_xnnpack={'true' if job.xnnpack else 'false'}",
            f"--warmup_runs={job.warm_up + 1}",
            "--warmup_min_secs=0",
            f"--num_runs={job.calls}",
            "--min_secs=0",
            f"--max_secs={job.seconds:g}",
            *([] if job.signature is None else [f"--signature_to_run_for={job.signature}"]),
            *_inputs(folder, job.inputs),
            *options,
        ]
        output = self._run("shell", f"chmod 755 {words[0]} && {shlex.join(words)}")
        run = tool_run(output)
        if run is None:
            raise LitefuseError(
                f"the tool did not tell how long calls take; it printed:\n{_tail(output)}",
                where=str(self._binary),
                hint="Is it LiteRT's benchmark_model?",
            )
        return run

    def _run(self, *arguments: str) -> str:
        """Runs adb, and returns what it prints."""
        limits = process_limits()
        command = [*self._adb, *arguments]
        step = f"adb {arguments[0]}"
        limits.check_time(step)
        self._on_step(f"adb: {arguments[0]}")
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                timeout=limits.remaining,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise limits.out_of_time(step) from None
        except OSError as error:
            raise LitefuseError(f"adb cannot be run: {error.strerror or error}", hint=_ADB) from error
        output = done.stdout.decode("utf-8", "replace")
        if done.returncode:
            told = _tail(f"{output}\n{done.stderr.decode('utf-8', 'replace')}")
            raise LitefuseError(
                f"{step} failed (exit code {done.returncode}):\n{told}",
                hint="adb devices lists the devices; with several, name one: --adb=SERIAL. Custom ops need a tool that "
                "has their kernels.",
            )
        return output


def _inputs(folder: str, inputs: Sequence[npt.NDArray[Any]]) -> list[str]:
    """Returns the options for inputs; the tool tells them by their order, so that they need no names of the model.

    With none of them, the tool draws inputs.
    """
    if not all(value.shape for value in inputs):  # the tool takes no scalars from files
        return []
    if not inputs:
        return []
    names = [f"input{number}" for number in range(len(inputs))]
    shapes = [",".join(map(str, value.shape)) for value in inputs]
    return [
        f"--input_layer={','.join(names)}",
        f"--input_layer_shape={':'.join(shapes)}",
        f"--input_layer_value_files={','.join(f'{name}:{folder}/{name}' for name in names)}",
    ]


def _content(value: npt.NDArray[Any]) -> bytes:
    """Returns a value as the tool reads it: the bytes of numbers in their order, strings each with a zero behind."""
    if value.dtype.kind not in "OSU":
        return np.ascontiguousarray(value).tobytes()
    texts = [each if isinstance(each, bytes) else str(each).encode() for each in value.reshape(-1).tolist()]
    return b"".join(text.replace(b"\0", b" ") + b"\0" for text in texts)


def _tail(output: str) -> str:
    """Returns the last lines of an output, with what a terminal could take for commands as escapes."""
    lines = [line for line in output.splitlines() if line.strip()][-_TAIL:]
    return printable("\n".join(lines))
