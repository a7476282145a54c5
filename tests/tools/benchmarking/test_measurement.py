"""The numbers of a measurement."""

from __future__ import annotations

import json

import pytest

from litefuse.tools.benchmarking.measurement import (
    Benchmark,
    Input,
    Latency,
    Measurement,
    Memory,
    OpTime,
    Partition,
    Ratio,
)


def op(index: int, seconds: float | None, partition: int | None = None) -> OpTime:
    return OpTime(0, index, "ADD", f"scope/{index}", "scope", seconds, 1.0, "XNNPACK", partition)


def measurement(*ops: OpTime, partitions: tuple[Partition, ...] = ()) -> Measurement:
    return Measurement(
        "model.tflite",
        "serve",
        (Input("x", "float32", (1, 2)),),
        drawn=True,
        threads=1,
        xnnpack=True,
        load=0.1,
        cold=0.02,
        warm=Latency.of([0.01]),
        memory=Memory(100),
        profiled=0.01,
        ops=ops,
        partitions=partitions,
    )


def test_the_quantiles_are_times_of_calls() -> None:
    latency = Latency.of([each / 100 for each in range(100, 0, -1)])
    assert (latency.count, latency.minimum, latency.maximum) == (100, 0.01, 1.0)
    assert (latency.p50, latency.p90, latency.p95, latency.p99) == (0.505, 0.9, 0.95, 0.99)
    assert latency.mean == pytest.approx(0.505)
    assert latency.std == pytest.approx(0.290115, rel=1e-5)


def test_one_call_has_no_deviation() -> None:
    assert Latency.of([2.0]) == Latency(1, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.0)


def test_a_ratio_is_the_median_of_the_ratios_of_pairs() -> None:
    ratio = Ratio.of([1.0, 2.0, 4.0], [3.0, 4.0, 4.0])  # not that of the medians, which is 4 to 2, too
    assert (ratio.median, ratio.low, ratio.high, ratio.pairs) == (2.0, 1.0, 3.0, 3)
    assert Ratio.of([1.0, 10.0, 1.0], [4.0, 10.0, 2.0]).median == 2.0
    assert (ratio.first.p50, ratio.second.p50) == (2.0, 4.0)


def test_what_is_explained_by_ops_and_by_partitions() -> None:
    ops = ((0, 0), (0, 1))
    split = Partition(0, "XNNPACK", 0, ops, 0.006, 1.0, split=True)
    known = measurement(op(0, 0.003, 0), op(1, 0.002, 0), op(2, 0.004), partitions=(split,))
    assert known.explained_by_op == pytest.approx(0.9)
    assert known.explained == pytest.approx(0.9)
    unknown = measurement(
        op(0, 0.003, 0), op(1, None, 0), op(2, 0.004), partitions=(Partition(0, "XNNPACK", 0, ops, 0.006, 1.0),)
    )
    assert unknown.explained_by_op == pytest.approx(0.7)
    assert unknown.explained == pytest.approx(1.0)


def test_it_is_json() -> None:
    measured = measurement(op(0, None, 0))
    found = json.loads(json.dumps(Benchmark((measured,), {"serve": Ratio.of([1.0], [3.0])}, cpu="Z80").to_json()))
    assert found["cpu"] == "Z80"
    assert found["ratio"] == 3.0
    assert found["ratios"]["serve"]["pairs"] == 1
    (told,) = found["measurements"]
    assert told["seconds"] == 0.01
    assert told["inputs"] == [{"name": "x", "dtype": "float32", "shape": [1, 2]}]
    assert told["ops"][0]["seconds"] is None
    assert told["explained_by_op"] == 0.0
