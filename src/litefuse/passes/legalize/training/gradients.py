"""Gradients of activations, in graphs that contain a training step or an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, select
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

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

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.shape(0)
        op.shape(1)
        op.require(0, "float32")
        first, second = op.operands
        match op.name:
            case "ReluGrad":
                return _where(second > 0.0, first)
            case "Relu6Grad":
                inside = (second > 0.0) & (second < 6.0)
                return _where(inside, first)
            case "LeakyReluGrad":
                alpha = float(op.attributes.get("alpha", 0.2))
                return select(second > 0.0, first, first * alpha)
            case "EluGrad":
                falling = (second + 1.0) * first
                return select(second < 0.0, falling, first)
            case "SeluGrad":
                falling = (second + _SCALE_ALPHA) * first
                return select(second < 0.0, falling, first * _SCALE)
            case "SoftplusGrad":
                return first * b.unary("Sigmoid", second)
            case "SoftsignGrad":
                root = abs(second) + 1.0
                return first / (root * root)
            case _:
                return second * _derivative(op.name, first)


def _where(condition: Tensor, value: Tensor) -> Tensor:
    return select(condition, value, 0.0)


def _derivative(
    name: str,
    y: Tensor,
) -> Tensor:
    """Returns the derivative from the function's value y."""
    square = y * y
    match name:
        case "SigmoidGrad":
            return y * (1.0 - y)
        case "TanhGrad":
            return 1.0 - square
        case "SqrtGrad":
            return 0.5 / y
        case "RsqrtGrad":
            return y * -0.5 * square
        case _:
            return -square
