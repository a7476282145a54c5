"""Models made by hand that are quantized."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.dataset import Samples, samples_in
from litefuse.support.options.quantization import RepresentativeDataset
from tests.litert.runtime.models import Graph, model

_Array = npt.NDArray[Any]


def take_samples(dataset: RepresentativeDataset) -> Samples:
    """Reads all samples of a dataset into memory; an archive stays a path."""
    if isinstance(dataset, str | os.PathLike):
        return Path(os.fspath(cast("str", dataset)))
    return tuple(samples_in(dataset))


def saved(path: Path, *graphs: Graph, signatures: Mapping[str, int] | None = None) -> Path:
    """Writes a model; its first graph is the signature ``serve``, unless others are named."""
    path.write_bytes(model(*graphs, signatures=signatures or {"serve": 0}))
    return path


def scaled(factor: float, *, rows: int = 4, open_rows: bool = False) -> Graph:
    """``y = x * factor``, of ``[rows, 3]``."""
    graph = Graph()
    signature = [-1, 3] if open_rows else None
    x = graph.input("x", [rows, 3], signature=signature)
    by = graph.tensor("factor", [], value=factor)
    y = graph.output("y", [rows, 3], signature=signature)
    graph.builtin("MUL", [x, by], [y])
    return graph


def dense(weights: _Array, *, input_name: str = "x") -> Graph:
    """``y = x * weights.T``, of one row."""
    units, width = weights.shape
    graph = Graph()
    x = graph.input(input_name, [1, width])
    w = graph.tensor("weights", [units, width], value=weights)
    y = graph.output("y", [1, units])
    graph.builtin("FULLY_CONNECTED", [x, w, -1], [y])
    return graph


def masked_scores(mask: Sequence[float], *, squeezed: bool = False) -> Graph:
    """The softmax of scores ``[1, n]`` twice as large, to which a constant mask is added; squeezed: of rank 3."""
    count = len(mask)
    graph = Graph()
    x = graph.input("x", [1, count])
    two = graph.tensor("two", [], value=2.0)
    added = graph.tensor("mask", [1, count], value=np.array([mask]))
    scores, masked = graph.tensor("scores", [1, count]), graph.tensor("masked", [1, count])
    y = graph.output("y", [1, count])
    graph.builtin("MUL", [x, two], [scores])
    if squeezed:
        whole = graph.tensor("whole", [1, 1, count])
        graph.builtin("ADD", [scores, graph.tensor("wide mask", [1, 1, count], value=[[mask]])], [whole])
        graph.builtin("SQUEEZE", [whole], [masked], squeezeDims=[0])
    else:
        graph.builtin("ADD", [scores, added], [masked])
    graph.builtin("SOFTMAX", [masked], [y], beta=1.0)
    return graph
