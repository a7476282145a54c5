"""The GitHub Action and the hook of pre-commit in ``examples`` do what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from litefuse.support.files.digest import file_digest
from litefuse.tools.cli.pre_commit import models_of
from litefuse.tools.demo import SAVED_MODEL

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "github-action"
ACTION: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the commands litefuse and python, of this environment."""
    folder = tmp_path_factory.mktemp("programs")
    code = folder / "main.py"
    code.write_text(f"import sys\nsys.path[:] = {sys.path!r}\nfrom litefuse.tools.cli import main\nmain()\n")
    for name, command in {"litefuse": f"{sys.executable} {code}", "python": sys.executable}.items():
        (folder / name).write_text(f'#!/bin/bash\nexec {command} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


class Runner:
    """Runs the shell steps of the action as GitHub's runner does."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.temp = folder / "temp"
        self.temp.mkdir()
        self.summary, self.output = folder / "summary.md", folder / "output.txt"
        self.variables = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(FOLDER),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.output),
        }

    def run(self, **given: str) -> tuple[bool, str]:
        """Runs the action; returns whether it succeeds, and what it prints."""
        inputs = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
        inputs |= {"install": "", "report": "false"} | {name.replace("_", "-"): each for name, each in given.items()}
        ok, printed = True, ""
        for step in STEPS:
            if "run" not in step or not self.is_due(step.get("if", ""), inputs, ok=ok):
                continue
            values = {name: self.value(each, inputs) for name, each in step.get("env", {}).items()}
            script = self.folder / "step.sh"
            script.write_text(step["run"])
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
                cwd=self.folder,
                env={**self.variables, **values},
                capture_output=True,
                text=True,
                timeout=300,
            )
            ok &= done.returncode == 0
            printed += done.stdout
        return ok, printed

    @staticmethod
    def is_due(condition: str, inputs: dict[str, str], *, ok: bool) -> bool:
        if "always()" not in condition and not ok:
            return False
        for each in condition.split(" && "):
            found = re.fullmatch(r"inputs\.([\w-]+) (==|!=) '(.*)'", each)
            assert found or each in {"", "always()"}, each
            if found and (inputs[found[1]] == found[3]) != (found[2] == "=="):
                return False
        return True

    @staticmethod
    def value(text: str, inputs: dict[str, str]) -> str:
        found = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)
        assert found, text
        return inputs[found[1]]

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.output.read_text().splitlines())

    def document(self, name: str) -> dict[str, Any]:
        return json.loads((self.temp / "litefuse" / f"{name}.json").read_text())


@pytest.fixture
def runner(tmp_path: Path, programs: Path) -> Runner:
    return Runner(tmp_path, programs)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAVED_MODEL, tmp_path / "a model é"))


def test_the_action_converts_verifies_and_checks(runner: Runner, model: Path) -> None:
    options = "--require-fused all --signature embed"
    ok, printed = runner.run(
        model=model.name, output="out put.tflite", convert_options=options, targets="litert, micro"
    )
    assert [runner.document(name)["status"] for name in ("convert", "verify", "check")] == ["done"] * 3
    assert runner.document("convert")["options"]["--signature"] == ["embed"]
    assert [each["target"] for each in runner.document("check")["targets"]] == ["litert", "micro"]
    verdict = runner.document("verify")["verdict"]
    assert runner.outputs() == {
        "model": "out put.tflite",
        "sha256": file_digest(runner.folder / "out put.tflite"),
        "verdict": verdict,
    }
    bad = [name for name in ("verify", "check") if runner.document(name)["exit_code"] not in {0, 3}]
    assert (ok, "::error" in printed) == (not bad, bool(bad))
    summary = runner.summary.read_text()
    assert "| embedding\\_matmul | fused | EMBEDDING\\_LOOKUP |" in summary
    assert (runner.temp / "litefuse" / "out put.tflite").is_file()


def test_the_page_is_written(runner: Runner, model: Path) -> None:
    ok, _ = runner.run(model=model.name, verify="false", report="true")
    assert (ok, (runner.temp / "litefuse" / "report.html").is_file()) == (True, True)


def test_a_failure_is_an_annotation(runner: Runner) -> None:
    ok, printed = runner.run(model="absent", targets="cpu", report="true")
    assert not ok
    assert re.fullmatch(r"::error title=litefuse convert%3A SavedModelError::[^\n]*absent[^\n]*\n", printed)
    assert not (runner.temp / "litefuse" / "verify.json").exists()
    assert runner.outputs() == {"model": "", "sha256": "", "verdict": ""}


@pytest.mark.parametrize(
    "options",
    ["'unmatched", "--nosuch", "$(touch pwned)", "; touch pwned", '"a\nb"'],
    ids=["quote", "option", "$", ";", "lines"],
)
def test_options_are_not_run_or_lost(options: str, runner: Runner, model: Path) -> None:
    ok, printed = runner.run(model=model.name, convert_options=options, verify="false")
    assert (ok, (runner.folder / "pwned").exists()) == (False, False)
    assert printed.startswith("::error title=")
    assert printed.count("\n") == 1


def test_names_do_not_become_commands_of_the_runner(runner: Runner) -> None:
    folder = runner.folder / "documents"
    folder.mkdir()
    name = "evil\n::set-output name=a::b\r|<img src=x>`[x](y)"
    document = {
        "command": "convert",
        "status": "done",
        "exit_code": 0,
        "ok": True,
        "source": name,
        "size": 1,
        "written": [{"path": name, "sha256": None}],
        "composites": [{"name": name, "outcome": "inlined", "fused_into": None, "reason": "no"}],
    }
    (folder / "convert.json").write_text(json.dumps(document))
    (folder / "verify.json").write_text("")
    done = subprocess.run(
        [sys.executable, str(FOLDER / "summary.py"), str(folder)], capture_output=True, text=True, env=runner.variables
    )
    assert done.returncode == 1
    assert [line[:9] for line in done.stdout.splitlines()] == ["::warning", "::error t"]
    assert "\n::set-output" not in done.stdout + runner.summary.read_text()
    assert "<img" not in runner.summary.read_text()
    assert len(runner.output.read_text().splitlines()) == 3


def test_no_input_is_put_into_a_script() -> None:
    for step in STEPS:
        assert "${{" not in step.get("run", "")
        assert "run" not in step or step["shell"] == "bash"
    used = {*re.findall(r"inputs\.([\w-]+)", (FOLDER / "action.yml").read_text())}
    assert used == {*ACTION["inputs"]}
    workflow = yaml.safe_load((FOLDER / "workflow.yml").read_text())
    (step,) = [each for each in workflow["jobs"]["litefuse"]["steps"] if each.get("id") == "litefuse"]
    assert step["with"].keys() <= ACTION["inputs"].keys()


# pre-commit

HOOK: dict[str, Any] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]


def hook(folder: Path, *arguments: str) -> tuple[int, str]:
    """Runs the hook as pre-commit does: with the files that its pattern takes."""
    options = [each for each in arguments if not (folder / each).exists()]
    files = [each for each in arguments if each not in options and re.search(HOOK["files"], each)]
    program, *words = HOOK["entry"].split()
    assert program == "python"
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *words, *options, *files],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


FILES = ("saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001")


def test_the_hook_asks_for_what_it_wrote_and_then_is_content(model: Path, tmp_path: Path) -> None:
    files = [f"{model.name}/{each}" for each in FILES]
    code, told = hook(tmp_path, "--no-verify", *files)
    target = f"{model.name}.tflite"
    assert (code, told) == (1, f"{model.name}: {target} is new: stage it, and commit again\n")
    assert hook(tmp_path, "--no-verify", *files) == (0, "")
    (tmp_path / target).write_bytes(b"old")
    code, told = hook(tmp_path, "--no-verify", "--output", "out", "--convert", "--signature embed", *files)
    assert (code, told) == (1, f"{model.name}: out/{target} is new: stage it, and commit again\n")
    code, told = hook(tmp_path, "--no-verify", *files)
    assert (code, told) == (1, f"{model.name}: {target} is another file now: stage it, and commit again\n")


def test_the_hook_compares_with_the_original(model: Path, tmp_path: Path) -> None:
    files = [f"{model.name}/{each}" for each in FILES]
    options = ("--convert", "--signature embed", "--verify-options", "--repeat 3")
    hook(tmp_path, "--no-verify", *options, *files)
    code, told = hook(tmp_path, *options, *files)
    assert (code, "differs" in told) == (0, False), told


def test_what_the_comparison_refuses_is_told(model: Path, tmp_path: Path) -> None:
    hook(tmp_path, "--no-verify", f"{model.name}/{FILES[0]}")
    code, told = hook(tmp_path, "--verify-options", "--repeat none", f"{model.name}/{FILES[0]}")
    assert (code, "'none' is not a valid integer" in told) == (1, True)


def test_the_hook_tells_what_cannot_be_converted(tmp_path: Path) -> None:
    broken = tmp_path / "-broken"
    broken.mkdir()
    (broken / "saved_model.pb").write_bytes(b"no graph")
    code, told = hook(tmp_path, "--no-verify", "-broken/saved_model.pb", "README.md")
    assert (code, told.startswith("-broken: ")) == (1, True)
    assert hook(tmp_path, "README.md") == (0, "")


def test_an_option_of_the_hook_that_is_unknown(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "litefuse.tools.cli.pre_commit", "--no-verfy", "a.keras"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert (done.returncode, "No such option" in done.stderr) == (2, True)


def test_two_models_of_one_name(model: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(model, tmp_path / "other" / model.name))
    files = [f"{model.name}/{FILES[0]}", f"{other.relative_to(tmp_path)}/{FILES[0]}"]
    code, told = hook(tmp_path, "--no-verify", "--output", "out", *files)
    assert (code, "would become the same file" in told) == (1, True)


def test_the_models_that_files_belong_to(model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    files = [Path(model.name, each) for each in FILES]
    assert models_of([*files, Path("a/b.keras"), Path("c.H5"), Path("notes.txt")]) == [
        Path(model.name),
        Path("a/b.keras"),
        Path("c.H5"),
    ]
    monkeypatch.chdir(model)
    assert models_of([Path("saved_model.pb")]) == [Path()]


def test_the_configuration_names_the_hook() -> None:
    config = yaml.safe_load((ROOT / "examples" / "pre-commit" / ".pre-commit-config.yaml").read_text())
    (used,) = config["repos"][0]["hooks"]
    assert (used["id"], HOOK["require_serial"]) == (HOOK["id"], True)
    for path in ("saved_model.pb", "m/saved_model.pbtxt", "m/variables/variables.index", "a.keras"):
        assert re.search(HOOK["files"], path)
    assert not re.search(HOOK["files"], "src/model.py")
