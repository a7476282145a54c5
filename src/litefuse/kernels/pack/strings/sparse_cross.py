"""``SparseCross``: all combinations of the features of a row, as hash buckets or as strings."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.farmhash import fingerprint64
from litefuse.kernels.pack.strings.strings import string_array
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["SparseCross"]

_MASK = (1 << 64) - 1
_FACTOR = 0xC6A4A7935BD1E995
_LARGEST = (1 << 63) - 1
_BETWEEN = b"_X_"

_Rows = Mapping[int, list[Any]]


@pack_kernel("SparseCross")
class SparseCross(CustomOp):
    """TensorFlow's op of the same name (``tf.sparse.cross_hashed``, Keras's ``HashedCrossing``).

    Inputs: the indices of ``N`` sparse columns, then their values, then their shapes; then dense columns: all are
    matrices of strings or int64, with the same number of rows.

    Outputs: the combinations of each row, of one feature of each column, where the last column varies fastest, as a
    sparse matrix: int64 indices ``[n, 2]``, values, int64 shape ``[2]``.

    Options: ``N``; ``hashed_output``: whether the values are indices of ``num_buckets`` buckets (0: no limit), computed
    from the features' hashes and ``hash_key``, or else strings.

    Source: the definition of the op in TensorFlow (``sparse_ops.cc``, ``sparse_cross_op.cc``).
    """

    dtypes = ("string", "int64")

    def prepare(self, *inputs: TensorSpec, N: int, hashed_output: bool) -> list[TensorSpec]:  # noqa: N803
        """Checks the inputs; the number of combinations is known only at run time.

        Raises:
            KernelError: An input has a wrong dtype or shape, or no columns are given.
        """
        values = [*inputs[N : 2 * N], *inputs[3 * N :]]
        if not values:
            raise KernelError("there must be a column")
        for value in values:
            if value.dtype not in (STRING, np.dtype(np.int64)):
                raise KernelError(f"columns must be of strings or int64, not {value.dtype}")
        for dense in inputs[3 * N :]:
            if dense.shape is None or len(dense.shape) != 2:
                raise KernelError(f"dense columns must be matrices, not of shape {dense.shape}")
        kind = np.int64 if hashed_output else STRING
        return [TensorSpec(None, np.int64), TensorSpec(None, kind), TensorSpec([2], np.int64)]

    def invoke(
        self,
        inputs: tuple[npt.NDArray[Any], ...],
        outputs: Outputs,
        *,
        N: int,  # noqa: N803
        hashed_output: bool,
        num_buckets: int = 0,
        hash_key: int = 0,
    ) -> None:
        """Combines the features row by row.

        Raises:
            KernelError: The columns differ in their number of rows, or a feature's row is out of range.
        """
        sparse = zip(inputs[:N], inputs[N : 2 * N], inputs[2 * N : 3 * N], strict=True)
        counts = [*(int(shape[0]) for shape in inputs[2 * N : 3 * N]), *(len(dense) for dense in inputs[3 * N :])]
        if len(set(counts)) > 1:
            raise KernelError(f"columns must have as many rows, not {', '.join(map(str, counts))}")
        columns: list[_Rows] = [_sparse_rows(*each) for each in sparse]
        for dense in inputs[3 * N :]:
            rows: list[list[Any]] = dense.tolist()
            columns.append(dict(enumerate(rows)))
        # A row that lacks a feature in some column has no combinations.
        present: list[int] = sorted(set(columns[0]).intersection(*columns[1:])) if columns else []
        crossed: dict[int, list[Any]] = {}
        for row in present:
            combinations = itertools.product(*(column[row] for column in columns))
            if hashed_output:
                modulus = num_buckets if num_buckets > 0 else _LARGEST
                crossed[row] = [_hashed(combination, hash_key & _MASK) % modulus for combination in combinations]
            else:
                crossed[row] = [_BETWEEN.join(map(_text, combination)) for combination in combinations]
        places = [(row, place) for row, each in crossed.items() for place in range(len(each))]
        flat = list(itertools.chain.from_iterable(crossed.values()))
        outputs[0] = np.array(places, np.int64).reshape(-1, 2)
        outputs[1] = np.array(flat, np.int64) if hashed_output else string_array(flat)
        outputs[2][...] = counts[0] if counts else 0, max(map(len, crossed.values()), default=0)


def _sparse_rows(indices: npt.NDArray[Any], values: npt.NDArray[Any], shape: npt.NDArray[Any]) -> _Rows:
    rows: dict[int, list[Any]] = {}
    for (row, *_), value in zip(indices.tolist(), values.tolist(), strict=True):
        if not 0 <= row < shape[0]:
            raise KernelError(f"a column has a feature in row {row} of {shape[0]}")
        rows.setdefault(row, []).append(value)
    return rows


def _text(feature: Any) -> bytes:
    return feature if isinstance(feature, bytes) else str(feature).encode()


def _hashed(features: Sequence[Any], key: int) -> int:
    """Mixes the hashes of the features into the key, one after the other (``FingerprintCat64``)."""
    value = key
    for feature in features:
        one = fingerprint64(feature) if isinstance(feature, bytes) else feature & _MASK
        value ^= _FACTOR ^ _shift_mix(one * _FACTOR & _MASK) * _FACTOR & _MASK
        value = value * _FACTOR & _MASK
        value = _shift_mix(_shift_mix(value) * _FACTOR & _MASK)
    return value


def _shift_mix(value: int) -> int:
    return value ^ value >> 47
