"""Report of a conversion: what was fused, what was not and why, and other findings."""

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
from litefuse.support.report.report import CompositeReport, FileCheckReport, Report, VariableReport

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
