"""Report of a conversion: what was fused, what was not and why, and other findings."""

from litefuse.report.report import (
    CompositeReport,
    FileCheckReport,
    FloatOpReport,
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
    "FloatOpReport",
    "LackingOpReport",
    "LeftOutReport",
    "LoopReport",
    "QuantizationReport",
    "RecognizerReport",
    "Report",
    "RetypedReport",
    "VariableReport",
]
