"""A small SavedModel with composites and state, and TensorFlow's results for it.

``saved_model/``    made by ``scripts/make_demo.py``: two convolutions whose outputs the composite
                    ``my_custom_fused_op`` combines; and an embedding lookup with a counter of calls
``references.npz``  the inputs and outputs of eight calls, as ``call/signature/inputs/name`` and ``.../outputs/name``
``kernel``          the kernel of ``my_custom_fused_op``
``check``           runs the converted model and compares
"""

from __future__ import annotations

from pathlib import Path

SAVED_MODEL = Path(__file__).with_name("saved_model")
"""The folder of the SavedModel."""

REFERENCES = Path(__file__).with_name("references.npz")
"""The file of TensorFlow's results."""
