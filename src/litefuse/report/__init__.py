"""Report of a conversion: what was fused, what was not and why, and other findings."""

from litefuse.report.quantized import (
    CurvePoint,
    FloatOp,
    LayerDifference,
    LayerForm,
    MixedPrecision,
    MovingRange,
    OpKinds,
    OutputDifference,
)
from litefuse.report.report import (
    CompositeReport,
    FileCheckReport,
    LackingOpReport,
    LeftOutReport,
    LoopReport,
    QuantizationReport,
    RecognizerReport,
    Report,
    RetypedReport,
    TargetCheckReport,
    VariableReport,
)

__all__ = [
    "CompositeReport",
    "CurvePoint",
    "FileCheckReport",
    "FloatOp",
    "LackingOpReport",
    "LayerDifference",
    "LayerForm",
    "LeftOutReport",
    "LoopReport",
    "MixedPrecision",
    "MovingRange",
    "OpKinds",
    "OutputDifference",
    "QuantizationReport",
    "RecognizerReport",
    "Report",
    "RetypedReport",
    "TargetCheckReport",
    "VariableReport",
]
