"""The process that a target is loaded in, once: its children are forked for some mutants each.

``python -m fuzz.zygote TARGET`` reads requests, one a line as JSON, from its standard input: numbers of mutants, as
``{"first": 0, "step": 2, "count": 50}``, or files, as ``{"files": ["path"]}``. It writes the outcomes to its standard
output, one a line, ``{"item": 0, "kind": ..., "group": ..., "detail": ...}``, and ``{}`` when a request is done.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fuzz.child import Ending, Limits, run_in_child
from fuzz.outcome import Kind, Outcome, of_error
from fuzz.target import Target
from fuzz.targets import target_named

_DETAIL = 8000


def outcomes(target: Target, items: Sequence[int | str]) -> list[dict[str, Any]]:
    """Tries mutants, given by their numbers or files; see :func:`main` for what is said of each."""
    return [*_outcomes(target, items)]


def _outcomes(target: Target, items: Sequence[int | str]) -> Any:
    def content(item: int | str) -> bytes:
        return target.mutant(item) if isinstance(item, int) else Path(item).read_bytes()

    def try_out(item: int | str) -> tuple[str, str, str]:
        try:
            outcome = target.try_out(content(item))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001  whatever it is, it is judged
            outcome = of_error(error)
        return outcome.kind.value, outcome.group, outcome.detail[-_DETAIL:]

    limits = Limits(target.timeout, target.memory, target.slow)
    left = list(items)
    while left:
        batch = left[: target.batch]
        done = 0
        for item, result in run_in_child(iter(batch), try_out, limits, target.is_contained):
            done += 1
            if isinstance(result, Ending):
                outcome = _judged(target, content, item, result)
            else:
                kind, group, detail = result
                outcome = Outcome(Kind(kind), group, detail)
            yield {
                "item": item,
                "kind": outcome.kind.value,
                "group": outcome.group,
                "detail": outcome.detail[-_DETAIL:],
            }
        if not done:  # it ended before the first
            raise SystemExit(f"the child of {target.name} cannot begin")
        left = left[done:]


def _judged(target: Target, content: Any, item: Any, ending: Ending) -> Outcome:
    if item is None:
        return Outcome(Kind.DEATH, "before any mutant", ending.stderr)
    try:
        made = content(item)
    except Exception:  # noqa: BLE001  the fuzzer's own mistake, which must be seen
        made = b""
    return target.judge(made, ending)


def _end(*_: object) -> None:
    sys.exit(0)  # and so out of what watches a child, which may hang


def main(name: str) -> None:
    """Serves requests until the input closes, or it is ended by SIGTERM; no child outlives it."""
    signal.signal(signal.SIGTERM, _end)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    target = target_named(name)
    for line in sys.stdin:
        request = json.loads(line)
        items: Sequence[int | str] = request.get("files") or [
            request["first"] + request["step"] * index for index in range(request["count"])
        ]
        for answer in _outcomes(target, items):
            print(json.dumps(answer), file=answers, flush=True)
        print("{}", file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
