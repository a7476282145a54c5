"""uint64, which LiteRT has no op for, and float64 where its bits decide: in int64 of the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, select
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


_LEAST = int(np.iinfo(np.int64).min)
# Ops that compare; the others are the same modulo 2^64.
_ORDERED = frozenset(
    {
        *("ArgMax", "ArgMin", "ClipByValue", "Greater", "GreaterEqual", "Less", "LessEqual", "Max", "Maximum", "Min"),
        *("Minimum", "TopKV2"),
    }
)


@decomposition(
    *(
        "Add",
        "AddN",
        "AddV2",
        "ArgMax",
        "ArgMin",
        "ClipByValue",
        "Cumprod",
        "Cumsum",
        "Equal",
        "Greater",
        "GreaterEqual",
    ),
    *("Less", "LessEqual", "Max", "Maximum", "Min", "Minimum", "Mul", "NotEqual", "Prod", "Square"),
    *("Sub", "Sum", "TopKV2"),
    order=4,
)
# Fault `running-sum-of-unsigned-constants`; and LiteRT's ops refuse the others at run time.
@before_engine("Cumsum", "Equal", "Maximum", "Minimum", "NotEqual", dtypes=("uint64",))
class Uint64(Decomposition):
    """The op of the same bits as int64; numbers that are compared are moved by 2^63, which keeps their order."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
        if all(kind.dtype != "uint64" for kind in op.types):
            raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype if op.types else 'it'}")
        operands = list(op.operands)
        for place, (value, each) in enumerate(zip(operands, op.types, strict=True)):
            if each.dtype == "uint64":
                operands[place] = self._moved(op, b.bitcast(value, "int64"))
        kinds = [(result.shape, "int64" if result.dtype == "uint64" else result.dtype) for result in op.results]
        results = b.ops(op.name, operands, kinds, **b.options(op))
        return [
            b.bitcast(self._moved(op, value), "uint64") if each.dtype == "uint64" else value
            for value, each in zip(results, op.results, strict=True)
        ]

    def _moved(self, op: TensorFlowOp, value: Tensor) -> Tensor:
        return value + _LEAST if op.name in _ORDERED else value


@decomposition("Div", "FloorDiv", "FloorMod", "Mod", "RealDiv", "TruncateDiv", order=4)
def uint64_division(op: TensorFlowOp, b: Builder) -> Tensor:
    """Quotients and remainders from those of half the dividend, which is not negative as int64.

    With ``q = 2 (x / 2 // y)``, ``x - q y`` is less than ``2 y``. A divisor of 2^63 or more, negative as int64, goes
    into a dividend at most once.
    """
    op.require(0, "uint64")
    x, y = (b.bitcast(value, "int64") for value in op.operands)
    halved = b.bitcast(b.binary("RightShift", op.operands[0], 1), "int64")
    large = y < 0
    divisor = select(large, 1, y)
    quotient = select(large, 0, halved // divisor * 2)
    rest = x - quotient * y
    again = b.bitcast(rest, "uint64") >= op.operands[1]
    if op.name in {"FloorMod", "Mod"}:
        return b.bitcast(select(again, rest - y, rest), "uint64")
    return b.bitcast(quotient + b.cast(again, "int64"), "uint64")


_SIGN = int(np.iinfo(np.int64).min)
_INFINITE = 0x7FF << 52


@decomposition("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual", order=2)
def float64_comparisons(op: TensorFlowOp, b: Builder) -> Tensor:
    """Compares the bits, as numbers in the same order; nothing is equal to NaN, smaller or greater."""
    _require_float64(op)
    keys = [_key(b, operand) for operand in op.operands]
    name = "Equal" if op.name == "NotEqual" else op.name
    found = b.compare(name, *keys)
    for key in keys:
        is_number = abs(key) <= _INFINITE
        found = found & is_number
    return ~found if op.name == "NotEqual" else found


@decomposition("Abs", "IsFinite", "IsInf", "IsNan", "Neg", order=2)
def float64_signs(op: TensorFlowOp, b: Builder) -> Tensor:
    """Changes the first bit, which is the sign, or looks at the exponent."""
    _require_float64(op)
    bits = b.bitcast(op.operands[0], "int64")
    negative = bits < 0
    flipped = bits - _SIGN  # modulo 2^64
    if op.name == "Neg":
        return b.bitcast(flipped, "float64")
    size = select(negative, flipped, bits)
    if op.name == "Abs":
        return b.bitcast(size, "float64")
    return b.compare({"IsFinite": "Less", "IsInf": "Equal", "IsNan": "Greater"}[op.name], size, _INFINITE)


def _require_float64(op: TensorFlowOp) -> None:
    if op.types[0].dtype != "float64":
        raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype}")


def _key(b: Builder, value: Tensor) -> Tensor:
    """Emits integers in the order of the numbers, the same one for both zeros."""
    bits = b.bitcast(value, "int64")
    return select(bits < 0, b.constant(_SIGN, "int64") - bits, bits)
