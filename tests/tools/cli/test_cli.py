from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import LitefuseError
from litefuse.support.options.conversion import Conversion
from litefuse.tools.cli import main
from litefuse.tools.cli.app import app
from litefuse.tools.demo import REFERENCES, SAVED_MODEL
from tests.frontends.saved_model.model_writer import write


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def run(*args: str | Path, env: Mapping[str, str] | None = None) -> Outcome:
    """The command in this process."""
    result = CliRunner().invoke(app, [str(arg) for arg in args], env=dict(env or {}))
    return Outcome(result.exit_code, result.stdout, result.stderr)


def spawn(*args: str | Path, cwd: Path | None = None) -> Outcome:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "litefuse", *map(str, args)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120, stdin=subprocess.DEVNULL)
    return Outcome(result.returncode, result.stdout, result.stderr)


def refused(outcome: Outcome, *words: str) -> None:
    """One message on the standard error, nothing on the standard output, no traceback."""
    assert outcome.code == 1, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert "Traceback" not in outcome.err
    for word in words:
        assert word in outcome.err


# convert


def test_convert_writes_the_model_and_says_what_was_fused(tmp_path: Path) -> None:
    output = tmp_path / "out.tflite"
    outcome = run("convert", SAVED_MODEL, "-o", output)
    assert outcome.code == 0
    lines = [line.split(maxsplit=1) for line in outcome.out.splitlines()]
    assert outcome.out.startswith(f"Converted {SAVED_MODEL} to {output} in ")
    assert [name for name, _ in lines[1:]] == ["size", "runs", "fused", "checked", "needs", "next", "litefuse"]
    assert lines[3][1].startswith("2 of 2 composites: ")
    assert lines[-2][1] == f"litefuse kernels new my_custom_fused_op --from {output}"
    assert lines[-1][1] == f"verify {output} {SAVED_MODEL} --kernels FILE.py"
    assert outcome.err == ""
    assert output.read_bytes()[4:8] == b"TFL3"


@pytest.mark.parametrize(
    ("arguments", "prepared"),
    [
        ("convert model", ["litefuse.conversion.run"]),
        ("convert --help", []),
        ("convert model --in-process", []),
        ("convert model --plug-in=mine.py", []),
        ("inspect model", []),
        ("run model", ["litefuse.tools.cli.execution"]),
        ("run model --kernels=mine.py", ["litefuse.tools.cli.execution"]),
        ("run model -h", []),
        ("verify model original", ["litefuse.conversion.verify.model_process"]),
    ],
)
def test_the_process_that_works_starts_before_the_command_is_loaded(
    monkeypatch: pytest.MonkeyPatch, arguments: str, prepared: list[str]
) -> None:
    def no_app(prog_name: str) -> None:
        assert prog_name == "litefuse"

    found: list[str] = []
    monkeypatch.setattr("litefuse.support.processes.process.prepare_worker", found.append)
    monkeypatch.setattr("litefuse.support.processes.process.prepare_model_process", found.append)
    monkeypatch.setattr("litefuse.tools.cli.app.app", no_app)
    monkeypatch.setattr("sys.argv", ["litefuse", *arguments.split()])
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    main()
    for number, handler in before.items():
        signal.signal(number, handler)
    assert found == prepared


def test_convert_names_the_file_after_the_folder(tmp_path: Path) -> None:
    outcome = spawn("convert", SAVED_MODEL, cwd=tmp_path)
    assert outcome.code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["saved_model.tflite"]


def test_convert_prints_json_alone(tmp_path: Path) -> None:
    outcome = run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--json", "-v")
    report = json.loads(outcome.out)
    assert {each["name"]: each["fused_into"] for each in report["composites"]} == {
        "my_custom_fused_op": "my_custom_fused_op",
        "embedding_matmul": "EMBEDDING_LOOKUP",
    }
    assert report["size"] == (tmp_path / "m.tflite").stat().st_size


def test_convert_quietly(tmp_path: Path) -> None:
    assert run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--quiet") == Outcome(0, "", "")


def test_convert_with_timings(tmp_path: Path) -> None:
    outcome = run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "-v")
    steps = outcome.out.partition("Time by step\n")[2].split("\n\n")[0].splitlines()[1:]
    assert [line.split()[0] for line in (steps[0], steps[-1])] == ["start", "check-file"]


def test_convert_some_signatures(tmp_path: Path) -> None:
    output = tmp_path / "m.tflite"
    outcome = run("convert", SAVED_MODEL, "-o", output, "--json", "--signature", "embed")
    assert json.loads(outcome.out)["signatures"] == ["embed"]
    refused(run("convert", SAVED_MODEL, "-o", output, "--signature", "embedd"), "'embedd'", "'embed'")


