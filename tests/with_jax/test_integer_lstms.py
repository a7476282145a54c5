"""LSTMs that JAX exports, as Flax, Equinox, Haiku and PyTorch write them: one op in integers for NPUs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import litefuse
from litefuse.litert.runtime.scales import dequantized, quantized
from tests.tensorflow.checking import interpreter
from tests.tensorflow.microcontrollers import compiled, run_micro
from tests.tensorflow.test_integer_lstms import INTEGERS, lstm_dtypes
from tests.with_jax.process import Maker


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    maker = Maker("make", tmp_path_factory.mktemp("jax"))
    yield maker
    maker.close()


@pytest.mark.parametrize("kind", ["open", "fixed"])
@pytest.mark.parametrize(
    "name", ["flax_lstm", "lstm_by_gate", "lstm_of_columns", "lstm_of_joint_kernel", "lstm_of_rows"]
)
def test_layer(programs: Maker, tmp_path: Path, name: str, kind: str) -> None:
    path = programs(name, kind)
    arrays = dict(np.load(f"{path}.npz"))
    batch = 1 if kind == "open" else len(arrays["0.x"])
    random = np.random.default_rng(8)
    samples = [{"x": random.standard_normal((batch, 6, 8)).astype(np.float32)} for _ in range(100)]
    result = litefuse.convert(path, target="ethos-u", quantize=litefuse.Quantization("int8", io=True, samples=samples))
    assert lstm_dtypes(result.model_bytes) == {INTEGERS}
    assert result.report.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1

    runner = interpreter(result.model_bytes).get_signature_runner()
    (takes,), (gives,) = runner.get_input_details().values(), runner.get_output_details().values()
    calls = [
        (arrays[f"{call}.x"][row : row + batch], arrays[f"{call}.0"][row : row + batch])
        for call in (0, 1)
        for row in range(0, len(arrays[f"{call}.x"]), batch)
        for _ in range(2)
    ]
    given = [quantized(x, takes) for x, _ in calls]
    found = [next(iter(runner(x=each).values())) for each in given]
    errors = [np.abs(dequantized(ours, gives) - expected) for ours, (_, expected) in zip(found, calls, strict=True)]
    # Eight bits for weights of normal distribution, and outputs of up to 1.
    assert np.max(errors) < 0.08
    assert np.mean(errors) < 0.015
    for ours, theirs in zip(found, run_micro(result.model_bytes, given), strict=True):
        assert np.abs(ours.astype(int) - theirs).max() <= 2

    made = compiled(result.model_bytes, tmp_path)
    assert made.on_cpu == 0
    assert not made.states_read
