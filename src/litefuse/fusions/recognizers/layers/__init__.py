"""Layers that litefuse knows by name, wherever a model computes them.

Accelerators compute some layers as one op, if they are told that it is one. LiteRT's software knows these composites:

- ``odml.rms_norm(x [, scale])``: ``x * rsqrt(mean(x**2, -1) + epsilon) * scale``. Attribute ``epsilon``. x is of rank 2
  to 4, scale of rank 1.
- ``odml.group_norm(x [, scale [, offset]])``, channels last, x of rank 4 at most, scale and offset of rank 1.
  Attributes ``epsilon``, ``num_groups``, ``channel_axis`` and ``sub_type``: 0 for group normalization, of which all
  axes but the first are reduced, 1 for layer normalization over the last axis. Without ``sub_type``, the presence of
  ``reduction_axes`` decides.
- ``odml.scaled_dot_product_attention``, see ``attention``.

The source is LiteRT's GPU accelerator (``ml_drift_delegate/tflite/model_builder.cc``, ``CompositeRmsNormParser``,
``CompositeGroupNormParser`` and ``CompositeLayerNormParser``, as of 2026-08-21), ``litert_op_options.h``, and what
LiteRT Torch emits (``litert_torch/generative/layers/normalization.py``). Rotary embeddings have a composite there too,
``odml.rope``, which takes positions and computes the angles itself. Models have tables of angles, or compute them once
for all layers: that is not the same, and gets a name of litefuse's own, as all other layers do.

A finder compares what a model computes with a formula by algebra (``algebra``), whatever way it is written. What it
finds is only told, unless the composite is wanted: then it becomes a function that is annotated with the name.
"""