def test_convert_tags(tmp_path: Path) -> None:
    output = tmp_path / "m.tflite"
    assert run("convert", SAVED_MODEL, "-o", output, "--tags", "serve", "-q").code == 0
    refused(run("convert", SAVED_MODEL, "-o", output, "--tags", "serve,gpu"), "no graph is tagged gpu, serve")


@pytest.mark.parametrize("option", ["--require-fused=all", "--require-fused=my_custom_fused_op,embedding_matmul"])
def test_require_fused_with_and_without_names(tmp_path: Path, option: str) -> None:
    # The option does not take the argument that follows it.
    assert run("convert", option, SAVED_MODEL, "-o", tmp_path / "m.tflite", "-q").code == 0


def test_require_a_composite_that_is_not_there(tmp_path: Path) -> None:
    output = tmp_path / "m.tflite"
    refused(run("convert", SAVED_MODEL, "-o", output, "--require-fused=lstm"), "'lstm'")
    assert not output.exists()


def test_options_without_their_names_are_wrong_usage(tmp_path: Path) -> None:
    outcome = run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--require-fused=")
    assert outcome.code == 2
    assert "--require-fused needs names" in outcome.err
    outcome = run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--check-fusions=much")
    assert outcome.code == 2
    assert "'much' is not one of 'yes', 'no', 'thorough'" in outcome.err
    with pytest.raises(LitefuseError, match="fusions is 'much'"):
        litefuse.convert(SAVED_MODEL, checks=litefuse.Checks(fusions=cast("Any", "much")))


@pytest.mark.parametrize(
    ("option", "name", "expected"),
    [
        (("--allow-custom-ops=all",), "allow_custom_ops", True),
        (("--allow-custom-ops=never",), "allow_custom_ops", "never"),
        (("--allow-custom-ops=Relu",), "allow_custom_ops", ["Relu"]),
        (("--allow-custom-ops=Relu, Mul",), "allow_custom_ops", ["Relu", "Mul"]),
        (("--check-fusions=thorough",), "checks", litefuse.Checks(fusions="thorough")),
        (("--check-fusions", "no", "--no-check-file"), "checks", litefuse.Checks(fusions=False, file=False)),
        (("--batch", "2"), "batch", 2),
        (("--generate-kernels",), "generate_kernels", True),
        (("--composites", "keep"), "composites", {"*": "keep"}),
        (
            ("--composites=embedding_*=inline", "--composites", "my_custom_fused_op=keep"),
            "composites",
            {"embedding_*": "inline", "my_custom_fused_op": "keep"},
        ),
    ],
)
def test_options_reach_convert(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...], name: str, expected: Any
) -> None:
    received: dict[str, Any] = {}
    original = litefuse.convert

    def convert(model: Any, **options: Any) -> Any:
        received.update(options)
        return original(model, **options)

    monkeypatch.setattr("litefuse.conversion.api.convert", convert)
    assert run("convert", *option, SAVED_MODEL, "-o", tmp_path / "m.tflite", "-q").code == 0
    assert Conversion(**{name: received[name]}) == Conversion(**{name: expected})
    assert "require_fused" not in received


@pytest.mark.parametrize("value", ["1,2", "=1,2", "x=1,a", "x=1;2"])
def test_shapes_that_are_none(tmp_path: Path, value: str) -> None:
    outcome = run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--shape", value)
    assert outcome.code == 2
    assert "--shape takes NAME= and sizes" in outcome.err


