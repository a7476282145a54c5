"""What installed packages offer litefuse: their entry points.

Finding them means to read the metadata of every installed package, which takes as long as loading the lowering engine.
So it is done once, in the process that was asked for a conversion, while the one that converts starts; that one is told
what was found.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["PlugIn", "find_plug_ins", "take_plug_ins", "what_was_raised"]

_GROUPS = ("litefuse.fusions", "litefuse.recognizers", "litefuse.kernels")
_found: tuple[PlugIn, ...] | None = None


class PlugIn(NamedTuple):
    """One entry point.

    Attributes:
        group: Its group, such as ``litefuse.fusions``.
        name: Its name; what that means, the group says.
        value: What it names: ``package.module`` or ``package.module:object``.
        package: The distribution that it is from.
    """

    group: str
    name: str
    value: str
    package: str

    @property
    def module(self) -> str:
        """The module that it is in."""
        return self._entry_point().module

    def load(self) -> Any:
        """Imports the module, and returns it or the object in it.

        Raises:
            Exception: Whatever that raises.
        """
        return self._entry_point().load()

    def _entry_point(self) -> EntryPoint:
        from importlib.metadata import EntryPoint

        return EntryPoint(self.name, self.value, self.group)


def find_plug_ins(*groups: str) -> tuple[PlugIn, ...]:
    """The entry points of these groups, one group after the other; without any, those of all of litefuse's groups."""
    global _found
    if _found is None:
        from importlib.metadata import entry_points

        installed = entry_points()  # reads the metadata of every installed package
        _found = tuple(
            PlugIn(group, each.name, each.value, each.dist.name if each.dist is not None else "")
            for group in _GROUPS
            for each in installed.select(group=group)
        )
    if not groups:
        return _found
    return tuple(each for group in groups for each in _found if each.group == group)


def take_plug_ins(found: Iterable[PlugIn] | None) -> None:
    """Takes over what another process found; None makes the next look find anew."""
    global _found
    _found = None if found is None else tuple(found)


def what_was_raised(error: BaseException) -> str:
    """An exception of somebody else's code for a message: its type, its text, and the line of that code it came from.

    The line is the last one in the file that litefuse called, not in what that file calls in turn.
    """
    import traceback

    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_INNER)]
    if not frames:
        return text
    last = [frame for frame in frames if frame.filename == frames[0].filename][-1]
    return f"{text} ({last.filename}, line {last.lineno}, in {last.name})"


# Files whose lines are not somebody else's: litefuse's own, and what Python imports modules with.
_INNER = (str(Path(__file__).parents[1]), str(Path(importlib.__file__).parent), "<frozen ")
