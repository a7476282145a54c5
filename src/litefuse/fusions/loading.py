"""Loading of the plug-ins that register fusions and recognizers."""

from __future__ import annotations

from litefuse.errors import FusionError
from litefuse.support.plug_ins.entry_points import find_plug_ins, what_was_raised

__all__ = ["is_loading", "load_plug_ins"]

_ENTRY_POINTS = ("litefuse.fusions", "litefuse.recognizers")  # a module may be in both

_loading: bool | None = None  # None: not loaded yet


def is_loading() -> bool:
    """Whether plug-ins are being loaded, so that they are what registers now."""
    return bool(_loading)


def load_plug_ins() -> None:
    """Registers the fusions and recognizers of installed plug-ins, once."""
    global _loading
    if _loading is not None:
        return
    _loading = True
    try:
        for plug_in in find_plug_ins(*_ENTRY_POINTS):
            try:
                plug_in.load()
            except FusionError:
                raise
            except Exception as error:  # a plug-in may raise anything
                raise FusionError(
                    f"the plug-in cannot be loaded: {what_was_raised(error)}",
                    where=f"entry point {plug_in.name} ({plug_in.value})",
                ) from error
    except BaseException:
        _loading = None
        raise
    _loading = False