def test_a_shape_for_an_input_that_there_is_not(tmp_path: Path) -> None:
    refused(run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--shape", "no_input=1,?,3"), "'no_input'")


def test_forms_of_composites_that_there_are_not(tmp_path: Path) -> None:
    outcome = run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--composites", "my_op=fused")
    assert outcome.code == 2
    assert "--composites takes fuse, builtin, custom, keep, generate, inline" in outcome.err
    refused(run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--composites", "gelu=keep"), "'gelu'")


@pytest.mark.parametrize("command", [("convert",), ("quantize", "--quantize=dynamic")])
@pytest.mark.parametrize("name", ["a.onnx", "a.PT", "größe.mlmodel", "a.keras", "a.pb"])
def test_names_of_other_formats(command: tuple[str, ...], name: str, demo_model: Path, tmp_path: Path) -> None:
    """They are refused before the work, in Python when the result is saved."""
    outcome = run(*command, demo_model if command[0] == "quantize" else SAVED_MODEL, "-o", tmp_path / name)
    refused(outcome, f"litefuse writes LiteRT models, not {Path(name).suffix} files", f"{Path(name).stem}.tflite")
    assert [*tmp_path.iterdir()] == []


def test_a_result_is_not_saved_as_another_format(tmp_path: Path) -> None:
    result = litefuse.convert(SAVED_MODEL, checks=False)
    with pytest.raises(LitefuseError, match=r"a\.onnx: litefuse writes LiteRT models"):
        result.save(tmp_path / "a.onnx")
    for name in ("model_1.0", "a.tflite", "b"):
        assert result.save(tmp_path / name).exists()


@pytest.mark.parametrize("name", ["m.keras", "m.pb", "m.tflite", "folder"])
def test_models_that_are_to_be_converted_first(name: str, demo_model: Path, tmp_path: Path) -> None:
    """Each command that reads LiteRT files says how one is made, and how it is compared."""
    path = tmp_path / name
    path.mkdir() if name == "folder" else path.write_bytes(b"of another format")
    answer = ("Is it a complete .tflite file?",)
    if name != "m.tflite":
        answer = (f"litefuse convert {path}", "(in Python, litefuse.convert) makes", "litefuse verify")
    for command in ("quantize --quantize=dynamic", "run", "benchmark", "check", "report -o x", "export-micro", "diff"):
        more = [demo_model] if command == "diff" else []
        outcome = run(*command.split(), path, *more)
        assert outcome.code in (1, 4), command
        for word in answer:
            assert word in outcome.err, command
    outcome = run("verify", path, SAVED_MODEL)
    assert [word for word in answer if word not in outcome.err] == []
    if name != "m.tflite":  # options that the user named, or needs then, whatever else is lacking
        assert f"{path} --quantize FORM (" in run("quantize", path).err
        assert f"{path} --quantize int8 (" in run("quantize", path, "--quantize", "int8").err
        assert f"{path} --target micro (" in run("export-micro", path, "-o", tmp_path / "new").err
        swapped = run("verify", path, demo_model)
        assert (swapped.code, swapped.err.endswith(f"Swap the two: litefuse verify {demo_model} {path}\n")) == (4, True)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("quantize {} --quantize dynamic -o", "--output"),
        ("run {} -o", "--output"),
        ("report {} -o", "--output"),
        ("report {} --log-file", "--log-file"),
        (f"convert {SAVED_MODEL} --html", "--html"),
    ],
)
def test_a_folder_is_not_the_name_of_a_file(
    words: str, option: str, demo_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run(*words.format(demo_model).split(), "new/")
    refused(outcome, "its name ends as a folder's", f"Name a file in it with {option}.")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["m.keras"], "Write: litefuse convert m.keras"),
        (["m.tflite", "--json"], "Write: litefuse inspect m.tflite"),
        ([str(SAVED_MODEL)], f"Write: litefuse convert {SAVED_MODEL}"),
        (["convrt", "m"], "Did you mean 'convert'?"),
        (["é" * 999], "No such command"),
        (["convert", "m", "--quantize", "fp16"], "Did you mean float16?"),
        (["convert", "m", "--dtypes", "widne"], "Did you mean widen?"),
        (["batch", "m", "--quantize", "in8"], "Did you mean int8"),
        (["check", "m", "--target", "gpus"], "Did you mean gpu? Choose from"),
        (["inspect", "m", "--log-level", "warn"], "Did you mean warning?"),
        (["convert", "m.keras", "m 1.tflite"], "To write it: -o 'm 1.tflite'"),
        (["convert", "m.keras", "n.keras"], "Got unexpected extra argument (n.keras).\n"),
        (["quantize", "m.tflite", "fp16"], "Write: --quantize float16"),
        (["check", "m.tflite", "gpu"], "Write: --target gpu"),
        (["run", "m.tflite", str(SAVED_MODEL.with_name("references.npz"))], "To read it: --inputs "),
        (["info", "m"], "Write: litefuse inspect MODEL"),
        (["compare", "a", "b"], "litefuse verify MODEL.tflite ORIGINAL, or litefuse diff"),
        (["completion", "bash"], "_LITEFUSE_COMPLETE=bash_source"),
        (["--install-completion"], "_LITEFUSE_COMPLETE=bash_source"),
        (["--json", "--show-completion", "zsh"], "_LITEFUSE_COMPLETE=bash_source"),
        (["quantize", "m", "--quantize", "int4"], "Use --quantize dynamic --weight-bits 4"),
        (["convert", "m", "--quantize", "dynamic", "--quantize=float16"], "litefuse batch makes several forms"),
        (["run", "m", "-o", "a", "--output", "b"], "--output is given twice"),
        (["verify", "a", "b", "--seed", "1", "--seed", "2", "--json"], "--seed is given twice"),
        (["report", "m", "--time", "--no-time"], "--time is given twice"),
    ],
)
def test_words_that_mean_others(words: list[str], answer: str) -> None:
    outcome = run(*words)
    assert outcome.code == 2
    assert answer in outcome.out + outcome.err


