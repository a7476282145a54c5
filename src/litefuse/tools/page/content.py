"""The content of a page."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from litefuse.support.report import Report
from litefuse.support.report.sections import Section
from litefuse.tools.page.converted import Converted, Place
from litefuse.tools.page.graph import Model

if TYPE_CHECKING:
    from litefuse.conversion.verify.targets.target_check import TargetCheck
    from litefuse.conversion.verify.verification import Verification
    from litefuse.tools.benchmarking.measurement import Benchmark, Measurement


@dataclass(frozen=True)
class Measure:
    """A number that some ops of the file have.

    Attributes:
        name: Its name.
        unit: ``s``, ``bytes``, or empty for a number that is not summed up.
        values: The numbers, by the nodes.
        only: The nodes whose numbers are bad, where others are good whatever they are; None if the largest are worst.
    """

    name: str
    unit: str
    values: Mapping[Place, float]
    only: frozenset[Place] | None = None


@dataclass(frozen=True)
class Kind:
    """A class that some ops of the file are in.

    Attributes:
        name: What the classes are.
        classes: Their titles.
        values: The indices of the classes, by the nodes.
    """

    name: str
    classes: tuple[str, ...]
    values: Mapping[Place, int]


@dataclass(frozen=True)
class Content:
    """The content of a page.

    Attributes:
        converted: The LiteRT file.
        sha256: Its hash, in hexadecimal.
        original: The graphs of the TensorFlow model; None if that is not known.
        original_name: The name of that model; may be empty.
        links: The nodes of the original that each node of the file computes.
        report: The report of the conversion.
        verification: The comparison with the original.
        check: The check for targets.
        benchmark: The measurement of the file, first, and perhaps of another.
        options: The options that the user gave, as names and texts.
        versions: The versions of litefuse and of what it ran, as names and texts.
        notes: What could not be found out, and why.
        bundle: Of the model of a bundle, tables of what else is in that.
    """

    converted: Converted
    sha256: str
    original: Model | None = None
    original_name: str = ""
    links: Mapping[Place, tuple[Place, ...]] = field(default_factory=dict[Place, tuple[Place, ...]])
    report: Report | None = None
    verification: Verification | None = None
    check: TargetCheck | None = None
    benchmark: Benchmark | None = None
    options: tuple[tuple[str, str], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    bundle: tuple[Section, ...] = ()

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """The measurements of the file itself, one for each signature."""
        if self.benchmark is None:
            return ()
        measurements = self.benchmark.measurements
        return tuple(measurement for measurement in measurements if measurement.model == measurements[0].model)

    @functools.cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The numbers of ops: times, bytes, errors."""
        ops = self.converted.ops
        seconds: dict[Place, float] = {}
        for measurement in self.measurements:
            for op in measurement.ops:
                place = ops.get((op.subgraph, op.op))
                if place is not None and op.seconds is not None:
                    seconds[place] = max(seconds.get(place, 0.0), op.seconds)
        sizes = {place: float(size) for place, size in self.converted.constant_bytes.items()}
        errors = Measure("error", "", self._errors(), self._faults())
        measures = (Measure("time", "s", seconds), Measure("bytes", "bytes", sizes), errors)
        return tuple(measure for measure in measures if measure.values)

    def _errors(self) -> dict[Place, float]:
        """Returns the errors of ops, those of the signature whose call the layers were looked at in."""
        layers = self.verification.layers if self.verification is not None else None
        if layers is None:
            return {}
        graphs = {entry.signature: int(entry.graph) for entry in self.converted.model.entries}
        errors: dict[Place, float] = {}
        for layer in layers.compared:
            for place in self.converted.results.get(layer.tensor, ()):
                if layer.error is not None and place[0] == graphs.get(layers.signature, place[0]):
                    errors[place] = max(errors.get(place, 0.0), layer.error)
        return errors

    def _faults(self) -> frozenset[Place] | None:
        """Returns the ops of a quantized model that differ by more than quantization explains."""
        layers = self.verification.layers if self.verification is not None else None
        if layers is None or not layers.judged:
            return None
        faulty = [layer.tensor for layer in layers.layers if layer.fault]
        return frozenset(place for name in faulty for place in self.converted.results.get(name, ()))

    @functools.cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The classes of ops: what runs them, and why targets refuse them."""
        kinds = [_kernels(self), *_refused(self)]
        return tuple(kind for kind in kinds if kind.values)


def _kernels(content: Content) -> Kind:
    partitions: dict[Place, tuple[int, str]] = {}  # the partition, -1 for none, and the title
    for measurement in content.measurements:
        for op in measurement.ops:
            place = content.converted.ops.get((op.subgraph, op.op))
            if place is None:
                continue
            title = op.kernel if op.partition is None else f"{op.kernel}, partition {op.partition}"
            partitions[place] = -1 if op.partition is None else op.partition, title
    classes = sorted({*partitions.values()})
    values = {place: classes.index(partition) for place, partition in partitions.items()}
    return Kind("runs in", tuple(title for _, title in classes), values)


def _refused(content: Content) -> list[Kind]:
    kinds: list[Kind] = []
    for report in content.check.reports if content.check is not None else ():
        classes: dict[str, int] = {}
        values: dict[Place, int] = {}
        for refused in report.refused:
            for name in refused.places:
                for place in content.converted.results.get(name, ()):
                    values[place] = classes.setdefault(refused.reason, len(classes))
        kinds.append(Kind(f"refused by {report.target}", tuple(classes), values))
    return kinds
