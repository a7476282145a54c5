"""Batches: what becomes of models, what faults of models do to others, what is done again, how a batch is ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import LitefuseError
from litefuse.tools.batch_runs.backend import RunnerPool
from litefuse.tools.batch_runs.batch_sections import save_junit, save_page
from litefuse.tools.batch_runs.entry import Entry
from litefuse.tools.batch_runs.outcome import BatchResult, Outcome, Status, StepOutcome
from litefuse.tools.batch_runs.records import (
    digest_of,
    key_of,
    make_record_folder,
    read_record,
    versions_here,
    write_record,
)
from litefuse.tools.batch_runs.task import Task
from litefuse.tools.cli.app import app
from tests.frontends.saved_model.frozen_graph import write_dense
from tests.tools.batch_runs.models import DEMO, FAULTS, dense_models, fault, processes_of

# The versions of all that decides what becomes of a model.
HERE = versions_here(with_tensorflow=True)
# Long enough for a conversion on a busy machine.
SECONDS = 60.0
# Memory is limited on Linux alone.
MEMORY = {"memory": "1G"} if sys.platform == "linux" else {}


def run(*args: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(each) for each in args])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BatchResult]:
    """Models with faults among others."""
    folder = tmp_path_factory.mktemp("batch")
    models: list[Any] = [*dense_models(folder / "models", 8)]
    for number, kind in enumerate(each for each in FAULTS if MEMORY or each != "eats memory"):
        entry = {"path": DEMO, "name": kind, "plug_ins": [fault(folder, kind)]}
        models.insert(3 * number, {**entry, "timeout": 4.0} if kind == "hangs" else entry)
    models.append({"path": DEMO, "name": "refused", "signatures": ["none"]})
    defaults = {"timeout": SECONDS, **MEMORY}
    return folder, litefuse.batch(models, output=folder / "out", defaults=defaults, jobs=2)


def test_faults_of_models_concern_nobody_else(done: tuple[Path, BatchResult]) -> None:
    folder, result = done
    found = {each.name: each.status for each in result.outcomes}
    assert found == {
        **{f"dense{number:03}": "done" for number in range(8)},
        "hangs": "timeout",
        "crashes": "crashed",
        **({"eats memory": "memory"} if MEMORY else {}),
        "raises": "failed",
        "refused": "failed",
    }
    files = {each.name for each in (folder / "out").glob("*.tflite")}
    assert files == {f"dense{number:03}.tflite" for number in range(8)}
    assert not result.ok


def test_a_death_is_tried_again_and_an_error_is_not(done: tuple[Path, BatchResult]) -> None:
    attempts = {each.name: each.attempts for each in done[1].outcomes}
    assert (attempts["crashes"], attempts["raises"], attempts["hangs"], attempts["dense000"]) == (2, 1, 1, 1)


def test_messages(done: tuple[Path, BatchResult]) -> None:
    messages = {each.name: each.message for each in done[1].outcomes}
    assert "SIGSEGV" in messages["crashes"]
    assert "limit timeout (4 seconds)" in messages["hangs"]
    assert "this fusion is wrong" in messages["raises"]
    assert "'none'" in messages["refused"]
    assert messages["dense000"] == ""
    seconds = {each.name: each.seconds for each in done[1].outcomes}
    assert 1 <= seconds["hangs"] < SECONDS


def test_models_are_what_convert_makes(done: tuple[Path, BatchResult]) -> None:
    folder, result = done
    alone = litefuse.convert(folder / "models/dense003.pb")
    assert (folder / "out/dense003.tflite").read_bytes() == alone.model_bytes
    outcome = next(each for each in result.outcomes if each.name == "dense003")
    assert outcome.report["op_counts"] == {"FULLY_CONNECTED": 1}
    assert outcome.steps[0].facts["bytes"] == alone.report.size


def test_what_is_done_is_not_done_again(done: tuple[Path, BatchResult], tmp_path: Path) -> None:
    folder, _ = done
    out = shutil.copytree(folder / "out", tmp_path / "out")
    models: list[Any] = [folder / f"models/dense{number:03}.pb" for number in range(6)]
    # One has another content, one another option, the file of one is damaged, that of one missing, a record is cut.
    models[0] = write_dense(tmp_path / "dense000.pb", 100)
    models[1] = {"path": str(models[1]), "batch": 2}
    (out / "dense002.tflite").write_bytes((out / "dense002.tflite").read_bytes()[:-1] + b"?")
    (out / "dense003.tflite").unlink()
    record = out / "records" / "dense004.json"
    record.write_text(record.read_text()[:-20])
    for wanted in ([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]):
        result = litefuse.batch(models, output=out, jobs=1)
        assert [each.attempts for each in result.outcomes] == wanted
        assert result.ok
    assert litefuse.batch(models, output=out, jobs=1, again=True).outcomes[5].attempts == 1


def test_the_key(tmp_path: Path) -> None:
    model = write_dense(tmp_path / "m.pb", 1)
    code = tmp_path / "code.py"
    code.write_text("one")
    entry = Entry("m", str(model), plug_ins=(str(code),), verify={"inputs": str(tmp_path / "in.npz")})
    before = key_of(entry, HERE)
    moved = replace(entry, path=str(shutil.copy(model, tmp_path / "n.pb")))
    assert key_of(moved, HERE) == key_of(entry, HERE) == before
    assert key_of(replace(entry, convert={"batch": 1}), HERE) != before
    code.write_text("two")
    after = key_of(entry, HERE)
    assert after != before
    (tmp_path / "in.npz").write_bytes(b"x")
    assert key_of(entry, HERE) not in {before, after}
    with pytest.raises(LitefuseError, match="no such file or folder"):
        key_of(Entry("m", str(tmp_path / "none")), HERE)
    with pytest.raises(LitefuseError, match="device, pipe"):
        key_of(Entry("m", os.devnull), HERE)


def test_links_that_lead_out_are_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("one")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "inside").write_text("one")
    (folder / "link").symlink_to("inside")
    (folder / "out").symlink_to(outside)
    before = digest_of(folder)
    outside.write_text("two")
    assert digest_of(folder) == before
    (folder / "inside").write_text("two")
    assert digest_of(folder) != before


def test_versions_count(tmp_path: Path) -> None:
    entry = Entry("m", str(write_dense(tmp_path / "m.pb", 1)))
    before = key_of(entry, HERE)
    for name in HERE.keys() - {"tensorflow"}:
        assert key_of(entry, {**HERE, name: "0.0.0"}) != before
    other = {**HERE, "tensorflow": "0.0.0"}
    assert key_of(entry, other) == before
    assert key_of(replace(entry, verify={}), other) != key_of(replace(entry, verify={}), HERE)


def test_damaged_records(tmp_path: Path) -> None:
    entry = Entry("m", str(write_dense(tmp_path / "m.pb", 1)))
    (tmp_path / "m.tflite").write_bytes(b"model")
    digest, key = digest_of(tmp_path / "m.tflite"), key_of(entry, HERE)
    make_record_folder(str(tmp_path))
    written = Outcome("m", entry.path, (StepOutcome("convert", "done"),), {"m.tflite": (digest, 5)})
    write_record(str(tmp_path), written, key)
    assert read_record(str(tmp_path), entry, key) == written.again()
    assert read_record(str(tmp_path), entry, "other") is None
    record = tmp_path / "records/m.json"
    whole = record.read_text()
    damaged = ["", "{", "[]", "null", '{"key": 3}', f'{{"key": "{key}", "outcome": {{"steps": 3}}}}', whole[:-9]]
    damaged += [whole.replace('"done"', '"finished"'), whole.replace('"done"', '"failed"'), whole.replace(digest, "0")]
    for text in damaged:
        record.write_text(text)
        assert read_record(str(tmp_path), entry, key) is None, text


def test_plug_ins_of_one_model_are_not_those_of_another(tmp_path: Path) -> None:
    models: list[Any] = [
        {"path": DEMO, "name": "with", "plug_ins": [fault(tmp_path, "raises")]},
        {"path": DEMO, "name": "without"},
    ]
    result = litefuse.batch(models, output=tmp_path / "out", jobs=1)
    assert [each.status for each in result.outcomes] == ["failed", "done"]


def test_a_plug_in_that_ends_the_process(tmp_path: Path) -> None:
    for name, code in (("exits", "import os; os._exit(3)"), ("dies", "import ctypes; ctypes.string_at(0)")):
        (tmp_path / f"{name}.py").write_text(code)
    models: list[Any] = [
        {"path": DEMO, "name": each, "plug_ins": [tmp_path / f"{each}.py"]} for each in ("exits", "dies")
    ]
    result = litefuse.batch(models, output=tmp_path / "out", jobs=1, retries=0)
    assert [(each.status, each.attempts) for each in result.outcomes] == [("crashed", 1), ("crashed", 1)]
    assert "exit code 3" in result.outcomes[0].message


# The table.

HOSTILE = Outcome(
    "<b>\x1b[31m&amp; é\u202e",
    "x",
    (
        StepOutcome("convert", "done", 1.0, facts={"bytes": 1}),
        StepOutcome("verify", "crashed", message="\0]]><x>\n\ud800"),
    ),
)


def test_hostile_names_in_tables(tmp_path: Path) -> None:
    result = BatchResult("out", (HOSTILE,))
    for name, save in (("t.html", save_page), ("t.xml", save_junit)):
        save(result, tmp_path / name)
        assert "\x1b" not in (tmp_path / name).read_text()
    assert "<b>" not in (tmp_path / "t.html").read_text()
    assert "\x1b" not in str(result)
    case = ET.parse(tmp_path / "t.xml").findall(".//testcase")[1]
    error = case.find("error")
    assert error is not None
    assert error.get("message", "").startswith("\\x00]]><x>")


def test_statuses() -> None:
    steps = [
        StepOutcome("a", "done"),
        StepOutcome("b", "inconclusive", message="m"),
        StepOutcome("c", "differs", message="n"),
    ]
    assert Outcome("x", "x", tuple(steps)).status == "differs"
    assert Outcome("x", "x", tuple(steps)).message == "c: n"
    assert Outcome("x", "x").status == "interrupted"
    told = json.loads(json.dumps(HOSTILE.to_json()))
    assert Outcome.of_json(told) == HOSTILE


# The command.


def test_the_command(tmp_path: Path) -> None:
    dense_models(tmp_path / "models", 2)
    (tmp_path / "models/bad.pb").write_bytes(b"no graph")
    options = ["-o", tmp_path / "out", "--jobs", "1", "--save", tmp_path / "t.html", "--save", tmp_path / "t.xml"]
    code, out, err = run("batch", tmp_path / "models", *options, "--json", "--quantize", "float16")
    told = json.loads(out)
    assert (code, told["ok"], told["exit_code"], told["counts"]) == (1, False, 1, {"done": 2, "failed": 1})
    assert [each["name"] for each in told["models"]] == ["bad", "dense000", "dense001"]
    assert "[3/3] dense001: done" in err
    assert (tmp_path / "out/dense001.float16.tflite").is_file()
    suites = ET.parse(tmp_path / "t.xml").findall("testsuite")
    assert [(each.get("name"), each.get("tests"), each.get("failures")) for each in suites] == [
        ("bad", "1", "1"),
        ("dense000", "2", "0"),
        ("dense001", "2", "0"),
    ]
    assert "dense001" in (tmp_path / "t.html").read_text()
    (tmp_path / "models/bad.pb").unlink()
    code, out, err = run("batch", tmp_path / "models", "-o", tmp_path / "out", "--quantize", "float16", "--quiet")
    assert (code, out, err) == (0, "", "")
    code, out, _ = run("batch", tmp_path / "models", "-o", tmp_path / "out", "--quantize", "float16")
    assert code == 0
    assert "2 of them were done before" in out


def test_a_target_that_refuses(tmp_path: Path) -> None:
    models: list[Any] = [{"path": DEMO, "name": "m", "check": ["cpu", "micro"]}]
    steps = litefuse.batch(models, output=tmp_path, jobs=1).outcomes[0].steps
    assert [(each.step, each.status) for each in steps] == [
        ("convert", "done"),
        ("check cpu", "refused"),  # the custom op has no kernel
        ("check micro", "refused"),
    ]


@pytest.mark.parametrize(
    ("statuses", "code"),
    [(["done"], 0), (["done", "inconclusive"], 3), (["inconclusive", "differs"], 1), (["done", "crashed"], 1)],
    ids=["done", "inconclusive", "differs", "crashed"],
)
def test_exit_codes(statuses: list[Status], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = tuple(Outcome(str(number), "x", (StepOutcome("a", each),)) for number, each in enumerate(statuses))

    def done(*_: Any, **__: Any) -> BatchResult:
        return BatchResult("out", outcomes)

    monkeypatch.setattr("litefuse.tools.batch_runs.run.batch", done)
    assert run("batch", tmp_path, "-o", tmp_path)[0] == code


def test_wrong_usage(tmp_path: Path) -> None:
    dense_models(tmp_path / "models", 1)
    code, _, err = run("batch", tmp_path / "models")
    assert code == 1
    assert "--output DIR" in err
    assert run("batch", tmp_path / "models", "-o", tmp_path / "out", "--jobs", "0")[0] == 2
    assert run("batch", tmp_path / "models", "-o", tmp_path / "out", "--save", tmp_path / "none" / "x.xml")[0] == 1
    assert run("batch", tmp_path / "models", "-o", tmp_path / "out", "--save", tmp_path / "x.csv")[0] == 2
    (tmp_path / "file").write_text("")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/records").write_text("")
    for output in ("file", "taken"):
        code, _, err = run("batch", tmp_path / "models", "-o", tmp_path / output)
        assert code == 1
        assert "cannot be written: " in err


# How a batch is ended.

WORD = "LITEFUSE_TEST_BATCH"


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    """A batch whose last model hangs, in a process of its own."""
    dense_models(tmp_path / "models", 2)
    shutil.copytree(DEMO, tmp_path / "models/z-hangs")
    code = fault(tmp_path, "hangs")
    (tmp_path / "models.toml").write_text(
        "[batch]\noutput = 'out'\njobs = 2\n"
        "[[model]]\npath = 'models/dense000.pb'\n[[model]]\npath = 'models/dense001.pb'\n"
        f"[[model]]\npath = 'models/z-hangs'\nplug_ins = ['{code}']\n"
    )
    word = f"{WORD}={tmp_path.name}-{os.getpid()}"
    environment = {**os.environ, WORD: word.partition("=")[2]}
    yield [sys.executable, "-m", "litefuse", "batch", str(tmp_path / "models.toml")], environment
    for each in processes_of(word):
        os.kill(each, signal.SIGKILL)


def wait_for(path: Path) -> None:
    end = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=["KILL", "INT", "TERM"])
def test_a_batch_that_is_ended_goes_on(
    hanging: tuple[list[str], dict[str, str]], number: signal.Signals, tmp_path: Path
) -> None:
    command, environment = hanging
    running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    for name in ("dense000", "dense001"):
        wait_for(tmp_path / "out/records" / f"{name}.json")
    running.send_signal(number)
    _, err = running.communicate(timeout=SECONDS)
    assert running.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        assert "does the rest" in err
    end = time.monotonic() + SECONDS
    while processes_of(f"{WORD}={environment[WORD]}"):
        assert time.monotonic() < end, "processes are left"
        time.sleep(0.1)
    (tmp_path / "hangs.py").write_text("")
    result = litefuse.batch(tmp_path / "models.toml")
    assert [(each.name, each.attempts) for each in result.outcomes] == [
        ("dense000", 0),
        ("dense001", 0),
        ("z-hangs", 1),
    ]
    assert result.ok


def test_processes_end_with_the_pool(tmp_path: Path) -> None:
    pool = RunnerPool(0)
    model = write_dense(tmp_path / "m.pb", 1)
    assert pool.run(Task(Entry("m", str(model)), str(tmp_path))).status == "done"
    pool.end()
    assert pool.run(Task(Entry("m", str(model)), str(tmp_path))).status == "interrupted"
    pool.close()


def test_the_process_of_a_batch_stays_small(tmp_path: Path) -> None:
    """It loads neither the engine nor the runtime."""
    dense_models(tmp_path / "models", 3)
    program = f"""
