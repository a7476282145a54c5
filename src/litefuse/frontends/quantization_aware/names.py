"""The names of fake quantization in JAX's programs."""

from __future__ import annotations

from collections.abc import Mapping

#: The functions whose last arguments are a tensor and the ends of its range, and whether this has 254 steps, not 255.
FAKE_QUANTIZATIONS: Mapping[str, bool] = {"litefuse.fake_quantization": False, "litefuse.fake_quantization.narrow": True}
