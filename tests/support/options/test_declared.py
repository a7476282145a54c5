"""Options that are declared once reach functions, their documentation and their commands."""

from __future__ import annotations

import inspect
from collections import Counter
from dataclasses import replace
from typing import Any, cast, get_args, get_type_hints

import click
import cloup
import pytest

import litefuse
from litefuse.errors import LitefuseError, UnknownArgumentError
from litefuse.support.options.conversion import Conversion, FileQuantization
from litefuse.support.options.declared import Options, declared_options, help_text, single_options
from litefuse.support.options.forms import RequiredComposites
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
        ({"quantize": {"forn": "int8"}}, "Quantization has no argument 'forn'\nDid you mean form?"),
        ({"quantize": "int7"}, "form is 'int7'\nDid you mean int8 or int16? Choose from dynamic"),
        ({"quantize": "FP16"}, "Did you mean float16?"),
        ({"target": "gpus"}, "Did you mean gpu? Choose from cpu"),
        ({"checks": "much"}, "fusions is 'much'"),
        ({"checks": {"targets": 1.5}}, "targets is 1.5"),
        ({"limits": "5"}, "timeout must be a number of seconds"),
        ({"limits": {"max_ops": 0}}, "max_ops must be a number of at least 1"),
        ({"graph": 3}, "tags takes a list of names"),
        ({"dtypes": "float16"}, "dtypes is 'float16'\nChoose from keep, narrow, widen"),
        ({"allow_custom_ops": ","}, "allow_custom_ops needs names"),
        ({"quantize": {"é": 1}}, "Quantization has no argument 'é'\nIt has form, samples"),
        ({"quantize": {"form": "dynamic", "measure_layers": "no"}}, "measure_layers must be True or False, not 'no'"),
        ({"quantize": {"form": "dynamic", "min_weight_elements": "9"}}, "must be a number of at least 0, not '9'"),
        ({"quantize": {"form": "dynamic", "max_error": float("nan")}}, "must be a number of at least 0, not nan"),
        ({"quantize": {"form": "dynamic", "keep_float": 3}}, "keep_float takes a list of names"),
        ({"checks": {"file": "no"}}, "file must be True or False"),
        ({"generate_kernels": "no"}, "generate_kernels must be True or False"),
        ({"debug": True}, "dump_ir must be a path, not True"),
        ({"debug": {"dump_ir": "x", "dump_ir_after": 3}}, "dump_ir_after takes a list of names"),
        ({"limits": {"temporary_folder": b"x"}}, "temporary_folder must be a path"),
        ({"min_runtime": 2.14}, "2.14 names no runtime"),
        ({"on_step": "print"}, "on_step must be a function"),
        ({"quantize": {"io": "uint8"}}, "and 'auto'\nPass one of these as well"),
        ({"quantize": litefuse.Limits(timeout=5)}, "quantize takes Quantization, not Limits"),
        ({"samples": "x.npz"}, "Write quantize=litefuse.Quantization(samples=...)."),
        ({"samples": [], "quantize": "int8"}, "Write quantize=litefuse.Quantization('int8', samples=...)."),
        ({"representative_dataset": [], "quantize": "int8"}, "litefuse.Quantization('int8', samples=...)."),
        ({"max_ops": 9, "limits": 60}, "Write limits=litefuse.Limits(timeout=60, max_ops=...)."),
        ({"dump_ir_after": "lower", "debug": "x"}, "Write debug=litefuse.Debugging('x', dump_ir_after=...)."),
        ({"check_file": False, "checks": True}, "Write checks=litefuse.Checks(file=...)."),
        ({"timeout": 5}, "Write limits=litefuse.Limits(timeout=...)."),
        ({"labels": "x.txt"}, 'metadata={"labels": path}'),
        ({"plug_ins": ["x.py"]}, "fusions or kernels; load a Keras file with classes"),
        ({"custom_objects": {}}, "keras.models.load_model(file, {name: class}), and pass that"),
        ({"quantize": {"form": "int8", "io": "int4"}}, "io is 'int4'\nIt is False or 'float32'"),
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


def test_models_that_are_none() -> None:
    with pytest.raises(LitefuseError, match="a model is the path of a LiteRT file, its content, or a result, not 3"):
        litefuse.diff(b"", cast("Any", 3))
    with pytest.raises(LitefuseError, match="a folder, or a list of models, not None"):
        litefuse.batch(cast("Any", None))


