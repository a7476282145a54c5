"""Building blocks of your own targets: the public names of :mod:`litefuse.litert.targets`."""

from litefuse.litert.targets import TargetTraits, target
from litefuse.litert.targets.target import Hint, Target

__all__ = ["Hint", "Target", "TargetTraits", "target"]
