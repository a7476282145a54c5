"""TFLiteConverter's names on litefuse: the usual ten lines run with another import.

``from litefuse.compat import TFLiteConverter`` takes the place of ``tf.lite.TFLiteConverter``; ``from litefuse.compat
import lite`` that of ``tf.lite``, and ``from litefuse.compat import v1`` that of ``tf.compat.v1.lite``. All of it maps
onto :func:`litefuse.convert`, which does the work, and works without TensorFlow where the model needs none.

``spec``       the enums and classes that attributes take, and data types by any library's names
``settings``   the attributes, their defaults, and what becomes of each
``quantizing`` the form of quantization that attributes ask for
``samples``    representative datasets as TFLiteConverter takes them
``converter``  the class for TensorFlow 2
``v1``         the class for TensorFlow 1
``lite``       the names of ``tf.lite``
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from litefuse.tools.compat.spec import OpsSet, Optimize, RepresentativeDataset, TargetSpec

if TYPE_CHECKING:
    from litefuse.tools.compat import lite, v1
    from litefuse.tools.compat.converter import TFLiteConverter

__all__ = ["OpsSet", "Optimize", "RepresentativeDataset", "TFLiteConverter", "TargetSpec", "lite", "v1"]


def __getattr__(name: str) -> Any:
    if name == "TFLiteConverter":
        return importlib.import_module("litefuse.tools.compat.converter").TFLiteConverter
    if name in {"lite", "v1"}:
        return importlib.import_module(f"litefuse.tools.compat.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
