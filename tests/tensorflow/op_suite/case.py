"""What the op suite is made of: one call of one TensorFlow op, with inputs, constants and attributes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
Make: TypeAlias = Callable[[np.random.Generator, Sequence[int]], Any]
"""Makes the values of an input of some shape."""


@dataclass(frozen=True)
class Tensor:
    """An input of the model.

    Attributes:
        dtype: Its dtype, as TensorFlow calls it.
        shape: Its shape; None for a size that is open.
        make: Makes values; None for some that fit the dtype.
    """

    dtype: str
    shape: tuple[int | None, ...]
    make: Make | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (self.dtype, self.shape)  # functions are no matter of the TensorFlow process

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join('?' if size is None else str(size) for size in self.shape)}]"

    def values(self, random: np.random.Generator, open_size: int) -> Array:
        """Values for this input, with one size for all open ones."""
        shape = [open_size if size is None else size for size in self.shape]
        if self.make is not None:
            values = self.make(random, shape)
        elif self.dtype == "string":
            values = random.choice(np.array([b"", b"a", b"bc", b"Def", b"ghij "], object), shape)
        elif self.dtype == "bool":
            values = random.integers(0, 2, shape)
        elif self.dtype.startswith("uint"):
            values = random.integers(0, 10, shape)
        elif self.dtype.startswith("int"):
            values = random.integers(-9, 10, shape)
        elif self.dtype.startswith("complex"):
            values = random.standard_normal(shape) + 1j * random.standard_normal(shape)
        else:
            values = random.standard_normal(shape) * 2
        if self.dtype == "string" and not shape:
            return np.array(np.asarray(values).item())  # the interpreter takes a scalar string in no array of objects
        return np.asarray(values).astype(numpy_dtype(self.dtype))


Operand: TypeAlias = "Tensor | Array | list[Tensor] | list[Array] | list[Tensor | Array]"
"""An input, a constant, or a list of these for an operand that is a list."""


@dataclass(frozen=True, eq=False)
class Case:
    """One call of an op.

    Attributes:
        op: The op's name.
        operands: The op's operands in the order of its definition.
        attributes: The op's attributes; types as strings.
        open_sizes: What to put in place of the open sizes, in turn.
        rtol: How much floats may differ from TensorFlow's, relative to the largest absolute value (at least 1); None
            for the default of the dtype.
        outputs: How many of its outputs, from the first, the model has; None for all. LiteRT's interpreter in Python
            returns no empty tensors.
    """

    op: str
    operands: Sequence[Operand]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    open_sizes: Sequence[int] = (1, 3)
    rtol: float | None = None
    outputs: int | None = None

    def __str__(self) -> str:
        operands = ", ".join(map(_text, self.operands))
        attributes = ", ".join(f"{key}={value}" for key, value in self.attributes.items())
        return f"{self.op}({operands})" + (f" {{{attributes}}}" if attributes else "")

    @property
    def inputs(self) -> list[Tensor]:
        """The inputs of the model: x0, x1 ... in its signature."""
        flat = [each for operand in self.operands for each in (operand if isinstance(operand, list) else [operand])]
        return [each for each in flat if isinstance(each, Tensor)]

    def of_constants(self) -> Case:
        """The same call with constants in the place of the inputs, which is for the converter to compute."""
        random = np.random.default_rng(zlib.crc32(str(self).encode()))

        def constant(operand: Operand) -> Any:
            if isinstance(operand, list):
                return [constant(each) for each in operand]
            return operand.values(random, self.open_sizes[-1]) if isinstance(operand, Tensor) else operand

        return replace(self, operands=[constant(operand) for operand in self.operands])

    def calls(self) -> list[dict[str, Array]]:
        """Inputs for one call after the other: two for each of the open sizes."""
        random = np.random.default_rng(zlib.crc32(str(self).encode()))
        sizes = self.open_sizes if any(None in each.shape for each in self.inputs) else (1,)
        calls: list[dict[str, Array]] = []
        for size in sizes:
            inputs = {f"x{number}": each.values(random, size) for number, each in enumerate(self.inputs)}
            calls += [inputs, inputs]
        return calls


def numpy_dtype(dtype: str) -> npt.DTypeLike:
    """The dtype of arrays of a TensorFlow dtype."""
    if dtype == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return object if dtype == "string" else dtype


def floats(low: float, high: float) -> Make:
    """Evenly distributed numbers."""
    return lambda random, shape: random.uniform(low, high, shape)


def integers(low: int, high: int) -> Make:
    """Integers from ``low`` to ``high - 1``."""
    return lambda random, shape: random.integers(low, high, shape)


def one_of(*values: Any) -> Make:
    """Any of some values."""
    return lambda random, shape: random.choice(np.array(values), shape)


def around(*points: float) -> Make:
    """Numbers close to some points, and the points themselves."""

    def make(random: np.random.Generator, shape: Sequence[int]) -> Any:
        chosen = random.choice(np.array(points), shape)
        return chosen + random.choice(np.array([0.0, 1e-6, -1e-4, 1e-2]), shape)

    return make


def _text(operand: Operand) -> str:
    if isinstance(operand, list):
        return f"[{', '.join(map(_text, operand))}]"
    if isinstance(operand, Tensor):
        return str(operand)
    shown = operand.tolist() if operand.size <= 8 else f"crc {zlib.crc32(np.ascontiguousarray(operand).tobytes()):08x}"
    return f"{operand.dtype}[{','.join(map(str, operand.shape))}]={shown}"
