"""Table of the faults in the engine and the runtime that litefuse works around.

It is for developers: the comments of workarounds name its entries, and ``tests/ir/engine/test_faults.py`` runs a
reproducer of each, which fails when the fault is gone. The table has these parts:

=================  ===============================================================================================
``constants``      the engine's constant folding, and its rewrites of ops on constants
``operations``     the engine's lowering of ops
``modules``        control flow, state, composites, signatures and the exporter; the engine's bindings
``runtime``        LiteRT's kernels, its runtime and its bindings
``xnnpack``        XNNPACK, LiteRT's delegate for CPUs
=================  ===============================================================================================
"""

from __future__ import annotations

from tests.ir.engine.fault_table.constants import CONSTANTS
from tests.ir.engine.fault_table.fault import Component, Fault
from tests.ir.engine.fault_table.modules import MODULES
from tests.ir.engine.fault_table.operations import OPERATIONS
from tests.ir.engine.fault_table.runtime import RUNTIME
from tests.ir.engine.fault_table.xnnpack import XNNPACK

__all__ = ["FAULTS", "Component", "Fault"]

FAULTS: tuple[Fault, ...] = (*CONSTANTS, *OPERATIONS, *MODULES, *RUNTIME, *XNNPACK)
"""All faults."""
