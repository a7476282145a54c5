"""Pretrained models of Hugging Face's transformers on disk: a configuration and weights, but no graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from litefuse.errors import LitefuseError

_CONFIG = "config.json"
_MAX_CONFIG_BYTES = 1 << 20
# The files with weights, of which one may be split into several with an index. Those of PyTorch need an argument.
_TORCH = ("pytorch_model.bin", "pytorch_model.bin.index.json")
_WEIGHTS = ("tf_model.h5", "tf_model.h5.index.json", "model.safetensors", "model.safetensors.index.json", *_TORCH)


def refuse_pretrained(path: Path) -> None:
    """Raises an error that says how to convert a pretrained model, if a path is its folder or its file of weights.

    Raises:
        LitefuseError: It is one.
    """
    folder = path.parent if path.name in _WEIGHTS else path
    try:
        weights = [name for name in _WEIGHTS if (folder / name).is_file()]
        if not weights or not (folder / _CONFIG).is_file():
            return
    except OSError:  # the name is too long, or the folder may not be read
        return
    name = _class_name(folder / _CONFIG)
    arguments = f"{str(folder)!r}, from_pt=True" if set(weights) <= set(_TORCH) else repr(str(folder))
    raise LitefuseError(
        f"this is a pretrained model of transformers: weights ({weights[0]}), but no graph",
        where=str(path),
        hint=f"Load it in TensorFlow, and pass the model: litefuse.convert(transformers.{name}.from_pretrained("
        f"{arguments})). Or save it with its graph, model.save_pretrained(folder, saved_model=True), and give that "
        "folder. It takes transformers before 5, tf-keras and TF_USE_LEGACY_KERAS=1. A model that transformers has in "
        "litefuse does not convert PyTorch models: use the package litert-torch.",
    )


def _class_name(config: Path) -> str:
    """Returns the name of the model's class in TensorFlow, according to its configuration."""
    try:
        if config.stat().st_size > _MAX_CONFIG_BYTES:
            return "TFAutoModel"
        content: Any = json.loads(config.read_bytes())
    except (OSError, ValueError, RecursionError):
        return "TFAutoModel"
    architectures: Any = cast("dict[str, Any]", content).get("architectures") if isinstance(content, dict) else None
    name = cast("list[object]", architectures)[0] if isinstance(architectures, list) and architectures else None
    if not isinstance(name, str) or not (name.isascii() and name.isidentifier()):
        return "TFAutoModel"
    return name if name.startswith("TF") else f"TF{name}"
