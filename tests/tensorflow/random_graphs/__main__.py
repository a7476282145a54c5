"""Looks for random graphs that are converted wrongly or not at all, and says what they are made of."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.tensorflow.process import TensorFlow
from tests.tensorflow.random_graphs import models
from tests.tensorflow.random_graphs.failures import failures

_TOGETHER = 20


def main() -> None:
    """Converts each graph by itself, and prints those that fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("start", type=int, help="the first graph's seed")
    parser.add_argument("count", type=int, help="how many graphs")
    parser.add_argument("--gradients", action="store_true", help="not the graphs, but gradients of them")
    arguments = parser.parse_args()
    end, failed = arguments.start + arguments.count, 0
    for start in range(arguments.start, end, _TOGETHER):
        with tempfile.TemporaryDirectory() as folder:
            tensorflow = TensorFlow(Path(folder))
            seeds = range(start, min(start + _TOGETHER, end))
            for seed, problem in failures(tensorflow, seeds, gradients=arguments.gradients):
                failed += 1
                steps = tensorflow.call(models.described, seed, arguments.gradients)
                print(f"{seed}: {problem}\n    {'; '.join(steps)}", flush=True)
            tensorflow.close()
    print(f"{failed} of {arguments.count} failed")


if __name__ == "__main__":
    main()
