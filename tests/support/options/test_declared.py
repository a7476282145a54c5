"""Options that are declared once reach functions, their documentation and their commands."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any, cast

import click
import cloup
import pytest

import litefuse
from litefuse.errors import LitefuseError, UnknownArgumentError
from litefuse.support.options.conversion import Conversion, FileQuantization
from litefuse.support.options.declared import Options, declared_options, help_text, single_options
from litefuse.tools.cli.app import app
from litefuse.tools.demo import SAVED_MODEL

FUNCTIONS: dict[str, tuple[Any, type[Options]]] = {
    "convert": (litefuse.convert, Conversion),
    "quantize": (litefuse.quantize, FileQuantization),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_and_their_documentation(name: str) -> None:
    function, kind = FUNCTIONS[name]
    _, *parameters = inspect.signature(function).parameters.values()
    declared = declared_options(kind)
    assert [(each.name, each.default) for each in parameters] == [(one.name, one.default) for one in declared]
    assert len(parameters) <= 20
    for one in declared:
        assert f"    {one.name}: " in (function.__doc__ or "")
        for inner in declared_options(one.kind) if one.kind is not None else ():
            assert one.kind is not None
            assert f"    {inner.name}: " in (one.kind.__doc__ or "")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_flags(name: str) -> None:
    _, kind = FUNCTIONS[name]
    command = app.get_command(None, name)
    assert isinstance(command, cloup.Command)
    declared = {one.flag.split("/")[0]: one for one in single_options(kind) if one.flag != "-"}
    options = {max(each.opts, key=len): each for each in command.params if isinstance(each, click.Option)}
    assert declared.keys() <= options.keys()
    assert max(Counter(one.flag for one in single_options(kind) if one.flag != "-").values()) == 1
    first, *others = command.option_groups
    assert len([each for each in first.options if not each.hidden]) <= 15
    assert {one.option.group for one in declared.values()} - {""} == {each.title for each in others}
    flags = {one.name: flag for flag, one in declared.items()}
    for flag, one in declared.items():
        assert one.option.help.endswith((".", "no."))
        assert help_text(one.option.help, flags) in (options[flag].help or "")
        assert "{" not in (options[flag].help or "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantize": {"forn": "int8"}}, "quantize has no 'forn'\nDid you mean form?"),
        ({"quantize": "int7"}, "unknown quantization 'int7'"),
        ({"checks": "much"}, "fusions is 'much'"),
        ({"checks": {"targets": 1.5}}, "targets is 1.5"),
        ({"limits": "5"}, "timeout must be a number of seconds"),
        ({"limits": {"max_ops": 0}}, "max_ops must be a number of at least 1"),
        ({"graph": "serve"}, "takes a list of names"),
        ({"dtypes": "float16"}, "dtypes is 'float16'\nChoose from keep, narrow, widen"),
        ({"allow_custom_ops": "Relu"}, "takes a list of names"),
    ],
)
def test_groups_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LitefuseError) as caught:
        litefuse.convert(SAVED_MODEL, **options)
    assert message in str(caught.value)


def test_what_stands_for_a_group() -> None:
    assert litefuse.Limits.of(5, "limits") == litefuse.Limits.of({"timeout": 5}, "limits") == litefuse.Limits(timeout=5)
    assert litefuse.Checks.of(False, "checks") == litefuse.Checks(fusions=False, file=False, targets=False)
    assert litefuse.Checks.of("thorough", "checks") == litefuse.Checks(fusions="thorough")
    assert litefuse.Checks.of(True, "checks") == litefuse.Checks.of(None, "checks") == litefuse.Checks()
    assert litefuse.Quantization.of("int8", "quantize") == litefuse.Quantization("int8")


def test_former_arguments_and_too_many() -> None:
    convert = cast("Any", litefuse.convert)
    with pytest.raises(UnknownArgumentError, match="quantize=Quantization") as caught:
        convert(SAVED_MODEL, quantize="int8", representative_dataset=[], narrow=True)
    assert caught.value.arguments == ("representative_dataset", "narrow")
    assert 'dtypes="narrow"' in caught.value.hint
    with pytest.raises(TypeError, match="too many positional"):
        convert(SAVED_MODEL, "int8", "cpu")
