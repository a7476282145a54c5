"""With ``--json``, the standard output is one document, whatever else is printed and however the command ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from litefuse.support.files.digest import file_digest, folder_digest
from litefuse.tools.cli.app import app
from litefuse.tools.demo import SAVED_MODEL
from litefuse.tools.documents.document import document, document_text, file_record
from tests.tools.cli.test_cli_endings import INTERRUPTING
from tests.tools.documents.reading import is_described, printed

#: A kernel of the demo's custom op, and code around it.
KERNEL = """
import os, subprocess, sys, time
import numpy as np
import litefuse

def shout(text):
    print("printed:", text)
    os.write(1, b"written\\n")
    subprocess.run(["echo", "echoed"])

{top}

@litefuse.custom_op("my_custom_fused_op")
class Noisy(litefuse.CustomOp):
    def prepare(self, a, b, **options):
        return litefuse.TensorSpec(a.shape, a.dtype)

    def invoke(self, inputs, outputs, **options):
        {invoke}
        outputs[0][...] = 0
"""


def kernel(folder: Path, *, top: str = "", invoke: str = "pass") -> Path:
    path = folder / "noisy.py"
    path.write_text(KERNEL.format(top=top, invoke=invoke))
    return path


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "litefuse", *map(str, arguments), "--json"]


def spawned(*arguments: str | Path, **variables: str) -> tuple[dict[str, Any], str]:
    """Runs a command in a process of its own; returns the document and the standard error."""
    done = subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=120, env={**os.environ, **variables}
    )
    found = json.loads(done.stdout)
    assert found["exit_code"] == done.returncode, done.stderr
    assert is_described(found, found["schema"])
    return found, done.stderr


def test_what_kernels_print_goes_to_the_standard_error(demo_model: Path, tmp_path: Path) -> None:
    path = kernel(tmp_path, top="shout('import')", invoke="shout('invoke')")
    found, told = spawned("run", demo_model, "--signature", "serving_default", "--kernels", path)
    assert found["status"] == "done"
    for text in ("printed: import", "printed: invoke", "written", "echoed"):
        assert text in told
    assert [each["path"] for each in found["read"]] == [str(demo_model), str(path)]


def test_what_plug_ins_print_goes_to_the_standard_error(tmp_path: Path) -> None:
    path = kernel(tmp_path, top="shout('import')")
    found, told = spawned("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--plug-in", path)
    assert found["file_check"]["ran"]
    for text in ("printed: import\n", "written\nechoed\n"):
        assert text in told
    assert found["options"] == {
        "model": str(SAVED_MODEL),
        "--output": str(tmp_path / "m.tflite"),
        "--plug-in": [str(path)],
    }


def test_a_crash_of_the_model_is_a_document(demo_model: Path, tmp_path: Path) -> None:
    path = kernel(tmp_path, invoke="os.abort()")
    found, told = spawned("run", demo_model, "--signature", "serving_default", "--kernels", path)
    error = found["error"]
    assert (found["exit_code"], error["type"]) == (1, "ModelCrashError")
    assert error["step"].startswith("invoke")
    assert "SIGABRT" in found["error"]["message"]
    assert told.rstrip().endswith(found["error"]["hint"])


FUSION = """
import os, time
import litefuse

@litefuse.fusion("my_custom_fused_op")
class Bad(litefuse.Fusion):
    def verify(self, composite):
        {verify}

    def rewrite(self, composite, b):
        return composite.args[0]
