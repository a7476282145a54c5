"""Write reports of faults for those who maintain the engine and the runtime.

``python -m scripts.write_fault_reports FOLDER [ID...]`` writes ``FOLDER/ID.md`` for each fault, or those with these
ids: a title, what goes wrong, in which versions, and a program in terms of litert_converter and ai_edge_litert alone,
with what it prints here. Programs come from the reproducers in ``tests/ir/engine/faults``: each is run in a fork, while
what it asks of the engine and the interpreter is recorded.
"""

from __future__ import annotations

import faulthandler
import importlib.metadata
import inspect
import json
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scripts.recorded_calls import Call, Recorder
from tests.ir.engine.fault_table import FAULTS, Component, Fault
from tests.ir.engine.faults import REPRODUCERS

from litefuse.ir.mlir import mlir_context

_SECONDS = 120
_TRIES = 4  # what is read beyond a tensor's memory may be right by chance
_LONGEST = 40  # lines of output that a report has
_ENGINE = """\
from litert_converter import converter_api_ext
from litert_converter.mlir import ir
from litert_converter.mlir.passmanager import PassManager
"""
_CONTEXT = """\
context = ir.Context()
converter_api_ext.prepare_mlir_context(context)
with context, ir.Location.unknown():
    # The first run loads the dialects; until then, there are no tf ops.
    config = converter_api_ext.ConvertToTFLConfig()
    converter_api_ext.run_convert_to_tfl_passes(ir.Module.create(), PassManager(), config)
"""
# What a function may use that becomes a program as it stands.
_PLAIN = {"np", "ir", "converter_api_ext", "math", "str", "ValueError", "TypeError"}


class Record(NamedTuple):
    """What a reproducer did.

    Attributes:
        calls: What it asked of the engine and the interpreter.
        refused: The reasons that it waited for.
        outcome: What it returned, or its error; empty if its process ended.
    """

    calls: Sequence[Call]
    refused: Sequence[str]
    outcome: str


class Report(NamedTuple):
    """A report.

    Attributes:
        text: The text, in Markdown.
        program: Its program; empty if there is none.
        shows: Whether the program shows the fault here.
    """

    text: str
    program: str
    shows: bool


def record(fault: str) -> Record:
    """Runs a reproducer in a fork, and records what it does.

    Raises:
        ValueError: Nothing was recorded of it, not even its outcome; or it failed.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _run_reproducer(fault, writer)
    os.close(writer)
    with os.fdopen(reader) as stream:
        lines = [json.loads(line) for line in stream.read().splitlines()]
    os.waitpid(child, 0)
    calls: list[Call] = []
    for line in lines:
        if "code" in line:
            calls.append(Call(**line))
        elif "error" in line and calls:
            calls[-1] = calls[-1]._replace(error=tuple(line["error"]))
    refused = [line["refused"] for line in lines if "refused" in line]
    outcome = next((line["outcome"] for line in lines if "outcome" in line), "")
    if not lines:
        raise ValueError(f"nothing was recorded of the reproducer of {fault}")
    if "Traceback" in outcome:
        raise ValueError(f"the reproducer of {fault} failed: {outcome}")
    return Record(_without_sizes(calls), refused, outcome)


def _without_sizes(calls: Sequence[Call]) -> list[Call]:
    """Without what prints the size of a model that is run."""
    text = "".join(call.code for call in calls)
    models = [re.match(r"print\(len\((\w+)\)", call.code) for call in calls]
    run_models = {model[1] for model in models if model and re.search(rf"= ?{model[1]}\b", text)}
    return [call for call, model in zip(calls, models, strict=True) if not model or model[1] not in run_models]


def _run_reproducer(fault: str, writer: int) -> None:
    """What the fork does: it does not return."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what the engine prints when it dies
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def write(line: str) -> None:
        content = f"{line}\n".encode()
        while content:
            content = content[os.write(writer, content) :]

    try:
        with mlir_context():
            Recorder(write).install()
            outcome = str(REPRODUCERS[fault].run())
            write(json.dumps({"outcome": outcome}))
    except BaseException:  # noqa: BLE001  whatever it is, the report has it
        write(json.dumps({"outcome": traceback.format_exc()}))
    os._exit(0)


