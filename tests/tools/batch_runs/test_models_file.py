"""What a file models.toml, a folder and Python may say."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from litefuse.conversion.api import convert, quantize
from litefuse.conversion.verify.against_original import verify_model
from litefuse.conversion.verify.targets.check import check
from litefuse.errors import LitefuseError
from litefuse.support.options.conversion import Conversion, FileQuantization, Quantization
from litefuse.support.options.forms import INTEGER_ACTIVATIONS
from litefuse.support.options.quantization import check_combination
from litefuse.tools.batch_runs.entry import Entry, Variant
from litefuse.tools.batch_runs.models_file import entries_in, read_models_file
from litefuse.tools.batch_runs.options import keys_of, options_of
from litefuse.tools.batch_runs.records import key_of, versions_here
from litefuse.tools.cli.app import app
from tests.every import every

NOT_IN_FILES = {"custom_ops", "debug", "expected", "layers", "on_step", "progress"}


def write(folder: Path, text: str) -> Path:
    path = folder / "models.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "function"),
    [
        (Conversion, convert),
        (FileQuantization, quantize),
        ("litefuse.conversion.verify.against_original:verify_model", verify_model),
        ("litefuse.conversion.verify.targets.check:check", check),
    ],
    ids=["convert", "quantize", "verify", "check"],
)
def test_the_options_are_those_of_the_functions(name: Any, function: Any) -> None:
    parameters = inspect.signature(function).parameters.values()
    names = {each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY or each.name == "quantize"}
    assert {*(options_of(name) if isinstance(name, str) else keys_of(name))} == names - NOT_IN_FILES - (
        {"limits"} if isinstance(name, str) else set()
    )


def test_a_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        [batch]
        output = "out"
        jobs = 3
        retries = 0

        [defaults]
        timeout = 60
        memory = "2G"
        verify = true
        batch = 1

        [[model]]
        path = "a/é.keras"
        require-fused = ["x"]
        plug_ins = ["code.py", "installed_module"]
        shape = { image = [1, -1, "?", 3] }
        check = ["micro:64K", "cpu"]
        variants = ["dynamic", { quantize = { form = "int8", samples = "samples.npz" }, name = "small" }]

        [[model]]
        name = "b"
        path = "s3://bucket/b"
        batch = 4
        timeout = 5.5
        verify = { max_error = 0.01, original = "c" }

        [[model]]
        path = "/d/e.v2"
        verify = false
        checks = false
        """,
    )
    (one, two, three), settings = read_models_file(path)
    assert (settings.output, settings.jobs, settings.retries, settings.scheduler) == (str(tmp_path / "out"), 3, 0, None)
    assert (one.name, one.path) == ("é", str(tmp_path / "a/é.keras"))
    assert one.convert == {"batch": 1, "require_fused": ["x"], "shapes": {"image": [1, None, None, 3]}}
    assert one.plug_ins == (str(tmp_path / "code.py"), "installed_module")
    assert one.check == {"targets": ["micro:64K", "cpu"], "require_accelerated": False}
    samples = str(tmp_path / "samples.npz")
    assert one.variants == (
        Variant("dynamic", {"quantize": "dynamic"}),
        Variant("small", {"quantize": {"form": "int8", "samples": samples}}),
    )
    assert one.files == ["é.tflite", "é.dynamic.tflite", "é.small.tflite"]
    assert (one.verify, one.timeout, one.memory) == ({}, 60, 2 << 30)
    assert (two.name, two.path, two.convert, two.timeout) == ("b", "s3://bucket/b", {"batch": 4}, 5.5)
    assert two.verify == {"max_error": 0.01, "original": str(tmp_path / "c")}
    assert (three.name, three.verify, three.convert, three.check) == ("e.v2", None, {"batch": 1, "checks": False}, None)


