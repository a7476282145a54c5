"""``litefuse run --kernels`` and ``convert --plug-in`` on the demo, whose custom op no kernel pack has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from litefuse.tools.demo import SAVED_MODEL

KERNEL = """
import numpy as np
import litefuse

@litefuse.custom_op("my_custom_fused_op")
class Kernel(litefuse.CustomOp):
    def prepare(self, a, b):
        return litefuse.TensorSpec(a.shape, a.dtype)

    def invoke(self, inputs, outputs, *, example_option):
        BODY
"""


def run(folder: Path, model: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "litefuse", "run", str(model), "--signature", "serving_default", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_a_kernel_from_a_file(demo_model: Path, tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL.replace("BODY", "outputs[0][...] = example_option"))
    done = run(tmp_path, demo_model, "--kernels", "kernel.py", "-o", "out.npz")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "out.npz") as outputs:
        assert {name: set(outputs[name].flat) for name in outputs} == {"fused": {10}}


def test_a_module_by_name(demo_model: Path, tmp_path: Path) -> None:
    done = run(tmp_path, demo_model, "--kernels", "json", "-o", "out.npz")  # a module without the kernel
    assert done.returncode == 1
    assert "no kernel for the custom ops my_custom_fused_op" in done.stderr
    assert "--kernels FILE.py" in done.stderr


def test_a_kernel_of_another_name(demo_model: Path, tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL.replace("my_custom_fused_op", "my_op").replace("BODY", "pass"))
    done = run(tmp_path, demo_model, "--kernels", "kernel.py")
    assert done.returncode == 1
    assert done.stderr.endswith("There are kernels for my_op.\n")


@pytest.mark.parametrize(
    ("source", "body", "message"),
    [
        (
            "kernel.py",
            "return 1 // 0",
            "my_custom_fused_op, node 'StatefulPartitionedCall_1:0': the model does not run: ZeroDivisionError: ",
        ),
        ("kernel.py", "return 1 // 0", "kernel.py, line 11, in invoke)"),
        ("kernel.py", "return (", "cannot be imported: SyntaxError"),
        ("missing.py", "", "missing.py: no such file"),
        ("no_such_module", "", "cannot be imported: ModuleNotFoundError"),
        (".", "", ".: this is neither a .py file nor the name of a module"),
    ],
)
def test_what_is_wrong_is_a_message(demo_model: Path, tmp_path: Path, source: str, body: str, message: str) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL.replace("BODY", body or "pass"))
    done = run(tmp_path, demo_model, "--kernels", source)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("option", ["--plug-in", "--kernels"])
def test_a_fusion_beside_the_kernel_in_a_file(tmp_path: Path, option: str) -> None:
    fusion = """
@litefuse.fusion("my_custom_fused_op", replace=True)
class Fused(litefuse.Fusion):
    def verify(self, composite):
        return "the file's fusion says so"

    def rewrite(self, composite, b):
        raise AssertionError
"""
    (tmp_path / "both.py").write_text(KERNEL.replace("BODY", "outputs[0][...] = 1") + fusion)
    command = [sys.executable, "-m", "litefuse", "convert", str(SAVED_MODEL), "-o", "m.tflite", option, "both.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "the file's fusion says so" in done.stdout
