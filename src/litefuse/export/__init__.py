"""Export of the lowered module: the model's file and a summary of its contents."""

from litefuse.export.summary import ModelSummary, summarize

__all__ = ["ModelSummary", "summarize"]
