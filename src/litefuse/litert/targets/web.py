"""LiteRT.js: LiteRT in browsers, on the CPU (WebAssembly) and on the GPU (WebGPU)."""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from litefuse.errors import LitefuseError
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.targets import browser
from litefuse.litert.targets.browser import Posted
from litefuse.litert.targets.gpu import Gpu, facts_of
from litefuse.litert.targets.litert import LiteRT
from litefuse.litert.targets.op_table import OpTable
from litefuse.litert.targets.question import Answer, Arrays, Question, Refusal
from litefuse.litert.targets.target import Hint, Target

_CPU, _GPU = "wasm", "webgpu"
_PAGE = Path(__file__).with_name("check.html")
_AGENT = re.compile(r"(?P<name>Chrome|Chromium)/(?P<version>[\d.]+)")
_ERROR = re.compile(r"^(?:ERROR: \[[^\]\n]*|E\d{4} [^\]\n]*)\] ([^;\n]+)", re.MULTILINE)
_WEB = "convert with --target web"


class Web(Target):
    """LiteRT.js, which runs on WebAssembly what WebGPU does not take, and loads files like ``CompiledModel``."""

    name = "web"
    traits = Gpu.traits._replace(
        runtime="LiteRT.js", loops=True, left_loops="", plain_signatures=True, constant_ids=False
    )
    table = OpTable("what LiteRT.js 2.5 loads", variables=False, runs_own=True)
    hints = (
        Hint("", "variable tensors", f"{_WEB}: recurrent layers stay loops"),
        Hint("", "type (INT64|BOOL)", f"{_WEB}: 64-bit integers become 32-bit ones, and booleans 8-bit integers"),
        Hint("", "type U?INT", "convert with --quantized-io uint8, or leave it out"),
        Hint("", "type FLOAT64|type COMPLEX128", "convert with --dtypes narrow"),
        Hint("", "type (B?FLOAT16)", "convert with --dtypes widen"),
        Hint("", "type STRING", "leave texts to JavaScript: give the model ids"),
        Hint("", "Unable to parse bc coord", f"{_WEB}: GATHER by constants gets computed ids"),
        Hint("", "fixed sizes|ranked tensor type", "convert with --batch 1, or --shape for what else is open"),
        Hint("WHILE", "", f"{_WEB} --target gpu: loops are unrolled where their steps are known"),
        *(hint._replace(text=hint.text.replace("--target gpu", "--target web")) for hint in Gpu.hints),
    )

    def missing(self) -> str:
        return browser.missing_software()

    def ask(self, question: Question, announce: Callable[[str], None]) -> Answer:
        modules = browser.find_litert_js()
        if modules is None:
            return Answer(unavailable=self.missing())
        version = json.loads((modules / browser.CORE / "package.json").read_text("utf-8"))["version"]
        software = f"LiteRT.js {version}"
        announce("run the model in the browser")
        try:
            posted = browser.run_page(_written(question), Path(question.folder))
        except LitefuseError as error:
            return Answer(software, unavailable=error.message)
        logs, failed = _texts(posted, "log"), _texts(posted, "failed")
        Path(question.log).write_text("".join(logs.values()), "utf-8")
        if "load" in failed:
            return Answer(software, unavailable=f"LiteRT.js does not start in this browser: {failed['load']}")
        facts = [(name, _browser_name(text)) for name, text in _texts(posted, "fact").items()]
        facts += facts_of(logs.get(_GPU, ""))
        if not any(path == ("asked", _GPU) for path, _ in posted):
            facts.append(("WebGPU", "not asked: this browser finds no adapter"))
        refusals = {_CPU: LiteRT().refusals(logs.get(_CPU, "")), _GPU: Gpu().refusals(logs.get(_GPU, ""))}
        for backend in (backend for backend in (_CPU, _GPU) if backend in failed):
            refused = refusals[backend] or (Refusal("", _reason(backend, failed[backend], logs.get(backend, ""))),)
            return Answer(software, takes=False, refusals=refused, facts=tuple(facts))
        outputs = _outputs(question, posted)
        return Answer(
            software,
            refusals=tuple(dict.fromkeys((*refusals[_CPU], *refusals[_GPU]))),
            outputs=outputs.pop(_CPU, None),
            elsewhere=tuple((" on WebGPU", rounds) for rounds in outputs.values()),
            facts=tuple(facts),
        )


def _written(question: Question) -> Path:
    """Writes what the page asks for into a folder: itself, the model, the calls, and the values of their inputs."""
    folder = Path(question.folder, secrets.token_urlsafe())
    folder.mkdir()
    shutil.copyfile(question.model, folder / "model")
    rounds: list[list[dict[str, Any]]] = []
    for calls in question.rounds:
        rounds.append([])
        for call in calls:
            inputs: list[dict[str, Any]] = []
            for name, value in call.inputs.items():
                path = f"input{len(rounds)}-{len(rounds[-1])}-{len(inputs)}"
                if value.dtype.kind not in "OSU":  # JavaScript has no arrays of texts
                    np.ascontiguousarray(value).tofile(folder / path)
                inputs.append({"name": name, "dtype": value.dtype.name, "shape": value.shape, "path": path})
            rounds[-1].append({"signature": call.signature, "inputs": inputs})
    # It is loaded in any case.
    (folder / "question.json").write_text(json.dumps({"rounds": rounds or [[]]}), "utf-8")
    return Path(shutil.copy(_PAGE, folder))


def _texts(posted: Sequence[Posted], kind: str) -> dict[str, str]:
    """Returns the texts of one kind, by what they are about."""
    texts: dict[str, str] = {}
    for path, content in posted:
        if path[0] == kind:
            texts[path[1]] = texts.get(path[1], "") + content.decode("utf-8", "replace")
    return texts


def _reason(backend: str, message: str, log: str) -> str:
    errors = _ERROR.findall(log)
    text = " ".join((errors[-1] if errors and message.startswith("ERROR: ") else message).split()).rstrip(".")
    if backend == _CPU:
        return text
    return f"WebGPU: {'it takes only tensors of fixed sizes' if 'dynamic-sized tensors' in log else text}"


def _browser_name(agent: str) -> str:
    named = _AGENT.search(agent)
    return agent if named is None else f"{named['name']} {named['version']}"


def _outputs(question: Question, posted: Sequence[Posted]) -> dict[str, tuple[tuple[Arrays, ...], ...]]:
    """Returns the outputs of all calls, by backend."""
    model = Model(Path(question.model).read_bytes())
    outputs: dict[str, list[list[dict[str, Any]]]] = {}
    for path, content in posted:
        if path[0] == "output":
            _, backend, of_round, call, name, shape = path
            rounds = outputs.setdefault(backend, [[{} for _ in calls] for calls in question.rounds])
            signature = model.signatures[question.rounds[int(of_round)][int(call)].signature]
            dtype = model.graphs[signature.graph].tensor(signature.outputs[name]).dtype
            sizes = [int(size) for size in shape.split("x") if size]
            rounds[int(of_round)][int(call)][name] = np.frombuffer(content, dtype).reshape(sizes)
    return {backend: tuple(map(tuple, rounds)) for backend, rounds in outputs.items()}
