"""Interpreters in threads, each with native kernels of its own: what CI runs with the thread sanitizer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fuzz.native.call import Call
from fuzz.native.target import SEEDS, load

from litefuse.kernels import PYTHON_ONLY, native_library

needs_library = pytest.mark.skipif(native_library() is None, reason="litefuse was installed without its native kernels")
THREADS, CALLS = 4, 5


def native_calls() -> list[Call]:
    calls = [Call.from_fields(fields) for fields in json.loads(SEEDS.read_text())]
    return [call for call in calls if call.op not in PYTHON_ONLY]


@needs_library
def test_kernels_answer_alike_in_threads() -> None:
    calls = native_calls()
    expected = [load(call)() for call in calls]
    wrong: list[str] = []

    def work(runs: list[Callable[[], list[Any]]], meet: threading.Barrier) -> None:
        meet.wait()
        for call, run, values in zip(calls, runs, expected, strict=True):
            for _ in range(CALLS):
                for value, answer in zip(values, run(), strict=True):
                    if not np.array_equal(value, answer, equal_nan=answer.dtype.kind in "fc"):
                        wrong.append(call.op)

    meet = threading.Barrier(THREADS, timeout=60)
    threads = [threading.Thread(target=work, args=([load(call) for call in calls], meet)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({call.op for call in calls}) >= 30
    assert wrong == []
