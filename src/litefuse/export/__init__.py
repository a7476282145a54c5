"""The finished model: what it holds."""

from litefuse.export.summary import ModelSummary, summarize

__all__ = ["ModelSummary", "summarize"]
