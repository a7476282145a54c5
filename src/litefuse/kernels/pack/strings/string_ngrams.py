"""``StringNGrams``: joined n-grams of the rows of a ragged tensor."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import (
    as_bytes,
    check_row_splits,
    check_row_splits_spec,
    check_strings,
    string_array,
)
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["StringNGrams"]

_INT32_MAX = 2**31 - 1
# The limit of strings that are joined in one call. The C++ kernel has the same limit.
_MOST_JOINED = 2**26


@pack_kernel("StringNGrams", native=True)
class StringNGrams(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.ngrams``).

    Inputs: ``data``, a vector of strings; ``data_splits``, int32 or int64, which splits it into rows.

    Outputs: the n-grams of all rows, and their row splits; the n-grams of a row are ordered by width.

    Options: ``separator``, placed between two strings; ``ngram_widths``; ``left_pad`` and ``right_pad``, of which
    ``pad_width`` are added before and after each row, but at most the width of an n-gram minus one, which is also what
    -1 means; ``preserve_short_sequences``: whether a row without n-grams gives one of all its strings.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/ngrams.
    """

    dtypes = ("string",)

    def prepare(
        self, data: TensorSpec, splits: TensorSpec, *, ngram_widths: Sequence[int], pad_width: int = 0
    ) -> list[TensorSpec]:
        """Checks the inputs; the number of n-grams is known only once the rows are.

        Raises:
            KernelError: An input has a wrong dtype or shape, or a width is not positive.
        """
        check_strings("data", data, 1)
        check_row_splits_spec("data_splits", splits)
        if any(not 1 <= width <= _INT32_MAX for width in ngram_widths):
            raise KernelError(f"ngram_widths must be positive int32, not {list(ngram_widths)}")
        if not -1 <= pad_width <= _INT32_MAX:
            raise KernelError(f"pad_width must be -1 or a larger int32, not {pad_width}")
        return [TensorSpec(None, STRING), TensorSpec(splits.shape, splits.dtype)]

    def invoke(
        self,
        inputs: tuple[npt.NDArray[Any], ...],
        outputs: Outputs,
        *,
        separator: str | bytes,
        ngram_widths: Sequence[int],
        left_pad: str | bytes = "",
        right_pad: str | bytes = "",
        pad_width: int = 0,
        preserve_short_sequences: bool = False,
    ) -> None:
        """Joins the strings row by row.

        Raises:
            KernelError: The row splits are invalid for the strings, or there would be too many n-grams.
        """
        data, splits = inputs
        check_row_splits("data_splits", splits, len(data))
        strings = data.tolist()
        between = as_bytes(separator)
        first, last = [as_bytes(left_pad)], [as_bytes(right_pad)]
        ngrams: list[list[bytes]] = []
        left = _MOST_JOINED
        for start, end in itertools.pairwise(splits.tolist()):
            row = strings[start:end]
            made: list[bytes] = []
            for width in ngram_widths:
                padding = width - 1 if pad_width < 0 else min(pad_width, width - 1)
                left = _less_joined(left, len(row), padding, width)
                padded = [*first * padding, *row, *last * padding] if width <= len(row) + 2 * padding else []
                made += [between.join(padded[at : at + width]) for at in range(len(padded) - width + 1)]
            if preserve_short_sequences and row and not made:
                if pad_width < 0:
                    raise KernelError("preserve_short_sequences needs a pad_width, or an n-gram for each row")
                left = _less_joined(left, len(row), pad_width, len(row) + 2 * pad_width)
                made = [between.join([*first * pad_width, *row, *last * pad_width])]
            ngrams.append(made)
        outputs[0] = string_array(itertools.chain.from_iterable(ngrams))
        outputs[1][0] = 0
        outputs[1][1:] = np.cumsum(list(map(len, ngrams)), dtype=splits.dtype)


def _less_joined(left: int, size: int, padding: int, width: int) -> int:
    """Returns how many strings may still be joined after a row's n-grams of one width."""
    left -= max(size + 2 * padding - width + 1, 0) * width
    if left < 0:
        raise KernelError(f"the n-grams of {width} strings of a row of {size} are too many to make")
    return left