@pytest.mark.parametrize(
    ("text", "key", "nearest"),
    [
        ("[bach]", "bach", "batch"),
        ("[[models]]\npath = 'x'", "models", ""),
        ("[batch]\njobbs = 1", "jobbs", "jobs"),
        ("[defaults]\nrequire_fussed = true", "require_fussed", "require_fused"),
        ("[defaults]\nname = 'x'", "name", ""),
        ("[[model]]\npath = 'x'\nquantise = 'dynamic'", "quantise", "quantize"),
        ("[[model]]\npath = 'x'\nin_process = true", "in_process", ""),
        ("[[model]]\npath = 'x'\nverify = { max_eror = 1 }", "max_eror", "max_error"),
        (
            "[[model]]\npath = 'x'\nvariants = [{ quantize = { keep_flaot = [] } }]",
            "keep_flaot",
            "keep_float or keep_float_ops",
        ),
        ("[[model]]\npath = 'x'\ncheck = { targets = ['cpu'], sead = 1 }", "sead", "seed"),
    ],
    ids=["table", "models", "batch", "defaults", "own-key", "model", "call", "verify", "variant", "check"],
)
def test_an_unknown_key(text: str, key: str, nearest: str, tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match=f"unknown key '{key}'") as caught:
        read_models_file(write(tmp_path, text))
    assert f"Did you mean {nearest}" in caught.value.hint or not nearest
    assert str(tmp_path) in caught.value.where


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no models"),
        ("model = []", "no models"),
        ("model = 3", "array of tables"),
        ("[[model]]", "path of the model is missing"),
        ("[[model]]\npath = 3", "path of the model is missing"),
        ("[[model]]\npath = 'x'\nname = 3", "name must be a string"),
        ("[[model]]\npath = 'x'\nbatch = 'one'", "batch must be a whole number"),
        ("[[model]]\npath = 'x'\nbatch = true", "batch must be a whole number"),
        ("[[model]]\npath = 'x'\ngenerate_kernels = 1", "generate_kernels must be true or false"),
        ("[[model]]\npath = 'x'\nquantize = { max_error = 'small' }", "max_error must be a number"),
        ("[[model]]\npath = 'x'\nshapes = 3", "shapes must be a table"),
        ("[[model]]\npath = 'x'\nshapes = { x = ['a'] }", "a shape must be a list of sizes"),
        ("[[model]]\npath = 'x'\ntimeout = -1", "timeout must be a number of seconds"),
        ("[[model]]\npath = 'x'\nmemory = 'much'", "memory must be a number of bytes"),
        ("[[model]]\npath = 'x'\nverify = 3", "verify must be a table"),
        ("[[model]]\npath = 'x'\ncheck = []", "check names no target"),
        ("[[model]]\npath = 'x'\nplug_ins = [3]", "plug_ins must be a list of strings"),
        ("[[model]]\npath = 'x'\nvariants = [{}]", "a variant has quantize, a form"),
        ("[[model]]\npath = 'x'\nvariants = [{quantize = 'int8', name = '../x'}]", "not a valid file name"),
        ("[batch]\njobs = 'x'\n[[model]]\npath = 'x'", "jobs must be a whole number"),
        ("[[model]]\npath = 'a/x'\n[[model]]\npath = 'b/x'", "two files would be called x.tflite"),
        ("[[model]]\npath = 'a/x'\n[[model]]\npath = 'b/X'", "two files would be called X.tflite"),
        ("[[model]]\npath = 'x'\nvariants = ['int8', 'int8']", "two files would be called x.int8.tflite"),
        ("[[model]]\npath = 'x'\nvariants=['int8']\n[[model]]\npath = 'y'\nname = 'x.int8'", "two files"),
        ("this is no TOML", "not valid TOML"),
    ],
    ids=range(25),
)
def test_what_a_file_cannot_say(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match=words) as caught:
        read_models_file(write(tmp_path, text))
    assert str(tmp_path) in caught.value.where


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", "a\\b", "a\0b", "é" * 101])
def test_no_name_for_files(name: str) -> None:
    with pytest.raises(LitefuseError, match="not a valid file name") as caught:
        entries_in([{"path": "x", "name": name, "variants": []} if name else {"path": "x", "name": "."}])
    assert caught.value.where == "models"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match="no such file or folder"):
        read_models_file(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\0")
    with pytest.raises(LitefuseError, match="not valid TOML"):
        read_models_file(tmp_path / "binary.toml")
    (tmp_path / "deep.toml").write_text("x = " + "[" * 100_000)
    with pytest.raises(LitefuseError, match="not valid TOML"):
        read_models_file(tmp_path / "deep.toml")


def test_a_folder(tmp_path: Path) -> None:
    for each in ("b/saved_model.pb", "b/variables/x.pb", "a.keras", "deep/er/c.h5", ".hidden/d.pb", "notes.txt"):
        path = tmp_path / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    found = entries_in(tmp_path, {"timeout": 3})
    assert [(each.name, each.path) for each in found] == [
        ("a", str(tmp_path / "a.keras")),
        ("b", str(tmp_path / "b")),
        ("deep-er-c", str(tmp_path / "deep/er/c.h5")),
    ]
    assert every(each.timeout == 3 for each in found)


def test_folders_without_models(tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match="this folder has no models"):
        entries_in(tmp_path)
    with pytest.raises(LitefuseError, match="cannot be read"):
        entries_in(tmp_path / "none")


def test_python(tmp_path: Path) -> None:
    found = entries_in(["m/x.keras", Path("y"), {"path": "memory://b/z.keras", "batch": 2}], {"batch": 1})
    assert [(each.name, each.path) for each in found] == [("x", "m/x.keras"), ("y", "y"), ("z", "memory://b/z.keras")]
    assert [each.convert for each in found] == [{"batch": 1}, {"batch": 1}, {"batch": 2}]
    with pytest.raises(LitefuseError, match="not a path or a table"):
        entries_in([object()])


def test_values_of_another_kind_or_beyond_their_range(tmp_path: Path) -> None:
    cases = [
        ("[batch]\noutput = 9223372036854775807", "output must be a string, not 9223372036854775807"),
        ("[batch]\nscheduler = ['x']", "scheduler must be a string"),
        ("[batch]\njobs = 9223372036854775808", "more than 64 bits"),
        (f"[[model]]\npath = 'x'\nbatch = {hex(1 << 20_000)}", "more than 64 bits"),
        ("[[model]]\npath = 'x'\nquantize = 5", "quantize must be a string or a table, not 5"),
        ("[[model]]\npath = 'x'\ncomposites = ['keep']", "composites must be a string or a table"),
        ("[[model]]\npath = 'x'\ntarget = [true]", "target must be a string or a list of strings"),
        ("[[model]]\npath = 'x'\nlimits = { max_ops = 1.5 }", "max_ops must be a whole number"),
        ("[[model]]\npath = 'x'\nmetadata = 1979-05-27", "metadata must be a table or a string"),
    ]
    for text, words in cases:
        with pytest.raises(LitefuseError, match=words):
            read_models_file(write(tmp_path, text))


@pytest.mark.parametrize("named", ["model", "original", "samples", "recipe", "plug_ins"])
def test_another_content_of_what_is_named_is_another_job(tmp_path: Path, named: str) -> None:
    files = {name: tmp_path / name for name in ("model", "original", "samples", "recipe", "plug_ins")}
    for path in files.values():
        path.write_bytes(b"before")
    options = {"quantize": {name: str(files[name]) for name in ("samples", "recipe")}}
    plug_ins, verify = (str(files["plug_ins"]),), {"original": str(files["original"])}
    entry = Entry("m", str(files["model"]), convert=options, plug_ins=plug_ins, verify=verify)
    versions = versions_here(with_tensorflow=False)
    before = key_of(entry, versions)
    assert key_of(entry, versions) == before
    files[named].write_bytes(b"behind")
    assert key_of(entry, versions) != before


def test_a_folder_in_the_place_of_a_file_is_not_read(tmp_path: Path) -> None:
    """As ``/`` would be, with all that is in it."""
    (tmp_path / "m" / "variables").mkdir(parents=True)
    (tmp_path / "m" / "saved_model.pb").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")  # reading it would not end
    entries = [Entry("m", str(tmp_path / "m"), convert={"recipe": str(tmp_path), "metadata": str(tmp_path)})]
    entries += [Entry("m", str(tmp_path), plug_ins=(str(tmp_path),))]
    keys = [key_of(entry, versions_here(with_tensorflow=False)) for entry in entries]
    (tmp_path / "other").write_bytes(b"of no model")
    assert [key_of(entry, versions_here(with_tensorflow=False)) for entry in entries] == keys
    (tmp_path / "m" / "saved_model.pb").write_bytes(b"x")
    assert key_of(entries[0], versions_here(with_tensorflow=False)) != keys[0]
    assert key_of(entries[1], versions_here(with_tensorflow=False)) != keys[1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("quantize = ['int8', 'qat']", 'variants = ["int8", "qat"]'),
        ("variants = [{quantize = ['int8']}]", 'variants = ["int8"]'),
        ("samples = 'x.npz'\nquantize = ['int8']", "unknown key 'samples'"),
        ("quantize = 'int7'", "form is 'int7'"),
        ("checks = 'much'", "fusions is 'much'"),
        ("dtypes = 'float16'", "dtypes is 'float16'"),
        ("limits = {memory = 'much'}", "memory must be a number of bytes, such as 2G"),
        ("quantize = {form = 'int8', weight_bits = 3}", "weight_bits is 3"),
        ("variants = [{quantize = {form = 'int8', io = 'int4'}}]", "io is 'int4'"),
        ("verify = {tolerance = 1e-3}", "Write max_error."),
    ],
)
def test_values_are_checked_when_the_file_is_read(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match="model 1") as caught:
        read_models_file(write(tmp_path, f"[[model]]\npath = 'x'\n{line}"))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "lines",
    [
        "samples = 'x.npz'",
        "quantize = 'int16'\nsamples = 'x.npz'\nmax-error = 0.1",
        "quantize = {form = 'int16'}\nsamples = 'x.npz'",
        "max_error = 0.1",
        "weight-bits = 4",
        "recipe = 'a.json'",
        "quantized-io = 'uint8'",
        "io = true",
        "keep_float = ['a', 'größe\"']",
        "tags = ['serve']",
        "form = 'float16'",
        "variants = {samples = 'x.npz'}",
    ],
)
def test_hints_to_groups_work_when_pasted(lines: str, tmp_path: Path) -> None:
    """They are whole: with the form, with what it needs, and with all that stood outside."""
    with pytest.raises(LitefuseError, match="unknown key") as caught:
        read_models_file(write(tmp_path, f"[[model]]\npath = 'x'\n{lines}"))
    assert caught.value.hint is not None
    (pasted,) = re.findall(r"Write (.*)\.", caught.value.hint)
    (entry,), _ = read_models_file(write(tmp_path, f"[[model]]\npath = 'x'\n{pasted}"))
    if "quantize" in pasted:
        quantization = Quantization.of(entry.convert["quantize"])
        check_combination(quantization)
        assert quantization.recipe or quantization.form
        if quantization.recipe is None and quantization.form in INTEGER_ACTIVATIONS:
            assert quantization.samples is not None
    stood = {line.partition(" = ")[2].strip("'}") for line in lines.splitlines() if line[0] not in "kvqt"}
    assert {value for value in stood if value not in pasted} == set()


