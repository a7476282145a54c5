"""Report of a conversion: what was fused, what was not and why, and other findings.

The entries that few conversions have are imported when they are asked for: to define a data class takes time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from litefuse.support.report.report import CompositeReport, FileCheckReport, Report, VariableReport

if TYPE_CHECKING:
    from litefuse.support.report.entries import (
        ChainReport,
        KernelReport,
        LackingOpReport,
        LayerReport,
        LeftOutReport,
        LoopReport,
        NearLayerReport,
        RecognizerReport,
        RenamedReport,
        RetypedReport,
        TargetCheckReport,
    )
    from litefuse.support.report.quantized import (
        CurvePoint,
        FloatOp,
        LayerDifference,
        LayerForm,
        MixedPrecision,
        MovingRange,
        OpKinds,
        OutputDifference,
        QuantizationReport,
    )

__all__ = [
    "ChainReport",
    "CompositeReport",
    "CurvePoint",
    "FileCheckReport",
    "FloatOp",
    "KernelReport",
    "LackingOpReport",
    "LayerDifference",
    "LayerForm",
    "LayerReport",
    "LeftOutReport",
    "LoopReport",
    "MixedPrecision",
    "MovingRange",
    "NearLayerReport",
    "OpKinds",
    "OutputDifference",
    "QuantizationReport",
    "RecognizerReport",
    "RenamedReport",
    "Report",
    "RetypedReport",
    "TargetCheckReport",
    "VariableReport",
]

_OF_QUANTIZATION = frozenset(
    {
        "CurvePoint",
        "FloatOp",
        "LayerDifference",
        "LayerForm",
        "MixedPrecision",
        "MovingRange",
        "OpKinds",
        "OutputDifference",
        "QuantizationReport",
    }
)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "quantized" if name in _OF_QUANTIZATION else "entries"
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    return value