@pytest.mark.parametrize("model", [None, 3, ["x.tflite"]])
@pytest.mark.parametrize("function", [litefuse.quantize, litefuse.verify_model, litefuse.benchmark, litefuse.check])
def test_no_file(function: Any, model: Any) -> None:
    second = {litefuse.quantize: "dynamic", litefuse.verify_model: SAVED_MODEL}.get(function)
    with pytest.raises(LitefuseError, match="a model is the path of a LiteRT file"):
        function(model, second)


def test_signature_of_a_group() -> None:
    first, *others = inspect.signature(litefuse.Quantization).parameters.values()
    assert (first.name, first.kind) == ("form", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    assert {each.kind for each in others} == {inspect.Parameter.KEYWORD_ONLY}
    for make in (lambda: cast("Any", litefuse.Quantization)("int8", "x.npz"), lambda: cast("Any", litefuse.Limits)(5)):
        with pytest.raises(TypeError, match="by position"):
            make()


@pytest.mark.parametrize("kind", [one.kind for one in declared_options(Conversion) if one.kind is not None])
def test_classes_answer_other_names(kind: Any) -> None:
    """Those of flags, misspelled ones, and any other."""
    for one in declared_options(kind):
        assert one.parameter in ("", one.name) or answer_of(kind, one.parameter) == f"Write {one.name}."
        assert f"Did you mean {one.name}" in answer_of(kind, f"{one.name}x")
    assert answer_of(kind, "é").startswith(f"It has {declared_options(kind)[0].name}")


def answer_of(kind: Any, name: str) -> str:
    with pytest.raises(UnknownArgumentError) as caught:
        kind(**{name: 1})
    return caught.value.hint


def test_a_class_of_ones_own() -> None:
    class Own(litefuse.Limits):
        reason: str = ""

    assert Own.of({"timeout": 5}, "limits") == Own(timeout=5)
    assert litefuse.Limits.of(own := Own(timeout=5, reason="é"), "limits") is own


def test_all_composites_by_their_word() -> None:
    assert RequiredComposites.of("all") == RequiredComposites.of(True) != RequiredComposites.of(False)


def test_objects_hold_what_commands_write() -> None:
    """A text means the same in Python as behind a flag."""
    options = Conversion(
        {"form": "int8", "io": "uint8,float32"},
        graph={"tags": "serve, gpu"},
        require_fused="checked,a",
        allow_custom_ops="A,B",
    )
    assert (options.quantize.io, options.graph.tags) == (("uint8", False), ("serve", "gpu"))
    assert options.require_fused == RequiredComposites(("a",), checked=True)
    assert options.allow_custom_ops == {"A", "B"}
    assert replace(options, dtypes="keep") == options
    assert len({litefuse.Quantization("int8", keep_float=["a"]), litefuse.Quantization("int8", keep_float=("a",))}) == 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_can_be_asked_for(name: str) -> None:
    function, kind = FUNCTIONS[name]
    hints = get_type_hints(function)
    assert hints.keys() == {"model", "return", *(one.name for one in declared_options(kind))}
    assert litefuse.Quantization in get_args(hints["quantize"])


@pytest.mark.parametrize(
    ("function", "argument", "answer"),
    [
        (litefuse.verify_model, "representative_dataset", "Write samples."),
        (litefuse.verify_model, "tolerance", "Write max_error."),
        (litefuse.verify_model, "calls", "Write repeat."),
        (litefuse.check, "kernel_modules", "Write kernels."),
        (litefuse.check, "timeout", "Write limits=litefuse.Limits(timeout=...)."),
        (litefuse.benchmark, "memory", "Write limits=litefuse.Limits(memory=...)."),
        (litefuse.benchmark, "thread", "Did you mean threads?"),
    ],
)
def test_other_functions_answer_as_convert_does(function: Any, argument: str, answer: str) -> None:
    with pytest.raises(UnknownArgumentError) as caught:
        function("x.tflite", **{argument: 1})
    assert answer in caught.value.hint


def test_former_arguments_and_too_many() -> None:
    convert = cast("Any", litefuse.convert)
    with pytest.raises(UnknownArgumentError, match=r"quantize=litefuse\.Quantization") as caught:
        convert(SAVED_MODEL, quantize="int8", representative_dataset=[], narrow=True)
    assert caught.value.arguments == ("representative_dataset", "narrow")
    assert 'dtypes="narrow"' in caught.value.hint
    with pytest.raises(TypeError, match="too many positional"):
        convert(SAVED_MODEL, "int8", "cpu")
