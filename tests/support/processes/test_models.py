"""A runtime or kernel that dies: a message in `run`, `verify` and `verify_model`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import litefuse
from litefuse.errors import KernelError, LitefuseError, ModelCrashError
from tests.litert.runtime.models import Graph, model

DEATHS = {
    "SIGSEGV": "import ctypes; ctypes.string_at(0)",
    "SIGABRT": "os.abort()",
    "SIGFPE": "os.kill(os.getpid(), signal.SIGFPE)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "exit code 3": "os._exit(3)",
}
# What a command ends with where a model does not run.
CODES = {"run": 1, "verify": 4}

KERNEL = """
import os
import signal
import sys
import litefuse

AT_IMPORT

@litefuse.custom_op("MyOp")
class Kernel(litefuse.CustomOp):
    def prepare(self, x):
        AT_PREPARE
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs, outputs):
        AT_INVOKE
        outputs[0][...] = inputs[0] * 2
"""
STEPS = {
    "AT_IMPORT": "import the kernels",
    "AT_PREPARE": "allocate the tensors, signature 'serve'",
    "AT_INVOKE": "invoke, signature 'serve'",
}


@pytest.fixture(scope="module")
def custom_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``y = MyOp(x)`` for float32 ``x [2]``, with the signature ``serve``."""
    graph = Graph()
    x, y = graph.input("x", (2,)), graph.output("y", (2,))
    graph.custom("MyOp", [x], [y])
    path = tmp_path_factory.mktemp("custom") / "custom.tflite"
    path.write_bytes(model(graph, signatures={"serve": 0}))
    return path


def kernel_file(folder: Path, **code: str) -> Path:
    text = KERNEL
    for place in STEPS:
        text = text.replace(place, code.get(place, "pass"))
    path = folder / "kernel.py"
    path.write_text(text)
    return path


