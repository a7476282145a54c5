"""What the first lines of a module say that is around it: values of variables, tables, limits."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.frontends.saved_model import DataType, Table
from litefuse.ir.mlir import ir
from litefuse.passes.weights import Weights
from litefuse.support.options.limits import Limits


def directives(text: str, name: str) -> list[str]:
    """What stands behind each ``// NAME:``."""
    return re.findall(rf"^// {name}: (.*)$", text, flags=re.MULTILINE)


def named_passes(text: str) -> list[tuple[str, str]]:
    """The names of the passes that a module is run through, each with its options."""
    return [pair for line in directives(text, "RUN") for pair in re.findall(r"([a-z][a-z0-9-]*)(?:\{(.*?)\})?", line)]


@dataclass(frozen=True)
class Given:
    """What passes of one module share.

    Attributes:
        values: The values of variables, as text.
        tables: The hash tables by name.
        limits: The limits of the conversion.
        weights: The weights that stay mapped: those that ``map-weights`` finds.
        initializers: The symbols of functions that run first, as passes add them.
    """

    values: Mapping[str, str]
    tables: Mapping[str, Table]
    limits: Limits
    weights: Weights = field(default_factory=lambda: Weights(0))
    initializers: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, text: str) -> Given:
        """What a module's text gives."""
        limits: dict[str, Any] = {
            name: int(value) for name, value in (line.split(" = ") for line in directives(text, "LIMIT"))
        }
        tables = [_table(number, line) for number, line in enumerate(directives(text, "TABLE"))]
        values = dict(line.split(" = ", 1) for line in directives(text, "VALUE"))
        return cls(values, {table.name: table for table in tables}, Limits(**limits))

    def value(self, name: str) -> ir.Attribute:
        """The value of a variable."""
        return ir.Attribute.parse(self.values[name])


def _table(number: int, line: str) -> Table:
    found = re.fullmatch(r"(\w+) = (\[.*\]) : (\w+) -> (\[.*\]) : (\w+)", line)
    assert found is not None, line
    name, keys, key_dtype, values, value_dtype = found.groups()
    dtypes = DataType[key_dtype.upper()], DataType[value_dtype.upper()]
    entries = _array(keys, dtypes[0]), _array(values, dtypes[1])
    return Table(number, name, *dtypes, _read=lambda: entries)


def _array(text: str, dtype: DataType) -> npt.NDArray[Any]:
    array = np.array(ast.literal_eval(text), dtype.to_numpy())
    return np.vectorize(str.encode, [np.object_])(array) if dtype == DataType.STRING and array.size else array
