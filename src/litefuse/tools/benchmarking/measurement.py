"""The result of a benchmark."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litefuse.support.report.json_form import json_form
from litefuse.support.report.shown import Shown


@dataclass(frozen=True)
class Input:
    """An input of the calls.

    Attributes:
        name: Its name in the signature.
        dtype: Its dtype in the file; ``string`` for strings.
        shape: Its shape in the calls, without dynamic dimensions.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Latency:
    """How long calls took, in seconds.

    Attributes:
        count: The number of calls.
        mean: The mean.
        minimum: The shortest.
        p50: The median.
        p90: The time that nine of ten calls did not exceed; None if a tool does not tell it.
        p95: The same for 95 of 100 calls.
        p99: The same for 99 of 100 calls.
        maximum: The longest.
        std: The standard deviation; 0 for one call.
    """

    count: int
    mean: float
    minimum: float
    p50: float
    p90: float | None
    p95: float | None
    p99: float | None
    maximum: float
    std: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Latency:
        """Summarizes the times of at least one call."""
        ordered = sorted(seconds)
        return cls(
            len(ordered),
            statistics.fmean(ordered),
            ordered[0],
            statistics.median(ordered),
            quantile(ordered, 0.9),
            quantile(ordered, 0.95),
            quantile(ordered, 0.99),
            ordered[-1],
            statistics.stdev(ordered) if len(ordered) > 1 else 0.0,
        )


def quantile(ordered: Sequence[float], share: float) -> float:
    """Returns the smallest number that a share of the ordered numbers does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(frozen=True)
class Memory:
    """The memory of the process that called the model, in bytes.

    Attributes:
        file: The size of the model, which the runtime maps if it is a file.
        peak: By how much the peak of the resident memory grew while the model was loaded and called. Pages of the
            mapped file that were read count; None if the system does not say.
        private: By how much the memory that is not of files grew meanwhile: weights that were packed, tensors between
            ops, outputs. None if the system does not say; Linux does.
        arena: What the runtime planned for the tensors between ops. None if it could not be seen.
    """

    file: int
    peak: int | None = None
    private: int | None = None
    arena: int | None = None


@dataclass(frozen=True)
class OpTime:
    """The time of one op of the file, in a call of the signature.

    Attributes:
        subgraph: The index of its subgraph in the file.
        op: Its index in that subgraph.
        kind: Its name in LiteRT's schema, such as ``CONV_2D``, or that of a custom op or composite.
        name: The name of its first output; empty without outputs.
        layer: The layer that it is from, as far as the name tells; may be empty.
        seconds: Its mean time in a call, all its runs together, without the ops of the subgraphs that it calls. None
            if only the time of its partition is known.
        runs: How often it ran in a call, on average: more than once in the body of a loop, and perhaps never in a
            branch.
        kernel: What ran it: ``LiteRT``, ``XNNPACK``, ``litefuse`` (native kernels), ``Python``, the name of another
            delegate, or ``none`` if it did not run.
        partition: The index of its partition; None if it is in none.
        operators: The operators that XNNPACK has made of it. Empty if another kernel ran it, if XNNPACK has fused it
            into the op beside it, or if that is not known.
    """

    subgraph: int
    op: int
    kind: str
    name: str
    layer: str
    seconds: float | None
    runs: float
    kernel: str
    partition: int | None = None
    operators: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operator:
    """An operator of XNNPACK in a partition, in the order in which they run.

    Attributes:
        name: Its name in XNNPACK.
        seconds: Its mean time in a call of the model.
        ops: The positions of the ops that it computes, in the partition's ``ops``; empty if that is not certain.
    """

    name: str
    seconds: float
    ops: tuple[int, ...] = ()


@dataclass(frozen=True)
class Partition:
    """A part of a subgraph that a delegate runs as a whole.

    Attributes:
        index: Its index among those of the model, in the order of the subgraphs and of the nodes in them.
        delegate: The delegate: ``XNNPACK`` or another name.
        subgraph: The index of its subgraph in the file.
        ops: The ops that it stands for: the indices of their subgraph and of the op.
        seconds: Its mean time in a call of the model, all its runs together.
        runs: How often it ran in a call, on average.
        operators: What XNNPACK runs there.
        split: Whether the times of its ops are known.
        reason: Why not; may be empty.
    """

    index: int
    delegate: str
    subgraph: int
    ops: tuple[tuple[int, int], ...]
    seconds: float
    runs: float
    operators: tuple[Operator, ...] = ()
    split: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Measurement:
    """Measurement of one signature of a model.

    Attributes:
        model: The model.
        signature: The key of the signature; None for a model without signatures.
        inputs: The inputs of the calls.
        drawn: Whether the inputs were drawn from the model rather than given.
        threads: How many threads the runtime used.
        xnnpack: Whether LiteRT was allowed to use XNNPACK.
        load: The seconds for loading it: opening the file, preparing the kernels, planning memory.
        cold: The seconds of the first call.
        warm: The later calls.
        memory: Memory.
        profiled: The mean seconds of the calls in which the ops were timed; None if none was.
        ops: The ops that ran or could have run: those of the subgraphs that the signature reaches.
        partitions: The parts that delegates run.
        notes: What a reader has to know about the numbers.
    """

    model: str
    signature: str | None
    inputs: tuple[Input, ...]
    drawn: bool
    threads: int
    xnnpack: bool
    load: float
    cold: float
    warm: Latency
    memory: Memory
    profiled: float | None = None
    ops: tuple[OpTime, ...] = ()
    partitions: tuple[Partition, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """The time of a call: the median of the warm ones."""
        return self.warm.p50

    @property
    def explained(self) -> float | None:
        """The share of a call that the times of ops, and of partitions that are not split, add up to; None without."""
        if not self.profiled:
            return None
        whole = {partition.index: partition.seconds for partition in self.partitions if not partition.split}
        ops = sum(op.seconds for op in self.ops if op.seconds is not None and op.partition not in whole)
        return (ops + sum(whole.values())) / self.profiled

    @property
    def explained_by_op(self) -> float | None:
        """The share of a call that the times of single ops add up to; None if no op was timed."""
        if not self.profiled:
            return None
        return sum(op.seconds for op in self.ops if op.seconds is not None) / self.profiled

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``."""
        return {
            **json_form(self),
            "seconds": self.seconds,
            "explained": self.explained,
            "explained_by_op": self.explained_by_op,
        }


