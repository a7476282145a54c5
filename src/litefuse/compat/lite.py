"""The names of ``tf.lite``, so that an import is all that changes: ``from litefuse.compat import lite``."""

from __future__ import annotations

from litefuse.compat.converter import TFLiteConverter
from litefuse.compat.spec import OpsSet, Optimize, RepresentativeDataset, TargetSpec
from litefuse.runtime.interpreter import Interpreter

__all__ = ["Interpreter", "OpsSet", "Optimize", "RepresentativeDataset", "TFLiteConverter", "TargetSpec"]
