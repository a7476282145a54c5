"""``tftext:custom:SgnnProjection``: projection of rows of strings to a few numbers by hashing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.farmhash import fingerprint64
from litefuse.kernels.pack.strings.strings import check_row_splits, check_row_splits_spec
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["SgnnProjection"]

_INT32 = np.iinfo(np.int32)


@pack_kernel("tftext:custom:SgnnProjection")
class SgnnProjection(CustomOp):
    """The projection of self-governing neural networks for text.

    Inputs: ``values``, strings of rank 1 (usually n-grams of characters), and ``row_splits``, int64 or int32, which
    split them into rows.

    Output: float32 ``[rows, len(hash_seed)]``. A string's signature is its FarmHash fingerprint modulo ``buckets``. For
    a seed, it becomes ``abs(signature * seed) mod buckets``, minus ``buckets`` if that is above ``buckets // 2``. The
    result is the mean of these over the row's strings, divided by ``buckets // 2``: -1 to 1, or NaN for an empty row.

    Sources: Ravi and Kozareva, "Self-governing neural networks for on-device short text classification", EMNLP 2018,
    for the idea; for the hash and the numbers, the composite of the SGNN model of TensorFlow's model garden
    (``research/seq_flow_lite/models/sgnn/sgnn.py``).
    """

    dtypes = ("string",)

    def prepare(
        self, values: TensorSpec, row_splits: TensorSpec, *, hash_seed: Sequence[int], buckets: int
    ) -> TensorSpec:
        """Checks inputs and options.

        Raises:
            KernelError: An input has a wrong shape or dtype; a seed or the number of buckets is not an int32; there
                are fewer than two buckets.
        """
        if values.dtype != STRING or values.shape is None or len(values.shape) != 1:
            raise KernelError(f"values must be strings of rank 1, not {values.dtype} {values.shape}")
        rows = check_row_splits_spec("row_splits", row_splits)
        if type(buckets) is not int or not 2 <= buckets <= _INT32.max:
            raise KernelError(f"buckets must be an int from 2 to {_INT32.max}, not {buckets!r}")
        if not isinstance(hash_seed, list) or not all(
            type(seed) is int and _INT32.min <= seed <= _INT32.max for seed in hash_seed
        ):
            raise KernelError(f"hash_seed must be a list of 32-bit ints, not {hash_seed!r}")
        return TensorSpec([rows, len(hash_seed)], np.float32)

    def invoke(
        self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, hash_seed: Sequence[int], buckets: int
    ) -> None:
        """Hashes each distinct string once and computes in 64-bit integers up to the mean.

        Raises:
            KernelError: The row splits are invalid for the values.
        """
        values, splits = inputs
        check_row_splits("row_splits", splits, len(values))
        strings = values.tolist()
        signatures = {string: fingerprint64(string) % buckets for string in set(strings)}
        signature = np.array([signatures[string] for string in strings], np.int64)
        projected = np.abs(signature[:, np.newaxis] * np.array(hash_seed, np.int64)) % buckets
        projected -= buckets * (projected > buckets // 2)
        sums = np.zeros([len(strings) + 1, len(hash_seed)], np.int64)
        np.cumsum(projected, axis=0, out=sums[1:])
        with np.errstate(invalid="ignore"):  # the mean of no numbers
            mean = np.diff(sums[splits], axis=0) / np.diff(splits)[:, np.newaxis]
        outputs[0][...] = mean / (buckets // 2)
