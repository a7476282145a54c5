"""litefuse: operation fusion from TensorFlow to LiteRT."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from litefuse.errors import LitefuseError
from litefuse.support.former_names import find_former_names
from litefuse.version import __version__ as __version__

if TYPE_CHECKING:
    from litefuse.conversion.api import convert, quantize
    from litefuse.conversion.verify.against_original import verify_model
    from litefuse.conversion.verify.targets.check import check
    from litefuse.conversion.verify.targets.target_check import TargetCheck
    from litefuse.conversion.verify.verification import Verification
    from litefuse.frontends.fake_quantized.api import quantization_aware
    from litefuse.frontends.language_models.decoder import Decoder
    from litefuse.fusions import Fusion, fusion
    from litefuse.fusions.annotation import annotation
    from litefuse.fusions.recognizers import Recognizer, recognizer
    from litefuse.litert.differences.compare import diff
    from litefuse.litert.differences.model_diff import ModelDiff
    from litefuse.litert.runtime.compiled import compiled
    from litefuse.litert.runtime.compiled_model import CompiledModel
    from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec, custom_op
    from litefuse.litert.runtime.delegate import delegate
    from litefuse.litert.runtime.interpreter import Interpreter
    from litefuse.support.options.conversion import Checks, Debugging, Graph, Limits
    from litefuse.support.options.quantization import Quantization
    from litefuse.support.report import Report
    from litefuse.support.result import ConversionResult
    from litefuse.tools.batch_runs.outcome import BatchResult
    from litefuse.tools.batch_runs.run import batch
    from litefuse.tools.benchmarking.benchmark import benchmark
    from litefuse.tools.benchmarking.measurement import Benchmark
    from litefuse.tools.language_models.api import language_model
    from litefuse.tools.page.saving import save_report
    from litefuse.tools.scaffold.micro.export import export_micro
    from litefuse.tools.scaffold.web import export_web

__all__ = [
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

# Names whose modules are imported on first access: the command line starts without them.
_LAZY = {
    "BatchResult": "litefuse.tools.batch_runs.outcome",
    "Benchmark": "litefuse.tools.benchmarking.measurement",
    "Checks": "litefuse.support.options.conversion",
    "CompiledModel": "litefuse.litert.runtime.compiled_model",
    "ConversionResult": "litefuse.support.result",
    "CustomOp": "litefuse.litert.runtime.custom_op",
    "Debugging": "litefuse.support.options.conversion",
    "Decoder": "litefuse.frontends.language_models.decoder",
    "Fusion": "litefuse.fusions",
    "Graph": "litefuse.support.options.conversion",
    "Interpreter": "litefuse.litert.runtime.interpreter",
    "Limits": "litefuse.support.options.conversion",
    "ModelDiff": "litefuse.litert.differences.model_diff",
    "Quantization": "litefuse.support.options.conversion",
    "Recognizer": "litefuse.fusions.recognizers",
    "Report": "litefuse.support.report",
    "TargetCheck": "litefuse.conversion.verify.targets.target_check",
    "TensorSpec": "litefuse.litert.runtime.custom_op",
    "Verification": "litefuse.conversion.verify.verification",
    "annotation": "litefuse.fusions.annotation",
    "batch": "litefuse.tools.batch_runs.run",
    "benchmark": "litefuse.tools.benchmarking.benchmark",
    "check": "litefuse.conversion.verify.targets.check",
    "compiled": "litefuse.litert.runtime.compiled",
    "convert": "litefuse.conversion.api",
    "custom_op": "litefuse.litert.runtime.custom_op",
    "delegate": "litefuse.litert.runtime.delegate",
    "diff": "litefuse.litert.differences.compare",
    "export_micro": "litefuse.tools.scaffold.micro.export",
    "export_web": "litefuse.tools.scaffold.web",
    "fusion": "litefuse.fusions",
    "language_model": "litefuse.tools.language_models.api",
    "quantization_aware": "litefuse.frontends.fake_quantized.api",
    "quantize": "litefuse.conversion.api",
    "recognizer": "litefuse.fusions.recognizers",
    "save_report": "litefuse.tools.page.saving",
    "verify_model": "litefuse.conversion.verify.against_original",
}

# Commands whose names are unlike those of what does the same in Python.
_COMMANDS = {"lm": "language_model", "run": "Interpreter"}

find_former_names()


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        from litefuse.support.options.names import closest

        message = f"module {__name__!r} has no attribute {name!r}"
        if name in _COMMANDS:
            message += f"\nlitefuse {name} is a command; in Python, use litefuse.{_COMMANDS[name]}."
        elif not name.startswith("_"):  # which Python itself asks for
            told = closest([name], __all__).rstrip()
            message += f"\n{told or 'dir(litefuse) lists names, litefuse --help commands.'}"
        raise AttributeError(message)
    value = globals()[name] = getattr(importlib.import_module(_LAZY[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
