"""Gradients of activations, in graphs that contain a training step or an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["Gradient"]

# tf.nn.selu's constants.
_SCALE = 1.0507009873554804934193349852946
_SCALE_ALPHA = 1.7580993408473768599402175208123


@decomposition(
    *("EluGrad", "InvGrad", "LeakyReluGrad", "ReciprocalGrad", "Relu6Grad", "ReluGrad", "RsqrtGrad"),
    *("SeluGrad", "SigmoidGrad", "SoftplusGrad", "SoftsignGrad", "SqrtGrad", "TanhGrad"),
)
# Fault `gradient-of-half-sigmoid`.
@before_engine("SigmoidGrad", dtypes=("complex128", "complex64", "float64"))
class Gradient(Decomposition):
    """Multiplies the derivative by the incoming gradient, as in TensorFlow's kernels.

    ``*Grad`` ops of activations take (gradient, features or outputs), those of other functions (output, gradient).

    Source: tensorflow/core/kernels, relu_op_functor.h, softplus_op.h, softsign_op.h, cwise_ops_gradients.h.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(1)
        op.require(0, "float32")
        first, second = op.operands
        match op.name:
            case "ReluGrad":
                return _where(b, b.compare("Greater", second, 0.0), first)
            case "Relu6Grad":
                inside = b.binary("LogicalAnd", b.compare("Greater", second, 0.0), b.compare("Less", second, 6.0))
                return _where(b, inside, first)
            case "LeakyReluGrad":
                alpha = float(op.attributes.get("alpha", 0.2))
                return b.select(b.compare("Greater", second, 0.0), first, b.binary("Mul", first, alpha))
            case "EluGrad":
                falling = b.binary("Mul", b.binary("AddV2", second, 1.0), first)
                return b.select(b.compare("Less", second, 0.0), falling, first)
            case "SeluGrad":
                falling = b.binary("Mul", b.binary("AddV2", second, _SCALE_ALPHA), first)
                return b.select(b.compare("Less", second, 0.0), falling, b.binary("Mul", first, _SCALE))
            case "SoftplusGrad":
                return b.binary("Mul", first, b.unary("Sigmoid", second))
            case "SoftsignGrad":
                root = b.binary("AddV2", b.unary("Abs", second), 1.0)
                return b.binary("RealDiv", first, b.binary("Mul", root, root))
            case _:
                return b.binary("Mul", second, _derivative(op.name, first, b))


def _where(b: Builder, condition: ir.Value, value: ir.Value) -> ir.Value:
    return b.select(condition, value, 0.0)


def _derivative(name: str, y: ir.Value, b: Builder) -> ir.Value:
    """Returns the derivative from the function's value y."""
    square = b.binary("Mul", y, y)
    match name:
        case "SigmoidGrad":
            return b.binary("Mul", y, b.binary("Sub", 1.0, y))
        case "TanhGrad":
            return b.binary("Sub", 1.0, square)
        case "SqrtGrad":
            return b.binary("RealDiv", 0.5, y)
        case "RsqrtGrad":
            return b.binary("Mul", b.binary("Mul", y, -0.5), square)
        case _:
            return b.unary("Neg", square)