import sys, litefuse
result = litefuse.batch({str(tmp_path / "models")!r}, output={str(tmp_path / "out")!r}, jobs=1, progress=True)
assert result.ok, result
heavy = "ai_edge_litert", "litert_converter", "tensorflow", "numpy", "litefuse.ir", "litefuse.litert.runtime"
print([each for each in heavy if each in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("scheme", ["file://", "simplecache::file://"], ids=["here", "fetched"])
def test_urls(scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITEFUSE_CACHE", str(tmp_path / "cache"))
    write_dense(tmp_path / "m.pb", 1)
    for attempts in (1, 0):
        result = litefuse.batch([f"{scheme}{tmp_path}/m.pb"], output=f"{scheme}{tmp_path}/out", jobs=1)
        assert result.ok, result
        assert result.outcomes[0].attempts == attempts
    files = sorted(str(each.relative_to(tmp_path / "out")) for each in (tmp_path / "out").rglob("*.*"))
    assert files == ["m.tflite", "records/m.json"]
    (tmp_path / "out/m.tflite").write_bytes(b"")
    assert litefuse.batch([f"{scheme}{tmp_path}/m.pb"], output=f"{scheme}{tmp_path}/out").outcomes[0].attempts == 1


@pytest.mark.skipif(not MEMORY, reason="memory is limited on Linux alone")
def test_a_limit_below_what_a_process_needs(tmp_path: Path) -> None:
    model = write_dense(tmp_path / "m.pb", 1)
    result = litefuse.batch([model], output=tmp_path / "out", defaults={"memory": "1M"}, jobs=1)
    assert result.outcomes[0].status == "memory"
    assert "limit memory" in result.outcomes[0].message
