"""What was fused, what was not and why, and what else a conversion found out."""

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
    "LackingOpReport",
    "LeftOutReport",
    "LoopReport",
    "QuantizationReport",
    "RecognizerReport",
    "Report",
    "RetypedReport",
    "VariableReport",
]
