"""Entry point of the process that asks the software of a target: it may crash, and much of it writes to the streams."""

from __future__ import annotations

from collections.abc import Callable

from litefuse.errors import LitefuseError
from litefuse.litert.targets import find_target
from litefuse.litert.targets.question import Answer, Question, Refusal
from litefuse.support.plug_ins.entry_points import take_plug_ins, what_was_raised

__all__ = ["ASK", "ask"]

#: The function to run in that process.
ASK = "litefuse.litert.targets.asking:ask"


def ask(question: Question, announce: Callable[[str], None]) -> Answer:
    """Asks the software.

    Raises:
        LitefuseError: No such target here, or its software does not answer.
    """
    take_plug_ins(question.plug_ins)
    target = find_target(question.target)
    try:
        return target.ask(question, announce)
    except LitefuseError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever the software raises
        refusal = Refusal("", f"its software fails: {what_was_raised(error)}")
        return Answer(target.traits.runtime, takes=False, refusals=(refusal,))
