"""Custom ops that need no kernel of anyone: LiteRT's resolver of builtin ops registers these as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["RUNTIME_KERNELS", "refusal_of_runtime"]

RUNTIME_KERNELS = frozenset({"AudioSpectrogram", "Mfcc"})
"""Their names, which are those of TensorFlow's ops; so are their options."""

# Limits of frequencies, which the kernel reads as integers.
_LIMITS = ("lower_frequency_limit", "upper_frequency_limit")


def refusal_of_runtime(op: str, attributes: Mapping[str, Any]) -> str | None:
    """Returns why the runtime's kernel does not compute an op of this form; None if it does.

    Source: tflite/kernels/audio_spectrogram.cc and mfcc.cc.
    """
    if op == "Mfcc":
        for name in _LIMITS:
            if name in attributes and not float(attributes[name]).is_integer():
                return f"LiteRT's kernel takes whole frequencies, and its {name} is {attributes[name]:g}"
    return None
