"""How progress is shown: in a terminal, in a notebook, and elsewhere."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import litefuse
from litefuse.support.progress.notebook import in_notebook
from litefuse.support.progress.show import shown_progress
from litefuse.support.progress.stages import StageTime, Step, Tracker
from litefuse.tools.demo import SAVED_MODEL
from tests.every import every


class Clock:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_time_of_each_stage() -> None:
    clock = Clock()
    tracker = Tracker(clock)
    begun: list[bool] = []
    clock.now += 0.25  # until the first step
    for step, seconds in [
        ("read", 1.0),
        ("import", 1.0),
        ("fuse-composites", 2.0),
        ("self-check", 4.0),
        ("symbol-dce", 0.5),
        ("fuse-composites", 8.0),
        (Step("quantize: sample 2 of 8", 2, 8), 16.0),
    ]:
        begun.append(tracker.step(step))
        clock.now += seconds
    assert begun == [True, False, True, True, False, False, True]
    found = tracker.snapshot()
    assert found.stages == (
        StageTime("Reading", 2.25, "done"),
        StageTime("Fusing", 10.0, "done"),
        StageTime("Checking fusions", 4.5, "done"),
        StageTime("Quantizing", 16.0, "running"),
    )
    assert (found.seconds, found.detail, found.done, found.total) == (32.75, "sample 2 of 8", 2, 8)
    tracker.end(failed=True)
    clock.now += 100
    assert tracker.snapshot().stages[-1] == StageTime("Quantizing", 16.0, "failed")
    assert tracker.snapshot().seconds == 32.75


def test_without_steps_there_is_only_the_time() -> None:
    clock = Clock()
    tracker = Tracker(clock)
    clock.now += 3
    assert tracker.snapshot() == ((), 3.0, "", 0, 0)


def test_elsewhere_each_stage_is_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    steps: list[str] = []
    with shown_progress("Converting a\x1b[31mb", also=steps.append) as on_step:
        for step in ("read", "import", "fuse-composites", "self-check", "fuse-composites", "check-file"):
            on_step(step)
    out, err = capfd.readouterr()
    assert out == ""
    lines = [line.partition(", after ") for line in err.splitlines()]
    assert [line[0] for line in lines] == [
        rf"Converting a\x1b[31mb: {stage}" for stage in ("Reading", "Fusing", "Checking fusions", "Checking the file")
    ]
    assert every(line[2].endswith(" s") for line in lines)
    assert steps == ["read", "import", "fuse-composites", "self-check", "fuse-composites", "check-file"]


def test_nothing_is_shown_unless_it_is_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    steps: list[str] = []
    with shown_progress("x", show=False, also=steps.append) as on_step:
        on_step("read")
    with shown_progress("x", show=False) as on_step:
        on_step("read")
    assert steps == ["read"]
    assert capfd.readouterr() == ("", "")


# In a terminal

PROGRAM = """
import sys, time
from litefuse.support.progress.show import shown_progress
from litefuse.support.progress.stages import Step
with shown_progress("Converting a[b]c", patience={patience}) as on_step:
    on_step("read")
    on_step({step})
    deadline = time.monotonic() + {seconds}
    while time.monotonic() < deadline:
        time.sleep(0.05)
print("after")
"""


_QUANTIZE = """Step("quantize: sample 3 of 4", 3, 4)"""
_INVOKE = """"invoke, signature 'x'\""""


def in_terminal(patience: float, seconds: float, *, step: str = _QUANTIZE, **environment: str) -> tuple[str, str]:
    """What a program writes to a terminal that is its standard error, and to its standard output, which is none."""
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-c", PROGRAM.format(patience=patience, seconds=seconds, step=step)]
        env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment}
        result = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=theirs, text=True, timeout=60, env=env, check=True
        )
        os.write(theirs, b"\n#")
        written = b""
        while not written.endswith(b"#"):
            written += os.read(ours, 65536)
    finally:
        os.close(ours)
        os.close(theirs)
    return written.decode(), result.stdout


def test_stages_and_bar_in_a_terminal() -> None:
    shown, printed = in_terminal(0.0, 0.4)
    assert printed == "after\n"
    assert "Converting a[b]c" in shown
    assert "Reading" in shown
    assert "Quantizing" in shown
    assert "sample 3 of 4" in shown
    assert "━" in shown
    # The cursor goes up and the lines are erased: nothing stays.
    assert "\x1b[1A\x1b[2K" in shown


