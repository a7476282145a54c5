"""Names of other converters are answered with the names here."""

from __future__ import annotations

import inspect
import json
import pickle
import re
from typing import Any, cast

import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import LitefuseError, UnknownArgumentError
from litefuse.support.options.conversion import Conversion
from litefuse.support.options.declared import single_options
from litefuse.support.options.names_elsewhere import (
    COREML,
    FORMER,
    NAMES,
    TFLITE,
    TFLITE_1,
    TFLITE_CONVERT,
    name_elsewhere,
)
from litefuse.tools.cli.app import app
from tests.tensorflow.compat_scenarios import SCENARIOS
from tests.tools.compat.names_page import names, scenarios

CONVERT = cast("Any", litefuse.convert)
QUANTIZE = cast("Any", litefuse.quantize)
ARGUMENTS = {*inspect.signature(litefuse.convert).parameters}
OWN = {*ARGUMENTS, *inspect.signature(litefuse.quantize).parameters}
GROUPED = {declared.name for declared in single_options(Conversion)}


@pytest.mark.parametrize("entry", NAMES, ids=[entry.name for entry in NAMES])
def test_an_argument_is_answered(entry: Any) -> None:
    with pytest.raises(UnknownArgumentError) as raised:
        CONVERT("model", **{entry.name: None})
    assert raised.value.arguments == (entry.name,)
    hint = re.sub(r"litefuse\.(?=[A-Z]\w+\()", "", raised.value.hint)
    now = entry.command.lstrip("-").replace("-", "_")
    if FORMER in entry.of and now in ARGUMENTS | GROUPED:
        assert hint == f"Write {now}." if now in ARGUMENTS else hint.endswith(f"({now}=...).")
        return
    assert entry.python in hint
    assert entry.of[0] in hint


def options_of(name: str) -> set[str]:
    """The options of a command."""
    command = app.get_command(None, name)
    assert command is not None
    return {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}


@pytest.mark.parametrize("command", ["convert", "quantize"])
def test_a_flag_is_answered(command: str) -> None:
    own = options_of(command)
    for entry in NAMES:
        if "--" + entry.name.replace("_", "-") in own:
            continue
        result = CliRunner().invoke(app, [command, f"--{entry.name}=x", "model", "-o", "out"])
        assert result.exit_code == 2
        assert entry.command in result.output, entry.name


def test_no_name_is_twice_in_the_table_or_one_of_litefuse() -> None:
    names = [entry.name for entry in NAMES]
    assert len({*names}) == len(names)
    assert not OWN & {*names}


def test_what_answers_name_exists() -> None:
    options = options_of("convert")
    of_all = set[str]().union(*map(options_of, app.list_commands(None)))
    for entry in NAMES:
        assert {*re.findall(r"\b(\w+)=", entry.python)} <= OWN | GROUPED, entry
        written = {*re.findall(r"(?<![\w-])--?[a-z][a-z-]*", entry.command)}
        assert written <= (of_all if FORMER in entry.of else options), entry


def test_it_is_a_type_error_and_goes_to_other_processes() -> None:
    with pytest.raises(TypeError) as raised:
        CONVERT("model", optimizations=[])
    assert isinstance(raised.value, LitefuseError)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.arguments) == (str(raised.value), ("optimizations",))


@pytest.mark.parametrize("function", [CONVERT, QUANTIZE])
def test_the_form_is_an_argument_of_both(function: Any) -> None:
    with pytest.raises(UnknownArgumentError, match='quantize="dynamic"'):
        function("model", optimizations=["DEFAULT"])


def test_former_arguments_and_what_groups_do_not_have() -> None:
    with pytest.raises(UnknownArgumentError, match=r"quantize=litefuse.Quantization\('int8', keep_float=\.\.\."):
        QUANTIZE("model.tflite", "int8", keep_float=["y"])
    for wrong in ({"timeuot": 3}, litefuse.Limits):
        with pytest.raises(
            LitefuseError, match="Limits has no argument 'timeuot'" if isinstance(wrong, dict) else "seconds"
        ):
            CONVERT("model", limits=wrong)


def test_several_names_and_misspelled_ones() -> None:
    with pytest.raises(UnknownArgumentError) as raised:
        CONVERT("model", input_shapes={}, quantise="int8", **{"Ünïcode\n": 1})
    assert raised.value.arguments == ("input_shapes", "quantise", "Ünïcode\n")
    assert raised.value.hint.splitlines()[:2] == [
        f"Equivalent of input_shapes ({TFLITE_1}): shapes={{name: sizes}}",
        "Did you mean quantize?",
    ]


def test_right_names_are_not_refused() -> None:
    with pytest.raises(LitefuseError, match="form is 'frobnicate'\nChoose from dynamic, ") as raised:
        CONVERT("model", quantize="frobnicate", checks=False)
    assert not isinstance(raised.value, UnknownArgumentError)


@pytest.mark.parametrize("option", ["--input_arrays=x", "--INPUT_ARRAYS", "--allow_custom_ops=true"])
def test_options_with_underscores(option: str) -> None:
    result = CliRunner().invoke(app, ["convert", option, "model"])
    own = option.partition("=")[0].replace("_", "-").lower()
    assert (result.exit_code, f"Use {own}." in result.output) == (2, True)


def test_an_option_that_nobody_has() -> None:
    result = CliRunner().invoke(app, ["convert", "--frobnicate=1", "model"])
    assert result.exit_code == 2
    assert "Equivalent of" not in result.output


def test_the_program_is_named_for_its_flags() -> None:
    entry = name_elsewhere("--Inference_Type")
    assert entry is not None
    assert (entry.owner(command=True), entry.owner(command=False)) == (TFLITE_CONVERT, TFLITE_1)
    assert name_elsewhere("compute-precision") in [each for each in NAMES if COREML in each.of]
    assert name_elsewhere("") is None


def test_the_page_has_the_tables() -> None:
    assert [entry.name for entry in NAMES if names().count(f"\n| `{entry.name}` |") != 1] == []
    assert [name for name in SCENARIOS if f"\n| {name.replace('_', ' ')} |" not in scenarios()] == []


def test_converters_are_those_that_the_page_knows() -> None:
    converters = {TFLITE, TFLITE_1, TFLITE_CONVERT, COREML}
    assert {name for entry in NAMES for name in entry.of} == {*converters, FORMER, "the command line"}


def test_json_has_the_answer() -> None:
    result = CliRunner().invoke(app, ["convert", "--json", "--optimizations=DEFAULT", "model"])
    assert result.exit_code == 2
    assert "--quantize dynamic" in json.loads(result.stdout)["error"]["message"]
