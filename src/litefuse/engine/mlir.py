"""The MLIR bindings, loaded quietly, and contexts that know the TensorFlow and LiteRT dialects.

Every other room takes ``ir`` and ``func`` from here: this room is the only one that imports litert_converter.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

# The engine's libraries read these once, when they are loaded; without them each conversion prints some twenty lines.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

from litert_converter import converter_api_ext
from litert_converter.mlir import ir
from litert_converter.mlir.dialects import func
from litert_converter.mlir.passmanager import PassManager

# The bindings look for a Python module of a dialect each time they show an op of it. These have none, and looking for
# them on disk takes longer than everything else that is done with an op.
for _dialect in ("tf", "tf_type", "tfl"):
    _module = f"litert_converter.mlir.dialects.{_dialect}"
    sys.modules.setdefault(_module, types.ModuleType(_module))

__all__ = ["PassManager", "converter_api_ext", "func", "ir", "mlir_context", "stablehlo"]


def stablehlo() -> Any:
    """The bindings of StableHLO, which few models need; the dialect is registered in the current context."""
    dialect: Any = importlib.import_module("litert_converter.mlir.dialects.stablehlo")
    dialect.register_dialect(ir.Context.current)
    return dialect


@contextmanager
def mlir_context() -> Generator[ir.Context]:
    """Opens a context in which ``tf`` and ``tfl`` ops are registered, with an unknown default location.

    A context owns every attribute that is made in it, weights included, and frees them only when it dies: use one per
    conversion.
    """
    context = ir.Context()
    converter_api_ext.prepare_mlir_context(context)
    with context, ir.Location.unknown():
        # The dialects that the pipeline depends on are loaded by its first run; before that, tf ops cannot be made.
        converter_api_ext.run_convert_to_tfl_passes(
            ir.Module.create(), PassManager(), converter_api_ext.ConvertToTFLConfig()
        )
        yield context
