"""What was fused, what was not and why, and what else a conversion found out."""

from litefuse.report.report import (
    CompositeReport,
    LackingOpReport,
    LoopReport,
    NarrowedReport,
    QuantizationReport,
    RecognizerReport,
    Report,
    VariableReport,
)

__all__ = [
    "CompositeReport",
    "LackingOpReport",
    "LoopReport",
    "NarrowedReport",
    "QuantizationReport",
    "RecognizerReport",
    "Report",
    "VariableReport",
]
