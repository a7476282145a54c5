"""Runs ops at the edge in TensorFlow and, converted, in LiteRT with XNNPACK and without."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

import litefuse
from tests.tensorflow.edges.cases import Family, module, text

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

Array: TypeAlias = npt.NDArray[Any]

# Errors of rounding are no difference, nor is a result that is flushed to zero, or is none, below the smallest numbers:
# relative and absolute ones by the dtype.
_LARGEST = {"float32": (1e-4, 1e-37), "float16": (2e-3, 1e-6)}


@dataclass(frozen=True)
class Row:
    """Results of an op for some inputs, of which not all are equal.

    Attributes:
        op: The op.
        inputs: What it is given; nothing if the op is a case of its own.
        tensorflow: What TensorFlow computes.
        xnnpack: What LiteRT computes by default, with XNNPACK.
        plain: What LiteRT's own kernels compute.
    """

    op: str
    inputs: tuple[str, ...]
    tensorflow: str
    xnnpack: str
    plain: str


def measured(tensorflow: TensorFlow, family: Family, ops: Sequence[str] | None = None) -> dict[str, tuple[Array, ...]]:
    """Returns the results of ops of a family: of TensorFlow, of LiteRT with XNNPACK, and without.

    Args:
        tensorflow: The process that runs the original.
        family: The family.
        ops: Some of its ops; None for all.
    """
    names = [*family.ops] if ops is None else ops
    path = tensorflow.save(module, family.name, names)
    inputs = {f"x{number}": value for number, value in enumerate(family.inputs)}
    model = litefuse.convert(path).model_bytes
    litert: Any = importlib.import_module("ai_edge_litert.interpreter")
    sides: list[Mapping[str, Array]] = [tensorflow.run(path, inputs, calls=1)[0]]
    for resolver in ("BUILTIN", "BUILTIN_WITHOUT_DEFAULT_DELEGATES"):
        kind = litert.OpResolverType[resolver]
        engine = litert.Interpreter(model_content=model, experimental_op_resolver_type=kind, num_threads=1)
        sides.append({name: value.copy() for name, value in engine.get_signature_runner()(**inputs).items()})
    return {op: tuple(side[f"y{number:03}"] for side in sides) for number, op in enumerate(names)}


def is_same(first: Array, second: Array) -> npt.NDArray[np.bool_]:
    """Which results are the same: both NaN, or equal but for rounding. Zeros count with their signs.

    Args:
        first: Results.
        second: Others, of the same shape and dtype.
    """
    if first.dtype.kind != "f":
        return np.asarray(first == second)
    relative, absolute = _LARGEST[first.dtype.name]
    with np.errstate(invalid="ignore", over="ignore"):
        a, b = first.astype(np.float64), second.astype(np.float64)
        near = np.abs(a - b) <= np.maximum(relative * np.maximum(np.abs(a), np.abs(b)), absolute)
    zero = (a == 0) & (b == 0)
    finite = np.isfinite(a) & np.isfinite(b)
    return (
        (np.isnan(a) & np.isnan(b)) | (a == b) & ~zero | near & finite & ~zero | zero & (np.signbit(a) == np.signbit(b))
    )


def differences(family: Family, results: Mapping[str, tuple[Array, ...]]) -> list[Row]:
    """Returns the results that are not the same everywhere; those that are alike in one row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for op, (first, *others) in results.items():
        shaped = [side.reshape(len(family.labels), -1) for side in (first, *others)]
        same = is_same(shaped[0], shaped[1]) & is_same(shaped[0], shaped[2])
        for case in np.flatnonzero(~same.all(axis=1)):
            place = int(np.flatnonzero(~same[case])[0])
            other = _beside_nan([float(x[case]) for x in family.inputs]) if len(family.inputs) > 1 else None
            key = (op, *(_told(side[case, place], other) for side in shaped))
            rows.setdefault(key, []).append(family.labels[int(case)])
    return [Row(key[0], tuple(inputs), *key[1:]) for key, inputs in rows.items()]


def _beside_nan(operands: Sequence[float]) -> float | None:
    """The operand beside a NaN, which stands for itself in the table."""
    others = [operand for operand in operands if not np.isnan(operand)]
    return others[0] if len(others) == 1 else None


def _told(value: Any, other: float | None) -> str:
    if other is not None and value == other:
        return "the other"
    return text(value) if value.dtype.kind == "f" else str(value).lower()