@pytest.mark.parametrize("key", ["plug_ins", "plug-ins", "plug_in", "plug-in", "kernels"])
def test_both_spellings_of_plug_ins(key: str, tmp_path: Path) -> None:
    (entry,), _ = read_models_file(write(tmp_path, f"[[model]]\npath = 'x'\n{key} = 'layers.py'"))
    assert entry.plug_ins == (str(tmp_path / "layers.py"),)


def test_the_help_shows_a_whole_file(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["batch", "--help"]).output
    text = told.partition("such as:\n")[2].partition("The options here")[0]
    entries, settings = read_models_file(write(tmp_path, text))
    assert settings.output == str(tmp_path / "converted")
    assert len(entries) > 1
    assert any(entry.plug_ins for entry in entries)
    assert any(entry.convert.get("quantize", {}).get("samples") for entry in entries)
    message = CliRunner().invoke(app, ["batch", str(write(tmp_path, "[[model]]\npath = 'x'"))]).output
    for line in ("[batch]", "output = "):
        assert line in message
        assert line in text
    assert 'output = "DIR"' in re.sub(r"\s+", " ", told)


def test_sizes_in_limits(tmp_path: Path) -> None:
    text = "[[model]]\npath = 'x'\nlimits = {memory = '2G', max_constant_bytes = '1M', timeout = 5}"
    (entry,), _ = read_models_file(write(tmp_path, text))
    assert entry.convert == {"limits": {"memory": 2 << 30, "max_constant_bytes": 1 << 20, "timeout": 5}}
