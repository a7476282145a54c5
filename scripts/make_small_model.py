"""Make the model that ``litefuse doctor`` runs, ``y = 2 x + 1``: ``python -m scripts.make_small_model``."""

from __future__ import annotations

import jax.export
import jax.numpy as jnp

import litefuse
from litefuse.tools.environment.software import SMALL_MODEL


def _line(x: jax.Array) -> dict[str, jax.Array]:
    return {"y": 2.0 * x + 1.0}


def main() -> None:
    """Writes the model."""
    shape = jax.ShapeDtypeStruct((1, 3), jnp.float32)
    exported = jax.export.export(jax.jit(_line))(shape)
    litefuse.convert(exported, rename={"args_0": "x"}).save(SMALL_MODEL)
    print(f"{SMALL_MODEL}: {SMALL_MODEL.stat().st_size} bytes")


if __name__ == "__main__":
    main()
