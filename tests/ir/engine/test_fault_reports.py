"""The reports that ``scripts/write_fault_reports.py`` writes: their programs show the faults without litefuse."""

from __future__ import annotations

import base64
import os
import re
import signal
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scripts import write_fault_reports
from scripts.recorded_calls import expression
from scripts.write_fault_reports import main, program, record, report, run

from tests.in_part import ALL
from tests.ir.engine.fault_table import FAULTS, Component, Fault
from tests.ir.engine.faults import REPRODUCERS
from tests.ir.engine.faults.reproducer import Reproducer

# Windows has no forks.
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="reproducers are recorded in forks")

# A refusal, wrong results, a dying process, a missing op, a binding: at least one of each component.
_SAMPLE = {
    "zero-factor",
    "largest-bound",
    "integer-division-by-zero",
    "complex-constants",
    "too-few-names",
    "constant-state",
    "op-without-its-operand",
    "empty-slice",
    "product-of-seven-dimensions",
    "repeated-messages",
    "input-that-is-called-self",
}
# It takes kernels in Python, which are litefuse's.
_NOT_ALONE = {"unread-output"}
_REPORTED = [fault for fault in FAULTS if not fault.unchecked and (ALL or fault.id in _SAMPLE)]


def _fault(name: str) -> Fault:
    return next(fault for fault in FAULTS if fault.id == name)


def test_the_sample_has_each_component() -> None:
    assert {fault.component for fault in FAULTS if fault.id in _SAMPLE} == {*Component}


@pytest.mark.parametrize("fault", _REPORTED, ids=lambda fault: fault.id)
def test_a_report_shows_its_fault_without_litefuse(fault: Fault) -> None:
    written = report(fault)
    assert written.text.startswith("# ")
    assert f"Component: {fault.component.value}\n" in written.text
    assert fault.upstream in written.text
    assert "## What is expected" in written.text
    assert written.shows == (fault.id not in _NOT_ALONE), written.text
    if written.shows:
        assert not re.search(r"litefuse|^from tests", written.program, re.MULTILINE)
        assert "It prints here:" in written.text


def test_programs_cannot_import_litefuse() -> None:
    code, printed = run("import litefuse\n")
    assert code == 1
    assert "import of litefuse halted" in printed


def test_a_program_that_ends_its_process_says_so_by_its_code() -> None:
    assert run("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")[0] == -signal.SIGSEGV


def _replace(monkeypatch: pytest.MonkeyPatch, fault: str, function: Callable[[], object], *, kills: bool) -> None:
    monkeypatch.setitem(REPRODUCERS, fault, Reproducer(function, alone=True, kills=kills))


def test_a_recording_without_anything_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace(monkeypatch, "zero-factor", lambda: os._exit(0), kills=True)
    with pytest.raises(ValueError, match="nothing was recorded of the reproducer of zero-factor"):
        record("zero-factor")


def test_a_reproducer_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace(monkeypatch, "zero-factor", lambda: int("nothing"), kills=False)
    with pytest.raises(ValueError, match=r"the reproducer of zero-factor failed: (?s:.*)ValueError: invalid literal"):
        record("zero-factor")


def test_a_fault_that_is_gone_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    run_program = write_fault_reports.run
    fault = _fault("largest-bound")

    def mended(text: str) -> tuple[int, str]:
        return run_program(text.replace("[-inf, 1.0]", "[-2.0, 1.0]").replace("[-3.4028234663852886e+38", "[-2.0"))

    monkeypatch.setattr(write_fault_reports, "run", mended)
    written = report(fault)
    assert not written.shows
    assert "It does not show the fault alone" in written.text


def test_the_folder_has_a_report_for_each_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(tmp_path / "reports"), "scalar-characters", "product-of-seven-dimensions"])
    names = {"scalar-characters.md", "product-of-seven-dimensions.md"}
    assert {path.name for path in (tmp_path / "reports").iterdir()} == names
    assert "https://github.com/google/XNNPACK/issues/11036" in (
        tmp_path / "reports" / "product-of-seven-dimensions.md"
    ).read_text(encoding="utf-8")
    assert capsys.readouterr().out.startswith("2 reports; 2 programs show their fault")


def test_an_unknown_id_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no fault with a reproducer has the id no-such-fault"):
        main([str(tmp_path), "no-such-fault"])


def test_a_call_of_a_signature_is_recorded_with_its_inputs() -> None:
    calls = [call.code for call in record("input-that-is-called-self").calls]
    assert [code for code in calls if "runner" in code] == [
        "runner = interpreter.get_signature_runner()",
        "results = runner(self=np.array(1.0, np.float32))",
    ]


def test_the_program_has_the_options_of_the_engine() -> None:
    recorded = record("infinite-constants")
    assert "config.canonicalizing_inf_as_min_max_float = True" in program("infinite-constants", recorded)


_NAMES = {"np": np, "inf": np.inf, "nan": np.nan, "base64": base64, "zlib": zlib}


@pytest.mark.parametrize(
    "array",
    [
        np.array(2.5, np.float32),
        np.array([[0.1, np.inf], [np.nan, -1]], np.float32),
        np.array([True, False]),
        np.array([2**62, -1]),
        np.array([1 + 2j], np.complex64),
        np.full((3, 4), -7, np.int8),
        np.arange(1, 100, dtype=np.float32),
        np.zeros((2, 0), np.float16),
        np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_the_text_of_an_array_makes_it_again(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
    made = eval(expression(array), _NAMES)
    assert made.dtype == array.dtype
    np.testing.assert_array_equal(made, array, strict=True)