def test_options_that_may_be_given_again(demo_model: Path) -> None:
    assert run("inspect", demo_model, "--debug", "--debug", "-v", "-v", "--timeout", "9", "--timeout", "90").code == 0
    assert run("check", demo_model, "--target", "gpu", "--target", "micro").code != 2


def make_empty_folder(path: Path) -> None:
    path.mkdir()


def make_file(path: Path) -> None:
    path.write_bytes(b"x")


def make_damaged(path: Path) -> None:
    path.mkdir()
    (path / "saved_model.pb").write_bytes(b"\xff" * 100)


def make_hash_table(path: Path) -> None:
    write(path)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (None, "no such file or folder"),
        (make_empty_folder, "no saved_model.pb"),
        (make_file, "does not convert files of this kind"),
        (make_damaged, "damaged"),
        (make_hash_table, "tf.StaticHashTable"),
    ],
)
def test_bad_saved_models(tmp_path: Path, make: Callable[[Path], None] | None, words: str) -> None:
    source, output = tmp_path / "model", tmp_path / "out.tflite"
    if make is not None:
        make(source)
    refused(run("convert", source, "-o", output), words)
    assert not output.exists()
    assert [path.name for path in tmp_path.iterdir() if path != source] == []


def test_an_output_that_cannot_be_written_is_refused_before_the_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("litefuse.conversion.api.convert", None)
    refused(run("convert", SAVED_MODEL, "-o", tmp_path / "missing" / "m.tflite"), "no such folder", "missing")
    refused(run("convert", SAVED_MODEL, "-o", tmp_path), "it is a folder")
    refused(run("convert", SAVED_MODEL, "-o", "-"), "- would be the standard output")
    refused(run("convert", SAVED_MODEL, "-o", tmp_path / ("x" * 300) / "m"), "cannot be written")


def test_a_model_is_not_replaced_by_what_it_becomes(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(SAVED_MODEL, tmp_path / "model"))
    (tmp_path / "graph.pb").write_bytes(b"x")
    (tmp_path / "link").symlink_to(copy / "saved_model.pb")
    (tmp_path / "other").symlink_to(tmp_path / "graph.pb")
    for source, target in ((copy, tmp_path / "link"), (tmp_path / "graph.pb", tmp_path / "other")):
        refused(run("convert", source, "-o", target), "it would replace what it is made from", "--output")
    for source, target in ((copy, copy / "saved_model.pb"), (tmp_path / "graph.pb",) * 2):
        refused(run("convert", source, "-o", target), "not .pb files")
    assert (copy / "saved_model.pb").read_bytes() == (SAVED_MODEL / "saved_model.pb").read_bytes()
    for _ in range(2):  # there may be models beside it, of an earlier conversion too
        assert run("convert", copy, "-o", copy / "m.tflite", "-q") == Outcome(0, "", "")


# inspect


def test_inspect_a_saved_model() -> None:
    outcome = run("inspect", SAVED_MODEL)
    assert outcome.code == 0
    assert "calls      int32 []                  4  mutable: written by " in outcome.out
    facts = json.loads(run("inspect", SAVED_MODEL, "--json").out)
    assert [each["key"] for each in facts["signatures"]] == ["embed", "serving_default"]
    assert facts["problem"] is None


def test_inspect_a_litert_model(demo_model: Path) -> None:
    outcome = run("inspect", demo_model)
    assert outcome.code == 0
    assert "  1  my_custom_fused_op  example_option=10\n" in outcome.out
    facts = json.loads(run("inspect", demo_model, "--json").out)
    assert facts["custom_operators"][0]["options"] == {"example_option": 10}
    assert facts["op_counts"]["EMBEDDING_LOOKUP"] == 1


def test_inspect_tells_models_by_their_content(demo_model: Path, tmp_path: Path) -> None:
    other = tmp_path / "model.bin"
    other.write_bytes(demo_model.read_bytes())
    assert "EMBEDDING_LOOKUP" in run("inspect", other).out


def test_inspect_bad_input(tmp_path: Path) -> None:
    refused(run("inspect", tmp_path / "nothing"), "no such file or folder")
    refused(run("inspect", tmp_path), "no saved_model.pb")
    broken = tmp_path / "m.tflite"
    broken.write_bytes(b"")
    refused(run("inspect", broken), "the file is empty")
    broken.write_bytes(b"model")
    refused(run("inspect", broken), "not a LiteRT model")


