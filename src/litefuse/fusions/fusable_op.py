"""The fusions of any composite: as the custom op that its author declares, or as one op that carries its body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from litefuse.errors import FusionError
from litefuse.fusions.fusion import Fusion, fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.types import TensorType
    from litefuse.litert.runtime.custom_op import CustomOp

_FLAG = "tfl_fusable_op"


class FusableOp(Fusion):
    """Any composite with the attribute ``tfl_fusable_op: true`` becomes a custom op of the composite's name.

    Arguments and results do not change. The options are a flexbuffer map of the annotation's other attributes.
    """

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.custom(composite.name, composite.args, composite.result_types, _options(composite))


class KeptComposite(Fusion):
    """Any composite becomes the builtin STABLEHLO_COMPOSITE of its name and attributes, with its body in LiteRT ops.

    Any LiteRT runs its body; a kernel or an accelerator that knows the name computes it instead.
    """

    def verify(self, composite: Composite) -> str | None:
        return None if composite.args else "it has no arguments, and STABLEHLO_COMPOSITE must have some"

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        return b.composite(composite.name, composite.args, composite.result_types, _options(composite))


def kernel_fusion(kernel: type[CustomOp], **options: Any) -> type[FusableOp]:
    """Makes the fusion of composites that become the custom op of a kernel.

    Args:
        kernel: The kernel; it may be a ``Fusion``, too, whose ``verify`` and ``check_inputs`` then count.
        options: The class's attributes, such as ``tolerance``.
    """
    names = ("__module__", "__qualname__", "__doc__")
    bases = (kernel, FusableOp) if issubclass(kernel, Fusion) else (FusableOp,)
    return type(kernel.__name__, bases, {**options, **{name: getattr(kernel, name) for name in names}})


def _options(composite: Composite) -> dict[str, Any]:
    """Returns the composite's attributes without the flag that declares it an op; refuses types that options lack."""
    from litefuse.ir.mlir import ir  # commands that list fusions need no engine

    options = {name: value for name, value in composite.attributes.items() if name != _FLAG}
    for name, value in options.items():
        if isinstance(value, ir.Attribute):
            raise FusionError(
                f"the attribute {name!r} ({value}) is not an int, float, bool, string or list of these, "
                "which is what an op's options can hold",
                hint="Annotate the composite with other attributes, or register a fusion for it.",
            )
    return options


@fusion("tf.einsum", "einsum")
class Einsum(KeptComposite):
    """A marked einsum becomes the builtin STABLEHLO_COMPOSITE ``tf.einsum``, which keeps its equation.

    ``f(operands...) -> result``, with the attribute ``equation`` (a string). It describes the body in the notation of
    https://www.tensorflow.org/api_docs/python/tf/einsum. LiteRT runs the body, which the op carries as batch matrix
    products; an accelerator with its own einsum uses the equation.
    """

    def verify(self, composite: Composite) -> str | None:
        equation = composite.attributes.get("equation")
        if not isinstance(equation, str):
            return f"it needs the attribute equation (a string); it has {dict(composite.attributes)}"
        if len(composite.result_types) != 1:
            return f"it has {len(composite.result_types)} results, not 1"
        inputs = equation.replace(" ", "").partition("->")[0].split(",")
        if len(inputs) != len(composite.args):
            return f"the equation {equation!r} is of {len(inputs)} operands, and it has {len(composite.args)}"
        for labels, kind in zip(inputs, composite.arg_types, strict=True):
            if not _fits(labels, kind):
                return f"the equation {equation!r} has {labels!r} for an operand that is {kind}"
        return None

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        equation = composite.attributes["equation"]
        return b.composite("tf.einsum", composite.args, composite.result_types, {"equation": equation})


def _fits(labels: str, kind: TensorType) -> bool:
    """Whether an operand has a dimension for each label; an ellipsis represents any number of dimensions."""
    named = len(labels.replace("...", ""))
    if kind.rank is None:
        return True
    return kind.rank >= named if "..." in labels else kind.rank == named
