"""Numbers that are rounded to float8, which LiteRT does not have, and converted back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from litefuse.ir.mlir import producer
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum, select, sign
from litefuse.passes.legalize.decomposition import Decomposition, before_engine

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


class _Format(NamedTuple):
    """A floating point format of 8 bits; the smallest number is a normal one, and larger ones become ``beyond``."""

    digits: int
    smallest: float
    largest: float
    beyond: float


_FORMATS = {
    "float8_e4m3fn": _Format(3, 2.0**-6, 448.0, np.nan),
    "float8_e5m2": _Format(2, 2.0**-14, 57344.0, np.inf),
}
_EXACT_IN_FLOAT32 = ("bfloat16", "float16", "float32")
# The bits of a float32 below its exponent.
_MANTISSA = 1 << 23


# LiteRT has no such dtype: the engine makes a CAST to it that cannot be written.
@before_engine("Cast", dtypes=("float8_e4m3fn", "float8_e5m2"))
@before_engine("Cast", dtypes=("bfloat16", "float16", "float32"))
class RoundedToFloat8(Decomposition):
    """Rounds to a multiple of the distance between numbers of the format, in float32, to the even one of two.

    Definition: https://www.tensorflow.org/api_docs/python/tf/dtypes#float8_e4m3fn, and
    https://github.com/jax-ml/ml_dtypes for the formats.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        if op.types[0].dtype in _FORMATS:
            return True
        return op.results[0].dtype in _FORMATS and not op.readers <= {"tf.Cast"}

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        rounded = producer(op.operands[0], "tf.Cast")
        exact = None if rounded is None else Tensor(rounded.operands[0])
        if op.types[0].dtype not in _FORMATS or exact is None or exact.dtype not in _EXACT_IN_FLOAT32:
            raise NotDecomposed("LiteRT has no float8: only numbers that are cast to it and back are rounded")
        form = _FORMATS[op.types[0].dtype]
        value = b.cast(exact, "float32")
        exponent = b.bitcast(abs(value), "int32") // _MANTISSA
        power = b.bitcast(exponent * _MANTISSA, "float32")
        distance = maximum(power, form.smallest) * 2.0**-form.digits
        nearest = b.unary("Round", value / distance) * distance
        beyond = sign(value) * form.beyond
        fits = abs(nearest) <= form.largest
        return b.cast(select(fits, nearest, beyond), op.results[0].dtype)
