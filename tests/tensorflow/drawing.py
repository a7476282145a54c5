"""Many random cases at once: TensorFlow answers a whole list of them in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hypothesis import HealthCheck, Phase, given, settings

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Case = TypeVar("Case")


def draw(strategy: SearchStrategy[Case], count: int) -> list[Case]:
    """The first ``count`` examples or fewer that hypothesis generates, the same in every run."""
    cases: list[Case] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(strategy)
    def collect(case: Case) -> None:
        cases.append(case)

    collect()
    return cases
