"""The faults of the engine and of the runtime that litefuse works around, in one table.

No code reads it: the comments of the workarounds name its entries, and ``tests/engine/test_faults.py`` has a reproducer
of each, which fails when the fault is gone. The table is in parts:

=================  ===============================================================================================
``constants``      what the engine computes of constants, and takes constants for
``operations``     what the engine writes for ops
``modules``        control flow, state, and what the engine writes beside the ops; its bindings
``runtime``        LiteRT's kernels, its runtime and its bindings
``xnnpack``        XNNPACK, LiteRT's delegate for processors
=================  ===============================================================================================
"""

from __future__ import annotations

from litefuse.engine.faults.constants import CONSTANTS
from litefuse.engine.faults.fault import Component, Fault
from litefuse.engine.faults.modules import MODULES
from litefuse.engine.faults.operations import OPERATIONS
from litefuse.engine.faults.runtime import RUNTIME
from litefuse.engine.faults.xnnpack import XNNPACK

__all__ = ["FAULTS", "Component", "Fault"]

FAULTS: tuple[Fault, ...] = (*CONSTANTS, *OPERATIONS, *MODULES, *RUNTIME, *XNNPACK)
"""All of them."""
