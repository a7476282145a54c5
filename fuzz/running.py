"""What running a model may raise: refusals of litefuse's, and what the runtime raises on its own account."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

import ai_edge_litert

from fuzz.outcome import Kind, Outcome, of_error, shape_of_text

_LITERT = str(Path(ai_edge_litert.__file__).parent)


def judged_run(run: Callable[[], object]) -> Outcome:
    """Runs a model and judges how that ended.

    The stock interpreter raises ``RuntimeError`` and ``ValueError``, whose texts come from the runtime; they are the
    interface of the class that litefuse's is derived from.
    """
    try:
        run()
    except (RuntimeError, ValueError) as error:
        raised = error if error.__cause__ is None else error.__cause__  # it may have been given more to say
        frame = traceback.extract_tb(raised.__traceback__)[-1]
        if (
            type(error) in {RuntimeError, ValueError}
            and type(raised) is type(error)
            and frame.filename.startswith(_LITERT)
        ):
            return Outcome(Kind.REFUSAL, f"runtime: {shape_of_text(str(error))}", str(error))
        return of_error(error)
    except Exception as error:  # noqa: BLE001  whatever it is, it is judged
        return of_error(error)
    return Outcome(Kind.SUCCESS)
