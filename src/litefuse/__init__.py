"""litefuse: operation fusion from TensorFlow to LiteRT."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from litefuse.api import ConversionResult, convert
from litefuse.errors import LitefuseError
from litefuse.fusions import Fusion, fusion
from litefuse.recognizers import Recognizer, recognizer

if TYPE_CHECKING:
    from litefuse.report import Report
    from litefuse.runtime.compiled import compiled
    from litefuse.runtime.custom_op import CustomOp, TensorSpec, custom_op
    from litefuse.runtime.delegate import delegate
    from litefuse.runtime.interpreter import Interpreter

__all__ = [
    "ConversionResult",
    "CustomOp",
    "Fusion",
    "Interpreter",
    "LitefuseError",
    "Recognizer",
    "Report",
    "TensorSpec",
    "compiled",
    "convert",
    "custom_op",
    "delegate",
    "fusion",
    "recognizer",
]

__version__ = "0.1.0"

# Names whose modules need numpy or the runtime: loaded when they are first asked for.
_LAZY = {
    "CustomOp": "litefuse.runtime.custom_op",
    "Interpreter": "litefuse.runtime.interpreter",
    "Report": "litefuse.report",
    "TensorSpec": "litefuse.runtime.custom_op",
    "compiled": "litefuse.runtime.compiled",
    "custom_op": "litefuse.runtime.custom_op",
    "delegate": "litefuse.runtime.delegate",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_LAZY[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
