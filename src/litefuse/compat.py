"""TFLiteConverter's names on litefuse: the public names of :mod:`litefuse.tools.compat`."""

import sys

from litefuse.tools.compat import OpsSet, Optimize, RepresentativeDataset, TargetSpec, TFLiteConverter, lite, v1

__all__ = ["OpsSet", "Optimize", "RepresentativeDataset", "TFLiteConverter", "TargetSpec", "lite", "v1"]

sys.modules |= {f"{__name__}.lite": lite, f"{__name__}.v1": v1}  # for ``import litefuse.compat.lite``
