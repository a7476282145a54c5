"""Random graphs are converted, and give TensorFlow's numbers.

These are some; ``python -m tests.tensorflow.random_graphs`` looks for others that fail.
"""

from __future__ import annotations

import pytest

from tests.tensorflow.process import TensorFlow
from tests.tensorflow.random_graphs.failures import failures

_TOGETHER = 15
_COUNT = 90


@pytest.mark.parametrize("start", range(0, _COUNT, _TOGETHER))
def test_random_graphs(tensorflow: TensorFlow, start: int) -> None:
    wrong = [f"{seed}: {problem}" for seed, problem in failures(tensorflow, range(start, start + _TOGETHER))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("start", range(0, 45, _TOGETHER))
def test_gradients_of_random_graphs(tensorflow: TensorFlow, start: int) -> None:
    seeds = range(start, start + _TOGETHER)
    wrong = [f"{seed}: {problem}" for seed, problem in failures(tensorflow, seeds, gradients=True)]
    assert not wrong, "\n".join(wrong)
