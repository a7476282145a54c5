"""Where the ops are that a target refuses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from litefuse.conversion.verify.targets.target_check import RefusedOps
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.targets import Hint
from litefuse.litert.targets.question import Refusal

__all__ = ["located"]


def located(
    model: Model, refusals: Iterable[Refusal], by_table: Sequence[Refusal], hints: Sequence[Hint]
) -> tuple[RefusedOps, ...]:
    """Returns refused ops with their places; ops of one name and reason together.

    A refusal with the names of results is looked up. One without is about the ops of its name that the table refuses as
    well, or else about some of those with its name.

    Args:
        model: The model.
        refusals: The refusals of the target's software.
        by_table: Those of its table.
        hints: What helps.
    """
    made = {
        graph.tensor(index).name: op.name
        for graph in model.graphs
        for op in graph.ops
        for index in op.outputs
        if index >= 0
    }
    refusals = list(refusals)
    reasons = Counter(op for op, _ in {(refusal.op, refusal.reason) for refusal in refusals if not refusal.names})
    found: dict[tuple[str, str], list[str]] = {}
    inexact: set[tuple[str, str]] = set()
    seen: set[str] = set()
    for each in refusals:
        if each.names:
            name = next((given for given in map(_without_suffix, each.names, [made] * len(each.names)) if given), "")
            if name in seen and name:
                continue  # Vela has several operators for one of the file
            seen.add(name)
            found.setdefault((made.get(name, each.op), each.reason), []).append(name or each.names[0])
            continue
        key = each.op, each.reason
        places = [refusal.names[0] for refusal in by_table if refusal.op == each.op and refusal.names]
        if places and reasons[each.op] > 1 and each.op:
            inexact.add(key)  # the table does not say which of them for which reason
        if not places and each.op:
            every = [(op, graph) for graph in model.graphs for op in graph.ops if op.name == each.op]
            places = [graph.tensor(op.outputs[0]).name for op, graph in every if op.outputs and op.outputs[0] >= 0]
            if len(places) > 1 and each.reason != "no such op":
                inexact.add(key)
        found.setdefault(key, []).extend(places)
    return tuple(
        RefusedOps(op, reason, max(len(names), 1), tuple(names), (op, reason) not in inexact, _hint(op, reason, hints))
        for (op, reason), names in found.items()
    )


def _without_suffix(name: str, made: dict[str, str]) -> str:
    """Returns the name of the result in the file; Vela makes some ops two, the first with a name of its own."""
    return (
        name
        if name in made
        else next((name.removesuffix(end) for end in ("_act",) if name.removesuffix(end) in made), "")
    )


def _hint(op: str, reason: str, hints: Sequence[Hint]) -> str:
    fits = (hint for hint in hints if not hint.op or re.fullmatch(hint.op, op))
    return next((fit.text for fit in fits if re.search(fit.reason, reason)), "")
