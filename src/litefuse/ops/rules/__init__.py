"""How the shapes of an op's results follow from its operands: one small rule for each op of TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping

from litefuse.ops.facts import Rule
from litefuse.ops.rules import (
    creation,
    elementwise,
    layout,
    lists,
    litert,
    matrices,
    reductions,
    slicing,
    sparse,
    strings,
    windows,
)

__all__ = ["RULES"]

RULES: Mapping[str, Rule] = {
    **creation.RULES,
    **elementwise.RULES,
    **layout.RULES,
    **lists.RULES,
    **litert.RULES,
    **matrices.RULES,
    **reductions.RULES,
    **slicing.RULES,
    **sparse.RULES,
    **strings.RULES,
    **windows.RULES,
}
"""The rules by the ops' names, those of TensorFlow without their dialect."""