# demo, fusions, the command itself


def test_demo() -> None:
    outcome = run("demo")
    assert outcome.code == 0
    assert "\nOK: " in outcome.out
    assert outcome.out.count("  ok\n") == 12
    assert re.search(
        "checked +each fused op computes what it replaces .*; LiteRT runs each of its 2 signatures", outcome.out
    )
    assert not re.search("not called|not compared", outcome.out)


def test_demo_runs_without_tensorflow(tmp_path: Path) -> None:
    # A module that fails to import stands for TensorFlow in the command's process and in its worker.
    (tmp_path / "tensorflow.py").write_text("raise ImportError('there is no TensorFlow')")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-m", "litefuse", "demo"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "\nOK: " in result.stdout
    assert not result.stderr


def test_demo_fails_when_an_output_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with np.load(REFERENCES) as references:
        arrays = {key: references[key] for key in references}
    arrays["3/serving_default/outputs/fused"] = arrays["3/serving_default/outputs/fused"] + np.float32(1e-3)
    arrays["7/embed/outputs/calls"] += 1
    np.savez(tmp_path / "references.npz", **cast("dict[str, Any]", arrays))
    monkeypatch.setattr("litefuse.tools.demo.check.REFERENCES", tmp_path / "references.npz")
    outcome = run("demo")
    assert outcome.code == 1
    assert outcome.err == "error: 2 of 12 outputs differ from TensorFlow's\n"
    assert outcome.out.count("DIFFERS") == 2
    assert "\nOK" not in outcome.out


def test_fusions() -> None:
    outcome = spawn("doctor", "fusions")  # other tests register fusions of their own in this process
    assert outcome.code == 0
    rows = [line.split() for line in outcome.out.splitlines()]
    assert "embedding_matmul" in [row[0] for row in rows]
    assert rows[1] == ["composite", "what", "it", "becomes"]
    assert "becomes the builtin EMBEDDING_LOOKUP" in outcome.out


def test_version_and_help() -> None:
    assert spawn("--version") == Outcome(0, f"litefuse {litefuse.__version__}\n", "")
    outcome = spawn("--help")
    assert outcome.code == 0
    assert "--require-fused all|[checked,]NAME,..." in spawn("convert", "--help").out


@pytest.mark.parametrize("args", [("convert",), ("--nope",), ("nope",), ("convert", "a", "b"), ("convert", "a", "-x")])
def test_wrong_usage(args: tuple[str, ...]) -> None:
    outcome = spawn(*args)
    assert outcome.code == 2
    assert "Usage: " in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


def test_errors_are_plain_text_where_there_is_no_terminal(tmp_path: Path) -> None:
    outcome = spawn("convert", tmp_path / "nothing", "-o", tmp_path / "m.tflite")
    refused(outcome)
    assert outcome.err == f"error: {tmp_path / 'nothing'}: no such file or folder\n"


def test_a_traceback_on_demand(tmp_path: Path) -> None:
    for outcome in (
        run("--debug", "inspect", tmp_path),
        run("inspect", tmp_path, env={"LITEFUSE_DEBUG": "1"}),
    ):
        assert outcome.code == 1
        assert outcome.err.startswith("Traceback")
        assert "\nerror: " in outcome.err


def test_a_reader_that_has_seen_enough() -> None:
    program = f"{sys.executable} -m litefuse inspect --all {SAVED_MODEL} | true"
    result = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=120)
    assert result.stderr == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_an_interrupt(tmp_path: Path, number: signal.Signals, code: int) -> None:
    # The worker imports this in place of the engine, and never ends.
    (tmp_path / "litert_converter.py").write_text(
        f"import os, pathlib, time; pathlib.Path({str(tmp_path / 'started')!r}).write_text(str(os.getpid())); "
        "time.sleep(600)"
    )
    (tmp_path / "out").mkdir()
    output = tmp_path / "out" / "m.tflite"
    process = subprocess.Popen(
        [sys.executable, "-m", "litefuse", "convert", str(SAVED_MODEL), "-o", str(output)],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509  nohup ignores it
    )
    deadline = time.monotonic() + 60
    while not ((tmp_path / "started").exists() and (tmp_path / "started").read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=60)
    # Interrupted while it runs text as code (a dataclass is made so), Python ends as if by the signal: 130 in a shell.
    assert process.returncode in {code, -number}
    # Who pressed Ctrl-C knows it.
    assert (out, err) == ("", "" if number == signal.SIGINT else f"error: it was interrupted by {number.name}\n")
    assert not list(output.parent.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "started").read_text()), 0)
