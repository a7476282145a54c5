"""How commands fail: exit codes, and errors as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from litefuse.errors import LitefuseError, MissingKernelError, UnsupportedOp, UnsupportedOpsError
from litefuse.tools.cli.app import app
from litefuse.tools.cli.failures import ExitCode
from litefuse.tools.demo import SAVED_MODEL
from litefuse.tools.documents.document import Failure


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("convert", "absent"), ExitCode.FAILED),
        (("inspect", "absent"), ExitCode.FAILED),
        (("kernels", "list", "--kernels", "absent.py"), ExitCode.FAILED),
        (("verify", "absent.tflite", SAVED_MODEL), ExitCode.NOT_COMPARED),
        (("verify", "absent.tflite", "absent"), ExitCode.NOT_COMPARED),
        (("verify", "absent.tflite"), ExitCode.USAGE),
        (("convert", SAVED_MODEL, "--composites", "nonsense"), ExitCode.USAGE),
    ],
)
def test_errors_are_json_where_that_was_asked_for(arguments: tuple[str | Path, ...], code: ExitCode) -> None:
    plain_code, nothing, plain = run(*arguments)
    assert (plain_code, nothing) == (code, "")
    found, out, message = run(*arguments, "--json")
    assert found == code
    assert message == plain  # what people read stays
    told: dict[str, Any] = json.loads(out)
    assert (told["ok"], told["exit_code"]) == (False, code)
    assert told["error"]["message"].splitlines()[0] in plain


def test_the_json_of_an_error_has_all_that_it_tells() -> None:
    op = UnsupportedOp("Nope", "a/b", "main", ("float32[1]",), ("float32[2]",), "there is none")
    error = UnsupportedOpsError("LiteRT has no op", where="here", hint="do this", ops=[op])
    assert Failure.of(error).to_json() == {
        "type": "UnsupportedOpsError",
        "message": "LiteRT has no op",
        "where": "here",
        "hint": "do this",
        "ops": [
            {
                "op": "Nope",
                "node": "a/b",
                "function": "main",
                "operands": ["float32[1]"],
                "results": ["float32[2]"],
                "reason": "there is none",
            }
        ],
    }
    assert Failure.of(MissingKernelError("no kernel", ops=["A", "B"])).to_json()["ops"] == ["A", "B"]
    error = LitefuseError("wrong")
    error.trace = "Traceback ..."
    assert "trace" not in Failure.of(error).to_json()


def test_json_of_a_conversion_that_succeeds_is_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})
    code, out, message = run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--json")
    assert (code, message) == (0, "")
    told = json.loads(out)["file_check"]
    assert not told["ran"]
    assert "no kernel for the custom ops my_custom_fused_op" in told["reason"]


def test_max_error_is_for_quantization(tmp_path: Path) -> None:
    code, _, message = run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--max-error", "0.1")
    assert code == 1
    assert "--quantize" in message


def test_names_in_errors_do_not_reach_the_terminal_raw(tmp_path: Path) -> None:
    code, _, message = run("inspect", tmp_path / "a\x1b]0;title\x07b\tc")
    assert code == 1
    assert r"a\x1b]0;title\x07b" in message
    assert message.replace("\n", "").isprintable()


@pytest.mark.parametrize("content", [b"", b"\x1c\0\0\0TFL3", bytes(range(256)) * 4])
@pytest.mark.parametrize("command", ["verify", "report"])
def test_a_damaged_original_is_an_error(command: str, content: bytes, demo_model: Path, tmp_path: Path) -> None:
    damaged, page = tmp_path / "damaged.tflite", tmp_path / "page.html"
    damaged.write_bytes(content)
    options = ("-o", page, "--no-time") if command == "report" else ()
    code, out, message = run(command, demo_model, damaged, *options)
    assert code == (ExitCode.NOT_COMPARED if command == "verify" else ExitCode.FAILED)
    assert (out, page.exists()) == ("", False)
    assert "damaged.tflite: " in message


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("convert", "m", "--int8"), "Use --quantize int8."),
        (("convert", "m", "--FP16"), "Use --quantize float16."),
        (("convert", "m", "--gpu"), "Use --target gpu."),
        (("quantize", "m.tflite", "--int8"), "int8."),
        (("convert", "m", "--narrow"), "--dtypes narrow"),
        (("convert", "m", "--representative-dataset", "x.npz"), "--representative-dataset is now --samples."),
        (("quantize", "m.tflite", "-o", "o", "--form", "int8"), "--form is now --quantize."),
    ],
)
def test_what_people_type_from_habit_is_answered(arguments: tuple[str, ...], answer: str) -> None:
    code, out, message = run(*arguments)
    assert (code, out) == (ExitCode.USAGE, "")
    assert answer in " ".join(message.split())


@pytest.mark.parametrize(
    "arguments", [("convert", "m", "other"), ("convert", "m", "--require-fused"), ("convert", "m", "--int7")]
)
def test_other_wrong_usage_is_told_as_before(arguments: tuple[str, ...]) -> None:
    code, _, message = run(*arguments)
    assert code == ExitCode.USAGE
    assert "is now" not in message
    assert "Use --" not in message


@pytest.mark.parametrize(
    "command",
    [
        "benchmark {}",
        "check {}",
        "convert {}",
        "diff {} {}",
        "export-micro {} -o out",
        "export-web {} -o out",
        "inspect {}",
        "quantize {} --quantize dynamic -o out",
        "report {}",
        "run {}",
        "verify {} {}",
    ],
)
def test_a_file_that_is_not_there(command: str, tmp_path: Path) -> None:
    path = tmp_path / "absent.tflite"
    code, out, message = run(*command.format(path, path).split())
    assert code in {ExitCode.FAILED, ExitCode.NOT_COMPARED}
    assert (out, message) == ("", f"error: {path}: no such file or folder\n")


def test_convert_says_that_a_litert_model_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.tflite").write_bytes(b"TFL3")
    code, _, message = run("convert", "model.tflite", "--quantize", "int8")
    assert code == ExitCode.FAILED
    assert "litefuse quantize" in message
