from __future__ import annotations

import subprocess
import sys

import pytest

import litefuse

HEAVY = ("litert_converter", "ai_edge_litert", "numpy", "google.protobuf", "tensorflow", "rich", "click")


def test_public_names() -> None:
    assert litefuse.__all__ == [
        "BatchResult",
        "Benchmark",
        "CompiledModel",
        "ConversionResult",
        "CustomOp",
        "Fusion",
        "Interpreter",
        "LitefuseError",
        "ModelDiff",
        "Recognizer",
        "Report",
        "TargetCheck",
        "TensorSpec",
        "Verification",
        "batch",
        "benchmark",
        "check",
        "compiled",
        "convert",
        "custom_op",
        "delegate",
        "diff",
        "export_micro",
        "fusion",
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
    program = (
        f"sys.argv = ['litefuse', {option!r}]\nfrom litefuse.cli import main\ntry: main()\nexcept SystemExit: pass"
    )
    assert loaded_modules(program) == needed


def test_conversion_leaves_the_engine_out_of_the_process() -> None:
    program = "import litefuse, litefuse.demo\nlitefuse.convert(litefuse.demo.SAVED_MODEL)"
    loaded = loaded_modules(program)
    assert "litert_converter" not in loaded
    assert "tensorflow" not in loaded


def test_what_few_models_need_is_loaded_for_those() -> None:
    packages = ("fusions", "kernels", "legalize", "recognizers")
    program = "import sys\nimport litefuse.conversion\nprint(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = {*result.stdout.splitlines()[-1].split()}

    assert {name for name in loaded if name.startswith(tuple(f"litefuse.{package}." for package in packages))} == {
        "litefuse.fusions.fusion",
        "litefuse.fusions.loading",
        "litefuse.kernels.index",
        "litefuse.legalize.after_engine",
        "litefuse.legalize.before_engine",
        "litefuse.legalize.composite_ops",
        "litefuse.legalize.custom_ops",
        "litefuse.legalize.decomposed",
        "litefuse.legalize.decomposition",
        "litefuse.legalize.expand_powers",
        "litefuse.legalize.index",
        "litefuse.legalize.inplace_ops",
        "litefuse.legalize.lacking_ops",
        "litefuse.legalize.matrix_products",
        "litefuse.legalize.narrow_float64",
        "litefuse.legalize.zero_operands",
        "litefuse.recognizers.layers",
        "litefuse.recognizers.layers.index",
        "litefuse.recognizers.layers.name_layers",
        "litefuse.recognizers.recognition",
        "litefuse.recognizers.recognize",
        "litefuse.recognizers.recognizer",
        "litefuse.recognizers.recurrent",
        "litefuse.recognizers.recurrent.block_cells",
        "litefuse.recognizers.transfer",
    }
    assert not loaded & {"ai_edge_litert", "flatbuffers", "importlib.metadata", "ml_dtypes", "numpy.random", "secrets"}
