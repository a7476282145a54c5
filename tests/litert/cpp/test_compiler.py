"""Compiling kernels to a library."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.cpp.compiler import build_library, find_compiler, native_sources
from litefuse.litert.runtime.native import NativeKernels
from tests.litert.cpp import compile_once

REGISTRY = """
#include "litefuse/registry.h"
const litefuse::RegisteredKernel* litefuse::RegisteredKernels() {
  static const RegisteredKernel kernels[] = {{"Nothing", nullptr}, {nullptr, nullptr}};
  return kernels;
}
"""


def test_a_library_is_a_delegate_with_its_kernels(tmp_path: Path) -> None:
    source = tmp_path / "registry.cc"
    source.write_text(REGISTRY)
    build_library(tmp_path / "lib.so", [source], kit=["delegate.cc", "trial.cc"])
    assert NativeKernels(tmp_path / "lib.so").names == {"Nothing"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lib.so", "registry.cc"]


def test_what_the_compiler_prints_is_in_the_error_and_nothing_is_left(tmp_path: Path) -> None:
    source = tmp_path / "wrong.cc"
    source.write_text("int wrong( { return missing; }")
    with pytest.raises(KernelError, match=r"(?s)wrong\.cc.*error:"):
        build_library(tmp_path / "lib.so", [source], kit=["delegate.cc", "trial.cc"])
    assert list(tmp_path.iterdir()) == [source]


def test_a_compiler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LitefuseError, match="no-such-compiler"):
        find_compiler("no-such-compiler")
    monkeypatch.setenv("CXX", "no-other-compiler")
    with pytest.raises(LitefuseError, match="no-other-compiler"):
        find_compiler()
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LitefuseError, match="no C\\+\\+ compiler"):
        find_compiler()


def test_zig_is_found_where_there_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    _program(tmp_path / "zig")
    assert find_compiler() == ["zig", "c++"]
    _program(tmp_path / "clang++")
    assert find_compiler() == ["clang++"]


def test_commands_on_windows_have_backslashes_and_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {r"C:\Program Files\LLVM\clang++.exe", r"C:\zig\zig.exe"}
    monkeypatch.setattr(sys, "platform", "win32")

    def which(name: str) -> str | None:
        return name if name in there else None

    monkeypatch.setattr(shutil, "which", which)
    assert find_compiler(r"C:\Program Files\LLVM\clang++.exe") == [r"C:\Program Files\LLVM\clang++.exe"]
    quoted = find_compiler(r'"C:\Program Files\LLVM\clang++.exe" -O1')
    assert quoted == [r"C:\Program Files\LLVM\clang++.exe", "-O1"]
    assert find_compiler(r"C:\zig\zig.exe c++") == [r"C:\zig\zig.exe", "c++"]
    with pytest.raises(LitefuseError, match="no C\\+\\+ compiler") as error:
        find_compiler()
    assert "Microsoft's compiler does not compile these sources" in error.value.hint


def test_the_address_sanitizer_is_not_for_windows(tmp_path: Path) -> None:
    compiler = _program(tmp_path / "x86_64-w64-mingw32-g++")
    with pytest.raises(LitefuseError, match="not for Windows"):
        build_library(tmp_path / "lib.dll", [], compiler=str(compiler), sanitize=True)


def _program(path: Path, text: str = "#!/bin/sh\nexit 1\n") -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


# Has a part that it starts itself, as compilers have, and puts a file where it is told to put temporary ones.
_SLOW = """#!/bin/sh
echo > "$TMPDIR/between.s"
sh -c 'echo $$ > {pids}; exec sleep 600' &
wait
"""
_COMPILE = """
import sys
from pathlib import Path
from litefuse.litert.cpp.compiler import build_library
build_library(Path(sys.argv[1], "lib.so"), [], compiler=sys.argv[2], kit=[])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the compiler here is a script of a POSIX shell")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_compiler_ends_with_the_process_that_started_it(tmp_path: Path, how: signal.Signals) -> None:
    pids, target, temporary = tmp_path / "pid", tmp_path / "target", tmp_path / "temporary"
    for folder in (target, temporary):
        folder.mkdir()
    compiler = _program(tmp_path / "slow", _SLOW.format(pids=pids))
    command = [sys.executable, "-c", _COMPILE, str(target), str(compiler)]
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.DEVNULL)
    _wait_for(lambda: pids.is_file() and bool(pids.read_text()))
    assert list(target.rglob("between.s"))
    process.send_signal(how)
    process.wait()
    _wait_for(lambda: not _is_there(int(pids.read_text())))
    _wait_for(lambda: not [*target.iterdir(), *temporary.iterdir()])


@pytest.mark.skipif(sys.platform == "win32", reason="the compiler here is a script of a POSIX shell")
def test_a_compiler_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    pids = tmp_path / "pid"
    compiler = _program(tmp_path / "slow", _SLOW.format(pids=pids))
    with pytest.raises(LitefuseError, match=r"the compiler did not end within 0\.5 s"):
        build_library(tmp_path / "lib.so", [], compiler=str(compiler), kit=[], timeout=0.5)
    _wait_for(lambda: not _is_there(int(pids.read_text())))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pid", "slow"]


def _wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # One that has ended may wait for its parent.
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return not state.stdout.strip().startswith("Z")


def test_in_tests_the_kit_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same options, from the same sources; whatever library it is for."""
    monkeypatch.setenv("PATH", os.pathsep.join(os.environ["PATH"].split(os.pathsep)[1:]))
    objects = tmp_path / "objects"
    objects.mkdir()
    compile_once.install(objects)
    source = tmp_path / "registry.cc"
    source.write_text(REGISTRY)
    kit = Path(shutil.copytree(native_sources(), tmp_path / "native")) / "src"

    def compiled(*options: str) -> int:
        """How many files there are after the library is built once more, and works."""
        build_library(tmp_path / "lib.so", [source], kit=["delegate.cc", "trial.cc"], options=["-O0", *options])
        assert NativeKernels(tmp_path / "lib.so").names == {"Nothing"}
        return len([*objects.glob("*.o")])

    assert [compiled(), compiled("-O2", "-DEXCESS=1", f"-I{tmp_path}")] == [2, 2]
    assert compiled("-fno-inline") == 4
    command = ["c++", "-std=c++17", "-O0", f"-I{kit.parent / 'include'}", "-MD", "-MF", "t.d", "-c", kit / "trial.cc"]

    def made() -> int:
        """How many there are after a source of another kit is compiled, as by CMake."""
        (tmp_path / "t.o").unlink(missing_ok=True)
        subprocess.run([*command, "-o", "t.o"], cwd=tmp_path, check=True)
        assert (tmp_path / "t.o").stat().st_size > 0
        return len([*objects.glob("*.o")])

    assert [made(), made()] == [5, 5]
    with (kit.parent / "include/litefuse/trial.h").open("a") as header:
        header.write("\n")
    assert made() == 6
    (kit / "trial.cc").write_text("wrong")
    assert subprocess.run([*command, "-o", "t.o"], cwd=tmp_path, capture_output=True, check=False).returncode != 0
