"""Shape inference: one small rule for each TensorFlow op.

Each module holds the rules of one family of ops in its ``RULES``.
"""

from __future__ import annotations

from collections.abc import Mapping

from litefuse.ir.ops.facts import Rule
from litefuse.support.plug_ins.own_classes import own_table

RULES: Mapping[str, Rule] = own_table(__name__, __path__)
"""The rules by op name, TensorFlow's without the dialect."""
