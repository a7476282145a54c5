"""Images in a folder as samples."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.support.plug_ins.entry_points import what_was_raised

__all__ = ["images_in"]

_SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})


def images_in(folder: Path, preprocess: Callable[[Any], Any]) -> Iterator[Any]:
    """Yields what a function makes of each image in a folder and the folders in it, in the order of their names.

    Args:
        folder: The folder.
        preprocess: Takes a ``PIL.Image.Image`` of the mode RGB, turned as its camera was held, and returns a sample;
            see :data:`~litefuse.conversion.quantization.dataset.RepresentativeDataset`.

    Raises:
        LitefuseError: Pillow is not installed, no images were given, one cannot be read, or ``preprocess`` fails.
    """
    if importlib.util.find_spec("PIL") is None:
        raise LitefuseError(
            "a folder of images needs the package Pillow", hint="Install it with `pip install 'litefuse[images]'`."
        )
    image_module: Any = importlib.import_module("PIL.Image")
    transpose: Callable[[Any], Any] = importlib.import_module("PIL.ImageOps").exif_transpose
    files = sorted(
        Path(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if Path(name).suffix.lower() in _SUFFIXES and not name.startswith(".")
    )
    if not files:
        raise LitefuseError(
            "the folder has no images", where=str(folder), hint=f"Their names end in {', '.join(sorted(_SUFFIXES))}."
        )
    for path in files:
        try:
            with image_module.open(path) as opened:
                image = transpose(opened).convert("RGB")
        except (OSError, ValueError, SyntaxError, image_module.DecompressionBombError) as error:
            raise LitefuseError(f"the image cannot be read: {what_was_raised(error)}", where=str(path)) from error
        try:
            sample = preprocess(image)
        except LitefuseError:
            raise
        except Exception as error:  # any error of a user's function
            raise LitefuseError(f"preprocess fails: {what_was_raised(error)}", where=str(path)) from error
        yield sample
