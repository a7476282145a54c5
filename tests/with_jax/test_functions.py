"""Exported functions of JAX, without TensorFlow: with an open and with a fixed batch, in builtin ops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.with_jax.process import Maker, check

# The names are in a module that imports JAX.
_SOURCE = Path(__file__).with_name("functions.py").read_text(encoding="utf-8")
_NAMES = re.findall(r'^    "(\w+)": (?:lambda|_|jax)', _SOURCE, re.MULTILINE)
_FIXED_ONLY = re.findall(r'"(\w+)"', "".join(re.findall(r"^FIXED_ONLY = .*", _SOURCE, re.MULTILINE)))
_CASES = [(name, kind) for name in _NAMES for kind in ("open", "fixed") if kind == "fixed" or name not in _FIXED_ONLY]
# Halves of float32 digits: these sum, or continue from, many rounded numbers; rounding grows with the condition of
# matrices.
_TOLERANCES = dict.fromkeys(
    ["exponential", "gamma", "least_squares", "normal", "singular_vectors", "triangular", "while"], 1e-4
)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    maker = Maker("make", tmp_path_factory.mktemp("jax"))
    yield maker
    maker.close()


@pytest.mark.parametrize(("name", "kind"), _CASES)
def test_function(programs: Maker, name: str, kind: str) -> None:
    path = programs(name, kind)
    result = check(path, Path(f"{path}.npz"), rtol=_TOLERANCES.get(name, 1e-5))
    assert not result.report.custom_ops
    few = [op for op in result.report.op_counts if op.startswith("STABLEHLO")]
    assert not few or name == "volume_transforms", "few runtimes have these; FFT2D is a composite"


@pytest.mark.parametrize(
    ("name", "ops"),
    [
        ("dense", {"FULLY_CONNECTED": 2, "SOFTMAX": 1}),
        ("average_pool", {"AVERAGE_POOL_2D": 1}),
        ("average_pool_of_what_is_inside", {"AVERAGE_POOL_2D": 1}),
        ("convolution", {"CONV_2D": 1}),
        ("gelu", {"FULLY_CONNECTED": 1, "GELU": 1}),
        ("norm", {"L2_NORMALIZATION": 1}),
        ("swish", {"FULLY_CONNECTED": 1, "LOGISTIC": 1, "MUL": 1}),
    ],
)
def test_an_open_batch_costs_no_ops(programs: Maker, name: str, ops: dict[str, int]) -> None:
    import litefuse

    if name == "dense":
        ops = {"FULLY_CONNECTED": 1, "SOFTMAX": 1}
    assert dict(litefuse.convert(programs(name, "open")).report.op_counts) == ops


def test_a_scan_is_a_recurrent_layer(programs: Maker) -> None:
    import litefuse

    report = litefuse.convert(programs("scan", "open"), rnn="fused").report
    assert [(each.name, each.outcome) for each in report.composites] == [("rnn_loop", "fused")]


def test_an_lstm_of_flax_is_fused(programs: Maker) -> None:
    """What a step makes of weights alone is done before the loop."""
    import litefuse

    counts = litefuse.convert(programs("flax_lstm", "open"), rnn="fused").report.op_counts
    assert counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1
    assert counts["CONCATENATION"] == 1  # of sizes: the states' shape


@pytest.mark.parametrize("gates", ["by_gate", "of_columns", "of_joint_kernel", "of_rows", "without_training"])
def test_lstms_of_other_libraries_are_fused(programs: Maker, gates: str) -> None:
    import litefuse

    path = programs(f"lstm_{gates}", "open")
    result = check(path, Path(f"{path}.npz"), rnn="fused")
    assert result.report.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1
    assert litefuse.convert(path).report.loops == ()
    # The program's own sizes stay open where the shapes of inputs are set.
    of_three = check(path, Path(f"{programs(f'lstm_{gates}', 'fixed')}.npz"), rnn="fused", batch=3)
    assert of_three.report.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1


def test_a_composite_of_jax_is_a_composite(programs: Maker) -> None:
    """``jax.lax.composite`` is an annotation like ``experimental_implements``."""
    import litefuse

    path = programs("composite", "fixed")
    (composite,) = litefuse.convert(path).report.composites
    assert (composite.name, composite.outcome) == ("test.scaled_swish", "inlined")
    kept = check(path, Path(f"{path}.npz"), composites="keep")
    assert "STABLEHLO_COMPOSITE" in kept.report.op_counts