"""


def fusion(folder: Path, verify: str) -> Path:
    path = folder / "bad.py"
    path.write_text(FUSION.format(verify=verify))
    return path


def test_a_crash_of_the_conversion_is_a_document(tmp_path: Path) -> None:
    found, _ = spawned("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--plug-in", fusion(tmp_path, "os.abort()"))
    error = found["error"]
    assert (error["type"], error["death"], error["step"]) == ("EngineCrashError", "SIGABRT", "fuse-composites")
    assert (found["written"], (tmp_path / "m.tflite").exists()) == ([], False)
    assert [each["kind"] for each in found["read"]] == ["folder", "file"]


def test_the_end_of_its_time_is_a_document(tmp_path: Path) -> None:
    path = fusion(tmp_path, "time.sleep(60)")
    found, _ = spawned("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--timeout", "3", "--plug-in", path)
    assert (found["error"]["type"], found["error"]["limit"]) == ("LimitError", "timeout")
    assert found["options"]["--timeout"] == 3.0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_an_interruption_is_a_document(number: signal.Signals, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    path = fusion(tmp_path, f"open({str(begun)!r}, 'w').close(); time.sleep(60)")
    process = subprocess.Popen(
        command("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--plug-in", path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    out, told = process.communicate(timeout=60)
    found = json.loads(out)
    assert is_described(found, found["schema"])
    assert (process.returncode, found["exit_code"], told) == (128 + number, 128 + number, "")
    assert found["error"]["type"] == "Interrupted"
    assert number.name in found["error"]["message"]
    assert [each["sha256"] for each in found["read"]] == [None, None]
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("m.")] == []


@pytest.mark.parametrize(
    "module", ["litefuse.support.processes.process", "click", "litefuse.tools.cli.app", "litefuse.tools.cli.convert"]
)
def test_an_interruption_at_the_start_is_a_document(module: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING.format(name=module, parent=os.getpid()))
    done = subprocess.run(
        command("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite"),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        start_new_session=True,
        timeout=60,
    )
    found = json.loads(done.stdout)
    assert is_described(found, found["schema"])
    assert (done.returncode, found["exit_code"], found["error"]["type"]) == (130, 130, "Interrupted")


def test_code_that_exits_is_a_failure(tmp_path: Path) -> None:
    path = kernel(tmp_path, top="sys.exit(0)")
    found, told = spawned("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--plug-in", path)
    assert (found["exit_code"], found["error"]["type"], "sys.exit(0)" in told) == (1, "SystemExit", True)


def test_a_fault_of_litefuse_is_a_document(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def faulty(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("litefuse.conversion.api.convert", faulty)
    result = CliRunner().invoke(app, ["convert", str(SAVED_MODEL), "-o", str(tmp_path / "m.tflite"), "--json"])
    assert isinstance(result.exception, ZeroDivisionError)  # Python prints its traceback
    found = json.loads(result.stdout)
    assert (found["exit_code"], found["error"]["type"], found["error"]["message"]) == (
        1,
        "ZeroDivisionError",
        "a fault",
    )
    assert is_described(found, found["schema"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--json"],
        ["nosuch", "--json"],
        ["kernels", "nosuch", "--json"],
        ["convert", "--json"],
        ["convert", "--json", "model", "--nosuch"],
        ["convert", "--nosuch", "model", "--json"],
        ["convert", "model", "--json", "--batch", "many"],
        ["verify", "--json", "a.tflite"],
        ["convert", "model", "--log-level", "loud", "--json"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_a_document(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments)
    found = json.loads(result.stdout)
    assert (result.exit_code, found["exit_code"], found["status"]) == (2, 2, "failed")
    assert is_described(found, found["schema"])
    assert "Error: " in result.stderr
    if arguments[0] in {"convert", "verify"}:
        assert found["command"] == arguments[0]


def test_an_option_that_takes_that_word_is_not_that_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["convert", str(SAVED_MODEL), "-o", "--json"])
    assert (result.exit_code, (tmp_path / "--json").is_file()) == (0, True)
    assert result.stdout.startswith("Converted ")


def test_twice_is_once(tmp_path: Path) -> None:
    found = printed("doctor", "fusions", "--json")
    assert found["status"] == "done"
    json.loads(CliRunner().invoke(app, ["kernels", "list", "--json"]).stdout)  # and the next command has its own


def test_a_closed_standard_error_loses_no_document() -> None:
    for words, status in (("doctor fusions", "done"), ("inspect absent", "failed")):
        shell = f"{sys.executable} -m litefuse {words} --json 2>&-"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
        assert json.loads(done.stdout)["status"] == status
        assert done.returncode == (status == "failed")


def test_names_of_any_bytes(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b[31m \xc3\xa9"))
    folder.mkdir()
    done = subprocess.run(
        command("inspect", folder / "absent.tflite"), capture_output=True, timeout=60, env={**os.environ, "LC_ALL": "C"}
    )
    found = json.loads(done.stdout)
    assert found["error"]["where"].startswith(str(folder))
    assert found["options"]["model"] == str(folder / "absent.tflite")
    assert b"\x1b" not in done.stdout + done.stderr


def test_an_encoding_without_letters_gets_escapes() -> None:
    found = document("run", {"name": "é"}, options={"model": "\udcff"})
    assert document_text(found, "ascii").isascii()
    assert json.loads(document_text(found)) == json.loads(document_text(found, "nonsense")) == found
    assert "é" in document_text({"name": "é"})


@pytest.fixture
def saved_model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "variables").mkdir(parents=True)
    (folder / "assets").mkdir()
    (folder / "saved_model.pb").write_bytes(b"graph")
    (folder / "variables" / "v é\n.index").write_bytes(b"index")
    (folder / "variables.txt").write_bytes(b"")
    (folder / "assets" / "link").symlink_to(folder / "saved_model.pb")
    (folder / "assets" / "loop").symlink_to(folder)
    (folder / "assets" / "gone").symlink_to(folder / "absent")
    os.mkfifo(folder / "pipe")
    return folder


def test_the_digest_of_a_folder_is_as_the_page_says(saved_model: Path) -> None:
    (saved_model / "variables" / "v é\n.index").rename(saved_model / "variables" / "v é.index")  # sha256sum escapes it
    shell = "find . -xtype f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum"
    page = (Path(__file__).parents[3] / "docs" / "reference" / "json.md").read_text()
    assert shell in page
    if sys.platform == "linux":
        done = subprocess.run(["bash", "-c", shell], cwd=saved_model, capture_output=True, text=True, check=True)
        assert folder_digest(saved_model) == done.stdout.split()[0]


def test_the_digest_of_a_folder_is_of_its_files(saved_model: Path) -> None:
    before = folder_digest(saved_model)
    (saved_model / "assets" / "empty").mkdir()
    os.utime(saved_model / "saved_model.pb", (0, 0))
    assert folder_digest(saved_model) == before
    (saved_model / "saved_model.pb").rename(saved_model / "saved_model.pbtxt")
    assert folder_digest(saved_model) != before


def test_a_record_is_made_of_anything(saved_model: Path, tmp_path: Path) -> None:
    assert file_record(saved_model).sha256 == folder_digest(saved_model)
    assert file_record(saved_model, digest=False).sha256 is None
    assert file_record(saved_model.parent).sha256 == folder_digest(saved_model.parent)
    file = file_record(saved_model / "saved_model.pb")
    assert (file.kind, file.size, file.sha256) == ("file", 5, file_digest(saved_model / "saved_model.pb"))
    other = tmp_path / "samples"
    other.mkdir()
    (other / "sample.npz").write_bytes(b"x")
    assert (file_record(other).sha256, file_record(other).problem) == (None, "it is not the folder of one SavedModel")
    assert file_record(other, whole=True).sha256 == folder_digest(other)
    for name in ("a", "b"):
        (other / name).mkdir()
        (other / name / "saved_model.pb").write_bytes(b"graph")
    assert file_record(other).sha256 is None  # a folder of models may be large
    for path in (saved_model / "pipe", Path("/dev/zero"), Path("a\0b"), tmp_path / "absent", Path("x" * 5000)):
        record = file_record(path)
        assert (record.kind, record.sha256, bool(record.problem)) == ("other", None, True)


def test_what_is_written_before_a_failure_is_in_the_document(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("litefuse.tools.cli.convert._write_page", fail)
    monkeypatch.setattr("litefuse.tools.page.saving.check_possible", lambda: None)
    model = tmp_path / "m.tflite"
    found = printed("convert", SAVED_MODEL, "-o", model, "--html", tmp_path / "page.html")
    assert (found["error"]["type"], found["exit_code"]) == ("MemoryError", 1)
    assert [(each["path"], each["sha256"]) for each in found["written"]] == [(str(model), file_digest(model))]
