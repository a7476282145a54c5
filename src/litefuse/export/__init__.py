"""Writes the finished model, and summarizes it."""

from litefuse.export.summary import ModelSummary, summarize

__all__ = ["ModelSummary", "summarize"]