@dataclass(frozen=True)
class Ratio:
    """How two models compare, by calls in turn in one process.

    Attributes:
        median: The median of the second model's time divided by the first one's: above 1 if the first is faster.
        low: The ratio that a tenth of the pairs of calls does not exceed.
        high: The ratio that nine tenths of the pairs do not exceed.
        pairs: The number of pairs of calls.
        first: The calls of the first model.
        second: The calls of the second model.
    """

    median: float
    low: float
    high: float
    pairs: int
    first: Latency
    second: Latency

    @classmethod
    def of(cls, first: Sequence[float], second: Sequence[float]) -> Ratio:
        """Summarizes the times of calls in turn, at least one of each."""
        ratios = sorted(other / max(one, 1e-9) for one, other in zip(first, second, strict=True))
        return cls(
            statistics.median(ratios),
            quantile(ratios, 0.1),
            quantile(ratios, 0.9),
            len(ratios),
            Latency.of(first),
            Latency.of(second),
        )


@dataclass(frozen=True)
class Benchmark(Shown):
    """The result of a benchmark.

    Attributes:
        measurements: What was measured, one for each signature of the model, then those of the other model.
        ratios: How the two models compare, by the keys of the signatures that were called in turn; empty for one model.
        device: Where the models ran: empty for this machine, else a device.
        cpu: The processor.
        cores: How many cores this process may use.
        versions: The versions of LiteRT and litefuse, and of the system.
    """

    measurements: tuple[Measurement, ...]
    ratios: Mapping[str, Ratio] = field(default_factory=dict[str, Ratio])
    device: str = ""
    cpu: str = ""
    cores: int = 0
    versions: Mapping[str, str] = field(default_factory=dict[str, str])

    _sections_by = "litefuse.tools.benchmarking.benchmark_sections:benchmark_sections"

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the other model the model is, in its first signature; None without another one."""
        return next((ratio.median for ratio in self.ratios.values()), None)

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``."""
        return {
            "measurements": [measurement.to_json() for measurement in self.measurements],
            "ratios": {key: json_form(ratio) for key, ratio in self.ratios.items()},
            "ratio": self.ratio,
            "device": self.device,
            "cpu": self.cpu,
            "cores": self.cores,
            "versions": dict(self.versions),
        }
