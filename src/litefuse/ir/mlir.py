"""The MLIR bindings, loaded quietly, and contexts with the TensorFlow and LiteRT dialects.

Every other package imports ``ir`` and ``func`` from here: only this module imports litert_converter.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

# The engine's libraries read these when they are loaded; without them each conversion prints some twenty lines.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

try:
    from litert_converter import converter_api_ext
    from litert_converter.mlir import ir
    from litert_converter.mlir.dialects import func
    from litert_converter.mlir.passmanager import PassManager
except ImportError as error:
    from litefuse.ir.installation import missing_engine

    raise missing_engine(error) from error


class _Deferred(types.ModuleType):
    """The Python module of a dialect, imported on the first attribute access."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # code that inspects all modules looks these up
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


# The bindings look up the Python module of a dialect when they show an op of it. Some dialects have none, and the
# search on disk, repeated each time, takes longer than everything else done with an op. Those of arith and builtin
# take 6 ms to load, and nothing here needs their contents.
for _dialect, _kind in {
    "tf": types.ModuleType,
    "tf_type": types.ModuleType,
    "tfl": types.ModuleType,
    "arith": _Deferred,
    "builtin": _Deferred,
}.items():
    _module = f"litert_converter.mlir.dialects.{_dialect}"
    sys.modules.setdefault(_module, _kind(_module))

__all__ = ["COUNTS", "PassManager", "converter_api_ext", "func", "ir", "mlir_context", "producer", "stablehlo"]

COUNTS: Counter[str] = Counter()
"""The engine's work, which is the same in each run, unlike times: ``engine_calls``, how many pipelines and exports
there were, and ``copied_bytes``, the bytes of constants copied for it.
"""


def stablehlo() -> Any:
    """Returns StableHLO's bindings, which few models need; registers the dialect in the current context."""
    dialect: Any = importlib.import_module("litert_converter.mlir.dialects.stablehlo")
    dialect.register_dialect(ir.Context.current)
    return dialect


def producer(value: ir.Value, *names: str) -> ir.Operation | ir.OpView | None:
    """Returns a value's defining op if it has one of these names; None for other ops and block arguments."""
    owner = value.owner
    return owner if not isinstance(owner, ir.Block) and owner.name in names else None


@contextmanager
def mlir_context() -> Generator[ir.Context]:
    """Opens a context in which ``tf`` and ``tfl`` ops are registered, with an unknown default location.

    A context owns every attribute created in it, weights included, and frees them only when it is destroyed: use one
    per conversion.
    """
    context = ir.Context()
    converter_api_ext.prepare_mlir_context(context)
    with context, ir.Location.unknown():
        # The first run of the pipeline loads the dialects that it depends on; before that, tf ops cannot be created.
        converter_api_ext.run_convert_to_tfl_passes(
            ir.Module.create(), PassManager(), converter_api_ext.ConvertToTFLConfig()
        )
        yield context
