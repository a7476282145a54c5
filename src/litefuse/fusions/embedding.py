"""Embedding lookups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from litefuse.fusions.fusion import Fusion, count_problem, fusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir


@fusion("embedding_lookup", "embedding_matmul")
class EmbeddingLookup(Fusion):
    """``f(table [vocabulary, ...], ids [n] int32) -> [n, ...]`` becomes the builtin EMBEDDING_LOOKUP.

    If the result has rows of another shape than the table, such as ``[n, embedding]`` for a table
    ``[vocabulary, groups, 128]``, a RESHAPE follows.
    """

    ids_in_range = True

    def verify(self, composite: Composite) -> str | None:
        if (problem := count_problem(composite, ["table", "ids"])) is not None:
            return problem
        table, ids = composite.arg_types
        if ids.dtype != "int32" or ids.rank != 1:
            return f"the ids are {ids}; EMBEDDING_LOOKUP takes int32 ids of rank 1"
        if table.rank is None or table.rank < 2:
            return f"the table is {table}; EMBEDDING_LOOKUP takes a table of rank 2 or more"
        if table.dtype not in {"float32", "int8", "uint8"}:
            return f"the table is {table}; EMBEDDING_LOOKUP takes a float32, int8 or uint8 table"
        return None

    def rewrite(self, composite: Composite, b: Builder) -> ir.Value:
        table, ids = composite.args
        rows = b.embedding_lookup(ids, table)
        shape = _row_shape(composite)
        return rows if shape is None else b.builtin("RESHAPE", rows, [-1, *shape])[0]


def _row_shape(composite: Composite) -> Sequence[int] | None:
    """Returns the shape of the result's rows if it differs from that of the table's rows."""
    own, result = composite.arg_types[0].sizes[1:], composite.result_tensor_types[0].sizes[1:]
    known = [size for size in result if size is not None]
    if not result or len(known) < len(result) or None in own or own == result:
        return None
    return known if math.prod(known) == math.prod(size or 0 for size in own) else None
