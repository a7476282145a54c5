"""Leaks of the pack are told from those of others."""

from __future__ import annotations

from pathlib import Path

from fuzz.leaks import main

PYTHONS = """
==1==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 16 byte(s) in 1 object(s) allocated from:
    #0 0x7f in __interceptor_malloc asan_malloc_linux.cpp:69
    #1 0x7f in _PyObject_Malloc Objects/obmalloc.c:2003
"""
OURS = """
Indirect leak of 8 byte(s) in 1 object(s) allocated from:
    #0 0x7f in operator new(unsigned long) asan_new_delete.cpp:95
    #1 0x7f in litefuse::internal::NewState(litefuse::Kernel*, char const*, unsigned long) native/src/kernel.cc:170

SUMMARY: AddressSanitizer: 24 byte(s) leaked in 2 allocation(s).
"""


def test_a_leak_of_the_pack_is_found(tmp_path: Path) -> None:
    (tmp_path / "report.1").write_text(PYTHONS + OURS)

    assert main(tmp_path) == 1


def test_leaks_of_python_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "report.1").write_text(PYTHONS)

    assert main(tmp_path) == 0


def test_no_report_is_no_success(tmp_path: Path) -> None:
    assert main(tmp_path) == 2
