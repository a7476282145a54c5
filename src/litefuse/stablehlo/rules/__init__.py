"""The rules: one module for each family of ops, with its ``RULES``."""

from litefuse.plug_ins.own_tables import own_table
from litefuse.stablehlo.translation import Rules

__all__ = ["RULES"]

RULES: Rules = own_table(__name__, __path__)
"""All rules by the ops' names."""
