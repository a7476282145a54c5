"""TensorFlow in a process of its own: the reference that converted models are compared with.

The lowering engine and TensorFlow cannot live in one process, so the test process never imports TensorFlow. It sends
the name of a module-level function and its arguments; the function runs over there as ``function(tf, *args)``.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy.typing as npt

from tests.tensorflow import saved_models

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
Call: TypeAlias = tuple[str, Arrays]
"""A signature's name and its inputs."""

REPOSITORY = Path(__file__).resolve().parents[2]
FORBIDDEN = frozenset({"keras", "tensorflow", "tf_keras"})


class RemoteError(Exception):
    """A function failed in the TensorFlow process; the text is its traceback.

    Attributes:
        kind: The name of the exception's class over there.
    """

    def __init__(self, kind: str, traceback: str) -> None:
        super().__init__(kind, traceback)
        self.kind = kind
        self.traceback = traceback

    def __str__(self) -> str:
        return f"{self.kind} in the TensorFlow process:\n{self.traceback}"


class TensorFlow:
    """A TensorFlow process, started by the first call.

    Args:
        directory: Where SavedModels are written.
        timeout: Seconds that one call may take.
    """

    def __init__(self, directory: Path, *, timeout: float = 900.0) -> None:
        self.directory = directory
        self.timeout = timeout
        self._saved: dict[bytes, Path] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._connection, self._far_end = multiprocessing.Pipe()

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """``function(tf, *args)`` in the TensorFlow process.

        Args:
            function: A function at the top level of a module.
            *args: Its arguments after ``tf``; pickled.

        Raises:
            RemoteError: The function raised.
            RuntimeError: The process died or took too long; the text ends with what it wrote.
        """
        if "<locals>" in function.__qualname__:
            raise TypeError(f"{function.__qualname__} is not at the top level of its module")
        if self._process is None:
            self._start()
        try:
            self._connection.send_bytes(pickle.dumps((function.__module__, function.__qualname__, args)))
            if not self._connection.poll(self.timeout):
                self._kill()
                self.close()
                raise RuntimeError(f"{function.__qualname__} took more than {self.timeout} s\n{self._written()}")
            answer = self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise RuntimeError(
                f"the TensorFlow process died in {function.__qualname__}: {self._ending()}\n{self._written()}"
            ) from error
        kind, value = _AnswerUnpickler(BytesIO(answer)).load()
        if kind is not None:
            raise RemoteError(kind, value)
        return value

    def save(self, builder: Callable[..., Any], *args: Any) -> Path:
        """The SavedModel of what ``builder(tf, *args)`` returns, built once a session.

        Args:
            builder: Returns a module, ``(module, signatures)``, or a Keras model (written by ``model.export``).
            *args: Arguments after ``tf``.
        """
        key = pickle.dumps((builder.__module__, builder.__qualname__, args))
        if key not in self._saved:
            path = self.directory / f"{len(self._saved):03d}_{builder.__name__}"
            self.call(saved_models.save, str(path), builder, args)
            self._saved[key] = path
        return self._saved[key]

    def run(
        self, path: Path, inputs: Arrays, signature: str = "serving_default", calls: int = 2
    ) -> list[dict[str, npt.NDArray[Any]]]:
        """The outputs of ``calls`` calls in a row on a freshly loaded SavedModel; state stays between them."""
        return self.run_calls(path, [(signature, inputs)] * calls)

    def run_calls(self, path: Path, calls: Sequence[Call]) -> list[dict[str, npt.NDArray[Any]]]:
        """The outputs of each call, in turn, on a freshly loaded SavedModel; state stays between them."""
        return self.call(saved_models.run, str(path), [(name, dict(inputs)) for name, inputs in calls])

    def stock_convert(self, path: Path, **options: Any) -> bytes | str:
        """What ``tf.lite.TFLiteConverter`` makes of a SavedModel, or the text of its error.

        Args:
            path: The SavedModel's folder.
            **options: Attributes of the converter, such as ``allow_custom_ops=True``, and ``signature_keys``.
        """
        return self.call(saved_models.stock_convert, str(path), options)

    @property
    def died(self) -> bool:
        """Whether the process was started and is no more."""
        return self._process is not None and self._process.poll() is not None

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        if self._process is not None and self._process.poll() is None:
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._kill()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _start(self) -> None:
        environment = os.environ | {
            "ABSL_MIN_LOG_LEVEL": "2",
            "CUDA_VISIBLE_DEVICES": "",
            "KERAS_BACKEND": "tensorflow",
            "PYTHONUNBUFFERED": "1",
            "TF_CPP_MIN_LOG_LEVEL": "2",
            "TF_ENABLE_ONEDNN_OPTS": "0",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.tensorflow.worker", str(self._far_end.fileno())],
            cwd=REPOSITORY,
            env=environment,
            pass_fds=[self._far_end.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # an interrupt of the test run is for the test process
        )
        self._far_end.close()  # only the worker holds it now, so that its death is an end of file here

    def _ending(self) -> str:
        assert self._process is not None
        code = self._process.wait(timeout=60)
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def _written(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-10_000:]


class _AnswerUnpickler(pickle.Unpickler):
    """Refuses answers that would import TensorFlow into this process."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if module_name.partition(".")[0] in FORBIDDEN:
            raise pickle.UnpicklingError(f"the answer holds a {module_name}.{global_name}: return numpy arrays")
        return super().find_class(module_name, global_name)
