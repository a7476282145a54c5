"""What LiteRT's accelerator printed, as recorded with ai-edge-litert 2.3 and SwiftShader."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

import litefuse
from litefuse.litert.targets.gpu import Gpu
from litefuse.litert.targets.litert import LiteRT
from litefuse.litert.targets.question import Answer, Question, Refusal
from tests.litert.targets.models import dense

if TYPE_CHECKING:
    from pathlib import Path

ACCELERATED = """\
INFO: [gpu_registry.cc:138] Dynamically loaded GPU accelerator(libLiteRtWebGpuAccelerator.so) registered.
I0000 00:00:1795639771.490950   25244 environment.cc:532] Selected adapter: SwiftShader Device (Subzero), arch=\
swiftshader, vendor=google, backend=Vulkan, adapterType=CPU / Software
I0000 00:00:1795639771.497734   25244 delegate_webgpu.cc:751] # of threads to upload weights = 0
I0000 00:00:1795639771.497988   25244 delegate_kernel.cc:984] Initializing WebGPU-based API from graph.
"""

REFUSED = """\
I0000 00:00:1795639791.105214   25368 delegate_webgpu.cc:759] # of threads to compile kernels = 0
ERROR: Following operations are not supported by GPU delegate:
FILL: Operation is not supported.
STRIDED_SLICE: Slice does not support shrink_axis_mask parameter. 
WHILE: Operation is not supported.
2 operations will run on the GPU, and the remaining 7 operations will run on the CPU.
I0000 00:00:1795639791.105679   25368 delegate_kernel.cc:984] Initializing WebGPU-based API from graph.
ERROR: Following operations are not supported by GPU delegate:
GATHER: Only support 1D indices
18 operations will run on the GPU, and the remaining 1 operations will run on the CPU.
I0000 00:00:1795639791.852441   25368 delegate_kernel.cc:984] Initializing WebGPU-based API from graph.
ERROR: Following operations are not supported by GPU delegate:
GATHER: Only support 1D indices
16 operations will run on the GPU, and the remaining 1 operations will run on the CPU.
"""  # noqa: W291  as it is printed

NO_DRIVER = """\
INFO: [delegate_webgpu.cc:342] Create WebGPU environment (use_low_power=0, enable_host_mapped_pointer=1)
Warning: Couldn't load Vulkan: libvulkan.so.1: cannot open shared object file: No such file or directory
    at operator() (third_party/dawn/src/dawn/native/vulkan/BackendVk.cpp:368)

ERROR: [delegate_webgpu.cc:359] Failed to initialize WebGPU environment: INTERNAL: No adapters found
"""

VARIABLES = """\
INFO: [cpu_registry.cc:75] XNNPACK CPU accelerator registered.
ERROR: [model_load.cc:316] Variable tensors not yet supported.
"""


def test_ops_and_reasons() -> None:
    assert Gpu().refusals(ACCELERATED) == ()
    assert Gpu().refusals(REFUSED) == (
        Refusal("FILL", "no such op"),
        Refusal("STRIDED_SLICE", "Slice does not support shrink_axis_mask parameter"),
        Refusal("WHILE", "no such op"),
        Refusal("GATHER", "Only support 1D indices"),
    )


def test_variable_tensors() -> None:
    (found,) = Gpu().refusals(VARIABLES)
    assert (found.op, "variable tensors" in found.reason) == ("", True)
    assert LiteRT().refusals(VARIABLES) == (found,)
    assert LiteRT().refusals(ACCELERATED) == ()


class Compiled:
    """What LiteRT makes of a model, as far as the check looks at it."""

    def __init__(self, *, accelerated: bool) -> None:
        self._accelerated = accelerated

    def is_fully_accelerated(self) -> bool:
        return self._accelerated


def asked(monkeypatch: pytest.MonkeyPatch, folder: Path, printed: str, model: Compiled | None) -> Answer:
    """The answer where the accelerator prints a text, and makes a model, or none."""

    def compile_model(*_: Any) -> Compiled:
        os.write(2, printed.encode())
        if model is None:
            raise RuntimeError("ERROR: [litert/runtime/compiled_model.cc:1036]")
        return model

    def run_rounds(*_: Any) -> tuple[()]:
        return ()

    monkeypatch.setattr("litefuse.litert.targets.compiled_model.compile_model", compile_model)
    monkeypatch.setattr("litefuse.litert.targets.compiled_model.run_rounds", run_rounds)
    return Gpu().ask(Question("gpu", "model.tflite", str(folder), str(folder / "log")), lambda _: None)


def test_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = asked(monkeypatch, tmp_path, ACCELERATED, Compiled(accelerated=True))
    assert (answer.takes, answer.refusals, answer.facts) == (True, (), (("GPU", "SwiftShader Device (Subzero)"),))
    assert answer.outputs == ()

    answer = asked(monkeypatch, tmp_path, ACCELERATED + REFUSED, Compiled(accelerated=False))
    assert answer.takes
    assert [each.op for each in answer.refusals] == ["FILL", "STRIDED_SLICE", "WHILE", "GATHER"]
    assert ("ops on the GPU", "36 of 45") in answer.facts

    answer = asked(monkeypatch, tmp_path, "", Compiled(accelerated=False))
    assert answer.refusals == (Refusal("", "it does not say which ops it refuses"),)

    answer = asked(monkeypatch, tmp_path, VARIABLES, None)
    assert not answer.takes
    assert "variable tensors" in answer.refusals[0].reason

    answer = asked(monkeypatch, tmp_path, NO_DRIVER, None)
    assert "VK_ICD_FILENAMES" in answer.unavailable
    assert answer.refusals == ()


def test_a_machine_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine with Metal, there is always one."""
    monkeypatch.setenv("VK_ICD_FILENAMES", "/nothing.json")
    (report,) = litefuse.check(dense(), "gpu").reports
    if report.missing:
        assert "VK_ICD_FILENAMES" in report.missing
        assert (report.verdict, report.software) == ("unknown", "")
        assert "ai-edge-litert" in report.table
    else:
        assert report.verdict == "accelerated"
