"""Completion in shells: by click, with what litefuse's options take."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from litefuse.fusions import registered_fusions
from litefuse.litert.targets import OWN
from litefuse.support.options.forms import FORMS
from litefuse.tools.cli.app import app

#: The modules that completion does not need, and that take long to load.
HEAVY = ("numpy", "ai_edge_litert", "litert_converter", "google.protobuf", "tensorflow", "rich", "jax", "packaging")


def completed(*words: str) -> list[str]:
    """What the last word can become."""
    *before, last = words
    found = ShellComplete(app, {}, "litefuse", "_LITEFUSE_COMPLETE").get_completions(before, last)
    return [each.value for each in found]


def test_commands_and_options() -> None:
    assert completed("con") == ["convert"]
    assert completed("kernels", "") == ["build", "export", "generate", "list", "new", "test"]
    assert {"--target", "--tags", "--tensor-names", "--timeout"} == {*completed("convert", "--t")}
    assert "--log-level" in completed("doctor", "fusions", "--")


def test_choices() -> None:
    assert "dynamic" in completed("convert", "model", "--quantize", "")
    assert completed("convert", "model", "--log-level", "d") == ["debug"]


@pytest.mark.parametrize("command", ["convert", "check"])
def test_targets(command: str) -> None:
    assert completed(command, "model", "--target", "") == [*OWN]
    assert completed(command, "model", "--target", "eth") == ["ethos-u"]


def test_composites_and_their_forms() -> None:
    assert {*FORMS} <= {*completed("convert", "--composites", "")}
    assert {f"{name}=" for name in registered_fusions() if name.startswith("embedding")} == {
        *completed("convert", "--composites", "embedding")
    }
    assert completed("convert", "--composites", "gelu=k") == ["gelu=keep"]


def test_the_names_of_schemas() -> None:
    assert {"kernels", "convert"} <= {*completed("doctor", "schema", "")}
    assert completed("doctor", "schema", "kernels", "") == ["list", "test"]
    assert completed("doctor", "schema", "convert", "") == []


def test_paths_are_left_to_the_shell() -> None:
    found = ShellComplete(app, {}, "litefuse", "_LITEFUSE_COMPLETE").get_completions(["convert"], "mod")
    assert [each.type for each in found] == ["file"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_source_for_a_shell(shell: str) -> None:
    done = answer(f"{shell}_source")
    assert "_LITEFUSE_COMPLETE" in done.stdout
    assert "litefuse" in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True, timeout=60)


def answer(instruction: str, words: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "_LITEFUSE_COMPLETE": instruction, "COMP_WORDS": words, **variables}
    return subprocess.run(
        [str(Path(sys.executable).with_name("litefuse"))]
        if Path(sys.executable).with_name("litefuse").exists()
        else [sys.executable, "-c", "import sys; sys.argv = ['litefuse']; from litefuse.tools.cli import main; main()"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
        timeout=60,
    )


def test_in_bash(tmp_path: Path) -> None:
    """The script that the page has, and the function that it defines, as bash calls it for the Tab key."""
    program = tmp_path / "litefuse"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path[:] = {sys.path!r}\nfrom litefuse.tools.cli import main\nmain()\n"
    )
    program.chmod(0o755)
    script = (
        'eval "$(_LITEFUSE_COMPLETE=bash_source litefuse)"\n'
        "COMP_WORDS=(litefuse check model.tflite --target eth); COMP_CWORD=4\n"
        '_litefuse_completion litefuse eth --target; echo "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=environment, check=True, timeout=60
    )
    assert done.stdout == "ethos-u\n", done.stderr


def test_it_loads_nothing_that_takes_long() -> None:
    check = (
        "import sys\nfrom click.shell_completion import ShellComplete\nfrom litefuse.tools.cli.app import app\n"
        "found = ShellComplete(app, {}, 'litefuse', '').get_completions(['convert', '--composites'], '')\n"
        f"print(len(found), *[name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=60)
    count, *loaded = done.stdout.split()
    assert (int(count) > len(FORMS), loaded) == (True, [])
