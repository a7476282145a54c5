"""Einstein sums of two tensors in any order of dimensions, whatever is summed and whatever each has of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

import litefuse
from tests.tensorflow.checking import difference, run_calls
from tests.tensorflow.process import TensorFlow

_SIZES = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 6}
_COUNT = 120


class Sum:
    """One sum: the labels of its operands and of its result, and which of them have an open size.

    The second operand is a constant where all its sizes are known and ``random`` says so.
    """

    def __init__(self, random: np.random.Generator) -> None:
        self.labels = ["".join(random.permutation(list(_SIZES))[: random.integers(1, 5)]) for _ in range(2)]
        every = sorted(set("".join(self.labels)))
        self.result = "".join(random.permutation(every)[: random.integers(0, len(every) + 1)])
        self.open = {label for label in every if random.random() < 0.4}
        constant = random.random() < 0.3 and not self.open & set(self.labels[1])
        self.constant = random.normal(size=self.sizes(1)).astype(np.float32) if constant else None

    @property
    def equation(self) -> str:
        return f"{','.join(self.labels)}->{self.result}"

    def sizes(self, operand: int, more: int = 0) -> list[int]:
        return [_SIZES[label] + more * (label in self.open) for label in self.labels[operand]]

    def specification(self, operand: int) -> list[int | None]:
        return [None if label in self.open else _SIZES[label] for label in self.labels[operand]]

    def inputs(self, random: np.random.Generator, more: int) -> dict[str, Any]:
        operands = [0] if self.constant is not None else [0, 1]
        return {f"x{each}": random.normal(size=self.sizes(each, more)).astype(np.float32) for each in operands}


def sums() -> dict[str, Sum]:
    """One signature each."""
    random = np.random.default_rng(1)
    return {f"sum_{number}": Sum(random) for number in range(_COUNT)}


def _serving(tf: Any, each: Sum) -> Any:
    def serve(x0: Any, x1: Any = None) -> Any:
        return {"y": tf.einsum(each.equation, x0, each.constant if x1 is None else x1)}

    specs = {
        f"x{operand}": tf.TensorSpec(each.specification(operand), tf.float32, name=f"x{operand}")
        for operand in ((0,) if each.constant is not None else (0, 1))
    }
    return tf.function(serve, autograph=False).get_concrete_function(**specs)


def module(tf: Any) -> Any:
    made = tf.Module()
    made.functions = {key: _serving(tf, each) for key, each in sums().items()}
    return made, dict(made.functions)


def test_sums_of_products(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(module)
    random = np.random.default_rng(2)
    calls = [(key, each.inputs(random, more)) for key, each in sums().items() for more in (0, 1, 1)]
    expected = tensorflow.run_calls(path, calls)
    actual = run_calls(litefuse.convert(path).model_bytes, calls)
    wrong = [
        f"{sums()[key].equation}, open: {sorted(sums()[key].open)}: {problem}"
        for (key, _), ours, theirs in zip(calls, actual, expected, strict=True)
        if (problem := difference(ours["y"], theirs["y"], rtol=1e-5))
    ]
    assert not wrong, "\n".join(wrong)
