"""Reproducers of the faults in ``fault_table``, on the engine and the runtime as they are installed.

Each is as small as it can be, and uses none of litefuse's workarounds: see ``graph`` for what it does use.
"""

from __future__ import annotations

# Registers the reproducers.
from tests.ir.engine.faults import (
    bindings,
    constants,
    kernels,
    lstms,
    modules,
    ops,
    runtime,
    soundness,
    transpositions,
    xnnpack,
)
from tests.ir.engine.faults.reproducer import REPRODUCERS

__all__ = [
    "REPRODUCERS",
    "bindings",
    "constants",
    "kernels",
    "lstms",
    "modules",
    "ops",
    "runtime",
    "soundness",
    "transpositions",
    "xnnpack",
]