def program(fault: str, recorded: Record) -> str:
    """The program that does what was recorded, without litefuse; empty if there is none."""
    body = _body(recorded.calls) if recorded.calls else _function(fault)
    if not body:
        return ""
    constants = "\n".join(_constant(*call.constant) for call in recorded.calls if call.constant)
    whole = f"{constants}\n{body}"
    head = "".join(f"import {name}\n" for name in ("base64", "math", "zlib") if f"{name}." in whole)
    names = [name for name in ("inf", "nan") if re.search(rf"(?<![\w.])-?{name}\b", body)]
    head += f"from math import {', '.join(names)}\n" if names else ""
    head += "\n" if head else ""
    head += "import numpy as np\n" if "np." in body else ""
    if "Interpreter(" in body:
        types = "Interpreter, OpResolverType" if "OpResolverType" in body else "Interpreter"
        head += f"from ai_edge_litert.interpreter import {types}\n"
    if "ir." in body or "converter_api_ext" in body:
        context = _CONTEXT
        if "stablehlo." in whole:
            head += "from litert_converter.mlir.dialects import stablehlo\n"
            context += "    stablehlo.register_dialect(context)\n"
        head += _ENGINE
        body = context + textwrap.indent(body, "    ")
    return f"{head}\n{constants}{body}"


def _constant(name: str, text: str) -> str:
    if name.startswith("MODEL"):
        return f"{name} = {text}\n"
    return f'{name} = r"""\n{text}\n"""\n'


def _body(calls: Sequence[Call]) -> str:
    lines: list[str] = []
    for call in calls:
        if call.error and call is not calls[-1]:
            lines += ["try:", f"    {call.code}", "except Exception as error:", "    print(type(error), error)"]
        else:
            lines.append(call.code)
    return "\n".join(lines) + "\n"


def _function(fault: str) -> str:
    """A reproducer that calls the bindings alone, as it stands."""
    function: Any = inspect.unwrap(REPRODUCERS[fault].run)
    code = function.__code__
    if not {name for name in code.co_names if name in function.__globals__} <= _PLAIN:
        return ""
    source = inspect.getsource(function).partition("\n")[2]  # without its decorator
    return f'{source}\n\nprint("there:", {function.__name__}())\n'


def run(text: str) -> tuple[int, str]:
    """Runs a program in a process that cannot import litefuse: its exit code, and what it printed."""
    with tempfile.TemporaryDirectory(prefix="fault-") as folder:
        path = Path(folder, "fault.py")
        path.write_text(text)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        environment |= {"TF_CPP_MIN_LOG_LEVEL": "2", "TF_ENABLE_ONEDNN_OPTS": "0", "PYTHONUNBUFFERED": "1"}
        # Not in folders of the project either.
        command = [sys.executable, "-c", _ALONE, str(path)]
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        )
    return done.returncode, done.stdout.decode(errors="backslashreplace").replace(str(path), "fault.py")


# Runs a file where there is no litefuse, even if it is installed.
_ALONE = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.modules["litefuse"] = sys.modules["tests"] = None
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def _shows(fault: Fault, recorded: Record, code: int, printed: str) -> bool:
    """Whether what a program printed is what its reproducer takes for the fault."""
    if _ends(fault, code):
        return code != 0 and "Traceback" not in printed
    verdicts = [call for call in recorded.calls if call.verdict]
    if verdicts:
        return "as expected: False" in printed
    if not recorded.calls:
        return "there: True" in printed
    wanted = [*recorded.refused]
    wanted = wanted or [text for call in recorded.calls for text in (call.shows, *(call.error or ())[1:]) if text]
    missing = [text for text in wanted if _words(text) not in _words(printed)]
    return recorded.outcome == "True" and bool(printed) and not missing


def _words(text: str) -> str:
    return " ".join(text.split())


