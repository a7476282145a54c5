"""``UnicodeScript`` and TensorFlow Text's ``UnicodeScriptTokenizeWithOffsets``: the scripts of characters."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import check_dtype, check_row_splits, check_row_splits_spec
from litefuse.kernels.pack.strings.tokenizers import WHITESPACE
from litefuse.kernels.pack.supported import Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs

_NONE = -1


@pack_kernel("UnicodeScript")
class UnicodeScript(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.unicode_script``).

    Input: ``input``, int32: characters. Output: the number that ICU has for the script of each, int32; -1 for what is
    not a character. Scripts are those of the version of Unicode that ``unicode_scripts.npz`` was made with.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/unicode_script.
    """

    dtypes = ("int32",)

    def prepare(self, characters: TensorSpec) -> TensorSpec:
        return TensorSpec(check_dtype("input", characters, "int32"), np.int32)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        outputs[0][...] = _scripts(inputs[0])


@pack_kernel("UnicodeScriptTokenizeWithOffsets")
class UnicodeScriptTokenizeWithOffsets(CustomOp):
    """TensorFlow Text's op of the same name (``tensorflow_text.UnicodeScriptTokenizer``).

    Inputs: ``input_values``, a vector of int32: characters; ``input_splits``, int32 or int64, which splits them into
    strings.

    Outputs: the characters of all tokens; row splits of the tokens, of the dtype of ``input_splits``; the places in
    its string at which each token begins and ends, int64; and row splits of the strings. A token ends where the next
    character is of another script: that of blanks, punctuation and digits is one of its own.

    Options: ``keep_whitespace``, false if missing: whether whitespace is kept, as tokens; else it is dropped, within a
    token as well; ``Tsplits``, the dtype of the row splits, which is that of the input.

    Source: https://www.tensorflow.org/text/api_docs/python/text/UnicodeScriptTokenizer.
    """

    dtypes = ("int32",)

    def prepare(self, values: TensorSpec, splits: TensorSpec) -> list[TensorSpec]:
        """Returns the number of strings; that of tokens is known only at run time."""
        if len(check_dtype("input_values", values, "int32")) != 1:
            raise KernelError(f"input_values must be of rank 1, not {values.shape}")
        check_row_splits_spec("input_splits", splits)
        return [
            TensorSpec(None, np.int32),
            TensorSpec(None, splits.dtype),
            TensorSpec(None, np.int64),
            TensorSpec(None, np.int64),
            TensorSpec(splits.shape, splits.dtype),
        ]

    def invoke(self, inputs: Arrays, outputs: Outputs, *, keep_whitespace: bool = False) -> None:
        values, splits = inputs
        check_row_splits("input_splits", splits, len(values))
        blank = np.isin(values, WHITESPACE)
        # A token is of characters with the same kind: their script, and whether they are whitespace that is kept.
        kinds = _scripts(values).astype(np.int64) * 2 + (blank & keep_whitespace)
        kept = np.ones_like(blank) if keep_whitespace else ~blank
        tokens: list[npt.NDArray[Any]] = []
        counts: list[int] = []
        for start, end in itertools.pairwise(splits.tolist()):
            of_string = _tokens(kinds[start:end], kept[start:end])
            tokens.append(of_string)
            counts.append(len(of_string))
        spans = np.concatenate([np.zeros((0, 3), np.int64), *tokens])
        outputs[0] = values[kept]
        outputs[1] = np.concatenate([[0], np.cumsum(spans[:, 2])]).astype(splits.dtype)
        outputs[2] = spans[:, 0]
        outputs[3] = spans[:, 1]
        outputs[4][0] = 0
        outputs[4][1:] = np.cumsum(counts)


def _tokens(kinds: npt.NDArray[Any], kept: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns where each token of a string begins and ends, and how many characters it keeps: ``[n, 3]``."""
    tokens: list[tuple[int, int, int]] = []
    edges = [0, *(np.flatnonzero(kinds[1:] != kinds[:-1]) + 1).tolist(), len(kinds)]
    for start, end in itertools.pairwise(edges):
        places = np.flatnonzero(kept[start:end])
        if len(places):
            tokens.append((start + int(places[0]), start + int(places[-1]) + 1, len(places)))
    return np.array(tokens, np.int64).reshape(-1, 3)


def _scripts(characters: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns ICU's numbers of the characters' scripts."""
    starts, scripts = _table()
    return np.where(characters < 0, _NONE, scripts[np.searchsorted(starts, characters, "right") - 1])


@functools.cache
def _table() -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Returns where each run of characters of one script begins, and the script; the last is of no characters."""
    with np.load(Path(__file__).with_name("unicode_scripts.npz")) as file:
        return file["starts"], file["scripts"].astype(np.int32)
