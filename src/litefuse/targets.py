"""What a target of your own is made of: the public names of :mod:`litefuse.litert.targets`."""

from litefuse.litert.targets import Hint, Target, TargetTraits

__all__ = ["Hint", "Target", "TargetTraits"]
