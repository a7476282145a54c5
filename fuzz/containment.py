"""Whose fault it is that a model ended the process that ran it: litefuse's, or LiteRT's own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import ai_edge_litert

from fuzz.child import Ending, Limits, Stop, run_in_child
from fuzz.outcome import Kind, Outcome

_LITERT = str(Path(ai_edge_litert.__file__).parent)
# The stock interpreter is to do what the first run did, not to wait for it as long.
_AGAIN = Limits(timeout=12.0, memory=2 << 30, slow=12.0)


def is_in_litert(ending: Ending) -> bool:
    """Whether the innermost frame that is known is LiteRT's."""
    native, _ = ending.native_frame
    if native:
        return native.startswith(_LITERT)
    return ending.python_frame[0].startswith(_LITERT)


def judge_run(ending: Ending, *others: Callable[[], None]) -> Outcome:
    """What it is that a model ended the child that ran it.

    A report of a sanitizer says in whose code it was. Without one, the Python frame does, but for kernels in C++: so
    the model is run again by the stock interpreter, without anything of litefuse, or with the kernels in Python, and
    must end one of these as well.

    Args:
        ending: How it ended.
        others: Run the model without kernels in C++.
    """
    kind = {Stop.DEATH: Kind.DEATH, Stop.TIME: Kind.HANG, Stop.MEMORY: Kind.MEMORY}[ending.stop]
    found = Outcome(kind, f"{ending.how} at {ending.place}", ending.stderr)
    if not is_in_litert(ending):
        return found
    if not ending.native_frame[0] and not any(map(_ends, others)):
        return replace(found, group=f"{found.group}, not without the kernels in C++")
    return Outcome(Kind.LITERT_DEATH, f"{ending.stop.value}: {ending.how} at {ending.place}", ending.stderr)


def _ends(run: Callable[[], None]) -> bool:
    """Whether a run ends its process in LiteRT's code."""

    def refused(_: object) -> None:
        with contextlib.suppress(Exception):  # it did not die
            run()

    endings = [result for _, result in run_in_child(iter([0]), refused, _AGAIN) if isinstance(result, Ending)]
    return any(map(is_in_litert, endings))
