"""The rules: one module for each family of ops, with its ``RULES``."""

from litefuse.passes.stablehlo.translation import Rules
from litefuse.support.plug_ins.own_classes import own_table

RULES: Rules = own_table(__name__, __path__)
"""All rules by the ops' names."""
