"""What is printed of outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from suites.outcomes import Outcome, Verdict

_LARGER = 1.02
_MESSAGE = 200


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many of each verdict."""
    counts = Counter(each.verdict for each in outcomes)
    total = len(outcomes) - counts[Verdict.NOT_EXPORTED]
    share = f"{counts[Verdict.PASSES]} of {total} pass"
    others = [f"{counts[each]} {each.value}" for each in Verdict if each is not Verdict.PASSES and counts[each]]
    return ", ".join([share, *others])


def lines(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """A line for each case that does not pass."""
    for outcome in outcomes:
        if outcome.verdict is not Verdict.PASSES:
            message = " ".join(outcome.message.split())
            yield f"{outcome.case}: {outcome.verdict.value}: {message[:_MESSAGE]}"


def larger(ours: Mapping[str, Outcome], stock: Mapping[str, Outcome]) -> Iterator[str]:
    """A line for each case whose file is more than 2 % larger than the stock converter's, or has more ops.

    The stock converter's file counts if it gives the right numbers.
    """
    for name, outcome in ours.items():
        other = stock.get(name)
        if other is None or other.verdict is not Verdict.PASSES:
            continue
        if not (outcome.size and other.size and outcome.ops and other.ops):
            continue
        if outcome.size > _LARGER * other.size or outcome.ops > other.ops:
            share = outcome.size / other.size
            yield (
                f"{name}: {outcome.size} bytes and {outcome.ops} ops, "
                f"stock {other.size} and {other.ops} ({share:.3f}, {outcome.ops - other.ops:+})"
            )
