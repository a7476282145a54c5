"""Building blocks of your own targets: the public names of :mod:`litefuse.litert.targets`."""

from litefuse.litert.targets import Hint, Target, TargetTraits

__all__ = ["Hint", "Target", "TargetTraits"]
