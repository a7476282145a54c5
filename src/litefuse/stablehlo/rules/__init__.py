"""The rules: one module for each family of ops, with its ``RULES``."""

from litefuse.stablehlo.rules import (
    bits,
    calls,
    control_flow,
    convolutions,
    elementwise,
    gather,
    linear_algebra,
    products,
    quotients,
    reductions,
    scatter,
    shapes,
    slices,
    sorting,
    windows,
)
from litefuse.stablehlo.translation import Rules

__all__ = ["RULES"]

_FAMILIES = (
    bits,
    calls,
    control_flow,
    convolutions,
    elementwise,
    gather,
    linear_algebra,
    products,
    quotients,
    reductions,
    scatter,
    shapes,
    slices,
    sorting,
    windows,
)

RULES: Rules = {name: rule for family in _FAMILIES for name, rule in family.RULES.items()}
"""All rules by the ops' names."""
