"""How the shapes of an op's results follow from its operands: one small rule for each op of TensorFlow.

A module for each family of ops has their rules in its ``RULES``.
"""

from __future__ import annotations

from collections.abc import Mapping

from litefuse.ops.facts import Rule
from litefuse.plug_ins.own_tables import own_table

__all__ = ["RULES"]

RULES: Mapping[str, Rule] = own_table(__name__, __path__)
"""The rules by the ops' names, those of TensorFlow without their dialect."""