def test_a_stage_in_which_others_print_is_in_one_line() -> None:
    shown, _ = in_terminal(0.0, 0.4, step=_INVOKE)
    assert "Calling the model, signature 'x'" in shown
    assert "sample 3 of 4" not in shown
    # What is erased at the end is this line alone.
    assert shown.rpartition("Calling the model")[2].count("\x1b[1A") == 1


def test_short_work_shows_nothing_in_a_terminal() -> None:
    shown, _ = in_terminal(60.0, 0.0)
    assert shown.strip() == "#"


def test_a_terminal_without_unicode() -> None:
    shown, _ = in_terminal(0.0, 0.3, PYTHONIOENCODING="ascii")
    assert "Quantizing" in shown
    assert shown.isascii()


# In a notebook


class Kernel:
    """IPython in the kernel of a notebook, as far as it is used."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def display(self, thing: Any, *, display_id: bool) -> Kernel:
        assert display_id
        self.shown.append(thing)
        return self

    def update(self, thing: Any) -> None:
        self.shown.append(thing)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    kernel = Kernel()
    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    display: Any = types.ModuleType("IPython.display")
    display.display = kernel.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return kernel


def test_a_notebook_shows_stages_as_html(kernel: Kernel, capfd: pytest.CaptureFixture[str]) -> None:
    with shown_progress("Converting <script>") as on_step:
        on_step("read")
        on_step(Step("quantize: sample <3> of 4", 3, 4))
    html = [each._repr_html_() for each in kernel.shown]
    assert len(html) == 4
    assert "<b>Converting &lt;script&gt;</b>" in html[0]
    assert 'Quantizing 0.0 s <progress value="3" max="4"></progress> <small>sample &lt;3&gt; of 4</small>' in html[2]
    # At the end, all that there is stays, without the bar.
    assert "✓</span> Reading" in html[3]
    assert "✓</span> Quantizing" in html[3]
    assert "<progress" not in html[3]
    assert repr(kernel.shown[3]).startswith("Converting <script>: Quantizing, 0.")
    assert capfd.readouterr() == ("", "")


def test_a_notebook_shows_where_work_failed(kernel: Kernel) -> None:
    def fail(step: str) -> None:
        raise ZeroDivisionError(step)

    with pytest.raises(ZeroDivisionError), shown_progress("Converting", also=fail) as on_step:
        on_step("read")
    assert "✗</span> Reading" in kernel.shown[-1]._repr_html_()


def test_ipython_in_a_terminal_is_no_notebook(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert in_notebook()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", types.SimpleNamespace)
    assert not in_notebook()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    assert not in_notebook()


def test_ipython_is_not_imported_to_look_for_a_notebook() -> None:
    program = (
        "import sys; from litefuse.support.progress.notebook import in_notebook\n"
        "print(in_notebook(), 'IPython' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout == "False False\n"


# In the functions


def stages_of(run: Callable[..., Any], capfd: pytest.CaptureFixture[str], *args: Any, **options: Any) -> list[str]:
    """The stages that a function shows."""
    capfd.readouterr()
    run(*args, progress=True, **options)
    # LiteRT prints there, too, at any time.
    return re.findall(r"ing \S+: ([A-Z][a-z ]+), after", capfd.readouterr().err)


def test_stages_of_a_conversion(capfd: pytest.CaptureFixture[str]) -> None:
    shown = stages_of(litefuse.convert, capfd, SAVED_MODEL)
    assert shown == [
        "Reading",
        "Analyzing",
        "Fusing",
        "Checking fusions",
        "Translating ops",
        "Writing",
        "Checking the file",
    ]


def test_stages_of_comparisons(demo_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    steps: list[str] = []
    embed = {"signatures": ["embed"], "repeat": 1}
    shown = stages_of(litefuse.verify_model, capfd, demo_model, demo_model, on_step=steps.append, **embed)
    assert shown == ["Calling the model", "Calling the original"]
    assert "load the model" in steps
    measured = stages_of(litefuse.benchmark, capfd, demo_model, signatures=["embed"], repeat=1, seconds=0.01, ops=False)
    assert measured == ["Calling the model", "Measuring"]
    fractions: set[tuple[int, int]] = set()

    def take(step: str) -> None:
        assert isinstance(step, Step)
        fractions.add((step.done, step.total))

    assert "Asking targets" in stages_of(litefuse.check, capfd, demo_model, ["cpu"], on_step=take)
    assert fractions == {(0, 1)}
