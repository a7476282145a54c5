"""Run as a program, with ``KERAS_BACKEND=jax``: trains Keras models for integers, see ``trained_for_integers``."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

from tests.frontends.trained_for_integers import make
from tests.with_jax.process import serve

keras: Any = importlib.import_module("keras")

if __name__ == "__main__":
    serve(partial(make, keras))
