"""``python suites/readers/reader.py KIND``: loads LiteRT files with one reader, and calls them.

It runs in the reader's own environment, which has numpy and the reader alone; that of targets is litefuse's. Requests
and answers are JSON, one a line. Each file is read in a child process, since a reader may end it.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

_MESSAGE = 600
_SECONDS = 120.0
# Floats as they are, and activations not rounded; no threads for models this small.
# The folder of the OpenVINO that LiteRT's plug-in for Intel's NPU is made for, where it is not that of the environment.
_OPENVINO = os.environ.get("OPENVINO_LIBRARIES", "")
_INTEL_NPU = f"intel-npu:{_OPENVINO}" if _OPENVINO else "intel-npu"
_EXACT = {"EXECUTION_MODE_HINT": "ACCURACY", "INFERENCE_NUM_THREADS": "1"}


def _interpreter(module: Any, model: str, calls: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    interpreter: Any = module.Interpreter(model_path=model)
    for given in calls:
        details = interpreter.get_input_details()
        for detail, value in zip(details, given, strict=True):
            if tuple(detail["shape"]) != value.shape:
                interpreter.resize_tensor_input(detail["index"], value.shape)
        interpreter.allocate_tensors()
        for detail, value in zip(details, given, strict=True):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        yield [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def _tflite_micro(module: Any, model: str, calls: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    interpreter: Any = module.Interpreter.from_bytes(Path(model).read_bytes(), arena_size=1 << 25)
    for given in calls:
        for position, value in enumerate(given):
            interpreter.set_input(value, position)
        interpreter.invoke()
        yield [interpreter.get_output(0)]


def _openvino(module: Any, model: str, calls: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    core: Any = module.Core()
    compiled: Any = core.compile_model(core.read_model(model), "CPU", _EXACT)
    request: Any = compiled.create_infer_request()
    for given in calls:
        results: Any = request.infer(dict(enumerate(given)))
        yield [results[output] for output in compiled.outputs]


def _tvm(module: Any, model: str, calls: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    tflite: Any = importlib.import_module("tflite.Model").Model.GetRootAsModel(Path(model).read_bytes(), 0)
    frontend: Any = importlib.import_module("tvm.relax.frontend.tflite")
    built: Any = module.compile(frontend.from_tflite(tflite), target="llvm")
    machine: Any = importlib.import_module("tvm.relax").VirtualMachine(built, module.cpu())
    for given in calls:
        result: Any = machine["main"](*(module.runtime.tensor(value) for value in given))
        yield [each.numpy() for each in ([result] if hasattr(result, "numpy") else result)]


def _on_target(name: str, module: Any, model: str, calls: Sequence[Sequence[Any]]) -> Iterator[list[Any]]:
    """Calls a file in the software of a target, as ``litefuse check`` does."""
    asking: Any = importlib.import_module("litefuse.litert.targets.question")
    read: Any = importlib.import_module("litefuse.litert.runtime.model_reader").Model(Path(model).read_bytes())
    ((key, signature),) = read.signatures.items()
    names = {index: each for each, index in signature.inputs.items()}
    order = [names[index] for index in read.graphs[signature.graph].inputs]
    made = tuple(asking.TargetCall(key, dict(zip(order, given, strict=True))) for given in calls)
    with tempfile.TemporaryDirectory() as folder:
        question = asking.Question(name, model, folder, str(Path(folder, "log")), (made,))
        answer: Any = module.find_target(name).ask(question, lambda _: None)  # pyright: ignore[reportUnknownLambdaType]
    if answer.outputs is None:
        refused = "; ".join(f"{each.op} {each.reason}" for each in answer.refusals)
        raise RuntimeError(answer.unavailable or answer.not_run or refused)
    for outputs in answer.outputs[0]:
        yield [*outputs.values()]


def _version(kind: str, package: str) -> str:
    """Returns the version of a package of Python, or of one of node, whose names begin with @."""
    if not package.startswith("@"):
        places = [str(Path(_OPENVINO).parents[1])] if _OPENVINO and kind == "intel-npu" else sys.path
        return next(iter(importlib.metadata.distributions(name=package, path=places))).version
    folder: Any = importlib.import_module("litefuse.litert.targets.browser").find_litert_js()
    return json.loads(Path(folder, package, "package.json").read_text("utf-8"))["version"]


#: The package of each kind of reader, its module, and how it calls a file.
KINDS: Mapping[str, tuple[str, str, Callable[[Any, str, Sequence[Sequence[Any]]], Iterator[list[Any]]]]] = {
    "litert": ("ai-edge-litert", "ai_edge_litert.interpreter", _interpreter),
    "tflite-runtime": ("tflite-runtime", "tflite_runtime.interpreter", _interpreter),
    "tflite-micro": ("tflite-micro", "tflite_micro.python.tflite_micro.runtime", _tflite_micro),
    "openvino": ("openvino", "openvino", _openvino),
    "tvm": ("apache-tvm", "tvm", _tvm),
    "web": ("@litertjs/core", "litefuse.litert.targets", partial(_on_target, "web")),
    "intel-npu": ("openvino", "litefuse.litert.targets", partial(_on_target, _INTEL_NPU)),
}


def main(kind: str) -> None:
    """Answers with the reader's version, then each request: a model, the files of its calls, and where outputs go."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a reader prints is no answer
    package, name, call = KINDS[kind]
    module = importlib.import_module(name)

    def answer(value: Mapping[str, Any]) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    answer({"version": _version(kind, package)})
    for line in sys.stdin:
        answer(in_child(module, call, json.loads(line)))


def in_child(module: Any, call: Callable[..., Iterator[list[Any]]], request: Mapping[str, Any]) -> dict[str, str]:
    """Has a child process call a model; returns the verdict ``runs``, ``refuses`` or ``dies``, and why."""
    with tempfile.TemporaryFile() as log:
        child = os.fork()
        if not child:
            for stream in (1, 2):
                os.dup2(log.fileno(), stream)
            code = 1
            try:
                _read(module, call, request)
                code = 0
            except BaseException as error:  # noqa: BLE001  whatever a reader raises is its refusal
                os.write(2, f"\n{type(error).__name__}: {error}\n".encode())
            finally:
                os._exit(code)
        status = _wait(child)
        log.seek(0)
        text = log.read().decode(errors="replace").strip()[-_MESSAGE:]
    if status == 0:
        return {"verdict": "runs"}
    if os.WIFEXITED(status):
        return {"verdict": "refuses", "message": text}
    return {"verdict": "dies", "message": f"{signal.Signals(os.WTERMSIG(status)).name}: {text}"}


def _read(module: Any, call: Callable[..., Iterator[list[Any]]], request: Mapping[str, Any]) -> None:
    """Calls a model, and stores the outputs of each call by the positions of calls and outputs."""
    calls: list[list[Any]] = []
    for path in request["calls"]:
        with np.load(path) as stored:
            calls.append([stored[name] for name in request["inputs"]])
    outputs: dict[str, Any] = {
        f"{number}.{position}": np.array(value)
        for number, values in enumerate(call(module, request["model"], calls))
        for position, value in enumerate(values)
    }
    np.savez(request["outputs"], **outputs)


def _wait(child: int) -> int:
    """Waits for a child, which is ended where it takes too long; returns its status."""
    until = time.monotonic() + _SECONDS
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)


if __name__ == "__main__":
    main(sys.argv[1])
