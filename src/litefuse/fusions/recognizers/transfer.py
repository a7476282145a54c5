"""Sends fusions and recognizers of the running program to the process that converts."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

from litefuse.fusions.fusion import called_fusions, load_plug_ins, take_fusions
from litefuse.fusions.recognizers.recognizer import called_recognizers, take_recognizers

__all__ = ["pickle_registered", "unpickle_registered"]


def pickle_registered() -> bytes | None:
    """Pickles the fusions and recognizers of the running program for the process that converts; None if there are none.

    A class of an importable module is sent by name, one of a script or notebook with its code.
    """
    fusions, recognizers = called_fusions(), called_recognizers()
    if not fusions and not recognizers:
        return None
    from litefuse.support.plug_ins.by_value import pickle_by_value

    return pickle_by_value((fusions, recognizers))


def unpickle_registered(data: bytes | None) -> None:
    """Registers the fusions and recognizers of another process, and forgets those of an earlier one."""
    registered: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
    if data is not None:
        load_plug_ins()  # before the others are registered, which may override theirs on purpose
        registered = pickle.loads(data)
    take_fusions(registered[0])
    take_recognizers(registered[1])
