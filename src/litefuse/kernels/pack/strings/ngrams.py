"""``StringNGrams`` and TensorFlow Text's ``Ngrams``: adjacent strings, joined."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

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
from litefuse.kernels.pack.supported import Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.tensors import STRING


@pack_kernel("tftext:Ngrams")
class Ngrams(CustomOp):
    """``tensorflow_text.ngrams`` of strings (``Reduction.STRING_JOIN``).

    Inputs: ``values``, strings, and the row splits of a ragged tensor with these values, the outermost first: each a
    vector of int64 or int32. Without row splits the values may be of any rank but 0.

    Outputs: the n-grams in the same form: each joins ``width`` adjacent strings of the innermost dimension with
    ``string_separator``. A row of fewer strings has none.

    Source: https://www.tensorflow.org/text/api_docs/python/text/ngrams.
    """

    dtypes = ("string",)

    def prepare(
        self,
        values: TensorSpec,
        *row_splits: TensorSpec,
        width: int,
        axis: int = -1,
        reduction_type: str = "STRING_JOIN",
        string_separator: str | bytes = " ",
    ) -> list[TensorSpec]:
        """Returns the sizes of the outputs, except for the number of n-grams in ragged rows."""
        if type(width) is not int or width < 1:
            raise KernelError(f"width must be a positive int, not {width!r}")
        if axis != -1 or reduction_type != "STRING_JOIN":
            raise KernelError(f"axis must be -1 and reduction_type STRING_JOIN, not {axis!r} and {reduction_type!r}")
        if not isinstance(string_separator, str | bytes):  # pyright: ignore[reportUnnecessaryIsInstance] - it is the model's
            raise KernelError(f"string_separator must be a string, not {string_separator!r}")
        if values.dtype != STRING:
            raise KernelError(f"values must be of strings, not {values.dtype}")
        assert values.shape is not None
        if not row_splits:
            if not values.shape:
                raise KernelError("values must be of rank 1 or more, not a scalar")
            *outer, size = values.shape
            return [TensorSpec([*outer, _count(size, width)], STRING)]
        if len(values.shape) != 1:
            raise KernelError(f"values of a ragged tensor must be of rank 1, not {values.shape}")
        for place, splits in enumerate(row_splits):
            check_row_splits_spec(f"row_splits {place}", splits)
        return [TensorSpec(None, STRING), *(TensorSpec(splits.shape, splits.dtype) for splits in row_splits)]

    def invoke(self, inputs: Arrays, outputs: Outputs, *, width: int, string_separator: str | bytes = " ") -> None:
        """Joins the strings row by row."""
        values, *row_splits = inputs
        separator = as_bytes(string_separator)
        if not row_splits:
            *outer, size = values.shape
            rows = values.reshape(math.prod(outer), size).tolist()
            outputs[0] = _joined(rows, width, separator).reshape(*outer, _count(size, width))
            return
        sizes = [*(len(splits) - 1 for splits in row_splits[1:]), len(values)]
        for place, (splits, size) in enumerate(zip(row_splits, sizes, strict=True)):
            check_row_splits(f"row_splits {place}", splits, size)
            outputs[place + 1][...] = splits
        innermost = row_splits[-1]
        strings = values.tolist()
        rows = [strings[start:end] for start, end in itertools.pairwise(innermost.tolist())]
        outputs[0] = _joined(rows, width, separator)
        outputs[len(row_splits)][1:] = np.cumsum(np.maximum(np.diff(innermost) - (width - 1), 0))


@pack_kernel("TFText>NgramsStringJoin")
class NgramsStringJoin(Ngrams):
    """TensorFlow Text's op of the same name (``tensorflow_text.ngrams``): ``tftext:Ngrams`` without reduction_type."""


def _count(size: int, width: int) -> int:
    """Returns the number of n-grams in a row."""
    return max(size - width + 1, 0)


def _joined(rows: Iterable[Sequence[bytes]], width: int, separator: bytes) -> npt.NDArray[Any]:
    """Returns the n-grams of all rows, of rank 1."""
    ngrams = [separator.join(row[at : at + width]) for row in rows for at in range(_count(len(row), width))]
    return np.array(ngrams, STRING)


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
        """Checks the inputs; the number of n-grams is known only once the rows are."""
        check_strings("data", data, 1)
        check_row_splits_spec("data_splits", splits)
        if any(not 1 <= width <= _INT32_MAX for width in ngram_widths):
            raise KernelError(f"ngram_widths must be positive int32, not {list(ngram_widths)}")
        if not -1 <= pad_width <= _INT32_MAX:
            raise KernelError(f"pad_width must be -1 or a larger int32, not {pad_width}")
        return [TensorSpec(None, STRING), TensorSpec(splits.shape, splits.dtype)]

    def invoke(
        self,
        inputs: Arrays,
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
