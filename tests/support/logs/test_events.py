"""Events of the work are records of Python's logging, in the order in which they happened."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import EngineCrashError
from litefuse.support.logs.events import DEBUG, ERROR, FIELDS, INFO, WARNING, event, is_heard
from litefuse.support.logs.records import Forwarding, JsonFormatter, TextFormatter, forwarded, take_record
from litefuse.support.processes.process import run_in_worker
from litefuse.support.processes.voices import speaker
from litefuse.support.progress.show import shown_progress
from litefuse.tools.cli.app import app
from litefuse.tools.demo import SAVED_MODEL
from tests.every import every


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG, "litefuse"):
        yield caplog


def events(caplog: pytest.LogCaptureFixture, name: str) -> list[logging.LogRecord]:
    return [each for each in caplog.records if getattr(each, "event", "") == name]


def test_a_conversion_says_what_happens(logged: pytest.LogCaptureFixture) -> None:
    litefuse.convert(SAVED_MODEL)
    names = [getattr(each, "event", "") for each in logged.records]
    assert names.index("work began") < names.index("fused") < names.index("work done") < names.index("converted")
    stages: list[Any] = [getattr(each, "stage", "") for each in events(logged, "stage began")]
    assert stages[0] == "Reading"
    assert {"Fusing", "Writing", "Checking the file"} <= {*stages}
    done = events(logged, "stage done")
    assert [getattr(each, "stage", "") for each in done] == stages
    assert every(getattr(each, "seconds", -1) >= 0 for each in done)
    fused = {vars(each)["composite"]: vars(each)["fused_into"] for each in events(logged, "fused")}
    assert fused == {"my_custom_fused_op": "my_custom_fused_op", "embedding_matmul": "EMBEDDING_LOOKUP"}
    (caveat,) = events(logged, "caveat")
    assert (caveat.levelno, "my_custom_fused_op" in caveat.getMessage()) == (WARNING, True)


def test_records_of_the_child_process_stand_where_they_happened(logged: pytest.LogCaptureFixture) -> None:
    litefuse.convert(SAVED_MODEL)
    fused = [index for index, each in enumerate(logged.records) if getattr(each, "event", "") == "fused"]
    stages = {getattr(each, "stage", ""): index for index, each in enumerate(logged.records) if hasattr(each, "stage")}
    began = next(i for i, each in enumerate(logged.records) if getattr(each, "stage", "") == "Fusing")
    assert began < fused[0]
    assert fused[-1] < stages["Writing"]
    assert logged.records[fused[0]].process != os.getpid()


def test_a_composite_that_is_not_fused_has_the_reason(logged: pytest.LogCaptureFixture) -> None:
    litefuse.convert(SAVED_MODEL, composites={"embedding_matmul": "inline"})
    (record,) = events(logged, "not fused")
    assert vars(record)["composite"] == "embedding_matmul"
    assert vars(record)["reason"]
    assert vars(record)["reason"] in record.getMessage()


def test_fields_are_those_that_are_documented(logged: pytest.LogCaptureFixture) -> None:
    litefuse.convert(SAVED_MODEL)
    with pytest.raises(litefuse.LitefuseError):
        litefuse.convert("absent")
    own = {*vars(logging.makeLogRecord({})), "message", "asctime"}
    assert {name for each in logged.records for name in vars(each)} - own <= FIELDS.keys()


def die(_argument: object, announce: Callable[[str], None]) -> None:
    event("composites", INFO, "last words", event="fused", composite="x")
    announce("lower")
    os.abort()


def speak(argument: list[str], _announce: Callable[[str], None]) -> None:
    for index, each in enumerate(argument):
        event("composites", INFO, each, event="fused", size=index)
    try:
        raise ValueError("inside")
    except ValueError:
        logging.getLogger("litefuse.kernels").exception("it failed: %s", Path("somewhere"))


def test_a_crash_is_an_event_and_what_came_before_is_kept(logged: pytest.LogCaptureFixture) -> None:
    with pytest.raises(EngineCrashError):
        run_in_worker(f"{__name__}:die", None)
    assert "last words" in logged.messages
    (record,) = events(logged, "process died")
    assert (record.levelno, vars(record)["death"], vars(record)["step"]) == (ERROR, "SIGABRT", "lower")


def test_records_keep_their_order_and_their_tracebacks(logged: pytest.LogCaptureFixture) -> None:
    messages = [f"{index} %s {{}} \x1b[31m é" for index in range(500)]
    run_in_worker(f"{__name__}:speak", messages)
    assert [each.getMessage() for each in events(logged, "fused")] == messages
    (failed,) = [each for each in logged.records if each.name == "litefuse.kernels"]
    assert failed.getMessage() == "it failed: somewhere"
    assert "ValueError: inside" in logged.text


def test_nothing_is_said_unless_somebody_listens() -> None:
    program = (
        "import litefuse, litefuse.tools.demo, logging; litefuse.convert(litefuse.tools.demo.SAVED_MODEL);"
        "from litefuse.support.logs.events import event; event('runtime', 40, 'loud');"
        "logging.getLogger('mine').warning('mine')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert (done.stdout, done.stderr) == ("", "mine\n")


def test_no_records_are_sent_that_nobody_wants() -> None:
    sent: list[dict[str, Any]] = []
    with forwarded(None, sent.append, speaker):
        event("composites", ERROR, "no")
    with forwarded(WARNING, sent.append, speaker):
        event("composites", INFO, "no")
        event("composites", WARNING, "yes")
    event("composites", ERROR, "no longer")
    assert [each["msg"] for each in sent] == ["yes"]
    logging.getLogger("litefuse").setLevel(logging.ERROR)
    try:
        assert not is_heard(WARNING)
        take_record(sent[0])
    finally:
        logging.getLogger("litefuse").setLevel(logging.NOTSET)


def test_a_record_that_cannot_be_sent_does_not_end_the_work() -> None:
    def send(_told: dict[str, Any]) -> None:
        raise BrokenPipeError

    Forwarding(send).handle(logging.makeLogRecord({"msg": "x"}))


def test_work_within_work_is_logged_once(logged: pytest.LogCaptureFixture) -> None:
    with shown_progress("outer", show=False) as outer, shown_progress("inner", show=False, also=outer) as step:
        step("read")
        step("write")
    assert [vars(each)["work"] for each in events(logged, "work began")] == ["outer"]
    assert [vars(each)["stage"] for each in events(logged, "stage done")] == ["Reading", "Writing"]


def test_work_that_fails_is_logged_with_its_error(logged: pytest.LogCaptureFixture) -> None:
    def work() -> None:
        with shown_progress("it", show=False) as step:
            step("read")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    (record,) = events(logged, "work failed")
    assert (vars(record)["error"], record.levelno) == ("KeyboardInterrupt", ERROR)


def test_text_is_fit_for_a_terminal_and_json_is_one_line() -> None:
    record = logging.makeLogRecord({"name": "litefuse.x", "msg": "a\x1b]0;t\x07\nb é", "levelname": "INFO"})
    vars(record).update(event="fused", seconds=float("nan"), composite="\udcff", mine=object())
    text = TextFormatter().format(record)
    assert r"a\x1b]0;t\x07" in text
    line = JsonFormatter().format(record)
    assert line.isascii()
    assert "\n" not in line
    told = json.loads(line, parse_constant=pytest.fail)
    assert (told["message"], told["composite"], told["seconds"]) == (record.getMessage(), "\udcff", None)
    assert "mine" not in told


def command(*arguments: str | Path, **variables: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(each) for each in arguments], env=variables)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_shows_events_on_the_standard_error_alone(tmp_path: Path) -> None:
    model = tmp_path / "m.tflite"
    code, plain, quiet = command("convert", SAVED_MODEL, "-o", model, "--json")
    assert (code, quiet) == (0, "")
    code, out, told = command("convert", SAVED_MODEL, "-o", model, "--json", "-v")
    assert json.loads(out)["composites"] == json.loads(plain)["composites"]
    assert "INFO    litefuse.composites: embedding_matmul is fused into EMBEDDING_LOOKUP, checked: error 0\n" in told
    assert "DEBUG" not in told
    assert "DEBUG   litefuse.progress: step fuse-composites\n" in command("convert", SAVED_MODEL, "-o", model, "-vv")[2]


def test_warnings_that_the_report_has_are_not_said_twice(tmp_path: Path) -> None:
    code, out, told = command("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite")
    assert (code, told) == (0, "")
    assert "needs kernels" in out


def test_a_log_file_in_json(tmp_path: Path) -> None:
    log = tmp_path / "log é.jsonl"
    options = ("--log-file", log, "--log-format", "json", "-q")
    assert command("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", *options) == (0, "", "")
    first = log.read_text().splitlines()
    assert {json.loads(each)["event"] for each in first} >= {"work began", "fused", "stage done", "converted", "caveat"}
    assert command("convert", tmp_path / "absent", *options)[0] == 1  # it is appended
    told = json.loads(log.read_text().splitlines()[-1])
    assert (told["event"], told["level"], told["error"]) == ("work failed", "error", "SavedModelError")
    assert len(log.read_text().splitlines()) > len(first)


@pytest.mark.parametrize("variables", [{"LITEFUSE_LOG": "debug"}, {"LITEFUSE_LOG": "info"}], ids=["debug", "info"])
def test_the_environment_sets_the_level(variables: dict[str, str], tmp_path: Path) -> None:
    _, _, told = command("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "-q", **variables)
    assert ("DEBUG" in told) == (variables["LITEFUSE_LOG"] == "debug")
    assert "INFO" in told


def test_an_unknown_level_is_wrong_usage() -> None:
    assert command("doctor", "fusions", LITEFUSE_LOG="loud")[0] == 2
    assert command("doctor", "fusions", "--log-level", "loud")[0] == 2


@pytest.mark.parametrize("name", ["m.tflite", ".", "no/such/folder", "-", "out.tflite"], ids=str)
def test_a_log_does_not_go_where_it_must_not(name: str, tmp_path: Path, demo_model: Path) -> None:
    model = tmp_path / "m.tflite"
    model.write_bytes(demo_model.read_bytes())
    target = name if name == "-" else tmp_path / name
    arguments = ("quantize", model, "--quantize", "float16", "-o", tmp_path / "out.tflite")
    code, _, told = command(*arguments, "--log-file", target)
    assert (code, "the log cannot be written" in told) == (1, True)
    assert model.read_bytes() == demo_model.read_bytes()
    assert not (tmp_path / "out.tflite").exists()


def test_the_logger_is_as_it_was_after_a_command(tmp_path: Path) -> None:
    logger = logging.getLogger("litefuse")
    before = logger.level, [*logger.handlers]
    command("doctor", "fusions", "--log-file", tmp_path / "log", "--log-level", "debug")
    assert (logger.level, [*logger.handlers]) == before
    assert DEBUG == logging.DEBUG