def command(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    arguments = (sys.executable, "-m", "litefuse", *arguments)
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


def files_in(folder: Path) -> list[str]:
    """The names in a folder, but for the bytecode that Python keeps of kernels that it imported."""
    return sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")


def expected_file(folder: Path) -> tuple[str, ...]:
    np.savez(folder / "in.npz", x=np.array([1, 2], np.float32))
    np.savez(folder / "expected.npz", y=np.array([2, 4], np.float32))
    return "--inputs", "in.npz", "--expected", "expected.npz"


@pytest.mark.parametrize("death", DEATHS)
def test_a_death_in_a_kernel_is_a_message_of_run(custom_model: Path, tmp_path: Path, death: str) -> None:
    kernel_file(tmp_path, AT_INVOKE=DEATHS[death])
    done = command(tmp_path, "run", custom_model, "--signature", "serve", "--kernels", "kernel.py", "-o", "out.npz")
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"error: {custom_model}: the process that runs the model died ({death})" in done.stderr
    assert "in the step \"invoke, signature 'serve'\"" in done.stderr
    assert "Traceback" not in done.stderr
    assert ("not enough memory" in done.stderr) == (death == "SIGKILL")
    assert files_in(tmp_path) == ["kernel.py"]  # nor a part of the outputs


@pytest.mark.parametrize("place", STEPS)
@pytest.mark.parametrize("name", ["run", "verify"])
def test_the_message_names_the_step(custom_model: Path, tmp_path: Path, name: str, place: str) -> None:
    kernel_file(tmp_path, **{place: DEATHS["SIGSEGV"]})
    options = expected_file(tmp_path) if name == "verify" else ("--signature", "serve")
    done = command(tmp_path, name, custom_model, *options, "--kernels", "kernel.py")
    assert done.returncode == CODES[name]
    assert "died (SIGSEGV) in the step" in done.stderr
    assert STEPS[place] in done.stderr
    assert "Traceback" not in done.stderr


def test_a_death_after_the_work_is_one_too(custom_model: Path, tmp_path: Path) -> None:
    kernel_file(tmp_path, AT_IMPORT="import atexit; atexit.register(os.abort)")
    done = command(tmp_path, "run", custom_model, "--kernels", "kernel.py")
    assert done.returncode == 1
    assert "died (SIGABRT) in the step 'end'" in done.stderr


def test_what_kernels_print_is_seen(custom_model: Path, tmp_path: Path) -> None:
    kernel_file(
        tmp_path,
        AT_IMPORT="import atexit; atexit.register(print, 'the end')",
        AT_INVOKE="print('to the output'); os.write(1, b'to the file\\n'); print('to the errors', file=sys.stderr)",
    )
    done = command(tmp_path, "run", custom_model, "--kernels", "kernel.py")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert sorted(lines[:3]) == ["the end", "to the file", "to the output"]
    assert "to the errors\n" in done.stderr
    assert ["y", "float32", "[2]"] in [line.split()[:3] for line in lines]


def test_a_kernel_reads_the_standard_input(custom_model: Path, tmp_path: Path) -> None:
    kernel_file(tmp_path, AT_INVOKE="print(input().upper())")
    arguments = (sys.executable, "-m", "litefuse", "run", custom_model, "--kernels", "kernel.py")
    done = subprocess.run(arguments, cwd=tmp_path, input="words\n", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("WORDS\n")


@pytest.mark.parametrize("name", ["run", "verify"])
def test_exceptions_of_kernels_are_shown_as_what_they_are(custom_model: Path, tmp_path: Path, name: str) -> None:
    kernel_file(
        tmp_path,
        AT_IMPORT="class Own(litefuse.LitefuseError):\n  def __init__(self, a, b): super().__init__(f'{a} and {b}')",
        AT_INVOKE="raise Own('this', 'that')",
    )
    options = expected_file(tmp_path) if name == "verify" else ()
    done = command(tmp_path, name, custom_model, *options, "--kernels", "kernel.py")
    assert (done.returncode, done.stdout) == (CODES[name], "")
    assert "error: custom op MyOp, node 'y': this and that\n" in done.stderr
    done = command(tmp_path, "--debug", name, custom_model, *options, "--kernels", "kernel.py")
    assert 'kernel.py", line' in done.stderr  # the traceback of the process that ran it


def test_sys_exit_in_a_kernel(custom_model: Path, tmp_path: Path) -> None:
    kernel_file(tmp_path, AT_INVOKE="sys.exit(0)")
    done = command(tmp_path, "run", custom_model, "--kernels", "kernel.py")
    assert done.returncode == 1
    assert "sys.exit(0) was called" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("everybody", [True, False])
def test_an_interrupt_ends_the_process_of_the_model(
    custom_model: Path, tmp_path: Path, number: signal.Signals, code: int, everybody: bool
) -> None:
    kernel_file(tmp_path, AT_INVOKE="open('pid', 'w').write(f'{os.getpid()}\\n'); import time; time.sleep(600)")
    arguments = (sys.executable, "-m", "litefuse", "run", custom_model, "--kernels", "kernel.py", "-o", "out.npz")
    process = subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    written = tmp_path / "pid"
    deadline = time.monotonic() + 60
    while not (written.exists() and written.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if everybody and number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert (out, "Traceback" in err) == ("", False)
    with pytest.raises(ProcessLookupError):
        os.kill(int(written.read_text()), 0)
    assert files_in(tmp_path) == ["kernel.py", "pid"]


class Doubling(litefuse.CustomOp):
    op_name = "MyOp"

    def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:  # type: ignore[type-arg]
        outputs[0][...] = inputs[0] * 2


class Dying(Doubling):
    def invoke(self, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:  # type: ignore[type-arg]
        os.kill(os.getpid(), signal.SIGSEGV)


X, Y = {"x": np.array([1, 2], np.float32)}, {"y": np.array([2, 4], np.float32)}


def test_verify_model_runs_kernels_elsewhere(custom_model: Path) -> None:
    assert litefuse.verify_model(custom_model, inputs=X, expected=Y, custom_ops=[Doubling]).ok
    with pytest.raises(ModelCrashError, match=r"died \(SIGSEGV\)") as caught:
        litefuse.verify_model(custom_model, inputs=X, expected=Y, custom_ops=[Dying])
    assert caught.value.step == "invoke, signature 'serve'"
    assert caught.value.where == str(custom_model)


def test_verify_model_calls_another_model_elsewhere(custom_model: Path, tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.input("x", (2,)), graph.output("y", (2,))
    graph.builtin("ADD", [x, x], [y])
    added = model(graph, signatures={"serve": 0})
    assert litefuse.verify_model(custom_model, added, custom_ops=[Doubling]).ok
    kernels = [str(kernel_file(tmp_path))]
    assert litefuse.verify_model(added, custom_model, kernels=kernels).ok
    kernels = [str(kernel_file(tmp_path, AT_INVOKE=DEATHS["SIGABRT"]))]
    with pytest.raises(ModelCrashError, match="SIGABRT"):
        litefuse.verify_model(added, custom_model, kernels=kernels)


def test_a_kernel_that_cannot_be_sent(custom_model: Path) -> None:
    class Holding(Doubling):
        file = Path(__file__).open("rb")  # noqa: SIM115

    try:
        with pytest.raises(KernelError, match="cannot be sent to the process that runs the model"):
            litefuse.verify_model(custom_model, inputs=X, expected=Y, custom_ops=[Holding])
    finally:
        Holding.file.close()


def test_an_error_of_verify_model_is_the_process_of_the_model_s(custom_model: Path) -> None:
    with pytest.raises(LitefuseError, match="no kernel for the custom ops MyOp") as caught:
        litefuse.verify_model(custom_model, inputs=X, expected=Y)
    assert not isinstance(caught.value, ModelCrashError)
