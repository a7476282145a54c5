from __future__ import annotations

import subprocess
import sys
from typing import get_type_hints

import pytest

import litefuse

IN_PROCESS = """
import sys, tempfile
from pathlib import Path
from litefuse.conversion.job import ConversionJob
from litefuse.conversion.run import run_conversion
from litefuse.demo import SAVED_MODEL
with tempfile.TemporaryDirectory() as folder:
    run_conversion(ConversionJob(SAVED_MODEL, Path(folder, "model.tflite")))
"""
HEAVY = ("litert_converter", "ai_edge_litert", "numpy", "google.protobuf", "tensorflow", "rich", "click")


def test_public_names() -> None:
    assert litefuse.__all__ == [
        "BatchResult",
        "Benchmark",
        "Checks",
        "CompiledModel",
        "ConversionResult",
        "CustomOp",
        "Debugging",
        "Decoder",
        "Fusion",
        "Graph",
        "Interpreter",
        "Limits",
        "LitefuseError",
        "ModelDiff",
        "Quantization",
        "Recognizer",
        "Report",
        "TargetCheck",
        "TensorSpec",
        "Verification",
        "annotation",
        "batch",
        "benchmark",
        "check",
        "compiled",
        "convert",
        "custom_op",
        "delegate",
        "diff",
        "export_micro",
        "export_web",
        "fusion",
        "language_model",
        "quantization_aware",
        "quantize",
        "recognizer",
        "save_report",
        "verify_model",
    ]


def test_every_public_name_is_there_and_documented() -> None:
    for name in litefuse.__all__:
        assert getattr(litefuse, name).__doc__, name
        assert name in dir(litefuse)


def loaded_modules(program: str) -> list[str]:
    """Which of the heavy modules a program leaves loaded in a fresh process."""
    check = f"import sys\n{program}\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=60)
    return result.stdout.splitlines()[-1].split()


def test_importing_litefuse_loads_nothing_heavy() -> None:
    assert loaded_modules("import litefuse") == []


@pytest.mark.parametrize(("option", "needed"), [("--version", []), ("--help", ["click"])])
def test_the_command_answers_without_loading_what_commands_need(option: str, needed: list[str]) -> None:
    called = "from litefuse.tools.cli import main\ntry: main()\nexcept SystemExit: pass"
    program = f"sys.argv = ['litefuse', {option!r}]\n{called}"
    assert loaded_modules(program) == needed


def test_conversion_leaves_the_engine_out_of_the_process() -> None:
    program = "import litefuse, litefuse.tools.demo\nlitefuse.convert(litefuse.tools.demo.SAVED_MODEL)"
    loaded = loaded_modules(program)
    assert "litert_converter" not in loaded
    assert "numpy" not in loaded
    assert "tensorflow" not in loaded


def test_a_conversion_leaves_masked_arrays_out() -> None:
    """They take as long to load as the rest of numpy; the model has a fusion, whose check draws numbers."""
    program = f"{IN_PROCESS}\nprint(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert not {*result.stdout.splitlines()[-1].split()} & {"numpy.ma", "numpy.random"}


def test_a_conversion_imports_nothing_of_what_its_model_lacks() -> None:
    program = f"{IN_PROCESS}\nprint(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = {*result.stdout.splitlines()[-1].split()}
    assert not loaded & {
        "difflib",
        "litefuse.frontends.source_of",
        "litefuse.litert.inputs.custom_rules",
        "litefuse.litert.metadata.json_form",
        "litefuse.litert.runtime.transfer",
        "litefuse.passes.control_flow.unroll_loops",
        "litefuse.passes.fake_quantization.pairs",
        "litefuse.passes.stablehlo.xla_call_module",
    }


def test_types_of_results_are_there_for_whoever_reads_them() -> None:
    for name in (
        "Report",
        "Verification",
        "Benchmark",
        "ModelDiff",
    ):  # as libraries that make JSON, or checks, of data classes
        assert get_type_hints(getattr(litefuse, name))


def test_what_few_models_need_is_loaded_for_those() -> None:
    packages = ("fusions", "kernels", "passes.legalize")
    program = "import sys\nimport litefuse.conversion.run\nprint(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = {*result.stdout.splitlines()[-1].split()}

    assert {name for name in loaded if name.startswith(tuple(f"litefuse.{package}." for package in packages))} == {
        "litefuse.fusions.composites",
        "litefuse.fusions.composites.fuse_composites",
        "litefuse.fusions.composites.outcome",
        "litefuse.fusions.fusion",
        "litefuse.fusions.recognizers",
        "litefuse.fusions.recognizers.layers",
        "litefuse.fusions.recognizers.layers.index",
        "litefuse.fusions.recognizers.recognize",
        "litefuse.fusions.recognizers.recognizer",
        "litefuse.passes.legalize.before_engine",
        "litefuse.passes.legalize.decomposition",
        "litefuse.passes.legalize.lacking_ops",
    }
    assert not loaded & {"ai_edge_litert", "flatbuffers", "importlib.metadata", "ml_dtypes", "numpy.random", "secrets"}


def in_a_process(program: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("former", "module"),
    [
        ("litefuse.recognizers.pattern", "litefuse.fusions.recognizers.pattern"),
        ("litefuse.recognizers.layers.index", "litefuse.fusions.recognizers.layers.index"),
        ("litefuse.report.html", "litefuse.support.report.html"),
        ("litefuse.explorer.node_data", "litefuse.tools.explorer.node_data"),
        ("litefuse.job", "litefuse.conversion.job"),
    ],
)
def test_a_former_name_is_the_same_module(former: str, module: str) -> None:
    both = f"import sys, {former}, {module}\nfirst, second = (sys.modules[n] for n in {(former, module)})\n"
    program = f"{both}print(first is second, first.__name__, first.__spec__.name)"
    done = in_a_process(program, "-W", "default")
    assert done.stdout.split() == ["True", module, module], done.stderr
    assert f"DeprecationWarning: {former} is now {module}" in done.stderr


def test_a_former_name_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "litefuse.cli.pre_commit", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "FILE..." in done.stdout


def test_a_name_that_never_was_is_not_there() -> None:
    done = in_a_process("import litefuse.recognisers.pattern")
    assert "ModuleNotFoundError: No module named 'litefuse.recognisers'" in done.stderr


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("verify", "Did you mean verify_model?"),
        ("quantise", "Did you mean quantize or Quantization?"),
        ("converter", "Did you mean convert?"),
        ("run", "litefuse run is a command; in Python, use litefuse.Interpreter."),
        ("report", "Did you mean Report or save_report or export_web?"),
        ("inspect", "dir(litefuse) lists names, litefuse --help commands."),
        ("__é__", ""),
    ],
)
def test_names_that_are_typed_instead(name: str, answer: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(litefuse, name)
    assert str(caught.value).split("\n")[1:] == [answer][: bool(answer)]


def test_public_modules_beside_the_rooms() -> None:
    program = """
import litefuse.compat.lite, litefuse.compat.v1
from litefuse.compat import Optimize, TFLiteConverter, lite
from litefuse.demo import SAVED_MODEL
from litefuse.targets import Target
import litefuse.tools.compat.lite
print(lite is litefuse.tools.compat.lite is litefuse.compat.lite, SAVED_MODEL.is_dir())
"""
    done = in_a_process(program, "-W", "error")
    assert done.stdout.split() == ["True", "True"], done.stderr
