"""Makes activations ops of their own where readers leave out fused ones."""

from __future__ import annotations

from types import MappingProxyType

from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.passes import module_pass, visit_ops

_FUSED = "fused_activation_function"
_OPS = MappingProxyType({"RELU": "tfl.relu", "RELU6": "tfl.relu6", "RELU_N1_TO_1": "tfl.relu_n1_to_1"})


@module_pass
def separate_activations(module: ir.Module) -> bool:
    """Takes fused activations out of TRANSPOSE_CONV::

        %y = tfl.transpose_conv(%s, %w, %x, %b) {fused_activation_function = "RELU"}
        -->  %0 = tfl.transpose_conv(%s, %w, %x, %b) {fused_activation_function = "NONE"}
             %y = tfl.relu(%0)

    OpenVINO leaves them out, and TensorFlow Lite before 2.13 has none there. XNNPACK fuses them itself. Those that
    integers are made of stay: what is outside of their range is outside of that of the integers.
    """
    return visit_ops(module, {"tfl.transpose_conv": _separate})


def _separate(op: ir.OpView) -> bool:
    activation = _OPS.get(ir.StringAttr(op.attributes[_FUSED]).value)
    result = op.results[0]
    if activation is None or any(use.owner.name == "tfl.quantize" for use in result.uses):
        return False
    op.attributes[_FUSED] = ir.StringAttr.get("NONE")
    activated = create_op(activation, [result.type], [result], point=ir.InsertionPoint.after(op.operation))
    result.replace_all_uses_except(activated.result, activated)
    return True
