"""Which of many cases run: a part of them, another one in each turn, and all on request."""

from __future__ import annotations

import os
import random
import subprocess
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TypeVar

__all__ = ["ALL", "SELDOM", "SOME", "TURNS", "VARIABLE", "in_part", "left_out", "turn"]

ALL = os.environ.get("LITEFUSE_TESTS") == "all"
"""Whether every case is to run: ``LITEFUSE_TESTS=all`` in the environment."""

VARIABLE = "LITEFUSE_TURN"
"""The environment variable with the number of the turn."""

TURNS = 10_000
"""The number of turns."""

# These convert and run a model for each case, most of which are forms and dtypes of one another.
_MATRICES = ("tests/tensorflow/", "tests/with_jax/")

SOME = {
    "tests/batch_runs/test_batch.py::test_a_batch_that_is_ended_goes_on": 1,
    "tests/cpp/test_other_runtimes.py::test_a_shape_that_depends_on_values": 1,
    "tests/cpp/test_other_runtimes.py::test_an_op_without_a_kernel_fails_when_it_is_prepared": 1,
    "tests/cpp/test_other_runtimes.py::test_options_constants_and_shapes_reach_the_kernel": 1,
    "tests/cpp/test_other_runtimes.py::test_scales_are_told": 1,
    "tests/cpp/test_other_runtimes.py::test_temporaries_of_a_kernel_without_the_kit_last_and_are_resized": 1,
    "tests/cpp/test_other_runtimes.py::test_what_does_not_fit_is_told_and_nothing_crashes": 1,
    "tests/docs/test_pages.py::test_page": 4,
    "tests/examples/test_litert_tools.py::test_benchmark_of_litert": 1,
    "tests/examples/test_litert_tools.py::test_labels_go_along": 1,
    "tests/frontends/test_keras_files.py::test_the_commands_refuse_a_damaged_file_and_leave_nothing": 1,
    "tests/generator/test_loops_in_bodies.py::test_a_loop_of_known_length_is_written_out": 1,
    "tests/generator/test_rules.py::test_rule": 1,
    "tests/runtime/test_compiled.py::test_dtypes_that_are_copied": 1,
    "tests/scaffold/test_micro.py::test_the_application_runs": 1,
    "tests/targets/test_check.py::test_empty_tensors_and_many_dimensions": 1,
    "tests/test_cli_endings.py::test_an_output_that_cannot_be_written": 1,
    "tests/test_other_locales.py::test_streams_that_lack_the_characters_of_a_name": 1,
    "tests/test_other_locales.py::test_the_commands_with_such_paths": 1,
    "tests/verify/test_quantized.py::test_good_forms_are_equal": 1,
    "tests/verify/test_quantized.py::test_spoiled_numbers": 1,
    "tests/verify/test_quantized.py::test_spoiled_weights": 1,
}
"""How many cases run of other functions whose cases take seconds each."""

SELDOM = (
    "tests/examples/test_notebooks.py::test_a_notebook_runs_and_shows_results",
    "tests/tensorflow/test_keras_applications.py::test_application",
    "tests/tensorflow/test_quantized_applications.py::test_a_spoiled_model",
)
"""Functions that run in one of four turns: whatever their case, they take some 20 to 30 seconds on two idle cores."""

_Case = TypeVar("_Case")


def turn() -> int:
    """Returns which part runs: the number in ``LITEFUSE_TURN``, or one that follows from the commit, else from the day.

    So a commit is always tested in the same way, and the next one in another.
    """
    if given := os.environ.get(VARIABLE):
        return int(given) % TURNS
    commit = ""
    with suppress(OSError):
        command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
        commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return zlib.crc32((commit.strip() or str(date.today())).encode()) % TURNS


def in_part(cases: Iterable[_Case], every: int) -> list[_Case]:
    """Returns one of so many cases, others in each turn; all with ``LITEFUSE_TESTS=all`` in the environment."""
    every_case = [*cases]
    first = random.Random(f"a part in turn {turn()}").randrange(max(min(every, len(every_case)), 1))
    return every_case if ALL else every_case[first::every]


def left_out(names: Sequence[str], number: int) -> set[str]:
    """Returns the tests that a run of all tests leaves out.

    Of tests that are matrices of cases, one case is left of each function, and of ``SOME`` others so many cases. Which
    ones is drawn for each turn, and alike for the functions of one file, whose cases may share what takes long. Only of
    functions that run ``SELDOM`` may nothing be left.

    Args:
        names: The tests' names, as pytest writes them: ``tests/folder/test_file.py::test_function[case]``.
        number: The turn, below ``TURNS``.
    """
    functions: dict[str, list[str]] = defaultdict(list)
    for name in names:
        functions[name.partition("[")[0]].append(name)
    out: set[str] = set()
    for function, cases in functions.items():
        count = 1 if function.startswith(_MATRICES) else SOME.get(function, len(cases))
        if function in SELDOM:
            count = 1 if number % 4 == SELDOM.index(function) % 4 else 0
        file = function.partition("::")[0]
        place = random.Random(f"{file} in turn {number}").random() * len(cases)
        chosen = {cases[int(place + step * len(cases) / count) % len(cases)] for step in range(count)}
        out |= {*cases} - chosen
    return out
