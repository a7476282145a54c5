"""The SavedModel of the demo: the public names of :mod:`litefuse.tools.demo`."""

from litefuse.tools.demo import REFERENCES, SAVED_MODEL

__all__ = ["REFERENCES", "SAVED_MODEL"]
