"""Compiling kernels to a library."""

from __future__ import annotations

from pathlib import Path

import pytest

from litefuse.cpp.compiler import build_library, find_compiler
from litefuse.errors import KernelError, LitefuseError
from litefuse.runtime.native import NativeKernels

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
