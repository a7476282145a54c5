"""Table of the faults in the engine and the runtime that litefuse works around.

No code reads it: the comments of workarounds name its entries, and ``tests/ir/engine/test_faults.py`` runs a reproducer
of each, which fails when the fault is gone. The table has these parts:

=================  ===============================================================================================
``constants``      the engine's constant folding, and its rewrites of ops on constants
``operations``     the engine's lowering of ops
``modules``        control flow, state, composites, signatures and the exporter; the engine's bindings
``runtime``        LiteRT's kernels, its runtime and its bindings
``xnnpack``        XNNPACK, LiteRT's delegate for CPUs
=================  ===============================================================================================
"""

from __future__ import annotations

from litefuse.ir.engine.faults.constants import CONSTANTS
from litefuse.ir.engine.faults.fault import Component, Fault
from litefuse.ir.engine.faults.modules import MODULES
from litefuse.ir.engine.faults.operations import OPERATIONS
from litefuse.ir.engine.faults.runtime import RUNTIME
from litefuse.ir.engine.faults.xnnpack import XNNPACK

__all__ = ["FAULTS", "Component", "Fault"]

FAULTS: tuple[Fault, ...] = (*CONSTANTS, *OPERATIONS, *MODULES, *RUNTIME, *XNNPACK)
"""All faults."""
