"""Inputs of models, drawn by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_CHOICES = 2
_FIRST_WORD = 5  # the ids below are special ones
_PADDED = 3


@dataclass(frozen=True)
class Sizes:
    """Sizes of what signatures leave open.

    Attributes:
        batch: The batch.
        length: The length of sequences.
        decoded: The length of a decoder's sequences.
        side: Height and width of images.
    """

    batch: int
    length: int
    decoded: int
    side: int


def shape_of(name: str, shape: Sequence[int | None], sizes: Sizes) -> list[int]:
    """The shape of an input, with sizes for what is open."""
    if name == "pixel_values":
        open_sizes = [sizes.batch, 3, sizes.side, sizes.side]
    elif name.startswith("visual_"):
        open_sizes = [sizes.batch, sizes.length, 0]  # as many objects as words: LXMERT reshapes their mask so
    elif name == "input_features" and shape[-1] is None:  # [batch, bins, time] rather than [batch, time, bins]
        open_sizes = [sizes.batch, 0, sizes.length]
    elif name in {"input_points", "input_labels"}:
        open_sizes = [sizes.batch, 1, 2, 2]
    elif name == "mc_token_ids":
        open_sizes = [sizes.batch, _CHOICES]
    else:
        length = sizes.decoded if name.startswith("decoder_") else sizes.length
        of_choices = len(shape) == 3 and shape[2] is None
        open_sizes = [sizes.batch, _CHOICES, length] if of_choices else [sizes.batch, length, 0]
    return [size if given is None else given for given, size in zip(shape, open_sizes, strict=False)]


def draw_inputs(
    specs: Mapping[str, tuple[Sequence[int | None], str]], sizes: Sizes, config: Any, seed: int
) -> dict[str, npt.NDArray[Any]]:
    """Draws inputs of the shapes and dtypes of a signature."""
    random = np.random.default_rng(seed)
    return {
        name: _draw(name, shape_of(name, shape, sizes), np.dtype(dtype), config, random)
        for name, (shape, dtype) in specs.items()
    }


def _draw(
    name: str, shape: Sequence[int], dtype: np.dtype[Any], config: Any, random: np.random.Generator
) -> npt.NDArray[Any]:
    if name.endswith("input_ids"):
        text = getattr(config, "text_config", config)
        values = random.integers(_FIRST_WORD, text.vocab_size - 1, shape)
        if name == "input_ids":
            if shape[0] > 1 and isinstance(text.pad_token_id, int):
                values[1, ..., -_PADDED:] = text.pad_token_id
            if isinstance(text.eos_token_id, int) and text.eos_token_id < text.vocab_size:
                values[..., -1 - _PADDED] = text.eos_token_id
    elif name == "attention_mask":
        values = np.ones(shape)
        if shape[0] > 1:
            values[1, ..., -_PADDED:] = 0
    elif name.endswith("attention_mask"):
        values = np.ones(shape)
        if name.startswith("global"):
            values[..., 1:] = 0
    elif name == "bbox":
        values = np.sort(random.integers(0, 64, (*shape[:-1], 2, 2)), -2).reshape(shape)  # x0, y0, x1, y1
    elif name == "mc_token_ids":
        values = random.integers(0, 8, shape)
    elif dtype.kind == "i":
        values = random.integers(0, 2, shape)
    else:
        values = random.standard_normal(shape)
    return np.asarray(values, dtype)
