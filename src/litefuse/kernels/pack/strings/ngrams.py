"""``tftext:Ngrams``: adjacent strings, joined."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import as_bytes, check_row_splits, check_row_splits_spec
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["Ngrams", "NgramsStringJoin"]


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
        """Returns the sizes of the outputs, except for the number of n-grams in ragged rows.

        Raises:
            KernelError: An input has a wrong shape or dtype, or TensorFlow Text does not accept an option.
        """
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

    def invoke(
        self,
        inputs: tuple[npt.NDArray[Any], ...],
        outputs: Outputs,
        *,
        width: int,
        string_separator: str | bytes = " ",
    ) -> None:
        """Joins the strings row by row.

        Raises:
            KernelError: Row splits are invalid for the values.
        """
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