def report(fault: Fault) -> Report:
    """Writes the report of a fault that has a reproducer."""
    recorded = record(fault.id)
    text = program(fault.id, recorded)
    code, printed, shows = 0, "", False
    for _ in range(_TRIES if text and _is_standalone(recorded) else 0):
        code, printed = run(text)
        shows = _shows(fault, recorded, code, printed)
        if shows:
            break
    title = _title(fault)
    parts = [f"# {title}", _head(fault), *([] if fault.what == f"{title}." else [fault.what])]
    if shows:
        parts += ["## To reproduce", _fenced(text, "python"), "It prints here:", _fenced(_ending(printed, code))]
    elif text:
        parts += [
            "## To reproduce",
            "This is asked of the engine and the runtime. It does not show the fault alone: the code below does more.",
            _fenced(text, "python"),
        ]
    parts += ["## What is expected", *_expected(fault, recorded, code, shows=shows)]
    if "MODEL = " in text and "@" not in parts[-1]:
        parts += ["## How the model is made", _fenced(_source(fault), "python")]
    return Report("\n\n".join(parts) + "\n", text, shows)


def _is_standalone(recorded: Record) -> bool:
    return not [call for call in recorded.calls if not call.standalone]


def _title(fault: Fault) -> str:
    return re.split(r"(?<=[a-z\d`)])[.;:](?=\s|$)", fault.what)[0].rstrip(".")


def _head(fault: Fault) -> str:
    names = sorted(
        {component.distribution for component in Component}, key=lambda name: name != fault.component.distribution
    )
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in (*names, "numpy"))
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    upstream = f"\n\nReported before: {fault.upstream}" if fault.upstream else ""
    return f"Component: {fault.component.value}\n\nVersions: {versions}, {system}{upstream}"


def _fenced(text: str, language: str = "") -> str:
    return f"```{language}\n{text.strip()}\n```"


def _ending(printed: str, code: int) -> str:
    """The output without the traceback's lines, and how the process ended."""
    lines: list[str] = []
    for line in printed.splitlines():
        if line.startswith("Traceback "):
            lines.append("Traceback (most recent call last): ...")
        elif not (lines and lines[-1].endswith("last): ...") and line.startswith(" ")):
            lines.append(line if len(line) < 400 else f"{line[:400]} ...")
    if len(lines) > _LONGEST:
        lines[_LONGEST // 2 : -_LONGEST // 2] = ["..."]
    if code < 0:
        lines.append(f"(The process ends with {signal.Signals(-code).name}.)")
    elif code and "Traceback" not in printed:
        lines.append(f"(The process ends with the exit code {code}.)")
    return "\n".join(lines)


def _ends(fault: Fault, code: int) -> bool:
    """Whether the process is to end; or did so, where that depends on what lies in its memory."""
    return REPRODUCERS[fault.id].kills or ("crash" in fault.what and code < 0)


def _expected(fault: Fault, recorded: Record, code: int, *, shows: bool) -> list[str]:
    if shows and _ends(fault, code):
        return ["A result, or an exception; the process goes on."]
    if shows and recorded.refused:
        return [f"The last call works. It fails with “{recorded.refused[-1]}”."]
    if shows and [call for call in recorded.calls if call.verdict]:
        return ["What the program prints as `expected`; `as expected` says whether the result is that."]
    return [
        "The fault is there as long as this function returns True, in which the calls above are made:",
        _fenced(_source(fault), "python"),
    ]


def _source(fault: Fault) -> str:
    return textwrap.dedent(inspect.getsource(REPRODUCERS[fault.id].run))


def main(arguments: Sequence[str]) -> None:
    """Writes reports into a folder, and prints of how many the program shows the fault."""
    folder, *ids = arguments
    if unknown := {*ids} - REPRODUCERS.keys():
        sys.exit(f"no fault with a reproducer has the id {', '.join(sorted(unknown))}")
    Path(folder).mkdir(parents=True, exist_ok=True)
    faults = [fault for fault in FAULTS if not fault.unchecked and (not ids or fault.id in ids)]
    silent: list[str] = []
    for fault in faults:
        written = report(fault)
        Path(folder, f"{fault.id}.md").write_text(written.text, encoding="utf-8")
        silent += [] if written.shows else [fault.id]
    print(
        f"{len(faults)} reports; {len(faults) - len(silent)} programs show their fault, the others: {', '.join(silent)}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
