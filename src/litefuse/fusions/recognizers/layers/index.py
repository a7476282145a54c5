"""The finders of layers by the ops that they look for, and the composites that they make; nothing is loaded."""

from __future__ import annotations

from typing import NamedTuple


class FinderEntry(NamedTuple):
    """A finder, which is loaded where a model has one of the ops.

    Attributes:
        module: Its module, in this package.
        cls: Its class.
        anchors: The names of ops, one of which each of its layers has.
    """

    module: str
    cls: str
    anchors: frozenset[str]


#: The finders, in the order in which they are tried: what has another's layers as parts comes before it.
FINDERS = (
    FinderEntry("rotary", "RotaryEmbeddings", frozenset({"tf.ConcatV2", "tf.Pack"})),
    FinderEntry("normalizations", "Normalizations", frozenset({"tf.Rsqrt", "tf.Sqrt", "tf.Pow"})),
    FinderEntry("normalizations", "FusedBatchNorms", frozenset({"tf.FusedBatchNormV3"})),
    FinderEntry("activations", "Activations", frozenset({"tf.Erf", "tf.Erfc", "tf.Tanh", "tf.Sigmoid", "tf.Exp"})),
    FinderEntry("attention", "Attention", frozenset({"tf.Softmax", "tf.Exp"})),
)

#: The names of the composites that layers become.
LAYER_COMPOSITES = (
    "odml.group_norm",
    "odml.rms_norm",
    "odml.scaled_dot_product_attention",
    "litefuse.geglu",
    "litefuse.gelu",
    "litefuse.group_norm",
    "litefuse.layer_norm",
    "litefuse.rms_norm",
    "litefuse.rotary_embedding",
    "litefuse.swiglu",
)
