"""Language models for LiteRT-LM: bundles of model, tokenizer and metadata, which its engine runs.

``api``           makes a bundle of a model
``bundle``        writes bundles, and reads what is in them
``engine``        texts that LiteRT-LM's engine writes
``verification``  compares a bundle with the model that it was made of
"""

from __future__ import annotations

from pathlib import Path

_MAGIC = b"LITERTLM"


def is_bundle(path: Path) -> bool:
    """Whether a file begins as a bundle."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False
