"""litefuse: operation fusion from TensorFlow to LiteRT."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from litefuse.errors import LitefuseError
from litefuse.version import __version__ as __version__

if TYPE_CHECKING:
    from litefuse.api import convert, quantize
    from litefuse.batch_runs.outcome import BatchResult
    from litefuse.batch_runs.run import batch
    from litefuse.benchmarking.benchmark import benchmark
    from litefuse.benchmarking.measurement import Benchmark
    from litefuse.differences.compare import diff
    from litefuse.differences.model_diff import ModelDiff
    from litefuse.fusions import Fusion, fusion
    from litefuse.page.saving import save_report
    from litefuse.recognizers import Recognizer, recognizer
    from litefuse.report import Report
    from litefuse.result import ConversionResult
    from litefuse.runtime.compiled import compiled
    from litefuse.runtime.compiled_model import CompiledModel
    from litefuse.runtime.custom_op import CustomOp, TensorSpec, custom_op
    from litefuse.runtime.delegate import delegate
    from litefuse.runtime.interpreter import Interpreter
    from litefuse.scaffold.micro.export import export_micro
    from litefuse.verify.against_original import verify_model
    from litefuse.verify.targets.check import check
    from litefuse.verify.targets.target_check import TargetCheck
    from litefuse.verify.verification import Verification

__all__ = [
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

# Names whose modules are imported on first access: the command line starts without them.
_LAZY = {
    "BatchResult": "litefuse.batch_runs.outcome",
    "Benchmark": "litefuse.benchmarking.measurement",
    "CompiledModel": "litefuse.runtime.compiled_model",
    "ConversionResult": "litefuse.result",
    "CustomOp": "litefuse.runtime.custom_op",
    "Fusion": "litefuse.fusions",
    "Interpreter": "litefuse.runtime.interpreter",
    "ModelDiff": "litefuse.differences.model_diff",
    "Recognizer": "litefuse.recognizers",
    "Report": "litefuse.report",
    "TargetCheck": "litefuse.verify.targets.target_check",
    "TensorSpec": "litefuse.runtime.custom_op",
    "Verification": "litefuse.verify.verification",
    "batch": "litefuse.batch_runs.run",
    "benchmark": "litefuse.benchmarking.benchmark",
    "check": "litefuse.verify.targets.check",
    "compiled": "litefuse.runtime.compiled",
    "convert": "litefuse.api",
    "custom_op": "litefuse.runtime.custom_op",
    "delegate": "litefuse.runtime.delegate",
    "diff": "litefuse.differences.compare",
    "export_micro": "litefuse.scaffold.micro.export",
    "fusion": "litefuse.fusions",
    "quantize": "litefuse.api",
    "recognizer": "litefuse.recognizers",
    "save_report": "litefuse.page.saving",
    "verify_model": "litefuse.verify.against_original",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_LAZY[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
