"""A small SavedModel with composites and state, and the results that TensorFlow computes with it.

``saved_model/``    made by ``scripts/make_demo.py``: two convolutions whose outputs go through the composite
                    ``my_custom_fused_op``; and an embedding lookup beside a counter of calls
``references.npz``  the inputs and outputs of eight calls, as ``call/signature/inputs/name`` and ``.../outputs/name``
``kernel``          the kernel of ``my_custom_fused_op``
``check``           runs the converted model and compares
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["REFERENCES", "SAVED_MODEL"]

SAVED_MODEL = Path(__file__).with_name("saved_model")
"""The folder of the SavedModel."""

REFERENCES = Path(__file__).with_name("references.npz")
"""What TensorFlow computes with it."""
