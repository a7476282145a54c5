"""What plug-ins say in the process that converts is heard, with their names."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from litefuse.errors import EngineCrashError
from litefuse.fusions.fusion import called_fusions, take_fusions
from litefuse.support.plug_ins.entry_points import PlugIn, take_plug_ins
from litefuse.support.processes.process import run_in_worker
from litefuse.support.processes.voices import say, speaker
from litefuse.tools.cli.app import app
from litefuse.tools.demo import SAVED_MODEL

HERE = "tests.support.processes.test_voices"
PLUG_IN = """
import logging, sys, threading, warnings
import numpy as np
import litefuse

@litefuse.fusion("embedding_matmul", replace=True)
class Lookup(litefuse.Fusion):
    ids_in_range = True

    def verify(self, composite):
        print("looks at", composite.name, "\\u00fc")
        print("an error", file=sys.stderr)
        logging.getLogger(__name__).info("an event")
        logging.warning("a record of the root")
        warnings.warn("be careful")
        thread = threading.Thread(target=print, args=("of a thread",))
        thread.start()
        thread.join()
        breakpoint()
        print("without an end", end="")

    def rewrite(self, composite, b):
        return b.embedding_lookup(*composite.args[::-1])

@litefuse.custom_op("my_custom_fused_op")
class Kernel(litefuse.CustomOp):
    def prepare(self, x, y):
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs, outputs, *, example_option):
        print("computes")
        outputs[0][...] = np.maximum(inputs[0] + inputs[1], 0) * np.float32(example_option)
"""


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})
    fusions = called_fusions()
    file = tmp_path / "chatty.py"
    file.write_text(PLUG_IN, encoding="utf-8")
    yield file
    take_fusions(fusions)
    sys.modules.pop("chatty", None)


def convert(plug_in: Path, *options: str) -> tuple[list[str], list[str]]:
    """Returns the lines of the standard output and the standard error."""
    arguments = ["convert", str(SAVED_MODEL), "-o", str(plug_in.parent / "m.tflite"), "--plug-in", str(plug_in)]
    result = CliRunner().invoke(app, [*arguments, *options])
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines(), result.stderr.splitlines()


def test_plug_ins_are_heard_and_named(plug_in: Path) -> None:
    out, err = convert(plug_in)
    assert "[chatty] looks at embedding_matmul \u00fc" in out
    assert "[chatty] computes" in out
    assert "[chatty] without an end" in out
    assert err[0] == "[chatty] an error"
    assert any(line.endswith("WARNING root: [chatty] a record of the root") for line in err)
    assert any(line.startswith("[chatty] ") and line.endswith("UserWarning: be careful") for line in err)
    (told,) = (line for line in err if "breakpoint()" in line)
    line = 1 + PLUG_IN.split("\n").index("        breakpoint()")
    assert f"({plug_in}, line {line}); run it with --in-process" in told
    assert not any("an event" in line for line in err)


def test_what_they_say_is_no_part_of_the_document(plug_in: Path) -> None:
    out, err = convert(plug_in, "--json", "-v")
    assert json.loads("\n".join(out))["composites"]
    assert "[chatty] looks at embedding_matmul \u00fc" in err
    assert any(line.endswith("INFO    chatty: an event") for line in err)


def test_a_debugger_stops_in_this_process(plug_in: Path) -> None:
    arguments = ["convert", str(SAVED_MODEL), "-o", str(plug_in.parent / "m.tflite"), "--plug-in", str(plug_in)]
    command = [sys.executable, "-m", "litefuse", *arguments, "--in-process", "--json"]
    done = subprocess.run(command, input="p composite.name + '!'\nc\n", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert "(Pdb) 'embedding_matmul!'" in done.stderr
    json.loads(done.stdout)


def chatter(lines: list[str], _: Callable[[str], None]) -> None:
    for line in lines:
        print(line)
        sys.stderr.writelines([line, "\n"])


def die_after(line: str, _: Callable[[str], None]) -> None:
    print(line, file=sys.stderr, flush=True)
    os._exit(3)


def test_lines_of_any_kind(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["", "\udcff \x1b[31m", "x" * 200_000]
    run_in_worker(f"{HERE}:chatter", lines)
    expected = "".join(f"[{HERE}] {line}\n" for line in lines).encode("utf-8", "backslashreplace").decode()
    assert capsys.readouterr() == (expected, expected)
    with pytest.raises(EngineCrashError, match="the last words"):
        run_in_worker(f"{HERE}:die_after", "the last words")
    assert "the last words" in capsys.readouterr().err


def test_streams_that_do_not_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    ascii_only = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", ascii_only)
    say("stdout", "mine", "\u00fc")
    ascii_only.seek(0)
    assert ascii_only.read() == "[mine] \\xfc\n"
    ascii_only.close()
    say("stdout", "mine", "to a closed stream")
    monkeypatch.setattr(sys, "stdout", None)
    say("stdout", "mine", "to nobody")


def speaker_of(module: str, file: str = "file.py") -> str | None:
    """The speaker where a module's function is called by litefuse, and calls one of another package."""
    litefuse: dict[str, Any] = {"__name__": "litefuse.fusions.fusion"}
    exec("def call(function, *arguments): return function(*arguments)", litefuse)
    code: dict[str, Any] = {"__name__": module, "sys": sys}
    exec(compile("def verify(inner, speaker): return inner(lambda: speaker(sys._getframe()))", file, "exec"), code)
    inner: dict[str, Any] = {"__name__": "helpers_of_mine"}
    exec("def inner(function): return function()", inner)
    return litefuse["call"](code["verify"], inner["inner"], speaker)


def test_the_speaker_is_what_litefuse_called() -> None:
    take_plug_ins([PlugIn("litefuse.kernels", "Scale", "mine.kernels:Kernel", "mine-of-acme")])
    try:
        assert speaker_of("mine.fusions") == "mine-of-acme"
        assert speaker_of("yours.fusions") == "yours.fusions"
        assert speaker_of("__main__", "/there/convert_it.py") == "convert_it.py"
        assert speaker_of("numpy") is None
        assert speaker_of("litefuse.kernels") is None
    finally:
        take_plug_ins(None)


def fork(_: object, __: Callable[[str], None]) -> int:
    print("before, ", end="")
    if (child := os.fork()) == 0:
        print("of a fork")
        os._exit(0)
    print("behind")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_fork_of_a_plug_in_does_not_write_into_the_connection(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_in_worker(f"{HERE}:fork", None) == 0
    assert capsys.readouterr().out == f"[{HERE}] before, behind\n"
