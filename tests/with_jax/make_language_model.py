"""Writes a language model on JAX, and its bundle: ``python -m tests.with_jax.make_language_model FOLDER FAMILY``."""

from __future__ import annotations

import sys
from pathlib import Path

import litefuse
from tests.tensorflow.language_models import CHUNK, made


def main(folder: Path, family: str) -> None:
    causal_lm = made(family)
    causal_lm.save(folder / "model.keras")
    litefuse.language_model(causal_lm, prefill=CHUNK).save(folder / "model.litertlm")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
