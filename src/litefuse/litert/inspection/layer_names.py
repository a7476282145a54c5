"""The layers of a model, as far as the names of its tensors tell.

TensorFlow names a node by the scopes around it, ``encoder/dense/Tensordot/MatMul``: those of models and layers, then
those of functions such as ``tf.tensordot``, then the op. A converter names a tensor after the node that it computes,
and that of several fused nodes after all of them, ``a;b;c``.
"""

from __future__ import annotations

import functools
import re

# Functions that were called, rather than inlined, stand in front of all scopes, with the number of their result.
_CALL = re.compile(r"(?:Stateful)?PartitionedCall(?:_\d+)?(?::\d+)?")
_RESULT = re.compile(r":\d+$")
# The last part of the name of an operand that TensorFlow makes for an op, below the name of the op.
_OPERAND = re.compile(
    r"(?:x|y|z|a|b|shape|dims?|perm|axis|axes|multiples|values?|begin|size|start|limit|delta|stack|packed|paddings|depth"
    r"|on_value|off_value|reduction_indices|split_dim|num_split|concat_axis|batch_dims|element_shape|num_elements"
    r"|ReadVariableOp|resource)(?:_\d+)?\d*"
)
_OP = re.compile(
    r"(?:[A-Z][A-Za-z]*(?:[23]D|V\d)?|add|sub|mul|truediv|div|floordiv|mod|pow|neg|concat|split|range|zeros|ones|transpose"
    r"|stack|unstack|strided_slice|convolution|depthwise|conv_transpose|separable_conv2d|moments|mean)(?:_\d+)?"
)
# The scopes that TensorFlow's functions open inside a layer.
_FUNCTION = re.compile(
    r"(?:while|cond|case|switch_case|loop_body|pfor|map|scan|einsum|moments|batchnorm|zeros|ones|zeros_like|ones_like"
    r"|strided_slice|stack|unstack|split|transpose|range|l2_normalize|norm|truediv|floordiv"
    r"|conv_transpose|embedding_lookup|Tensordot|Einsum|Gelu|Repeat|GatherV2|Mean|Reshape|MatMul|BatchMatMulV?2?|BiasAdd|Conv2D|Assert|AssertGuard"
    r"|TensorArray\w*|TensorList\w*|RaggedT\w*|Ragged[A-SU-Z]\w*)(?:_\d+)?"
)
# Those that are called like the layers which open them.
_NAMESAKE = re.compile(r"(separable_conv2d|dropout)(?:_\d+)?")
# The nodes that others are fused into: of these is the layer of a fused op.
_CORE = re.compile(r"(?:\w*conv\w*|\w*matmul\w*|depthwise\w*|\w*einsum\w*|tensordot\w*|dot_general\w*)", re.IGNORECASE)
# A module of PyTorch, such as torch.nn.modules.conv.Conv2d_0: its names end with the layer, not with an op. Composites
# may have dots too, as odml.rms_norm has.
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*\.[A-Z]\w*")


@functools.lru_cache(maxsize=1 << 16)
def layer_of(tensor_name: str) -> str:
    """Returns the layer that a tensor of a LiteRT model is from, by its name.

    ``encoder/dense/Tensordot/MatMul`` is from ``encoder/dense``. Of nodes that are fused into one, it is the layer of
    the product or convolution among them, and of the first one if there is none. A loop within a layer belongs to it:
    ``gru/while/gru_cell/MatMul`` is from ``gru/gru_cell``.

    Returns:
        The names of the scopes, separated by slashes; empty if the name has none, such as ``arith.constant3``.
    """
    nodes = [node.strip() for node in tensor_name.split(";") if node.strip()]
    paths = [_path(node) for node in nodes]
    named = [(node, path) for node, path in zip(nodes, paths, strict=True) if path]
    core = next((path for node, path in named if _is_core(node)), None)
    return core or next((path for _, path in named), "")


def _is_core(node: str) -> bool:
    *scopes, last = _RESULT.sub("", node).split("/")
    return any(_CORE.fullmatch(scope) for scope in (last, *scopes[-1:] * bool(_OPERAND.fullmatch(last))))


def _path(node: str) -> str:
    parts = [part for part in _RESULT.sub("", node).split("/") if part and not _CALL.fullmatch(part)]
    if len(parts) < 2:
        return ""
    if not _MODULE.fullmatch(parts[-1]):
        last = parts.pop()
        if _OPERAND.fullmatch(last) and _OP.fullmatch(parts[-1]):
            parts.pop()
    if len(parts) > 1 and (inner := _NAMESAKE.fullmatch(parts[-1])) and parts[-2].startswith(inner[1]):
        parts.pop()
    return "/".join(part for part in parts if not _FUNCTION.fullmatch(part))
