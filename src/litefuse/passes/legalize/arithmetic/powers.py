"""Powers with a constant exponent, and those of int64."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, select, sqrt
from litefuse.passes.legalize.arithmetic.elementary import reciprocal_root
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

# LiteRT's POW supports four dimensions, and the engine does not simplify powers that it broadcasts for it.
_MAX_RANK = 4
# Of 64 and more, only the powers of 0, 1 and -1 fit in 64 bits: they equal the 64th or, where it is odd, the 65th.
_BITS = 7


@decomposition("Pow")
# The engine lowers the power -0.5 to RSQRT (fault `reciprocal-root-of-zero`), and all powers of many dimensions to POW.
@before_engine("Pow", dtypes=("float32", "int32", "int64"))
class Power(Decomposition):
    """Small powers of many dimensions as products and roots, ``x ** -0.5`` as a reciprocal root that is right for 0."""

    def before_lowering(self, op: TensorFlowOp) -> bool:
        exponent, shape = op.constants[1], op.types[0].shape
        if exponent is None or shape is None or exponent.size != 1 or exponent.ndim > len(shape):
            return False
        value = float(exponent.reshape(-1)[0])
        return value == -0.5 or (len(shape) > _MAX_RANK and value in {0.5, 1.0, 2.0, 3.0, 4.0})

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        rank = len(op.shape(0))
        op.require(0, "float32", "int32", "int64")
        exponent = op.constant(1)
        if exponent.size != 1 or exponent.ndim > rank:
            raise NotDecomposed("its exponents are several")
        x = op.operands[0]
        match float(exponent.reshape(-1)[0]):
            case -0.5:
                return reciprocal_root(x)
            case 0.5:
                return sqrt(x)
            case 1.0:
                return x
            case 2.0 | 3.0 | 4.0 as power:
                square = x * x
                return square if power == 2 else square * (x if power == 3 else square)
            case other:
                raise NotDecomposed(f"its exponent is {other}")


@decomposition("Pow", order=2)
def power_of_int64(op: TensorFlowOp, b: Builder) -> Tensor:
    """Products of the squares of squares that the bits of the exponent choose; LiteRT's POW lacks int64.

    As in TensorFlow, exponents are not negative.
    """
    op.require(0, "int64")
    square, exponents = op.operands
    last = 2 ** (_BITS - 1)
    large = exponents >= last
    odd = exponents % 2
    exponents = b.cast(select(large, odd + last, exponents), "int32")
    result: Tensor | None = None
    for bit in range(_BITS):
        shifted = exponents if bit == 0 else exponents // 2**bit
        factor = select(equal(shifted % 2, 1), square, 1)
        result = factor if result is None else result * factor
        if bit < _BITS - 1:
            square = square * square
    assert result is not None
    return result
