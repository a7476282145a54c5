"""The order of a Keras 2 model's outputs, which only its metadata have: its signature is a dictionary of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from google.protobuf.message import DecodeError

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.messages import KerasMetadata
from litefuse.frontends.saved_model.regular_file import read_regular

__all__ = ["output_names"]

_FILE = "keras_metadata.pb"
_MAX_BYTES = 2**28


def output_names(folder: Path) -> tuple[str, ...]:
    """Returns the names of a functional model's outputs, in its order; empty without such a model.

    An output has the name of its layer, and a number if several are of one.

    Args:
        folder: The SavedModel's folder, symbolic links resolved.
    """
    path = folder / _FILE
    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return ()
        model = next(node for node in KerasMetadata.FromString(read_regular(folder, _FILE)).nodes if not node.node_id)
        layers: Any = json.loads(model.metadata)["config"]["output_layers"]
        # One output is a layer's name, node and tensor; several are a list or a dictionary of such lists.
        values: Any = (
            [value for _, value in sorted(cast("dict[str, Any]", layers).items())]
            if isinstance(layers, dict)
            else layers
        )
        names: list[Any] = [value[0] for value in values if isinstance(value, list)]
    # Metadata are not part of the model: where they are damaged, the order is that of the signature.
    except (DecodeError, LookupError, OSError, RecursionError, SavedModelError, StopIteration, TypeError, ValueError):
        return ()
    return _unique(names) if all(isinstance(name, str) for name in names) else ()


def _unique(layers: list[Any]) -> tuple[str, ...]:
    """Returns names as Keras makes them of layers' names."""
    taken: dict[str, None] = {}
    counts: dict[str, int] = {}
    for layer in layers:
        name = layer
        while name in taken:
            counts[layer] = counts.get(layer, 0) + 1
            name = f"{layer}_{counts[layer]}"
        taken[name] = None
    return tuple(taken)
