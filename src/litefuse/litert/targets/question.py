"""Requests to a target's software, which runs in a process of its own, and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from litefuse.support.plug_ins.entry_points import PlugIn

if TYPE_CHECKING:
    import numpy.typing as npt

Arrays: TypeAlias = "Mapping[str, npt.NDArray[Any]]"


class TargetCall(NamedTuple):
    """A call of a signature.

    Attributes:
        signature: Its key.
        inputs: The inputs by their names, as the file has them: integers where it is quantized.
    """

    signature: str
    inputs: Arrays


class Question(NamedTuple):
    """A request to a target's software.

    Attributes:
        target: The target's name.
        model: The file.
        folder: A folder for whatever the software writes.
        log: The file that its output goes to.
        rounds: The calls to make; each round begins with the model as it was loaded.
        plug_ins: The entry points that the asking process found.
    """

    target: str
    model: str
    folder: str
    log: str
    rounds: tuple[tuple[TargetCall, ...], ...] = ()
    plug_ins: tuple[PlugIn, ...] = ()


class Refusal(NamedTuple):
    """An op that a target does not take.

    Attributes:
        op: Its name in LiteRT's schema; that of a custom op is its own; empty for the model as a whole.
        reason: Why it is refused.
        names: The names of its results, if it is known which op it is.
    """

    op: str
    reason: str
    names: tuple[str, ...] = ()


class Answer(NamedTuple):
    """The answer of a target's software.

    Attributes:
        software: The software and its version.
        unavailable: Why it cannot be asked here, and what to do about it; empty if it was.
        takes: Whether it takes the file, if only with a CPU for the refused ops.
        refusals: The ops that it does not take.
        outputs: The outputs of each call in each round, None for a call that it cannot make; or None for all.
        elsewhere: The outputs on its other processors; before them what follows the name of an output there.
        not_run: Why there are none; empty if the file is refused.
        facts: What else it says, as names and texts.
        arena: The bytes of memory that it needs for everything but the file, if it tells.
    """

    software: str = ""
    unavailable: str = ""
    takes: bool = True
    refusals: tuple[Refusal, ...] = ()
    outputs: tuple[tuple[Arrays | None, ...], ...] | None = None
    elsewhere: tuple[tuple[str, tuple[tuple[Arrays | None, ...], ...]], ...] = ()
    not_run: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    arena: int | None = None
