"""Report of a conversion: what was fused, what was not and why, and other findings."""

from litefuse.report.quantized import FloatOp, LayerDifference, MovingRange, OpKinds, OutputDifference
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
    VariableReport,
)

__all__ = [
    "CompositeReport",
    "FileCheckReport",
    "FloatOp",
    "LackingOpReport",
    "LayerDifference",
    "LeftOutReport",
    "LoopReport",
    "MovingRange",
    "OpKinds",
    "OutputDifference",
    "QuantizationReport",
    "RecognizerReport",
    "Report",
    "RetypedReport",
    "VariableReport",
]
