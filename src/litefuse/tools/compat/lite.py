"""The names of ``tf.lite``, so that an import is all that changes: ``from litefuse.compat import lite``."""

from __future__ import annotations

from typing import Any

from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.tools.compat.converter import TFLiteConverter
from litefuse.tools.compat.spec import OpsSet, Optimize, RepresentativeDataset, TargetSpec

__all__ = ["Interpreter", "OpsSet", "Optimize", "RepresentativeDataset", "TFLiteConverter", "TargetSpec"]

_EXPERIMENTAL = (
    "litefuse.compat.lite has no 'experimental': Analyzer is litefuse inspect and litefuse check, QuantizationDebugger "
    "is quantization_layers=True of litefuse.convert, authoring is builtins_only=True, load_delegate ai_edge_litert's"
)


def __getattr__(name: str) -> Any:
    what = _EXPERIMENTAL if name == "experimental" else f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(what, name=name)
