"""Run as a program, with ``KERAS_BACKEND=jax``: trains Keras models for integers, see ``trained_for_integers``."""

from __future__ import annotations

import importlib
from typing import Any

from tests.frontends.trained_for_integers import MODELS, train, train_loop
from tests.with_jax.process import serve

keras: Any = importlib.import_module("keras")

if __name__ == "__main__":
    serve(lambda name, folder: (train if name in MODELS else train_loop)(keras, name, folder))
