"""Composites of TensorFlow Text's API for LiteRT, and the projection of the SGNN model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, Inputs, agree, attributes_problem, count_problem, fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.types import TensorType

#: The dtypes of row splits.
INDICES = ("int64", "int32")


def _values_problem(name: str, values: TensorType, *, result: bool = False) -> str | None:
    """Returns why a type cannot be that of the values of a ragged tensor of strings.

    If they are a ``result``, their number depends on the elements of the op's inputs.
    """
    if values.dtype != "string" or values.shape is None or len(values.shape) != 1:
        return f"{name} is {values}; the values of a ragged tensor of strings are string[?]"
    if result and values.shape != (None,):
        return f"{name} is {values}; how many strings there are depends on what is in the arguments"
    return None


def _splits_problem(name: str, splits: TensorType, dtypes: Sequence[str], rows: int | None = None) -> str | None:
    """Returns why a type cannot be that of row splits of this many rows; None for any number."""
    if splits.dtype not in dtypes or splits.shape is None or len(splits.shape) != 1 or splits.shape[0] == 0:
        return f"{name} is {splits}; row splits are {' or '.join(dtypes)} of rank 1, with one element or more"
    count = _row_count(splits)
    if count is not None and rows is not None and count != rows:
        return f"{name} is {splits}; the row splits of {rows} rows are {splits.dtype}[{rows + 1}]"
    return None


def _row_count(splits: TensorType) -> int | None:
    """Returns the number of rows that row splits have, if known."""
    return None if not splits.shape or splits.shape[0] is None else splits.shape[0] - 1


def _random_strings(shape: Sequence[int], random: np.random.Generator, letters: str = "abc") -> npt.NDArray[Any]:
    """Draws strings of up to eight of the letters."""
    strings = ["".join(random.choice(list(letters), random.integers(9))).encode() for _ in range(math.prod(shape))]
    # The interpreter accepts a scalar string only as an array of numpy's bytes type.
    return np.array(strings, object).reshape(shape) if shape else np.array(strings[0])


def random_ragged(kinds: Sequence[TensorType], size: int, random: np.random.Generator) -> list[npt.NDArray[Any]] | None:
    """Draws values and their row splits, the outermost first; None if the types allow none.

    Args:
        kinds: The types of the values and the row splits.
        size: The number of rows if unknown, and the least number of additional values.
        random: The source of the values.
    """
    values, *splits = kinds
    sizes = [*map(_row_count, splits), values.shape[0] if values.shape else None]
    count = size if sizes[0] is None else sizes[0]
    parts: list[npt.NDArray[Any]] = []
    for kind, known in zip(splits, sizes[1:], strict=True):
        total = known if known is not None else count + size if count else 0
        if total and not count:
            return None
        places = np.sort(random.integers(0, total, max(count - 1, 0), endpoint=True))
        parts.append(np.array([0, *places, total][: count + 1], kind.dtype))
        count = total
    return [_random_strings([count], random), *parts]


_NGRAMS_ATTRIBUTES = ("axis", "reduction_type", "string_separator", "width")
_SGNN_ATTRIBUTES = ("buckets", "hash_seed")
_INT32 = np.iinfo(np.int32)
_FLOATS = frozenset({"bfloat16", "float16", "float32", "float64"})


@fusion("tftext:WhitespaceTokenizer")
class WhitespaceTokenizer(Fusion):
    """TensorFlow Text's WhitespaceTokenizer becomes the custom op of the same name, whose kernel litefuse has.

    ``f(text, string of rank 0, 1 or 2) -> (tokens [n] string, row splits [m] int64...)``, with row splits for each
    dimension of the text, the outermost first.
    Definition: https://www.tensorflow.org/text/api_docs/python/text/WhitespaceTokenizer.
    """

    def verify(self, composite: Composite) -> str | None:
        if len(composite.args) != 1:
            return f"it has {len(composite.args)} arguments, not 1 (the text)"
        (text,) = composite.arg_types
        if text.dtype != "string" or text.shape is None or len(text.shape) > 2:
            return f"the text is {text}; WhitespaceTokenizer takes string of rank 0, 1 or 2"
        expected = len(text.shape) + 1
        if len(composite.result_types) != expected:
            return f"it has {len(composite.result_types)} results, not {expected}: the tokens of {text}, and row splits"
        tokens, *splits = composite.result_tensor_types
        problem = attributes_problem("WhitespaceTokenizer", composite.attributes, ()) or (
            _values_problem("result 0", tokens, result=True)
        )
        for index, kind in enumerate(splits, start=1):
            rows = _product(text.shape[:index])
            problem = problem or _splits_problem(f"result {index}", kind, ("int64",), rows)
        return problem

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.custom("tftext:WhitespaceTokenizer", composite.args, composite.result_types, b"")

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        (text,) = composite.arg_types
        assert text.shape is not None
        return [_random_strings([size if one is None else one for one in text.shape], random, "ab \t\u3000")]


@fusion("tftext:Ngrams")
class Ngrams(Fusion):
    """TensorFlow Text's ngrams becomes the custom op of the same name, whose kernel litefuse has.

    ``f(values [n] string, row splits [m] int64 or int32...)`` returns the n-grams in the same form; without row splits,
    it is ``f(values [..., n] string) -> [..., n - width + 1] string``.

    The annotation's attributes are the op's options: ``width``, a positive int; ``string_separator``, a string;
    ``axis``, -1; ``reduction_type``, ``STRING_JOIN``.
    Definition: https://www.tensorflow.org/text/api_docs/python/text/ngrams.
    """

    def verify(self, composite: Composite) -> str | None:
        count = len(composite.args)
        if count < 1 or len(composite.result_types) != count:
            return (
                f"it has {count} arguments and {len(composite.result_types)} results; "
                "Ngrams gives values and row splits for values and row splits"
            )
        problem = _ngrams_attributes_problem(composite.attributes)
        if problem is not None:
            return problem
        values, *splits = composite.arg_types
        result, *result_splits = composite.result_tensor_types
        if not splits:
            return _dense_ngrams_problem(values, result, composite.attributes["width"])
        problem = _values_problem("argument 0", values) or _values_problem("result 0", result, result=True)
        for index, (argument, kept) in enumerate(zip(splits, result_splits, strict=True), start=1):
            problem = (
                problem
                or _splits_problem(f"argument {index}", argument, INDICES)
                or _splits_problem(f"result {index}", kept, (argument.dtype,), _row_count(argument))
            )
        return problem

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        options = {name: composite.attributes[name] for name in _NGRAMS_ATTRIBUTES}
        return b.custom("tftext:Ngrams", composite.args, composite.result_types, options)

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        values, *splits = composite.arg_types
        if splits:
            return random_ragged(composite.arg_types, size, random)
        # Enough elements per row for n-grams, unless the width is unusual.
        shape = [size if one is None else one for one in (values.shape or (None,))]
        if values.shape is None or values.shape[-1] is None:
            shape[-1] += min(int(composite.attributes["width"]), 8)
        return [_random_strings(shape, random)]


@fusion("tftext:custom:SgnnProjection")
class SgnnProjection(Fusion):
    """The projection of the SGNN model becomes the custom op of the same name, whose kernel litefuse has.

    ``f(values [n] string, row splits [rows + 1] int64 or int32) -> [rows, len(hash_seed)]`` of any floating point
    dtype. The op returns float32; for other dtypes a CAST follows it.

    The annotation's attributes are the op's options: ``hash_seed``, a list of ints; ``buckets``, an int of 2 or more.
    All ints have 32 bits.
    Definition: ``sgnn.py`` of TensorFlow's model garden; see ``litefuse.kernels.SgnnProjection``.
    """

    def verify(self, composite: Composite) -> str | None:
        if (problem := count_problem(composite, ["values", "row splits"])) is not None:
            return problem
        values, splits = composite.arg_types
        (result,) = composite.result_tensor_types
        problem = (
            _sgnn_attributes_problem(composite.attributes)
            or _values_problem("argument 0", values)
            or _splits_problem("argument 1", splits, INDICES)
        )
        if problem is not None:
            return problem
        expected = (_row_count(splits), len(composite.attributes["hash_seed"]))
        if result.dtype not in _FLOATS or result.shape is None or not agree(result.shape, expected):
            return f"the result is {result}, that of SgnnProjection {type(result)('float32', expected)}"
        return None

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        options = {name: composite.attributes[name] for name in _SGNN_ATTRIBUTES}
        (wanted,) = composite.result_types
        projected = b.custom("tftext:custom:SgnnProjection", composite.args, [_as_float32(wanted)], options)
        if composite.result_tensor_types[0].dtype == "float32":
            return projected
        return b.op("tfl.cast", projected, [wanted])

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        return random_ragged(composite.arg_types, size, random)


def _as_float32(kind: ir.Type) -> ir.Type:
    from litefuse.ir.mlir import ir

    return ir.RankedTensorType.get(ir.ShapedType(kind).shape, ir.F32Type.get())


def _ngrams_attributes_problem(attributes: Mapping[str, Any]) -> str | None:
    problem = attributes_problem("Ngrams", attributes, _NGRAMS_ATTRIBUTES)
    if problem is not None:
        return problem
    width, separator = attributes["width"], attributes["string_separator"]
    if type(width) is not int or width < 1:
        return f"the attribute width is {width!r}; Ngrams takes a positive int"
    if not isinstance(separator, str):
        return f"the attribute string_separator is {separator!r}; Ngrams takes a string of UTF-8"
    if attributes["reduction_type"] != "STRING_JOIN":
        return f"the attribute reduction_type is {attributes['reduction_type']!r}; Ngrams takes STRING_JOIN"
    if type(attributes["axis"]) is not int or attributes["axis"] != -1:
        return f"the attribute axis is {attributes['axis']!r}; Ngrams of strings takes -1"
    return None


def _sgnn_attributes_problem(attributes: Mapping[str, Any]) -> str | None:
    problem = attributes_problem("SgnnProjection", attributes, _SGNN_ATTRIBUTES)
    if problem is not None:
        return problem
    seeds: Any = attributes["hash_seed"]
    buckets = attributes["buckets"]
    if not isinstance(seeds, list) or not seeds or any(not _is_int32(seed) for seed in seeds):  # pyright: ignore[reportUnknownVariableType]
        return f"the attribute hash_seed is {seeds!r}; SgnnProjection takes a list of 32-bit ints"
    if not _is_int32(buckets) or buckets < 2:
        return f"the attribute buckets is {buckets!r}; SgnnProjection takes a 32-bit int of 2 or more"
    return None


def _is_int32(value: Any) -> bool:
    return type(value) is int and _INT32.min <= value <= _INT32.max


def _dense_ngrams_problem(values: TensorType, result: TensorType, width: int) -> str | None:
    for name, kind in (("argument 0", values), ("result 0", result)):
        if kind.dtype != "string" or kind.shape == ():
            return f"{name} is {kind}; Ngrams without row splits takes and gives string of rank 1 or more"
    if values.shape is None or result.shape is None:
        return None
    *outer, size = values.shape
    expected = (*outer, None if size is None else max(size - width + 1, 0))
    if len(expected) != len(result.shape) or not agree(expected, result.shape):
        return f"result 0 is {result}, that of Ngrams of width {width} {type(values)('string', expected)}"
    return None


def _product(sizes: Sequence[int | None]) -> int | None:
    return None if None in sizes else math.prod(size or 0 for size in sizes)
