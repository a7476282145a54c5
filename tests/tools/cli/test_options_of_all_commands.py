"""The help that comes first, the options that all commands take, and former names."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from litefuse.support.options.names_elsewhere import FORMER, FORMER_FLAGS, NAMES
from litefuse.tools.cli.app import app
from litefuse.tools.cli.command import FORMER_COMMANDS, options_of_all_commands
from litefuse.tools.demo import SAVED_MODEL
from tests.litert.cpp.test_kernel_library import ONE
from tests.tools.cli.test_cli import run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]


def commands(command: click.Command, path: str = "", parent: click.Context | None = None) -> Iterator[click.Context]:
    """The contexts of a command and of those in it, as their help has them."""
    context = click.Context(command, parent, path, **command.context_settings)
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from commands(subcommand, name, context)


ALL = {context.command_path.strip(): context for context in commands(app)}


def test_the_first_screen() -> None:
    shown = run("--help").out
    lines = dict(re.findall(r"^  ([a-z][a-z-]+)  +([A-Z].*)$", shown, flags=re.MULTILINE))
    assert {*lines} == {*app.list_commands(None)}
    assert not [line for line in lines.values() if line.endswith("...")]
    assert max(map(len, shown.splitlines())) <= 80
    assert PROJECT["urls"]["Documentation"] in shown
    for word in ("SavedModel", "Keras", "JAX", "frozen graph", "litefuse convert my_model.keras"):
        assert word in shown


def test_options_are_few() -> None:
    listed = [
        option
        for context in ALL.values()
        for option in context.command.get_params(context)
        if isinstance(option, click.Option) and option.get_help_record(context) is not None
    ]
    assert len(listed) <= 201


@pytest.mark.parametrize("name", [name for name in ALL if name])
def test_each_command_takes_the_options_of_all(name: str) -> None:
    taken = {option for parameter in ALL[name].command.params for option in parameter.opts}
    missing = {option for parameter in options_of_all_commands() for option in parameter.opts} - taken
    assert not missing


@pytest.mark.parametrize("place", ["before", "behind", "between"])
@pytest.mark.parametrize("command", [("doctor", "fusions"), ("kernels", "list")])
def test_they_stand_before_and_behind_the_command(command: tuple[str, str], place: str) -> None:
    group, name = command
    words = {"before": ["--json", *command], "behind": [*command, "--json"], "between": [group, "--json", name]}[place]
    assert json.loads(run(*words).out)["command"] == f"{group} {name}"


def test_counts_add_up_and_values_arrive(tmp_path: Path) -> None:
    log = tmp_path / "log"
    convert = ("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite")
    assert run("-v", "--quiet", "--log-file", log, *convert, "-v").out == ""
    assert " DEBUG " in log.read_text()  # -vv
    assert "timeout" in run("--timeout", "0.001", *convert).err
    outcome = run("--debug", "inspect", tmp_path / "absent")
    assert "Traceback" in outcome.err
    assert run("inspect", tmp_path / "absent", "--debug").err == outcome.err


@pytest.mark.parametrize(
    "command",
    [
        "demo",
        "run {0}",
        "verify {0} {0}",
        "report {0} {0} --no-time -o {1}/page.html",
        "kernels build {1}/a.cc -o {1}/a.so",
    ],
    ids=lambda words: words.partition("{")[0].strip(),
)
def test_a_timeout_ends_what_takes_long(command: str, demo_model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cc").write_text(ONE.format(register="", before=""))
    outcome = run(*command.format(demo_model, tmp_path).split(), "--timeout", "0.02")
    assert "it took longer than the limit timeout (0.02 seconds)" in outcome.err, outcome


def test_what_prints_no_json_says_so() -> None:
    outcome = run("--json", "kernels", "export")
    assert outcome.code == 2
    assert json.loads(outcome.out)["error"]["message"] == "litefuse kernels export prints no JSON."


def _cases() -> Iterator[tuple[str, str, str]]:
    for former, now in FORMER_FLAGS.items():
        command, _, option = former.rpartition(" ")
        yield command, option, now
    flags = {f"--{entry.name.replace('_', '-')}": entry.command for entry in NAMES if FORMER in entry.of}
    for name in filter(None, ALL):
        own = {option for parameter in ALL[name].command.params for option in parameter.opts}
        yield from ((name, former, now) for former, now in flags.items() if former not in own and now in own)


@pytest.mark.parametrize(("command", "option", "now"), [*_cases()], ids=str)
def test_a_former_option_is_answered_with_the_present_one(command: str, option: str, now: str) -> None:
    outcome = run(*command.split(), option, "x")
    assert (outcome.code, outcome.err.splitlines()[-1]) == (2, f"Error: {option} is now {now}.")
    names = {option for parameter in ALL[command].command.params for option in parameter.opts}
    assert not now.startswith("--") or now.split(maxsplit=1)[0] in names


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("convert m --require-fused", "requires an argument, such as all."),
        ("convert m --quantize", "requires an argument, such as dynamic."),
        ("convert m --weight-bits", "requires an argument, such as 8."),
        ("check m --target", "requires an argument, such as cpu."),
        ("run m --shape", "requires an argument: NAME=1,2,3."),
        ("--log-level", "requires an argument, such as debug."),
        ("convert m --in-process=3", "does not take a value."),
    ],
)
def test_an_option_without_its_value_is_answered_with_an_example(words: str, told: str) -> None:
    outcome = run(*words.split())
    option = words.rsplit(maxsplit=1)[-1].partition("=")[0]
    assert (outcome.code, outcome.err.splitlines()[-1]) == (2, f"Error: Option {option!r} {told}")


@pytest.mark.parametrize("former", FORMER_COMMANDS)
def test_a_former_command_is_answered_with_the_present_one(former: str) -> None:
    outcome = run(former, "x")
    assert outcome.code == 2
    now = FORMER_COMMANDS[former].split()
    assert f"litefuse {former} is now: litefuse {' '.join(now)}" in outcome.err
    words = [word for word in now if word.islower() and not word.startswith("-")]
    assert " ".join(words) in ALL


def test_an_unknown_option_is_as_unknown_as_before() -> None:
    outcome = run("verify", "a", "b", "--to", "x")  # it has no --output
    assert "No such option" in outcome.err


def test_a_slip_is_answered_with_the_command() -> None:
    assert "Did you mean 'convert'?" in run("conver").err
    assert "Did you mean 'cache'?" in run("doctor", "cach").err


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("--quantize int8 convert m", "--quantize is an option of convert: write it behind the command."),
        ("--repeat 3 verify m", "--repeat is an option of verify: write it behind the command."),
        ("--no-such convert m", "No such option"),
        ("--quantize int8", "No such option"),
    ],
)
def test_an_option_before_its_command(words: str, answer: str) -> None:
    outcome = run(*words.split())
    assert outcome.code == 2
    assert answer in outcome.err
