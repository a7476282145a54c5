"""Powers whose exponent is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.arithmetic.elementary import reciprocal_root
from litefuse.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["Power"]

# LiteRT's POW has four dimensions, and the engine simplifies no powers that it broadcasts for it.
_MAX_RANK = 4


@decomposition("Pow")
# The engine makes RSQRT of the power -0.5, also where it may be of 0, and POW of all powers of many dimensions.
@before_engine("Pow", dtypes=("float32", "int32", "int64"))
class Power(Decomposition):
    """Small whole powers of many dimensions as products, and ``x ** -0.5`` as the reciprocal root that it is."""

    def before_lowering(self, op: TensorFlowOp) -> bool:
        exponent, shape = op.constants[1], op.types[0].shape
        if exponent is None or shape is None or exponent.size != 1 or exponent.ndim > len(shape):
            return False
        value = float(exponent.reshape(-1)[0])
        return value == -0.5 or (len(shape) > _MAX_RANK and value in {0.5, 1.0, 2.0, 3.0, 4.0})

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        rank = len(op.shape(0))
        op.require(0, "float32", "int32", "int64")
        exponent = op.constant(1)
        if exponent.size != 1 or exponent.ndim > rank:
            raise NotDecomposed("its exponents are several")
        x = op.operands[0]
        match float(exponent.reshape(-1)[0]):
            case -0.5:
                return reciprocal_root(b, x)
            case 0.5:
                return b.unary("Sqrt", x)
            case 1.0:
                return x
            case 2.0 | 3.0 | 4.0 as power:
                square = b.binary("Mul", x, x)
                return square if power == 2 else b.binary("Mul", square, x if power == 3 else square)
            case other:
                raise NotDecomposed(f"its exponent is {other}")
