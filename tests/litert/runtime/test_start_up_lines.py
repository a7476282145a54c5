"""The runtime's own lines about each interpreter are not printed."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from litefuse.litert.runtime.start_up_lines import symbols
from litefuse.tools.environment.software import SMALL_MODEL

_RUN = "from {} import Interpreter; Interpreter({!r}).allocate_tensors()"
_LINE = "INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n"


@pytest.mark.parametrize(
    ("module", "printed"), [("litefuse", ""), ("ai_edge_litert.interpreter", _LINE)], ids=["litefuse", "stock"]
)
def test_an_interpreter_prints_nothing(module: str, printed: str) -> None:
    command = [sys.executable, "-c", _RUN.format(module, str(SMALL_MODEL))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", printed)


@pytest.mark.parametrize("command", ["run", "benchmark"])
def test_a_command_prints_no_line_of_the_runtime(command: str) -> None:
    arguments = ["--repeat", "3"] if command == "benchmark" else []
    line = [sys.executable, "-m", "litefuse", command, str(SMALL_MODEL), *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert (done.stderr, bool(done.stdout)) == ("", True)


def test_the_table_of_a_library_for_macos(tmp_path: Path) -> None:
    names = b"\0_one\0_other\0"
    header = b"\xcf\xfa\xed\xfe" + struct.pack("<7I", 0, 0, 6, 2, 0, 0, 0)
    commands = struct.pack("<II8x", 0x1B, 16) + struct.pack("<6I", 2, 24, 72, 2, 104, len(names))
    entries = struct.pack("<IBBHQ", 6, 0x1E, 1, 0, 0x5000) + struct.pack("<IBBHQ", 1, 0xF, 1, 0, 0x6000)
    file = tmp_path / "library.dylib"
    file.write_bytes(header + commands + entries + names)
    assert symbols(file, ("one", "other", "neither")) == {"one": 0x6000, "other": 0x5000}


@pytest.mark.parametrize("content", [b"text", b"\x7fELF\x02" + bytes(60)])
def test_a_library_without_symbols(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "library.so"
    file.write_bytes(content)
    assert symbols(file, ("one",)) == {}
